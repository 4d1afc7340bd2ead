// SPDX-License-Identifier: Apache-2.0
// One folder as a user may have it: good plugins, a link to one, and one of each kind
// that does not load. Nothing is passed over in silence, and nothing else is affected.
#include <doctest/doctest.h>

#include "fixtures/plugins/greeting.hpp"
#include "novaphy/api.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kBroken = {"missing_dependency", "undefined_symbol", "lying_abi", "throws"};

struct PluginFolder {
  test::ScratchFolder folder;
  const std::string place = folder.str("plugins"), elsewhere = folder.str("elsewhere");

  PluginFolder() {
    fs::create_directories(place);
    fs::create_directories(elsewhere);
    copy("good", place);
    for (const std::string& name : kBroken) copy(name, place);
    copy("linked", elsewhere);
    fs::create_directory_symlink("../elsewhere/linked", place + "/linked");
    copy("good", folder.str("twice"));
  }
  static void copy(const std::string& name, const std::string& to) {
    fs::create_directories(to);
    fs::copy(test::kAll + "/" + name, to + "/" + name, fs::copy_options::recursive);
  }
  std::string manifest(const std::string& name) const {
    return place + "/" + name + "/" + name + ".novaplugin.json";
  }
  std::string library(const std::string& name) const {
    return place + "/" + name + "/libnovaphy_" + name + ".so";
  }
  RuntimeOptions options() const {
    RuntimeOptions out;
    out.paths = {place, folder.str("twice")};
    return out;
  }
};

}  // namespace

TEST_CASE(
    "good and linked plugins load, each other one is listed with its path and the loader's reason") {
  const PluginFolder plugins;
  const WithRuntime runtime(plugins.options());
  std::map<std::string, std::string> reasons = {
      {"good", ""},
      {"linked", ""},
      {"missing_dependency",
       "cannot load " + plugins.library("missing_dependency") +
           ": libfixture_gone.so: cannot open shared object file: No such file or directory; install "
           "the package that has it"},
      {"undefined_symbol",
       "cannot load " + plugins.library("undefined_symbol") +
           ": undefined symbol: function_of_another_sdk; built against another SDK, or a missing link "
           "library"},
      {"lying_abi", "built for plugin ABI 2, this runtime speaks 1"},
      {"throws", "load threw: the lookup table is empty"}};
  for (const auto& [name, reason] : reasons)
    CHECK(runtime.load(name) ==
          (reason.empty() ? "" : "plugin '" + name + "' isn't loaded: failed: " + reason));
  std::size_t listed = 0, shadowed = 0;
  for (const ReportRow& row : runtime->report()) {
    if (!row.path.starts_with(plugins.folder.str())) continue;
    ++listed;
    if (row.state == PluginState::skipped) {
      ++shadowed;
      CHECK(row.problems[0].line() == "NP210 " + plugins.folder.str("twice/good/good.novaplugin.json") +
                                          ": shadowed by " + plugins.manifest("good") + ", found earlier");
      continue;
    }
    CHECK(row.reason == reasons.at(row.plugin));
    CHECK(row.path == (row.plugin == "linked" ? plugins.elsewhere + "/linked/linked.novaplugin.json"
                                              : plugins.manifest(row.plugin)));
  }
  CHECK(listed == 7);
  CHECK(shadowed == 1);
  for (const char* name : {"good", "linked"})
    CHECK(find<test::IGreeting>(name).greet() == std::string("hello from ") + name);
}

TEST_CASE("asking for an absent name lists the names that exist and the folders searched") {
  const PluginFolder plugins;
  RuntimeOptions options = plugins.options();
  options.safe = false;
  const WithRuntime runtime(options);
  const std::string searched = "searched: " + plugins.place + ", " + plugins.folder.str("twice") +
                               ", /nonexistent/novaphy/plugins, " + test::kBesideRuntime;
  CHECK_THROWS_WITH_AS(
      find<test::IGreeting>("absent"),
      ("no test.IGreeting/1 is named 'absent'; there are: good, linked, lying_abi, missing_dependency, "
       "throws, undefined_symbol; " +
       searched)
          .c_str(),
      Error);
  const std::string text = runtime.load("absent");
  CHECK(text.starts_with("no plugin or module is named 'absent'; there are: "));
  for (const std::string& name : kBroken) CHECK(text.find(name) != std::string::npos);
  CHECK(text.ends_with(searched));
}

TEST_CASE("a plugin of another interface version is refused before anything else in it is called") {
  const PluginFolder plugins;
  const WithRuntime runtime(plugins.options());
  // its load would abort this process
  CHECK(runtime.verdict("lying_abi") == "ready");
  CHECK(runtime.load("lying_abi").ends_with("built for plugin ABI 2, this runtime speaks 1"));
}

TEST_CASE("an explicit path loads from a folder that is not searched") {
  const PluginFolder plugins;
  RuntimeOptions options;
  options.paths = {plugins.folder.str("nothing")};
  options.manifests = {plugins.elsewhere + "/linked/linked.novaplugin.json"};
  const WithRuntime runtime(options);
  CHECK(runtime.load("linked") == "");
  CHECK(find<test::IGreeting>("linked").greet() == "hello from linked");
}
