// SPDX-License-Identifier: Apache-2.0
// novaphy-host: names that cannot be, folders that are not there, an interpreter that hangs, and control
// characters in what it prints.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "host_process.hpp"

using nlohmann::json;
using test::contains;
using test::HostResult;
using test::run_host;
using test::ScratchFolder;
using test::WithEnvironment;
namespace fs = std::filesystem;

namespace {

bool has_control_characters(const std::string& text) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) return true;
  return false;
}

}  // namespace

TEST_CASE("new-plugin refuses a name that no namespace or no further plugin can have, and writes nothing") {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& because) {
    const HostResult r = run_host("new-plugin " + name + " " + folder.str());
    CHECK(r.code == 2);
    CHECK(r.err == "novaphy-host: new-plugin: '" + name + "' " + because +
                       ", and a plugin's name is its namespace too; choose another, such as 'my_" + name +
                       "'\n");
  };
  for (const char* word : {"class", "int", "co_await", "xor_eq"}) refused(word, "is a word of C++");
  for (const char* name : {"std", "nova", "novaphy"}) refused(name, "is the name of a namespace");
  for (const char* name : {"exp", "time", "errno", "main"}) refused(name, "is a name of the C library");
  for (const auto& entry : fs::directory_iterator(std::string(NOVAPHY_BUILD_DIR) + "/lib/novaphy/plugins"))
    if (const std::string name = entry.path().filename();
        fs::exists(entry.path() / (name + ".novaplugin.json")))
      refused(name, "is the name of a plugin that comes with NovaPhy");
  CHECK(fs::is_empty(folder.path()));
  CHECK(run_host("new-plugin acme_air " + folder.str()).code == 0);
}

TEST_CASE(
    "a plugin on the command line that nobody has is a mistake of usage, one in the configuration is not") {
  const std::string plugins = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/ill_mannered";
  const HostResult r = run_host("list --plugins nope", plugins);
  CHECK(r.code == 2);
  CHECK(r.err.starts_with(
      "novaphy-host: NP404 command line: no plugin or module is named 'nope'; there are: "));
  const ScratchFolder folder;
  const std::string config = folder.write("h.json", R"({"plugins": ["nope"]})").string();
  CHECK(run_host("list --config " + config, plugins).code == 3);
  const std::string wrong = folder.write("w.json", R"({"path": 1})").string();
  CHECK(run_host("list --plugins nope --config " + wrong, plugins).code == 3);
}

TEST_CASE("a path with a NUL in it is refused and not cut") {
  const ScratchFolder folder;
  const std::string config = folder.write("h.json", R"({"paths": ["/opt\u0000/more"]})").string();
  const HostResult r = run_host("list --config " + config);
  CHECK(r.code == 3);
  CHECK(r.err == "novaphy-host: NP403 " + config +
                     "#/paths/0: '/opt\\u0000/more' holds a NUL character, which no path has\n");
}

TEST_CASE("list, why and doctor say which folder of NOVAPHY_PLUGIN_PATH does not exist") {
  const std::string note =
      "note: NOVAPHY_PLUGIN_PATH: '/nonexistent' does not exist; correct it, or make the folder\n";
  for (const std::string verb : {"list", "why semi_implicit", "doctor"})
    CHECK_MESSAGE(contains(run_host(verb, "/nonexistent").out, note), verb);
}

TEST_CASE("doctor waits five seconds for an interpreter, and no longer") {
  const ScratchFolder folder;
  const std::string python = folder.write("python", "#!/bin/sh\nsleep 60\n").string();
  fs::permissions(python, fs::perms::owner_all);
  const auto begin = std::chrono::steady_clock::now();
  const HostResult r = run_host("doctor --json --python " + python);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(json::parse(r.out)["python"]["reason"] == python + " Python did not end within 5 s");
}

TEST_CASE("control characters of folders and variables are escaped where they are printed") {
  const ScratchFolder folder;
  const std::string name =
      "red\033[31m\x7f\xc2\x9b"
      "folder";
  folder.write_plugin("here", name);
  folder.write(name + "/broken/broken.novaplugin.json", "{");
  const WithEnvironment variable("NOVAPHY_ODD", "a\tb\033[0m");
  for (const std::string verb : {"list", "why here", "why broken", "doctor", "--no-lazy list"}) {
    const HostResult r = run_host(verb + " --log trace", folder.str(name));
    CHECK_FALSE_MESSAGE(has_control_characters(r.out + r.err), verb);
    CHECK_MESSAGE(contains(r.out + r.err, "red\\u001b[31m\\u007f\\u009bfolder"), verb);
  }
  CHECK(contains(run_host("doctor").out, "  NOVAPHY_ODD=a\\tb\\u001b[0m\n"));
}

TEST_CASE("a plugin that calls exit(0) while it loads ends the program with code 1 and its name") {
  const ScratchFolder state;
  const HostResult r = run_host("--no-lazy list --plugins exits",
                                std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/deadly", state.str());
  CHECK(r.code == 1);
  CHECK(r.err ==
        "novaphy: the process ends because exit() was called while module 'exits' of plugin 'exits' loaded; "
        "run "
        "'novaphy-host check exits'\n");
}
