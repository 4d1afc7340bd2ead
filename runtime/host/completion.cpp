// SPDX-License-Identifier: Apache-2.0
// novaphy-host completion SHELL: a completion script made from the command line's own description.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <set>

#include "command_line.hpp"
#include "novaphy/demo.hpp"

namespace novaphy::host {
namespace {

/// What may follow an option or stand for a word, by the name of its type in the help.
enum class Kind { nothing, files, folders, levels, plugins, demos, parts, shells };

Kind kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("FILE")) return Kind::files;
  if (type.starts_with("DIR") || type.starts_with("PATH")) return Kind::folders;
  if (type.starts_with("LEVEL")) return Kind::levels;
  if (type.starts_with("PLUGIN")) return Kind::plugins;
  if (type.starts_with("DEMO")) return Kind::demos;
  if (type.starts_with("PARTS")) return Kind::parts;
  if (type.starts_with("SHELL")) return Kind::shells;
  return Kind::nothing;
}

constexpr const char* kLevels = "trace debug info warn error off";
constexpr const char* kParts = "python solver force demo";
constexpr const char* kShells = "bash zsh fish";

/// One option that takes a value.
struct Valued {
  std::string flag;
  Kind kind;
};

std::vector<Valued> valued_flags(const CLI::App& app) {
  std::vector<Valued> out;
  std::set<std::string> seen;
  const auto add = [&](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options())
      for (const std::string& name : option->get_lnames())
        if (option->get_items_expected_max() > 0 && seen.insert(name).second)
          out.push_back({"--" + name, kind_of(*option)});
  };
  add(app);
  for (const CLI::App* verb : visible_verbs(app)) add(*verb);
  return out;
}

/// What stands for the words of a verb.
Kind words_of(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options())
    if (option->get_positional()) return kind_of(*option);
  return Kind::nothing;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : visible_verbs(app)) names.push_back(verb->get_name());
  return joined(names);
}

/// The command of bash that fills COMPREPLY.
std::string bash_answer(Kind kind) {
  const auto from = [](const std::string& words) {
    return "COMPREPLY=($(compgen -W \"" + words + "\" -- \"$cur\"))";
  };
  switch (kind) {
    case Kind::files:
      return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Kind::folders:
      return "COMPREPLY=($(compgen -d -- \"$cur\"))";
    case Kind::levels:
      return from(kLevels);
    case Kind::plugins:
      return from("$(\"$1\" names plugins 2>/dev/null)");
    case Kind::demos:
      return from("$(\"$1\" names demos 2>/dev/null)");
    case Kind::parts:
      return from(kParts);
    case Kind::shells:
      return from(kShells);
    case Kind::nothing:
      break;
  }
  return "COMPREPLY=()";
}

std::string bash_script(const CLI::App& app) {
  std::string out =
      "# completion of novaphy-host for bash: source this file, or put it into bash-completion's folder\n"
      "_novaphy_host() {\n"
      "  local cur=\"$2\" prev=\"$3\" verb= word\n"
      "  [[ $prev == = ]] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
      "  [[ $cur == = ]] && { cur=; prev=\"${COMP_WORDS[COMP_CWORD-1]}\"; }\n";
  out += "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"$word\" in\n      ";
  std::string alternatives = verbs_of(app);
  for (std::size_t at = 0; (at = alternatives.find(' ', at)) != std::string::npos;) alternatives[at] = '|';
  out += alternatives + ") verb=\"$word\"; break ;;\n    esac\n  done\n  case \"$prev\" in\n";
  for (const Valued& valued : valued_flags(app))
    out += "    " + valued.flag + ") " + bash_answer(valued.kind) + "; return ;;\n";
  out += "  esac\n  case \"$verb\" in\n";
  const std::string common = joined(flags_of(app));
  const auto branch = [&](const std::string& verb, const std::string& flags, const std::string& answer) {
    out += "    " + verb + ") if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"" + flags +
           "\" -- \"$cur\")); else " + answer + "; fi ;;\n";
  };
  branch("\"\"", common, "COMPREPLY=($(compgen -W \"" + verbs_of(app) + "\" -- \"$cur\"))");
  for (const CLI::App* verb : visible_verbs(app))
    branch(verb->get_name(), joined(flags_of(*verb)) + " " + common, bash_answer(words_of(*verb)));
  return out + "  esac\n}\ncomplete -o filenames -F _novaphy_host novaphy-host\n";
}

/// The quoted text of a description, for zsh and fish.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string zsh_answer(Kind kind) {
  switch (kind) {
    case Kind::files:
      return "_files";
    case Kind::folders:
      return "_files -/";
    case Kind::levels:
      return "compadd -- " + std::string(kLevels);
    case Kind::plugins:
      return "compadd -- ${(f)\"$($words[1] names plugins 2>/dev/null)\"}";
    case Kind::demos:
      return "compadd -- ${(f)\"$($words[1] names demos 2>/dev/null)\"}";
    case Kind::parts:
      return "compadd -- " + std::string(kParts);
    case Kind::shells:
      return "compadd -- " + std::string(kShells);
    case Kind::nothing:
      break;
  }
  return "_message 'a value'";
}

std::string zsh_script(const CLI::App& app) {
  std::string out =
      "#compdef novaphy-host\n"
      "# completion of novaphy-host for zsh: save as _novaphy-host in a folder of $fpath\n"
      "local verb= word\n"
      "for word in ${words[2,CURRENT-1]}; do\n  case $word in\n    ";
  std::string alternatives = verbs_of(app);
  for (std::size_t at = 0; (at = alternatives.find(' ', at)) != std::string::npos;) alternatives[at] = '|';
  out += alternatives + ") verb=$word; break ;;\n  esac\ndone\ncase ${words[CURRENT-1]} in\n";
  for (const Valued& valued : valued_flags(app))
    out += "  " + valued.flag + ") " + zsh_answer(valued.kind) + "; return ;;\n";
  out += "esac\ncase $verb in\n";
  const std::string common = joined(flags_of(app));
  out += "  '') if [[ $PREFIX == -* ]]; then compadd -- " + common + "; else compadd -- " + verbs_of(app) +
         "; fi ;;\n";
  for (const CLI::App* verb : visible_verbs(app))
    out += "  " + verb->get_name() + ") if [[ $PREFIX == -* ]]; then compadd -- " + joined(flags_of(*verb)) +
           " " + common + "; else " + zsh_answer(words_of(*verb)) + "; fi ;;\n";
  return out + "esac\n";
}

std::string fish_answer(Kind kind) {
  switch (kind) {
    case Kind::files:
      return " -F";
    case Kind::folders:
      return " -f -a '(__fish_complete_directories)'";
    case Kind::levels:
      return " -f -a '" + std::string(kLevels) + "'";
    case Kind::plugins:
      return " -f -a '(novaphy-host names plugins 2>/dev/null)'";
    case Kind::demos:
      return " -f -a '(novaphy-host names demos 2>/dev/null)'";
    case Kind::parts:
      return " -f -a '" + std::string(kParts) + "'";
    case Kind::shells:
      return " -f -a '" + std::string(kShells) + "'";
    case Kind::nothing:
      break;
  }
  return " -f";
}

void fish_flags(const CLI::App& app, const std::string& condition, std::string& out) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      out += "complete -c novaphy-host" + condition + " -l " + name + " -d " +
             quoted(option->get_description()) +
             (option->get_items_expected_max() > 0 ? " -r" + fish_answer(kind_of(*option)) : std::string()) +
             "\n";
}

std::string fish_script(const CLI::App& app) {
  std::string out =
      "# completion of novaphy-host for fish: save as novaphy-host.fish in a completions folder\n"
      "complete -c novaphy-host -f\n";
  fish_flags(app, "", out);
  for (const CLI::App* verb : visible_verbs(app)) {
    out += "complete -c novaphy-host -n __fish_use_subcommand -a " + verb->get_name() + " -d " +
           quoted(verb->get_description()) + "\n";
    const std::string condition = " -n '__fish_seen_subcommand_from " + verb->get_name() + "'";
    fish_flags(*verb, condition, out);
    if (const Kind kind = words_of(*verb); kind != Kind::nothing)
      out += "complete -c novaphy-host" + condition + fish_answer(kind) + "\n";
  }
  return out;
}

}  // namespace

Action add_completion(CLI::App& app, const Common&) {
  CLI::App* verb =
      app.add_subcommand("completion", "A completion script: source <(novaphy-host completion bash)");
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  return [&app, shell] {
    if (*shell == "bash")
      std::cout << bash_script(app);
    else if (*shell == "zsh")
      std::cout << zsh_script(app);
    else if (*shell == "fish")
      std::cout << fish_script(app);
    else
      throw Exit{kUsage, "no completion for '" + *shell + "'; there are: bash, zsh, fish"};
    return int{kOk};
  };
}

Action add_names(CLI::App& app, const Common& common) {
  CLI::App* verb = app.add_subcommand("names", "Names for a completion script, one a line")->group("");
  const auto kind = std::make_shared<std::string>();
  verb->add_option("KIND", *kind)->required()->check(CLI::IsMember({"plugins", "demos"}));
  return [&common, kind] {
    const Runtime& runtime = start_runtime(common);
    std::set<std::string> names;
    if (*kind == "demos")
      for (const ProvidedInterface& item : runtime.list(IDemo::kId)) names.insert(item.name);
    else
      for (const ReportRow& row : runtime.report()) names.insert({row.plugin, row.module});
    names.erase("");
    for (const std::string& name : names) std::cout << name << "\n";
    return int{kOk};
  };
}

}  // namespace novaphy::host
