// SPDX-License-Identifier: Apache-2.0
// What a module's source includes to register itself: NOVAPHY_PLUGIN(load) and the PluginContext that load
// receives.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "novaphy/abi.h"
#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/version.h"

namespace novaphy {

/// Thrown by a load function on a machine that lacks what the module needs (no driver, no device).
/// The module's state becomes `unavailable`, which is not a failure.
struct Unavailable {
  std::string reason;
};

/// The runtime as one module sees it. A handle: copies are cheap and stay valid until unload returns.
class PluginContext {
 public:
  explicit PluginContext(const novaphy_host* host) noexcept : host_(host) {}

  /// Offers `object` under (Interface::kId, name), which the manifest must declare in `provides`. Only inside
  /// load; `object` must live until unload returns. Throws Error when the runtime refuses it.
  template <class Interface>
  void publish(const char* name, Interface* object) {
    novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
    if (host_->publish(host_->ctx, Interface::kId, name, object, &error) != NOVAPHY_OK)
      throw Error(error.message);
  }

  /// The object under (Interface::kId, name); loads its module when needed. Throws
  /// Error(plugin_not_available) with the whole reason. Any thread.
  template <class Interface>
  Interface& find(const char* name) const {
    novaphy_error error{sizeof(novaphy_error), NOVAPHY_OK, {}};
    void* object = host_->find(host_->ctx, Interface::kId, name, &error);
    if (object == nullptr) throw Error(ErrorKind::plugin_not_available, error.message);
    return *static_cast<Interface*>(object);
  }

  /// The same, null when there is none.
  template <class Interface>
  Interface* find_optional(const char* name) const noexcept {
    return static_cast<Interface*>(host_->find(host_->ctx, Interface::kId, name, nullptr));
  }

  /// This plugin's options as a JSON object, validated against the manifest, defaults filled in.
  const char* config_json() const noexcept { return host_->config_json(host_->ctx); }
  /// The folder of this plugin's manifest, absolute.
  const char* plugin_dir() const noexcept { return host_->plugin_dir(host_->ctx); }
  /// One line in the runtime's log, marked with the module's name.
  void log(LogLevel level, const std::string& message) const {
    host_->log(host_->ctx, static_cast<int>(level), message.c_str());
  }

 private:
  const novaphy_host* host_;
};

// The build facts that change the layout of C++ types, as "key=value;". The runtime refuses a library whose
// cxx11_abi, stdlib, glibcxx_debug or sdk differ from its own; another compiler is only noted.
#define NOVAPHY_TEXT_OF_(x) #x
#define NOVAPHY_TEXT_OF(x) NOVAPHY_TEXT_OF_(x)
#ifdef _GLIBCXX_USE_CXX11_ABI
#define NOVAPHY_FINGERPRINT_CXX11_ABI NOVAPHY_TEXT_OF(_GLIBCXX_USE_CXX11_ABI)
#else
#define NOVAPHY_FINGERPRINT_CXX11_ABI "none"
#endif
#ifdef _LIBCPP_VERSION
#define NOVAPHY_FINGERPRINT_STDLIB "libc++"
#else
#define NOVAPHY_FINGERPRINT_STDLIB "libstdc++"
#endif
#ifdef _GLIBCXX_DEBUG
#define NOVAPHY_FINGERPRINT_DEBUG "1"
#else
#define NOVAPHY_FINGERPRINT_DEBUG "0"
#endif
#ifdef __clang__
#define NOVAPHY_FINGERPRINT_COMPILER "clang " NOVAPHY_TEXT_OF(__clang_major__)
#else
#define NOVAPHY_FINGERPRINT_COMPILER "gcc " NOVAPHY_TEXT_OF(__GNUC__)
#endif

/// The fingerprint of the translation unit that includes this header.
inline constexpr const char* kCxxFingerprint =
    "cxx11_abi=" NOVAPHY_FINGERPRINT_CXX11_ABI ";stdlib=" NOVAPHY_FINGERPRINT_STDLIB
    ";glibcxx_debug=" NOVAPHY_FINGERPRINT_DEBUG
    ";sdk=" NOVAPHY_TEXT_OF(NOVAPHY_SDK_VERSION_MAJOR) "." NOVAPHY_TEXT_OF(
        NOVAPHY_SDK_VERSION_MINOR) ";compiler=" NOVAPHY_FINGERPRINT_COMPILER ";";

namespace plugin_detail {

using ContextFunction = void (*)(PluginContext&);

inline novaphy_status fill(novaphy_error* error, novaphy_status code, const char* message) noexcept {
  if (error != nullptr && novaphy_has(error, message)) {
    error->code = code;
    std::snprintf(error->message, sizeof error->message, "%s", message);
  }
  return code;
}

/// Calls Function with every exception turned into a status: none may cross the C boundary.
template <ContextFunction Function>
novaphy_status trapped(const novaphy_host* host, novaphy_error* error) noexcept {
  if (host->abi_major != NOVAPHY_ABI_MAJOR)
    return fill(error, NOVAPHY_E_ABI,
                "the runtime speaks another plugin ABI than " NOVAPHY_TEXT_OF(NOVAPHY_ABI_MAJOR) "; rebuild the plugin");
  try {
    PluginContext context(host);
    Function(context);
    return NOVAPHY_OK;
  } catch (const Unavailable& unavailable) {
    return fill(error, NOVAPHY_UNAVAILABLE, unavailable.reason.c_str());
  } catch (const std::exception& exception) {
    return fill(error, NOVAPHY_E_EXCEPTION, exception.what());
  } catch (...) {
    return fill(error, NOVAPHY_E_EXCEPTION, "");
  }
}

template <ContextFunction Load, ContextFunction Unload = nullptr>
constexpr novaphy_plugin describe(const char* name, const char* version) noexcept {
  novaphy_plugin plugin{sizeof(novaphy_plugin),
                        NOVAPHY_ABI_MAJOR,
                        NOVAPHY_ABI_MINOR,
                        0,
                        name,
                        version,
                        kCxxFingerprint,
                        &trapped<Load>,
                        nullptr};
  if constexpr (Unload != nullptr) plugin.unload = &trapped<Unload>;
  return plugin;
}

}  // namespace plugin_detail
}  // namespace novaphy

/// Registers a module; once in one source file of its library: NOVAPHY_PLUGIN(load) or NOVAPHY_PLUGIN(load,
/// unload), where both are `void f(novaphy::PluginContext&)`. The module's name and version come from its
/// manifest through the build.
#define NOVAPHY_PLUGIN(...)                                                                           \
  extern "C" const novaphy_plugin* novaphy_plugin_entry(void) {                                       \
    static constexpr novaphy_plugin plugin =                                                          \
        ::novaphy::plugin_detail::describe<__VA_ARGS__>(NOVAPHY_MODULE_NAME, NOVAPHY_MODULE_VERSION); \
    return &plugin;                                                                                   \
  }                                                                                                   \
  static_assert(true, "a semicolon follows")
