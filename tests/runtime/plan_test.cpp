// SPDX-License-Identifier: Apache-2.0
// The resolver as a pure function of texts.
#include "resolve/plan.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace novaphy;

namespace {

using Modules = std::map<std::string, std::string>;  // module -> further members of it

/// A manifest of one plugin in folder /p.
ManifestFile plugin(const std::string& name, const Modules& modules, const std::string& top = "",
                    const std::string& version = "0.1.0", const std::string& folder = "/p") {
  std::string list;
  for (const auto& [module, members] : modules)
    list += (list.empty() ? "" : ", ") + std::string("{\"name\": \"") + module +
            "\", \"library\": \"lib.so\", \"abi\": \"1.0\"" + (members.empty() ? "" : ", " + members) + "}";
  const std::string text = "{\"schema\": 1, \"name\": \"" + name + "\", \"version\": \"" + version +
                           "\", \"modules\": [" + list + "]" + (top.empty() ? "" : ", " + top) + "}";
  return read_manifest_text(folder + "/" + name + "/" + name + ".novaplugin.json", text);
}

ManifestFile plain(const std::string& name, const std::string& members = "") {
  return plugin(name, {{name, members}});
}

std::string needs(const std::string& name, const std::string& range = "*") {
  return "\"requires\": {\"" + name + "\": \"" + range + "\"}";
}

struct Result {
  std::vector<ManifestFile> files;
  Plan plan;

  const PlannedModule& row(const std::string& module) const {
    for (const PlannedModule& row : plan.rows)
      if (row.module ? files[row.file].manifest.modules[*row.module].name == module
                     : files[row.file].name == module)
        return row;
    throw std::runtime_error("no row " + module);
  }
  std::string order() const {
    std::string out;
    for (const std::size_t i : plan.order)
      out += (out.empty() ? "" : " ") + files[plan.rows[i].file].manifest.modules[*plan.rows[i].module].name;
    return out;
  }
  /// "state: line, line".
  std::string verdict(const std::string& module) const {
    std::string out = to_string(row(module).state);
    for (const PluginProblem& problem : row(module).problems) out += " | " + problem.line();
    return out;
  }
};

Result resolve(std::vector<ManifestFile> files, const HostConfig& host = {}) {
  const Facts facts{{{0, 1, 0}}, "linux-x86_64", 1, 0, {"/p", "/q"}};
  Result out{std::move(files), {}};
  out.plan = make_plan(out.files, host, facts);
  return out;
}

HostConfig disabling(const std::string& name) {
  HostConfig host;
  host.disable.push_back({name, "/h.json", "/disable/0", true});
  return host;
}

HostConfig listing(std::initializer_list<const char*> names) {
  HostConfig host;
  host.has_list = true;
  host.list_where = "/h.json#/plugins";
  for (const char* name : names) host.plugins.push_back({name, "/h.json", "/plugins/0", true});
  return host;
}

}  // namespace

TEST_CASE("modules load in order of phase, then after what they require, then by name") {
  const Result r = resolve({plain("zeta"), plain("alpha", needs("zeta")), plain("beta"),
                            plain("gpu", "\"phase\": \"device\""), plain("a_viewer", "\"phase\": \"late\"")});
  CHECK(r.order() == "gpu beta zeta alpha a_viewer");
}

TEST_CASE("the order does not depend on the order in which manifests are found") {
  CHECK(resolve({plain("aa", needs("bb")), plain("bb"), plain("cc")}).order() ==
        resolve({plain("cc"), plain("bb"), plain("aa", needs("bb"))}).order());
}

TEST_CASE("an optional module loads first where it is there, and its absence is no error") {
  CHECK(resolve({plain("aa", "\"optional\": {\"zz\": \"*\"}"), plain("zz")}).order() == "zz aa");
  CHECK(resolve({plain("aa", "\"optional\": {\"zz\": \"*\"}")}).order() == "aa");
  CHECK(resolve({plain("aa", "\"optional\": {\"bb\": \"*\"}"), plain("bb", "\"optional\": {\"aa\": \"*\"}")})
            .order() == "bb aa");
  const Result old = resolve({plain("aa", "\"optional\": {\"zz\": \">=0.2\"}"), plain("zz")});
  CHECK(old.order() == "aa zz");
  CHECK(old.row("aa").notes == std::vector<std::string>{"would use 'zz' >=0.2, found 0.1.0"});
}

TEST_CASE("NP201 and NP202: another platform, another release") {
  const Result r = resolve({plugin("arm", {{"arm", ""}}, "\"platforms\": [\"linux-aarch64\"]"),
                            plugin("newer", {{"newer", ""}}, "\"runtime\": \">=0.2\"")});
  CHECK(r.verdict("arm") ==
        "skipped | NP201 /p/arm/arm.novaplugin.json: is for linux-aarch64, this is linux-x86_64");
  CHECK(r.verdict("newer") ==
        "skipped | NP202 /p/newer/newer.novaplugin.json: needs NovaPhy >=0.2, this is 0.1.0");
  CHECK(r.order() == "");
}

TEST_CASE("NP203: a requirement that was not found names the places searched") {
  CHECK(resolve({plain("vbd", needs("collision", ">=0.1 <0.2"))}).verdict("vbd") ==
        "blocked | NP203 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'collision' >=0.1 <0.2, which was "
        "not found; searched: /p, /q");
}

TEST_CASE("NP203: a plugin's name where a module's is wanted is told with the modules to choose from") {
  const Result r =
      resolve({plain("vbd", needs("nova_diff")), plugin("nova_diff", {{"nova", ""}, {"nova_jit", ""}})});
  CHECK(
      r.verdict("vbd") ==
      "blocked | NP203 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'nova_diff', which was not found: it "
      "is a plugin; require a module of it: nova, nova_jit. Searched: /p, /q");
}

TEST_CASE("NP203: a misspelt requirement has a hint, and a name that is only similar has none") {
  const Result r = resolve({plain("vbd", needs("colision")), plain("collision"),
                            plain("user", needs("vbd_cuda")), plain("vbd_diff")});
  CHECK(
      r.verdict("vbd") ==
      "blocked | NP203 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'colision', which was not found; did "
      "you mean 'collision'? Searched: /p, /q");
  CHECK(r.verdict("user") ==
        "blocked | NP203 /p/user/user.novaplugin.json#/modules/0: requires 'vbd_cuda', which was not found; "
        "searched: /p, /q");
}

TEST_CASE("NP204: a requirement of another version") {
  CHECK(resolve({plain("vbd", needs("collision", ">=0.2")), plain("collision")}).verdict("vbd") ==
        "blocked | NP204 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'collision' >=0.2, found 0.1.0 at "
        "/p/collision/collision.novaplugin.json");
}

TEST_CASE("NP205: a requirement that is refused is quoted with its own line") {
  ManifestFile broken = read_manifest_text("/p/collision/collision.novaplugin.json", "[]");
  CHECK(resolve({plain("vbd", needs("collision")), broken}).verdict("vbd") ==
        "blocked | NP205 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'collision', which failed: "
        "NP103 /p/collision/collision.novaplugin.json: must hold a JSON object, holds an array");
  CHECK(resolve(
            {plain("vbd", needs("arm")), plugin("arm", {{"arm", ""}}, "\"platforms\": [\"linux-aarch64\"]")})
            .verdict("vbd") ==
        "blocked | NP205 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'arm', which is for linux-aarch64, "
        "this is linux-x86_64");
}

TEST_CASE("NP206: what the host disables blocks whoever requires it, and is not enabled again") {
  const Result r = resolve({plain("vbd", needs("collision")), plain("collision")}, disabling("collision"));
  CHECK(r.verdict("collision") ==
        "disabled | NP206 /p/collision/collision.novaplugin.json#/modules/0: is disabled by "
        "/h.json#/disable/0");
  CHECK(r.verdict("vbd") ==
        "blocked | NP206 /p/vbd/vbd.novaplugin.json#/modules/0: requires 'collision', which is disabled by "
        "/h.json#/disable/0");
}

TEST_CASE("a chain of requirements is one sentence down to its root, the shortest of several") {
  const Result r = resolve(
      {plugin("nova_diff", {{"nova", ""}}),
       plugin("collision", {{"collision", ""}, {"collision_diff", needs("nova")}}),
       plugin("semi",
              {{"semi", ""}, {"semi_diff", "\"requires\": {\"collision_diff\": \"*\", \"nova\": \"*\"}"}}),
       plain("demos", needs("semi_diff"))},
      disabling("nova_diff"));
  CHECK(r.verdict("demos") ==
        "blocked | NP206 /p/demos/demos.novaplugin.json#/modules/0: requires 'semi_diff', which requires "
        "'nova', "
        "which is disabled by /h.json#/disable/0");
  CHECK(r.order() == "collision semi");
}

TEST_CASE("whatever the root is, the last of a chain of optional modules tells the whole of it") {
  const auto reason = [](const ManifestFile& root, const std::string& range = "*",
                         const HostConfig& host = {}) {
    const Result r = resolve(
        {root, plugin("nova_diff", {{"nova", ""}, {"nova_jit", needs("root", range)}}),
         plugin("vbd", {{"vbd", ""}, {"vbd_diff", needs("nova_jit")}}), plain("demos", needs("vbd_diff"))},
        host);
    CHECK(r.row("vbd").state == PluginState::ready);  // what does not need it goes on
    CHECK(r.row("demos").state == PluginState::blocked);
    const std::string begin = "requires 'vbd_diff', which requires 'nova_jit', which requires 'root'";
    const std::string whole = r.row("demos").reason();
    CHECK(whole.starts_with(begin));
    return r.row("demos").problems.front().code + whole.substr(begin.size());
  };
  CHECK(reason(plain("other")) == "NP203, which was not found; searched: /p, /q");
  CHECK(reason(plain("root"), ">=2.0") == "NP204 >=2.0, found 0.1.0 at /p/root/root.novaplugin.json");
  CHECK(reason(plain("root"), "*", disabling("root")) == "NP206, which is disabled by /h.json#/disable/0");
  CHECK(reason(plugin("root", {{"root", ""}}, "\"platforms\": [\"linux-aarch64\"]")) ==
        "NP205, which is for linux-aarch64, this is linux-x86_64");
  CHECK(reason(plugin("root", {{"root", ""}}, "\"runtime\": \">=3.0\"")) ==
        "NP205, which needs NovaPhy >=3.0, this is 0.1.0");
  CHECK(reason(read_manifest_text("/p/root/root.novaplugin.json", "[]")) ==
        "NP205, which failed: NP103 /p/root/root.novaplugin.json: must hold a JSON object, holds an array");
  ManifestFile unbuilt = plain("root");
  unbuilt.missing_libraries.insert("root");
  CHECK(
      reason(unbuilt) ==
      "NP205, which failed: NP301 /p/root/root.novaplugin.json#/modules/0: library lib.so not found; was the "
      "plugin built?");
}

TEST_CASE("a single module can be disabled, and its plugin's others stay") {
  const Result r = resolve({plugin("vbd", {{"vbd", ""}, {"vbd_diff", ""}})}, disabling("vbd_diff"));
  CHECK(r.order() == "vbd");
}

TEST_CASE("a list of the host takes these and what they require") {
  const Result r =
      resolve({plain("demos", needs("semi")), plain("semi"), plain("other")}, listing({"demos"}));
  CHECK(r.order() == "semi demos");
  CHECK(r.verdict("other") ==
        "disabled | NP206 /p/other/other.novaplugin.json#/modules/0: is not in the list /h.json#/plugins");
}

TEST_CASE("a plugin that is not enabled by itself is used when it is required or listed") {
  const ManifestFile quiet = plugin("quiet", {{"quiet", ""}}, "\"enabled\": false");
  CHECK(resolve({quiet}).verdict("quiet") ==
        "disabled | NP206 /p/quiet/quiet.novaplugin.json#/modules/0: is disabled by "
        "/p/quiet/quiet.novaplugin.json#/enabled");
  CHECK(resolve({quiet, plain("user", needs("quiet"))}).order() == "quiet user");
  CHECK(resolve({quiet}, listing({"quiet"})).order() == "quiet");
}

TEST_CASE("NP207: a cycle is named, and whoever requires a member of it is blocked") {
  const Result r = resolve({plain("aa", needs("bb")), plain("bb", needs("cc")), plain("cc", needs("aa")),
                            plain("dd", needs("bb"))});
  CHECK(r.verdict("aa") ==
        "blocked | NP207 /p/aa/aa.novaplugin.json#/modules/0: dependency cycle: aa -> bb -> cc -> aa");
  CHECK(r.verdict("cc") ==
        "blocked | NP207 /p/cc/cc.novaplugin.json#/modules/0: dependency cycle: aa -> bb -> cc -> aa");
  CHECK(r.verdict("dd") ==
        "blocked | NP207 /p/dd/dd.novaplugin.json#/modules/0: requires 'bb', which is in a dependency cycle: "
        "aa -> bb -> cc -> aa");
}

TEST_CASE("NP208: an earlier phase cannot require a later one") {
  CHECK(resolve({plain("gpu", "\"phase\": \"device\", " + needs("vbd")), plain("vbd")}).verdict("gpu") ==
        "blocked | NP208 /p/gpu/gpu.novaplugin.json#/modules/0: phase 'device' cannot require 'vbd' of phase "
        "'default'");
}

TEST_CASE("NP209: of two that conflict, the one that says so does not load") {
  const Result r = resolve({plain("vbd_cuda", "\"conflicts\": [\"vbd_dlan\"]"), plain("vbd_dlan")});
  CHECK(r.verdict("vbd_cuda") ==
        "blocked | NP209 /p/vbd_cuda/vbd_cuda.novaplugin.json#/modules/0: conflicts with 'vbd_dlan', which "
        "is enabled too; disable one");
  CHECK(r.verdict("vbd_dlan") == "ready");
  CHECK(
      resolve({plain("vbd_cuda", "\"conflicts\": [\"vbd_dlan\"]"), plain("vbd_dlan")}, disabling("vbd_dlan"))
          .verdict("vbd_cuda") == "ready");
}

TEST_CASE("NP210: of two manifests with one name the first wins and the second is shown") {
  const Result r = resolve({plain("vbd"), plugin("vbd", {{"vbd", ""}}, "", "0.3.0", "/q")});
  CHECK(r.order() == "vbd");
  REQUIRE(r.plan.rows.size() == 2);
  CHECK(r.plan.rows[1].state == PluginState::skipped);
  CHECK(r.plan.rows[1].problems[0].line() ==
        "NP210 /q/vbd/vbd.novaplugin.json: shadowed by /p/vbd/vbd.novaplugin.json, found earlier");
}

TEST_CASE("NP211: one item or module of two plugins belongs to the first") {
  const std::string provides =
      "\"provides\": [{\"interface\": \"novaphy.ISolverFactory/1\", \"name\": \"vbd\"}]";
  CHECK(resolve({plain("acme_vbd", provides), plain("vbd", provides)}).verdict("vbd") ==
        "blocked | NP211 /p/vbd/vbd.novaplugin.json#/modules/0/provides/0: provides novaphy.ISolverFactory/1 "
        "'vbd', already provided by 'acme_vbd'");
  const Result r = resolve({plugin("one", {{"same", ""}}), plugin("two", {{"same", ""}})});
  CHECK(r.plan.rows[1].problems[0].line() ==
        "NP211 /p/two/two.novaplugin.json#/modules/0/name: module 'same' already belongs to plugin 'one'");
}

TEST_CASE(
    "NP301: a library that is not there fails before anything is opened, unless its requirements say more") {
  ManifestFile file = plain("vbd");
  file.missing_libraries.insert("vbd");
  CHECK(resolve({file}).verdict("vbd") ==
        "failed | NP301 /p/vbd/vbd.novaplugin.json#/modules/0: library lib.so not found; was the plugin "
        "built?");
  ManifestFile user = plain("user", needs("nova"));
  user.missing_libraries.insert("user");
  CHECK(resolve({user}).verdict("user") ==
        "blocked | NP203 /p/user/user.novaplugin.json#/modules/0: requires 'nova', which was not found; "
        "searched: /p, /q");
}

TEST_CASE("state and reason make one sentence") {
  CHECK(state_and_reason(PluginState::blocked, "requires 'x', which is disabled by F") ==
        "blocked: requires 'x', which is disabled by F");
  CHECK(state_and_reason(PluginState::disabled, "is disabled by F") == "disabled by F");
  CHECK(state_and_reason(PluginState::disabled, "is not in the list F") == "disabled: is not in the list F");
  CHECK(state_and_reason(PluginState::unavailable, "unavailable: no GPU") == "unavailable: no GPU");
}
