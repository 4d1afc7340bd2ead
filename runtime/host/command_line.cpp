// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>

#include "novaphy/log.hpp"

namespace novaphy::host {
namespace {

const std::vector<std::pair<std::string, LogLevel>>& levels() {
  static const std::vector<std::pair<std::string, LogLevel>> all = {
      {"trace", LogLevel::trace}, {"debug", LogLevel::debug}, {"info", LogLevel::info},
      {"warn", LogLevel::warn},   {"error", LogLevel::error}, {"off", LogLevel::off}};
  return all;
}

LogLevel level_named(const std::string& text, const std::string& whole) {
  std::vector<std::string> names;
  for (const auto& [name, level] : levels()) {
    if (name == text) return level;
    names.push_back(name);
  }
  throw Exit{kUsage, "--log " + whole + ": no level is named '" + text + "'" + known_names(text, names)};
}

/// `name` and `level` of "vbd=debug"; no name in "debug".
std::pair<std::string, LogLevel> split(const std::string& setting) {
  const std::size_t equal = setting.find('=');
  if (equal == std::string::npos) return {"", level_named(setting, setting)};
  return {setting.substr(0, equal), level_named(setting.substr(equal + 1), setting)};
}

std::string see_help(const CLI::App& app, const std::string& verb) {
  return "; see '" + app.get_name() + (verb.empty() ? "" : " " + verb) + " --help'";
}

/// A flag or a word too many.
std::string not_expected(const CLI::App& app, const CLI::App* verb, const std::string& word) {
  const std::string whose = verb == nullptr ? "" : " of '" + verb->get_name() + "'";
  if (!word.starts_with("-"))
    return "'" + word + "' is one word too many for '" + verb->get_name() + "'" +
           see_help(app, verb->get_name());
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known = flags_of(app);
  if (verb != nullptr)
    for (std::string& name : flags_of(*verb)) known.push_back(std::move(name));
  const std::string near = nearest_name(flag, known);
  return "no flag '" + flag + "'" + whose +
         (near.empty() ? see_help(app, verb ? verb->get_name() : "") : "; did you mean '" + near + "'?");
}

}  // namespace

void add_common(CLI::App& app, Common& common) {
  const auto group = [](CLI::Option* option) { return option->group("Flags of every verb"); };
  group(app.add_flag("--json", common.json,
                     "Answer in JSON on stdout: list, why, run, check, doctor and errors"));
  group(app.add_option("--config", common.config, "A novaphy.host.json")->type_name("FILE"));
  group(app.add_option("--plugins", common.plugins, "Exactly these plugins and what they require: a,b")
            ->delimiter(',')
            ->type_name("PLUGINS"));
  group(app.add_option("--plugin", common.manifests, "A manifest that is searched first; may be given again")
            ->allow_extra_args(false)
            ->type_name("FILE"));
  group(app.add_flag("--safe", common.safe, "Only the plugins that lie beside the runtime"));
  group(app.add_flag("--no-lazy", common.no_lazy, "Load every plugin at the start, not at its first use"));
  group(app.add_flag("--probe", common.probe,
                     "Load each plugin that does not lie beside the runtime in a process of its own first"));
  group(app.add_option("--allow-writable", common.allow_writable,
                       "A folder whose files others may write or own")
            ->allow_extra_args(false)
            ->type_name("DIR"));
  group(app.add_option(
               "--log", common.log,
               "Lowest level of the log on stderr (trace, debug, info, warn, error, off), or of one plugin "
               "in it: vbd=debug; may be given again")
            ->allow_extra_args(false)
            ->type_name("LEVEL"));
}

void set_levels(const Common& common, bool is_quiet) {
  if (is_quiet) set_log_level(LogLevel::error);
  for (const std::string& setting : common.log) {
    const auto [name, level] = split(setting);
    name.empty() ? set_log_level(level) : set_log_level(name, level);
  }
}

void set_module_levels(const Common& common, const Runtime& runtime) {
  for (const std::string& setting : common.log) {
    const auto [name, level] = split(setting);
    if (name.empty()) continue;
    const std::vector<ReportRow> rows = runtime.info(name);
    if (rows.empty()) throw Exit{kUsage, "--log " + setting + ": " + runtime.why_not(name)};
    for (const ReportRow& row : rows) set_log_level(row.module, level);
  }
}

std::vector<const CLI::App*> visible_verbs(const CLI::App& app) {
  std::vector<const CLI::App*> out;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!verb->get_group().empty()) out.push_back(verb);
  return out;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed =
      const_cast<CLI::App&>(app).get_subcommands();  // the other overload wants a filter
  const CLI::App* verb = parsed.empty() ? nullptr : parsed.front();
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty() && (verb != nullptr || left.front().starts_with("-")))
    return not_expected(app, verb, left.front());
  std::vector<std::string> names;
  for (const CLI::App* known : visible_verbs(app)) names.push_back(known->get_name());
  if (verb == nullptr && left.empty())
    return "which verb is wanted" + known_names("", names) + see_help(app, "");
  if (verb == nullptr) return "no verb '" + left.front() + "'" + known_names(left.front(), names);
  return std::string(error.what()) + see_help(app, verb->get_name());
}

}  // namespace novaphy::host
