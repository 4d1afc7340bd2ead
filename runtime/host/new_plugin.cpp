// SPDX-License-Identifier: Apache-2.0
// novaphy-host new-plugin NAME: writes a plugin that builds, passes its tests and passes 'check'.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <regex>
#include <set>

#include "novaphy/version.h"
#include "platform/files.hpp"
#include "platform/host/machine_facts.hpp"
#include "platform/host/own_process.hpp"
#include "template_text.hpp"
#include "verbs.hpp"

namespace novaphy::host {
namespace {

namespace fs = std::filesystem;

struct NewPlugin {
  std::string name, folder = ".";
  std::vector<std::string> parts;
};

const std::vector<std::string>& known_parts() {
  static const std::vector<std::string> all = {"python", "solver", "force", "demo"};
  return all;
}

/// The template beside this program: in the build folder, an installation and the Python package alike.
fs::path template_folder() {
  const fs::path folder = platform::own_program().parent_path().parent_path() / "share/novaphy/template";
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail(ErrorKind::generic, "the template ", folder.string(), " does not exist; install NovaPhy again");
  return folder;
}

bool is_word_of_cpp(const std::string& name) {
  static const std::set<std::string> words = {
      "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
      "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
      "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
      "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
      "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
      "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
      "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
      "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
      "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
      "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
      "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
      "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
      "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
      "xor_eq"};
  return words.contains(name);
}

/// What stands in the way of the name as a namespace and as a plugin; empty when nothing does.
std::string taken_by(const std::string& name) {
  static const std::set<std::string> namespaces = {"std", "posix", "novaphy", "nova"};
  if (is_word_of_cpp(name)) return "is a word of C++";
  if (namespaces.contains(name)) return "is the name of a namespace";
  if (name == "main" || name == "assert" || name == "errno" || platform::is_name_of_c_library(name))
    return "is a name of the C library";
  RuntimeOptions bundled;
  bundled.safe = bundled.plan_only = true;
  const bool is_plugin = !Runtime::start(std::move(bundled)).info(name).empty();
  return is_plugin ? "is the name of a plugin that comes with NovaPhy" : "";
}

void check_name(const std::string& name) {
  static const std::regex pattern("[a-z][a-z0-9_]{1,31}");
  if (!std::regex_match(name, pattern))
    throw Exit{kUsage, "NP109 command line: '" + name + "' must match [a-z][a-z0-9_]{1,31}"};
  if (const std::string by = taken_by(name); !by.empty())
    throw Exit{kUsage, "new-plugin: '" + name + "' " + by +
                           ", and a plugin's name is its namespace too; choose another, " + "such as 'my_" +
                           name + "'"};
}

/// The chosen parts; a Python extension binds the solver, so it brings one.
std::set<std::string> chosen_parts(const std::vector<std::string>& wanted) {
  for (const std::string& part : wanted) {
    if (std::find(known_parts().begin(), known_parts().end(), part) != known_parts().end()) continue;
    throw Exit{kUsage, "--with " + part + ": there is no such part" + known_names(part, known_parts())};
  }
  std::set<std::string> parts(wanted.begin(), wanted.end());
  if (parts.contains("python")) parts.insert("solver");
  return parts;
}

/// "AcmeSph" of "acme_sph".
std::string pascal_case(const std::string& name) {
  std::string out;
  bool upper = true;
  for (const char letter : name) {
    if (letter != '_')
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    upper = letter == '_';
  }
  return out;
}

TemplateValues values_for(const NewPlugin& wanted) {
  constexpr int major = NOVAPHY_SDK_VERSION_MAJOR, minor = NOVAPHY_SDK_VERSION_MINOR;
  const std::string sdk = std::to_string(major) + "." + std::to_string(minor);
  const std::string next = major == 0 ? "0." + std::to_string(minor + 1) : std::to_string(major + 1);
  TemplateValues out;
  out.parts = chosen_parts(wanted.parts);
  const std::string pascal = pascal_case(wanted.name);
  std::string gives;
  const auto give = [&](const char* part, const std::string& text) {
    if (out.parts.contains(part)) gives += (gives.empty() ? "" : ", ") + text;
  };
  give("solver", "`Solver" + pascal + "` (`novaphy.ISolverFactory/1`)");
  give("force", "force `" + wanted.name + "_drag` (`novaphy.x.IForce/1`) for both semi-implicit solvers");
  give("demo", "demo `" + wanted.name + "_fall` (`novaphy.IDemo/1`)");
  out.values = {{"name", wanted.name},
                {"Name", pascal},
                {"sdk", sdk},
                {"runtime", ">=" + sdk + " <" + next},
                {"gives", gives.empty() ? "nothing yet" : gives}};
  return out;
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    fail(ErrorKind::generic, "cannot write ", path.string(),
         "; is the folder writable and the disk not full?");
}

std::size_t write_files(const fs::path& from, const fs::path& to, const TemplateValues& values) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    const platform::FileText text = platform::read_file(entry.path(), 1 << 20);
    if (!text.error.empty()) fail(ErrorKind::generic, entry.path().string(), " cannot be read: ", text.error);
    auto filled = fill_template(text.text, values);
    if (!filled) continue;
    const fs::path below = fill_values(entry.path().lexically_relative(from).string(), values);
    write(to / below, below.extension() == ".json" ? without_last_commas(*filled) : *filled);
    ++count;
  }
  return count;
}

int make_plugin(const NewPlugin& wanted) {
  check_name(wanted.name);
  const TemplateValues values = values_for(wanted);
  const fs::path folder = (fs::path(wanted.folder) / wanted.name).lexically_normal();
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)))
    throw Exit{kUsage, folder.string() + " exists already; choose another name or another folder"};
  std::size_t count = 0;
  try {
    count = write_files(template_folder(), folder, values);
  } catch (const fs::filesystem_error& failed) {
    fail(ErrorKind::generic, "cannot write ", failed.path1().string(), ": ", failed.code().message());
  }
  std::cout << "wrote " << count << " files to " << folder.string() << "\n"
            << "build, test and check it:\n"
            << "  cd " << folder.string() << "\n"
            << "  cmake -S . -B build -DCMAKE_BUILD_TYPE=Release\n"
            << "  cmake --build build\n"
            << "  ctest --test-dir build --output-on-failure\n"
            << "CMake finds NovaPhySDK in CMAKE_PREFIX_PATH, or pass -DNovaPhySDK_DIR=DIR with DIR from\n"
            << "  python -c 'import novaphy; print(novaphy.sdk_cmake_dir())'\n";
  return kOk;
}

}  // namespace

Action add_new_plugin(CLI::App& app, const Common&) {
  CLI::App* verb =
      app.add_subcommand("new-plugin", "Writes the folder of a new plugin, ready to build, test and check");
  const auto wanted = std::make_shared<NewPlugin>();
  verb->add_option("NAME", wanted->name, "The plugin's name, such as acme_sph: [a-z][a-z0-9_]{1,31}")
      ->required()
      ->type_name("NAME");
  verb->add_option("DIR", wanted->folder, "Where its folder is made")
      ->type_name("DIR")
      ->capture_default_str();
  verb->add_option("--with", wanted->parts, "Parts, separated by commas: python, solver, force, demo")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PARTS");
  return [wanted] { return make_plugin(*wanted); };
}

}  // namespace novaphy::host
