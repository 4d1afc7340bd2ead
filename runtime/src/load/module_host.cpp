// SPDX-License-Identifier: Apache-2.0
#include "load/module_host.hpp"

#include <algorithm>
#include <exception>
#include <map>

#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/plugin.hpp"

namespace novaphy {
namespace {

ModuleHost& self(void* ctx) {
  return *static_cast<ModuleHost*>(ctx);
}

/// The last path segment of an interface id: "ISolverFactory/1" of "novaphy.ISolverFactory/1".
std::string short_id(const std::string& id) {
  return id.substr(id.rfind('.') + 1);
}

}  // namespace

ModuleHost::ModuleHost(std::string module, std::string plugin_dir)
    : module_(std::move(module)),
      plugin_dir_(std::move(plugin_dir)),
      host_{sizeof(novaphy_host),
            NOVAPHY_ABI_MAJOR,
            NOVAPHY_ABI_MINOR,
            0,
            this,
            &ModuleHost::log_line,
            &ModuleHost::publish,
            &ModuleHost::find,
            &ModuleHost::config_json,
            &ModuleHost::plugin_dir} {}

ModuleHost& ModuleHost::of(const std::filesystem::path& library, const std::string& module,
                           const std::string& plugin_dir) {
  using Key = std::pair<std::filesystem::path, std::string>;
  static auto& hosts = *new std::map<Key, ModuleHost>;  // never destroyed, as the modules' code is not
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return hosts.try_emplace({library, module}, module, plugin_dir).first->second;
}

void ModuleHost::set_find(Find find) {
  auto shared = find ? std::make_shared<const Find>(std::move(find)) : nullptr;
  const std::lock_guard lock(find_mutex_);
  find_ = std::move(shared);
}

const std::vector<Published>& ModuleHost::load(
    const novaphy_plugin* plugin, std::string config, Find find,
    const std::vector<std::pair<std::string, std::string>>& declared) {
  config_json_ = std::move(config);
  set_find(std::move(find));
  published_.clear();
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  novaphy_status status = NOVAPHY_OK;
  loading_ = true;
  try {
    // authors of C modules may bypass NOVAPHY_PLUGIN: an exception does pass through a C function pointer
    status = plugin->load(&host_, &error);
  } catch (const std::exception& exception) {
    status = plugin_detail::fill(&error, NOVAPHY_E_EXCEPTION, exception.what());
  } catch (...) {
    status = plugin_detail::fill(&error, NOVAPHY_E_EXCEPTION, "");
  }
  loading_ = false;
  error.message[sizeof error.message - 1] = '\0';
  const std::string message = error.message;
  if (status == NOVAPHY_UNAVAILABLE)
    throw LoadFailure{"NP311", "unavailable: " + (message.empty() ? "no reason given" : message)};
  if (status == NOVAPHY_E_EXCEPTION)
    throw LoadFailure{"NP310",
                      message.empty() ? "load threw an unknown exception" : "load threw: " + message};
  if (status != NOVAPHY_OK)
    throw LoadFailure{"NP309",
                      "load failed: " + (message.empty() ? "status " + std::to_string(status) : message)};
  plugin_ = plugin;
  check_published(declared);
  return published_;
}

void ModuleHost::check_published(const std::vector<std::pair<std::string, std::string>>& declared) const {
  const auto is_declared = [&declared](const Published& item) {
    return std::find(declared.begin(), declared.end(), std::pair(item.interface_id, item.name)) !=
           declared.end();
  };
  const auto stranger = std::find_if_not(published_.begin(), published_.end(), is_declared);
  const auto shown = [](const std::string& id, const std::string& name) { return id + " '" + name + "'"; };
  for (const auto& wanted : declared) {
    const auto& [interface_id, name] = wanted;
    const auto is_it = [&wanted](const Published& item) {
      return item.interface_id == wanted.first && item.name == wanted.second;
    };
    if (std::any_of(published_.begin(), published_.end(), is_it)) continue;
    std::string declares = short_id(interface_id), other;
    if (stranger != published_.end()) {
      other = short_id(stranger->interface_id);
      if (other == declares && stranger->interface_id != interface_id) {  // they differ in the namespace
        declares = interface_id;
        other = stranger->interface_id;
      }
      other = "; it published " + shown(other, stranger->name) + " instead";
    }
    throw LoadFailure{"NP312",
                      "declares " + shown(declares, name) + " and did not publish it" + other};
  }
  if (stranger != published_.end())
    throw LoadFailure{"NP312", "published " + shown(short_id(stranger->interface_id), stranger->name) +
                                   ", which the manifest does not declare"};
}

std::string ModuleHost::unload() noexcept {
  const std::string error = call_unload();
  set_find(nullptr);
  return error;
}

std::string ModuleHost::call_unload() noexcept {
  const novaphy_plugin* plugin = std::exchange(plugin_, nullptr);
  if (plugin == nullptr || plugin->unload == nullptr) return {};
  novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
  try {
    if (plugin->unload(&host_, &error) == NOVAPHY_OK) return {};
    error.message[sizeof error.message - 1] = '\0';
    return std::string("unload failed: ") + error.message;
  } catch (const std::exception& exception) {
    return std::string("unload threw: ") + exception.what();
  } catch (...) {
    return "unload threw an unknown exception";
  }
}

void ModuleHost::log_line(void* ctx, std::int32_t level, const char* message) noexcept {
  const auto clamped =
      static_cast<LogLevel>(std::clamp<std::int32_t>(level, 0, static_cast<int>(LogLevel::error)));
  try {
    log_of(self(ctx).module_, clamped, message == nullptr ? "" : message);
  } catch (...) {
    // a line of the log is not worth more
  }
}

novaphy_status ModuleHost::publish(void* ctx, const char* interface_id, const char* name, void* object,
                                   novaphy_error* error) noexcept {
  try {
    ModuleHost& host = self(ctx);
    if (!host.loading_)
      return plugin_detail::fill(error, NOVAPHY_E_STATE,
                                 "publish was called outside of load; publish everything in load");
    if (interface_id == nullptr || name == nullptr || object == nullptr)
      return plugin_detail::fill(error, NOVAPHY_E_STATE,
                                 "publish was called with null; give an interface id, a name and an object");
    for (const Published& item : host.published_)
      if (item.interface_id == interface_id && item.name == name)
        return plugin_detail::fill(
            error, NOVAPHY_E_STATE,
            text("publish was called twice for ", interface_id, " '", name, "'; publish it once").c_str());
    host.published_.push_back({interface_id, name, object});
    return NOVAPHY_OK;
  } catch (...) {
    return plugin_detail::fill(error, NOVAPHY_E_EXCEPTION, "publish ran out of memory");
  }
}

void* ModuleHost::find(void* ctx, const char* interface_id, const char* name, novaphy_error* error) noexcept {
  try {
    ModuleHost& host = self(ctx);
    if (interface_id == nullptr || name == nullptr)
      throw Error("find was called with null; give an interface id and a name");
    std::shared_ptr<const Find> find;
    {
      const std::lock_guard lock(host.find_mutex_);
      find = host.find_;
    }
    if (!find)
      throw Error(text("no ", interface_id, " '", name, "': module '", host.module_, "' has stopped"));
    return (*find)(interface_id, name);
  } catch (const std::exception& exception) {
    plugin_detail::fill(error, NOVAPHY_E_NOT_FOUND, exception.what());
  } catch (...) {
    plugin_detail::fill(error, NOVAPHY_E_NOT_FOUND, "find failed for an unknown reason");
  }
  return nullptr;
}

const char* ModuleHost::config_json(void* ctx) noexcept {
  return self(ctx).config_json_.c_str();
}
const char* ModuleHost::plugin_dir(void* ctx) noexcept {
  return self(ctx).plugin_dir_.c_str();
}

}  // namespace novaphy
