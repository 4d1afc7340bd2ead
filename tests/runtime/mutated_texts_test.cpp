// SPDX-License-Identifier: Apache-2.0
// 20,000 manifests and 20,000 host configurations that were changed at random, as documents and as bytes,
// with a fixed seed: each is accepted and planned, or refused with lines that have a code.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "novaphy/reference.hpp"
#include "resolve/host_config.hpp"
#include "resolve/plan.hpp"
#include "scratch_folder.hpp"

using namespace novaphy;
using nlohmann::json;

namespace {

/// 4,000 in slow builds (sanitizers, debug), unless NOVAPHY_TEST_ALL=1 stands in the environment.
int rounds() {
  const char* const all = std::getenv("NOVAPHY_TEST_ALL");
#if defined(__OPTIMIZE__)
  constexpr int kRounds = 20000;
#else
  constexpr int kRounds = 4000;
#endif
  return all != nullptr && *all == '1' ? 20000 : kRounds;
}

const std::string kVbd =
    R"({"schema": 1, "name": "vbd", "version": "0.1.0", "title": "t", "runtime": ">=0.1 <0.2", "enabled": true,
  "platforms": ["linux-x86_64"], "authors": ["a"], "x-note": {"a": [1]}, "data": "assets",
  "config": {"iterations": {"type": "integer", "default": 10, "min": 1, "max": 1000, "doc": "sweeps"},
             "law": {"type": "string", "default": "a", "enum": ["a", "b"], "doc": "d"},
             "tags": {"type": "array-of-string", "default": ["a"], "doc": "d"}},
  "modules": [{"name": "vbd", "library": "libnovaphy_vbd.so", "abi": "1.0",
    "requires": {"collision": ">=0.1 <0.2"}, "optional": {"viewer": "*"}, "conflicts": ["vbd_old"],
    "phase": "default", "load": "lazy",
    "provides": [{"interface": "novaphy.ISolverFactory/1", "name": "vbd", "summary": "s", "devices": ["cpu"]}],
    "python": {"module": "_novaphy_vbd", "exports": {"novaphy.solvers": ["SolverVBD"]}}},
   {"name": "vbd_diff", "library": "libnovaphy_vbd_diff.so", "abi": "1.0", "phase": "late",
    "requires": {"vbd": "=0.1.0", "nova": ">=0.1 <0.2"}}]})";
const std::string kCollision = R"({"schema": 1, "name": "collision", "version": "0.1.0", "modules": [
  {"name": "collision", "library": "l.so", "abi": "1.0", "optional": {"vbd": "*"}}]})";
const std::string kHost =
    R"({"schema": 1, "plugins": ["collision", {"name": "vbd", "required": false}], "disable": ["vbd_diff"],
  "paths": ["../mine", "/abs"], "on_error": "continue", "x-note": 1,
  "sha256": {"vbd": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
  "config": {"vbd": {"iterations": 20, "law": "b", "tags": ["x", "y"]}}})";

/// Values that readers trip over.
const std::vector<json>& odd_values() {
  static const std::vector<json> values = {nullptr,
                                           true,
                                           0,
                                           -1,
                                           1.5,
                                           1e300,
                                           INT64_MIN,
                                           UINT64_MAX,
                                           2147483648LL,
                                           "",
                                           "..",
                                           "a\nb",
                                           "\x1b[2J",
                                           "vbd",
                                           "*",
                                           ">=0.1",
                                           "^99999999999999999999.1",
                                           "1.0",
                                           "0.1.0",
                                           "99999999999999999999.0.0",
                                           "novaphy.ISolverFactory/1",
                                           "late",
                                           "integer",
                                           "array-of-string",
                                           std::string("\0x", 2),
                                           std::string(3000, 'y'),
                                           json::array(),
                                           json::object(),
                                           {1, 2},
                                           {"a", "a"},
                                           {{"", 1}},
                                           {{"name", "vbd"}},
                                           {{"type", "integer"}, {"default", 1}, {"doc", ""}},
                                           {{"vbd", "*"}}};
  return values;
}

class Mutator {
 public:
  std::string operator()(const std::string& text) {
    json document = json::parse(text);
    for (std::size_t edits = below(4); edits > 0; --edits) change(document);
    std::string out = document.dump(below(4) == 0 ? 2 : -1);
    if (below(3) == 0) damage(out);
    return out;
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_()) % n; }

 private:
  json& any_place(json& root) {
    json* at = &root;
    while (!at->empty() && at->is_structured() && below(6) != 0)
      at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(below(at->size())));
    return *at;
  }

  void change(json& root) {
    json& place = any_place(root);
    switch (below(8)) {
      case 0:
        place = odd_values()[below(odd_values().size())];
        break;
      case 1:  // something from elsewhere
        place = json(any_place(root));
        break;
      case 2:
        if (place.is_array() && !place.empty()) place.push_back(place[below(place.size())]);
        if (place.is_object() && !place.empty())
          place.erase(std::next(place.begin(), static_cast<std::ptrdiff_t>(below(place.size()))));
        break;
      case 3:
        if (place.is_object() && !place.empty()) rename(place);
        break;
      case 4:
        for (std::size_t levels = 1 + below(20); levels > 0; --levels) place = json::array({place});
        break;
      case 5:
        if (place.is_object()) place[misspelt("requires")] = odd_values()[below(odd_values().size())];
        break;
      case 6:
        if (place.is_string()) place = misspelt(place.get<std::string>());
        break;
      default:
        if (place.is_array())
          for (std::size_t count = below(200); count > 0; --count)
            place.push_back(odd_values()[below(odd_values().size())]);
        else
          place = place.dump();
    }
  }

  void rename(json& object) {
    const auto at = std::next(object.begin(), static_cast<std::ptrdiff_t>(below(object.size())));
    const std::string key = at.key();
    json value = *at;
    object.erase(key);
    object[misspelt(key)] = std::move(value);
  }

  std::string misspelt(std::string text) {
    if (text.empty()) return "x";
    const std::size_t at = below(text.size());
    switch (below(3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(' ' + below(95)));
        break;
      default:
        std::swap(text[at], text[below(text.size())]);
    }
    return text;
  }

  void damage(std::string& text) {
    static const std::vector<std::string> pieces = {"{",
                                                    "}",
                                                    "[",
                                                    "]",
                                                    ",",
                                                    ":",
                                                    "\"",
                                                    "null",
                                                    "-",
                                                    "1e999",
                                                    "\\u0000",
                                                    "\xff",
                                                    "\xc3",
                                                    "\xed\xa0\x80",
                                                    "\xef\xbb\xbf",
                                                    "//",
                                                    std::string(1, '\0'),
                                                    "18446744073709551616",
                                                    "\"name\":\"x\","};
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size()),
                        count = below(std::min<std::size_t>(40, text.size() - at)) + 1;
      switch (below(5)) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text.erase(at, count);
          break;
        case 2:
          text.insert(at, std::string(text, at, count));
          break;
        case 3:
          text[at] = static_cast<char>(random_());
          break;
        default:
          text.insert(at, pieces[below(pieces.size())]);
      }
    }
  }

  std::mt19937 random_{20261130};
};

/// One line of readable text, of moderate length, with a code that is documented.
void check_problem(const PluginProblem& problem, const std::string& text) {
  static const std::set<std::string> codes = [] {
    std::set<std::string> out;
    for (const ErrorCode& row : error_codes()) out.insert(row.code);
    return out;
  }();
  const std::string line = problem.line();
  const bool is_line = std::none_of(line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; });
  const bool is_fine = codes.contains(problem.code) && !problem.text.empty() && is_line;
  REQUIRE_MESSAGE(is_fine, line, " of ", text);
  REQUIRE_NOTHROW(static_cast<void>(json(line).dump()));  // throws for what is not UTF-8
}

}  // namespace

TEST_CASE("20,000 mutated manifests are planned, or refused with a code") {
  Mutator mutated;
  const std::vector<ManifestFile> others = {
      read_manifest_text("/plugins/collision/collision.novaplugin.json", kCollision)};
  const int count = rounds();
  int accepted = 0;
  std::set<std::string> codes;
  for (int round = 0; round < count; ++round) {
    const std::string text = mutated(kVbd);
    std::vector<ManifestFile> files = others;
    files.push_back(read_manifest_text("/plugins/vbd/vbd.novaplugin.json", text));
    const Plan plan = make_plan(files, {}, {{{0, 1, 0}}, "linux-x86_64", 1, 0, {"/plugins"}});
    REQUIRE_MESSAGE(plan.rows.size() >= 2, text);
    for (const PlannedModule& row : plan.rows)
      for (const PluginProblem& problem : row.problems) {
        check_problem(problem, text);
        codes.insert(problem.code);
      }
    accepted += files[1].problems.empty() ? 1 : 0;
  }
  // the mutations reach both sides and many checks
  CHECK(accepted > count / 20);
  CHECK(accepted < count * 9 / 10);
  CHECK(codes.size() >= 18);
}

TEST_CASE("20,000 mutated host configurations are obeyed, or refused with a code") {
  Mutator mutated;
  const std::vector<ManifestFile> files = {
      read_manifest_text("/plugins/collision/collision.novaplugin.json", kCollision),
      read_manifest_text("/plugins/vbd/vbd.novaplugin.json", kVbd)};
  const test::ScratchFolder folder;
  const int count = rounds();
  int accepted = 0;
  std::set<std::string> codes;
  for (int round = 0; round < count; ++round) {
    const std::string text = mutated(kHost);
    RuntimeOptions options;
    // a new file each time: a file system may wait for the disk when an old one is written over
    options.config_file = folder.write(std::to_string(round) + ".json", text).string();
    if (round % 4 == 0) options.config_json = mutated(R"({"vbd": {"iterations": 30, "tags": ["z"]}})");
    std::vector<PluginProblem> problems;
    const HostConfig host = read_host_config(options, problems);
    if (problems.empty()) check_host_config(host, files, problems);
    for (const PluginProblem& problem : problems) {
      check_problem(problem, text);
      codes.insert(problem.code);
    }
    std::filesystem::remove(options.config_file);
    if (!problems.empty()) continue;
    ++accepted;
    REQUIRE(make_plan(files, host, {{{0, 1, 0}}, "linux-x86_64", 1, 0, {}}).rows.size() == 3);
    REQUIRE(plugin_options(host, files[1].manifest).contains("iterations"));
  }
  CHECK(accepted > count / 20);
  CHECK(accepted < count * 9 / 10);
  CHECK(codes == std::set<std::string>{"NP401", "NP402", "NP403", "NP404", "NP405", "NP406"});
}
