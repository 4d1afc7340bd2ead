// SPDX-License-Identifier: Apache-2.0
// novaphy-host check: each rule is kept by a healthy plugin and broken by a fixture.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "host_process.hpp"

using nlohmann::json;
using test::HostResult;
using test::run_host;
using test::ScratchFolder;
namespace fs = std::filesystem;

namespace {

const std::string kGood = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all/good/libnovaphy_good.so";
const std::string kNonconforming = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/nonconforming";

/// One check of one fixture, as JSON has it.
json checked(const std::string& plugin, const std::string& id, const std::string& flags = "",
             const std::string& folder = kNonconforming) {
  const HostResult r = run_host("check --json --only " + id + " " + flags + " " + plugin, folder);
  const json out = json::parse(r.out, nullptr, false);
  REQUIRE_MESSAGE(out.is_object(), r.out << r.err);
  const json check = out["plugins"][0]["checks"][0];
  CHECK(check["id"] == id);
  CHECK(r.code == (check["state"] == "failed" ? 4 : 0));
  CHECK(out["passed"] == (check["state"] != "failed"));
  return check;
}

void fails(const std::string& plugin, const std::string& id, const std::string& text,
           const std::string& flags = "") {
  const json check = checked(plugin, id, flags);
  CHECK(check["state"] == "failed");
  CHECK(check["text"].get<std::string>() == "module '" + plugin + "': " + text);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("a healthy plugin passes every check, in TAP's form") {
  const HostResult r = run_host("check needs_good");
  CHECK_MESSAGE(r.code == 0, r.out << r.err);
  CHECK(r.out.starts_with(
      "TAP version 14\n# needs_good 0.1.0 " + std::string(NOVAPHY_BUILD_DIR) +
      "/tests/plugins/all/needs_good/needs_good.novaplugin.json\nok 1 - C01 the manifest is valid"));
  CHECK(r.out.find(
            "ok 10 - C10 its Python extension has what the manifest promises and refuses without its module "
            "# SKIP module 'needs_good': no Python extension\n") != std::string::npos);
  CHECK(r.out.ends_with("1..11\n# all checks passed\n"));
  CHECK(r.out.find("not ok") == std::string::npos);
  CHECK(r.out.find('\x1b') == std::string::npos);
}

TEST_CASE("check takes a name, a manifest or a plugin's folder") {
  for (const char* plugin : {"good", "/good", "/good/good.novaplugin.json"}) {
    const std::string argument =
        plugin[0] == '/' ? std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all" + plugin : plugin;
    CHECK(run_host("check --only C02,C03 " + argument).out.ends_with("1..2\n# all checks passed\n"));
  }
  const HostResult unknown = run_host("check goood --log off");
  CHECK(unknown.code == 2);
  CHECK(unknown.err.starts_with("novaphy-host: no plugin or module is named 'goood'; did you mean 'good'?"));
  const HostResult nowhere = run_host("check /nowhere/good.novaplugin.json");
  CHECK(nowhere.code == 2);
  CHECK(nowhere.err ==
        "novaphy-host: /nowhere/good.novaplugin.json: No such file or directory; give a plugin's name, "
        "folder or "
        "manifest\n");
  CHECK(run_host("check --only C12 good").err ==
        "novaphy-host: --only C12: no such check; there are C01 to C11\n");
}

TEST_CASE("C01: a manifest without the build's stamp, and one in a folder of another name") {
  const ScratchFolder folder;
  const fs::path unstamped =
      folder.write("mine/mine.novaplugin.json",
                   R"({"schema": 1, "name": "mine", "version": "0.1.0", "modules": [{"name": "mine"}]})");
  const HostResult r = run_host("check " + unstamped.string() + " --log off");
  CHECK(r.code == 4);
  CHECK(r.out.find("not ok 1 - C01 ") != std::string::npos);
  CHECK(r.out.find("  # NP106 " + unstamped.string() + "#/modules/0/abi: required") != std::string::npos);
  CHECK(r.out.find("ok 4 - C04 it loads, and its entry function always returns the same descriptor # SKIP "
                   "C01 failed") != std::string::npos);
  const fs::path moved = folder.write_plugin("mine", "other");
  fs::rename(folder.path() / "other/mine", folder.path() / "other/yours");
  const json check = checked((folder.path() / "other/yours/mine.novaplugin.json").string(), "C01");
  CHECK(check["text"] == "NP110 " + folder.str("other/yours/mine.novaplugin.json") +
                             "#/name: is 'mine', the folder is 'yours'; make them equal");
}

TEST_CASE("C02: a strong export that may clash, a file that is no library") {
  fails("exports_helper", "C02",
        "exports 'helper_of_everybody', which another library may export too; hide it (static, or "
        "-fvisibility=hidden), or put it into a namespace");
  const ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("junk");
  folder.write("junk/lib.so", "this is no library");
  CHECK(checked(manifest.string(), "C02")["text"] ==
        "module 'junk': lib.so is no ELF library; build the plugin on and for this machine");
  folder.write("junk/lib.so", std::string("\x7f") + "ELF" + "\2\1\1");
  CHECK(checked(manifest.string(), "C02")["text"] ==
        "module 'junk': lib.so is no ELF library; build the plugin on and for this machine");
  folder.write("junk/lib.so", test::read_text(kGood).substr(0, 500));
  CHECK(checked(manifest.string(), "C02")["text"] ==
        "module 'junk': lib.so is cut off: it has 500 bytes and needs a table of its segments; copy or build "
        "it again");
  std::string foreign(64, '\0');  // an ELF header of a processor that has no name here
  foreign.replace(0, 7, std::string("\x7f") + "ELF" + "\2\1\1");
  foreign[18] = '\x7b';
  folder.write("junk/lib.so", foreign);
  const std::string text = checked(manifest.string(), "C02")["text"];
  CHECK(text.starts_with("module 'junk': lib.so is built for processor 123, this is "));
  CHECK(text.ends_with("; build the plugin on and for this machine"));
}

TEST_CASE("C03: a library of another folder, and an absolute search path") {
  const std::string text = checked("needs_elsewhere", "C03")["text"];
  CHECK(first_line(text) ==
        "module 'needs_elsewhere': needs libfixture_gone.so, which is neither the system's nor the runtime's "
        "nor a "
        "module that it requires; link it statically, or list it in the manifest's x-needs");
  CHECK(text.ends_with(" for libraries, which lies elsewhere on another machine; use $ORIGIN"));
}

TEST_CASE("C04: another descriptor each time, an exception") {
  fails("two_descriptors", "C04",
        "its novaphy_plugin_entry returned two different descriptors; return the address of one static "
        "object each "
        "time");
  const std::string all = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all";
  CHECK(checked("throws", "C04", "", all)["text"] ==
        "module 'throws': NP310 load threw: the lookup table is empty");
}

TEST_CASE("C05: a host of another ABI is accepted, a larger host is refused") {
  fails("any_abi", "C05",
        "under a host of plugin ABI 2 its load returned status 0; return NOVAPHY_E_ABI when host->abi_major "
        "is not "
        "NOVAPHY_ABI_MAJOR");
  fails("throws_at_unload", "C05",
        "under a host whose struct is larger than today's its unload failed: it would rather stay");
  fails("exact_size", "C05",
        "under a host whose struct is larger than today's its load returned status 1: the host has another "
        "size; test "
        "struct_size with novaphy_has(), never for equality");
}

TEST_CASE("C06: a thread that stays, a line on stdout, a crash when the process ends") {
  fails("leaves_thread", "C06",
        "left 1 thread running after its unload; join what load started, or use novaphy::task_pool()");
  fails("prints", "C06",
        "it wrote to stdout: 'hello from load'; use PluginContext::log, stdout belongs to the program");
  fails("dies_at_exit", "C06", "the process, when it ended after the check, was killed by SIGSEGV");
}

TEST_CASE("C07: something that is not published, and an object of another interface") {
  const std::string all = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all";
  CHECK(checked("forgets_to_publish", "C07", "", all)["text"].get<std::string>().starts_with(
      "module 'forgets_to_publish': NP312 declares "));
  fails("other_object", "C07",
        "novaphy.ISolverFactory/1 'other_object': the published object is a test::OtherDemo, which is no "
        "novaphy::ISolverFactory");
}

TEST_CASE("C08: values that are not finite, options that nobody refuses") {
  const std::string text = checked("bad_solvers", "C08")["text"];
  CHECK(text.starts_with(
      "module 'bad_solvers': novaphy.ISolverFactory/1 'not_finite': step 1 gave a value that is not "
      "finite: "));
  CHECK(
      text.ends_with("\nnovaphy.ISolverFactory/1 'accepts_all': an option that it does not have, "
                     "{\"no_such_option\": 1}, it did not "
                     "refuse; throw novaphy::Error, with the option's name"));
}

TEST_CASE("C08: a force whose program is not what evaluate computes") {
  const std::string text = checked("bad_forces", "C08")["text"];
  CHECK(
      text ==
      "module 'bad_forces': novaphy.x.IForce/1 'whole': for row 0 of 64 of fractional inputs evaluate() "
      "gives "
      "(-1.81700003, 0, -1.125), its program (-1.81700003, 0.311999917, -1.125); make both of one formula "
      "over "
      "Row::Scalar, with nova::FormulaForce\n"
      "novaphy.x.IForce/1 'rounded': for row 0 of 64 of fractional inputs evaluate() gives (2.3210001, "
      "1.5983001, "
      "-0.109999895, -2.3210001, -1.5983001, 0.109999895), its program (2.3210001, 1.59829998, -0.109999895, "
      "-2.3210001, -1.59829998, 0.109999895); make both of one formula over Row::Scalar, with "
      "nova::FormulaForce");
}

TEST_CASE("C09: a module that trusts find") {
  const std::string text = checked("trusts_find", "C09")["text"];
  CHECK(text.starts_with("module 'trusts_find': the process was killed by SIGSEGV"));
  CHECK(checked("publishes_greeting", "C09")["state"] == "skipped");
}

TEST_CASE("C11: loading that takes too long, a file that is left behind") {
  const std::string text = checked("slow", "C11", "--load-limit 1")["text"];
  CHECK(text.starts_with("module 'slow': loading took 1."));
  CHECK(text.ends_with(" s, the limit is 1 s; do long work at the first use"));
  fails("writes_file", "C11",
        "it wrote temporary/left_behind.txt among the user's folders; write below the cache or state folder");
}
