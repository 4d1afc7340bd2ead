// SPDX-License-Identifier: Apache-2.0
// Manifests that nobody would write: wrong everywhere, enormous, no files at all. Each is refused with a line
// of text, and nothing throws or waits.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "manifest/manifest.hpp"
#include "resolve/plan.hpp"
#include "scratch_folder.hpp"

using namespace novaphy;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSomePath = "/plugins/vbd/vbd.novaplugin.json";

const std::string kWhole =
    R"({"schema": 1, "name": "vbd", "version": "0.1.0", "title": "t", "runtime": ">=0.1",
  "enabled": false, "platforms": ["linux-x86_64"], "authors": ["a"], "x-note": {}, "data": "assets",
  "config": {"iterations": {"type": "integer", "default": 10, "min": 1, "max": 1000, "doc": "sweeps"},
             "law": {"type": "string", "default": "a", "enum": ["a", "b"], "doc": "d"}},
  "modules": [{"name": "vbd", "library": "libnovaphy_vbd.so", "abi": "1.0",
    "requires": {"collision": ">=0.1 <0.2"}, "optional": {"viewer": "*"}, "conflicts": ["vbd_old"],
    "phase": "late", "load": "startup",
    "provides": [{"interface": "novaphy.ISolverFactory/1", "name": "vbd", "summary": "s", "devices": ["cpu"]}],
    "python": {"module": "_novaphy_vbd", "exports": {"novaphy.solvers": ["SolverVBD"]}}}]})";

/// Reads and plans it; every line that comes of it is one short line of UTF-8.
void check_survives(const std::string& text) {
  const std::vector<ManifestFile> files = {read_manifest_text(kSomePath, text)};
  std::vector<std::string> lines;
  for (const PluginProblem& problem : files[0].problems) lines.push_back(problem.line());
  const Plan plan = make_plan(files, {}, {{{0, 1, 0}}, "linux-x86_64", 1, 0, {}});
  for (const PlannedModule& row : plan.rows) lines.push_back(row.clause() + row.reason());
  for (const std::string& line : lines) {
    REQUIRE_NOTHROW(static_cast<void>(json(line).dump()));
    REQUIRE_MESSAGE(std::none_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }), text);
  }
  REQUIRE_MESSAGE(!plan.rows.empty(), text);
}

std::string only_line(const std::string& text) {
  const ManifestFile file = read_manifest_text(kSomePath, text);
  REQUIRE(file.problems.size() == 1);
  return file.problems[0].code + "#" + file.problems[0].pointer + ": " + file.problems[0].text;
}

std::string with(const std::string& member) {
  return R"({"schema": 1, "name": "vbd", "version": "0.1.0", "modules": [
             {"name": "vbd", "library": "l.so", "abi": "1.0"}], )" +
         member + "}";
}

/// Every place in a document.
void each_place(const json& value, const json::json_pointer& at, std::vector<json::json_pointer>& out) {
  out.push_back(at);
  if (value.is_object())
    for (const auto& [key, item] : value.items()) each_place(item, at / key, out);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) each_place(value[i], at / i, out);
}

}  // namespace

TEST_CASE("a manifest with any value of the wrong kind anywhere is refused or read, and never throws") {
  const json whole = json::parse(kWhole);
  REQUIRE(read_manifest_text(kSomePath, kWhole).problems.empty());
  std::vector<json::json_pointer> places;
  each_place(whole, json::json_pointer(), places);
  const std::vector<json> values = {nullptr,
                                    true,
                                    -1,
                                    1.5,
                                    1e300,
                                    INT64_MIN,
                                    UINT64_MAX,
                                    "",
                                    "..",
                                    "a\nb",
                                    "\x1b[2J",
                                    json::array(),
                                    json::object(),
                                    "^2147483647",
                                    {1, 2},
                                    {"a"},
                                    {{"", 1}},
                                    {{"name", "vbd"}},
                                    std::string("\0x", 2)};
  for (const json::json_pointer& place : places)
    for (const json& value : values) {
      json changed = whole;
      changed[place] = value;
      check_survives(changed.dump());
    }
}

TEST_CASE("NP102: a number that no float can hold") {
  CHECK(only_line(with("\"x-big\": 1e400")) ==
        "NP102#: holds a number that is too large to read; write a smaller one");
}

TEST_CASE("NP102: bytes that are no UTF-8, and strings without end, are cut and made readable") {
  CHECK(only_line("{\"a\": \"\xff\"}") ==
        "NP102#: not valid JSON at line 1, column 8: invalid string: ill-formed UTF-8 byte; last read "
        "'\"\xef\xbf\xbd'");
  const std::string endless = only_line("{\"a\": \"" + std::string(500000, 'y'));
  CHECK(endless.starts_with(
      "NP102#: not valid JSON at line 1, column 500008: invalid string: missing closing quote; "
      "last read '...yyyy"));
  CHECK(endless.size() < 250);
}

TEST_CASE("control characters are refused where they would do harm, and shown as text elsewhere") {
  CHECK(only_line(with(R"("title": "a\u001b[2Jb")")) == "NP107#/title: must hold no control characters");
  CHECK(only_line(with(R"("data": "a\u0000b")")) == "NP113#/data: 'a\\u0000b' holds a control character");
  CHECK(only_line(with(R"("data": "")")) == "NP113#/data: must not be empty");
  CHECK(only_line(with(R"("a\nb": 1)")) == "NP105#/a\\nb: unknown key");
}

TEST_CASE("long values are not repeated whole, and a long key costs no time") {
  const std::string line = only_line(with("\"runtime\": \"" + std::string(100000, 'z') + "\""));
  CHECK(line == "NP111#/runtime: '" + std::string(80, 'z') + "...' is not a range; write '>=1.0 <2.0'");
  CHECK(only_line(with("\"" + std::string(900000, 'k') + "\": 1")).ends_with(": unknown key"));
  CHECK(only_line(with("\"runtime\": \"^2147483647.0\"")) ==
        "NP111#/runtime: '^2147483647.0' is not a range; write '>=2147483647.0 <2147483648.0'");
}

TEST_CASE("an option of a kind that does not exist has one problem and not two") {
  CHECK(only_line(with(R"("config": {"k": {"type": "text", "default": 1, "doc": "d"}})")) ==
        "NP112#/config/k/type: 'text' is not one of boolean, integer, number, string, array-of-string");
}

TEST_CASE("NP101: what is no file is refused at once") {
  const test::ScratchFolder folder;
  const auto line = [&](const std::string& name) {
    const ManifestFile file = read_manifest(folder.path() / name);
    REQUIRE(file.problems.size() == 1);
    return file.problems[0].code + ": " + file.problems[0].text;
  };
  REQUIRE(mkfifo(folder.str("pipe").c_str(), 0600) == 0);
  fs::create_directory(folder.path() / "folder");
  fs::create_symlink("nowhere", folder.path() / "link");
  fs::create_symlink("circle", folder.path() / "circle");
  folder.write("large", std::string(2 << 20, ' '));
  folder.write("empty", "");
  CHECK(line("pipe") == "NP101: cannot be read: Not a regular file");
  CHECK(line("folder") == "NP101: cannot be read: Is a directory");
  CHECK(line("link") == "NP101: cannot be read: No such file or directory");
  CHECK(line("circle") == "NP101: cannot be read: Too many levels of symbolic links");
  CHECK(line("large") == "NP117: is 2.0 MiB, the limit is 1 MiB");
  CHECK(line("empty") == "NP102: is empty, must hold a JSON object");
}

TEST_CASE("NP117: a chain of thousands of modules is refused, a hundred are planned") {
  const auto chain = [](int length) {
    json whole = json::parse(with("\"title\": \"t\""));
    whole["modules"] = json::array();
    for (int i = 0; i < length; ++i) {
      json module = {{"name", "m" + std::to_string(i)}, {"library", "l.so"}, {"abi", "1.0"}};
      if (i + 1 < length) module["requires"]["m" + std::to_string(i + 1)] = "*";
      whole["modules"].push_back(module);
    }
    return whole.dump();
  };
  CHECK(only_line(chain(5000)) == "NP117#/modules: holds 5000 modules, the limit is 100");
  const std::vector<ManifestFile> files = {read_manifest_text(kSomePath, chain(100))};
  CHECK(make_plan(files, {}, {{{0, 1, 0}}, "linux-x86_64", 1, 0, {}}).order.size() == 100);
}
