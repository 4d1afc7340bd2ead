// SPDX-License-Identifier: Apache-2.0
// novaphy-host: what it says about a wrong command line, its log, its completion script, doctor and run
// --watch.
#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "host_process.hpp"

using nlohmann::json;
using test::contains;
using test::HostResult;
using test::run_host;
using test::ScratchFolder;
using test::WithEnvironment;
namespace fs = std::filesystem;

namespace {

const std::string kHost = std::string(NOVAPHY_BUILD_DIR) + "/bin/novaphy-host";

/// The line on stderr of a command line that is a mistake of usage.
std::string refused(const std::string& arguments) {
  const HostResult r = run_host(arguments);
  CHECK(r.code == 2);
  CHECK(r.out == "");
  return r.err;
}

/// What bash offers for a line that ends at the cursor.
std::string completed(const std::string& line) {
  const ScratchFolder folder;
  folder.write(
      "ask.sh",
      "source <(\"" + kHost +
          "\" completion bash) || exit 1\n"
          "PATH=\"" +
          fs::path(kHost).parent_path().string() +
          ":$PATH\"\n"
          "COMP_WORDS=(" +
          line +
          ")\n"
          "[[ -n $LAST_IS_EMPTY ]] && COMP_WORDS+=(\"\")\n"
          "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
          "_novaphy_host novaphy-host \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n"
          "echo \"${COMPREPLY[@]}\"\n");
  const WithEnvironment empty("LAST_IS_EMPTY", line.ends_with(" ") ? "1" : "");
  const WithEnvironment data("XDG_DATA_HOME", "/nonexistent"),
      path("NOVAPHY_PLUGIN_PATH", std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all");
  const std::string command = "bash " + folder.str("ask.sh") + " >" + folder.str("out");
  CHECK(std::system(command.c_str()) == 0);
  return test::read_text(folder.path() / "out");
}

}  // namespace

TEST_CASE("an empty value is no wish but an unset variable: it is refused") {
  CHECK(refused("--config '' list") == "novaphy-host: --config is empty; give it a value, or leave it out\n");
  CHECK(refused("run diffsim_ball --dump-states ''") ==
        "novaphy-host: --dump-states is empty; give it a value, or leave it out\n");
  CHECK(refused("new-plugin acme_air ''") ==
        "novaphy-host: DIR is empty; give it a value, or leave it out\n");
}

TEST_CASE("output that cannot be written is no success") {
  for (const std::string verb : {"list", "why good", "doctor --json", "errors", "--version", "--help"}) {
    const ScratchFolder folder;
    const std::string error = folder.str("err");
    const int status = std::system((kHost + " " + verb + " >/dev/full 2>" + error).c_str());
    CHECK_MESSAGE((WIFEXITED(status) && WEXITSTATUS(status) == 1), verb);
    CHECK(test::read_text(error) ==
          "novaphy-host: the output could not be written; is the disk full, or standard output closed?\n");
  }
}

TEST_CASE("an unknown verb, flag or word is a mistake of usage with the nearest name") {
  CHECK(refused("lst").starts_with(
      "novaphy-host: no verb 'lst'; did you mean 'list'? There are: list, why, run, check, "));
  CHECK(refused("frobnicate").starts_with("novaphy-host: no verb 'frobnicate'; there are: list, why, "));
  CHECK(refused("").starts_with("novaphy-host: which verb is wanted; there are: list, why, run, check, "));
  CHECK(refused("list --jsn") == "novaphy-host: no flag '--jsn' of 'list'; did you mean '--json'?\n");
  CHECK(refused("--jsno list") == "novaphy-host: no flag '--jsno' of 'list'; did you mean '--json'?\n");
  CHECK(refused("run halving --iteration 3") ==
        "novaphy-host: no flag '--iteration' of 'run'; did you mean '--iterations'?\n");
  CHECK(refused("list --no-such-flag") ==
        "novaphy-host: no flag '--no-such-flag' of 'list'; see 'novaphy-host list --help'\n");
  CHECK(refused("list more") ==
        "novaphy-host: 'more' is one word too many for 'list'; see 'novaphy-host list --help'\n");
  CHECK(refused("run") == "novaphy-host: DEMO is required; see 'novaphy-host run --help'\n");
  CHECK(refused("run halving --iterations -1") ==
        "novaphy-host: --iterations: is '-1'; give a whole number of at least 0; see 'novaphy-host run "
        "--help'\n");
  CHECK(refused("run halving --set start") == "novaphy-host: --set start: write --set NAME=VALUE\n");
  CHECK(refused("completion bash --json") ==
        "novaphy-host: 'completion' has no --json; list, why, run, check, doctor and errors have it\n");
  CHECK(contains(run_host("--help").out,
                 "Answer in JSON on stdout: list, why, run, check, doctor and errors\n"));
  CHECK(refused("completion tcsh") == "novaphy-host: no completion for 'tcsh'; there are: bash, zsh, fish\n");
}

TEST_CASE("the help names every exit code") {
  const HostResult r = run_host("--help");
  CHECK(r.code == 0);
  CHECK(
      r.out.ends_with("Exit codes: 0 ok, 1 a required plugin failed or the output could not be written, 2 "
                      "wrong command line, "
                      "3 wrong host configuration, "
                      "4 a check failed.\n"));
}

TEST_CASE("--log sets the level of all, or of one plugin alone") {
  CHECK(refused("list --log loud") ==
        "novaphy-host: --log loud: no level is named 'loud'; there are: trace, debug, info, warn, error, "
        "off\n");
  CHECK(refused("list --log good=debig") ==
        "novaphy-host: --log good=debig: no level is named 'debig'; did you mean 'debug'? There are: trace, "
        "debug, info, "
        "warn, error, off\n");
  CHECK(contains(refused("list --log goood=debug"),
                 "no plugin or module is named 'goood'; did you mean 'good'?"));
  const std::string run = "run halving --iterations 0 --plugins tiny_demo,plain_c ";
  const std::string line = "novaphy debug: plain_c: loaded\n";
  CHECK(run_host(run + "--log error").err == "");
  CHECK(run_host(run + "--log error --log plain_c=debug").err == line);
  CHECK(run_host(run + "--log plain_c=debug --log error").err == line);
  CHECK(contains(run_host(run + "--log debug").err, line));
  CHECK_FALSE(contains(run_host(run + "--log debug --log plain_c=error").err, line));
}

TEST_CASE("bash completes verbs, flags, levels, and the names of plugins and demos") {
  CHECK(completed("novaphy-host ") ==
        "list why run check new-plugin doctor manifest-schema errors forgive completion\n");
  CHECK(completed("novaphy-host ch") == "check\n");
  CHECK(completed("novaphy-host run hal") == "halving\n");
  CHECK(completed("novaphy-host check needs_t") == "needs_throws\n");
  CHECK(completed("novaphy-host --json why needs_t") == "needs_throws\n");
  CHECK(completed("novaphy-host run --iter") == "--iterations\n");
  CHECK(completed("novaphy-host list --allow") == "--allow-writable\n");
  CHECK(completed("novaphy-host list --log d") == "debug\n");
  CHECK(completed("novaphy-host list --log ") == "trace debug info warn error off\n");
  CHECK(completed("novaphy-host new-plugin acme --with so") == "solver\n");
  CHECK(completed("novaphy-host completion ") == "bash zsh fish\n");
}

TEST_CASE(
    "a plugin that killed a process is tried again after 'forgive', and 'check' neither minds nor "
    "remembers") {
  const ScratchFolder state;
  const std::string deadly = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/deadly";
  const std::string command = "--no-lazy list --plugins crashes";
  const HostResult checked = run_host("check crashes --only C04", deadly, state.str());
  CHECK(checked.code == 4);
  CHECK(contains(checked.out, "  # module 'crashes': the process was killed by SIG"));
  CHECK(run_host("forgive crashes", deadly, state.str()).err ==
        "novaphy-host: 'crashes' is not in quarantine; nothing is\n");
  CHECK(run_host(command, deadly, state.str()).code != 0);  // dies
  const HostResult quarantined = run_host(command, deadly, state.str());
  CHECK(quarantined.code == 0);
  CHECK(contains(quarantined.out, "    NP313 " + deadly + "/crashes/"));
  const json doctor = json::parse(run_host("doctor --json", deadly, state.str()).out);
  CHECK(doctor["quarantined"] == json{"crashes"});
  const HostResult wrong = run_host("forgive crashs", deadly, state.str());
  CHECK(wrong.code == 2);
  CHECK(wrong.err ==
        "novaphy-host: 'crashs' is not in quarantine; did you mean 'crashes'? There are: crashes\n");
  const HostResult forgiven = run_host("forgive crashes", deadly, state.str());
  CHECK(forgiven.code == 0);
  CHECK(forgiven.out == "'crashes' is out of quarantine: it loads at its next use\n");
  CHECK(run_host("list --plugins crashes", deadly, state.str()).out.find("NP313") == std::string::npos);
}

TEST_CASE(
    "--no-lazy loads at the start, --probe survives what would kill the process, --safe searches one place") {
  CHECK(contains(run_host("--no-lazy list --plugins good").out, " loaded       "));
  const std::string deadly = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/deadly";
  const HostResult probed = run_host("--no-lazy --probe list --plugins crashes", deadly);
  CHECK(probed.code == 0);
  CHECK(contains(probed.out, "    NP316 " + deadly + "/crashes/"));
  CHECK_FALSE(contains(run_host("--safe list").out, "needs_good"));
}

TEST_CASE("zsh and fish get scripts with every verb") {
  for (const char* shell : {"zsh", "fish"}) {
    const HostResult r = run_host(std::string("completion ") + shell);
    CHECK(r.code == 0);
    for (const char* word : {"manifest-schema", "new-plugin", "names demos", "names plugins", "load-limit"})
      CHECK_MESSAGE(contains(r.out, word), shell << ": " << word);
  }
}

TEST_CASE("doctor tells what a report needs, with the home folder as ~") {
  const ScratchFolder home;
  home.write("plugins/here/x", "");
  const WithEnvironment folder("HOME", home.str()), cache("XDG_CACHE_HOME", home.str("cache"));
  const HostResult r =
      run_host("doctor --json", std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/all:" + home.str("plugins"),
               home.write("a_file", "").string());
  CHECK(r.code == 0);
  const json out = json::parse(r.out);
  for (const char* key :
       {"version", "commit", "platform", "compiler", "fingerprint", "machine", "cuda", "display", "python",
        "environment", "folders", "modules", "searched", "notes", "next"})
    CHECK_MESSAGE(out.contains(key), key);
  CHECK(out["version"] == "0.1.0");
  CHECK(out["machine"]["cores"].get<int>() >= 1);
  CHECK(contains(out["environment"]["NOVAPHY_PLUGIN_PATH"], ":~/plugins"));
  CHECK(out["folders"][0] == json{{"purpose", "cache"}, {"path", "~/cache/novaphy"}, {"writable", true}});
  CHECK(out["folders"][1]["writable"] == false);
  CHECK_FALSE(contains(r.out, home.str()));
  std::string next;
  for (const json& step : out["next"]) next += step.get<std::string>() + "\n";
  CHECK(contains(
      next,
      "'missing_library' is failed: library libnovaphy_missing_library.so not found; was the plugin built?. "
      "'novaphy-host why missing_library' shows each step"));
  CHECK(contains(
      next,
      "The state folder ~/a_file/novaphy cannot be written: set XDG_STATE_HOME to a folder that you may "
      "write.\n"));
  CHECK(contains(run_host("doctor").out, "What to do next\n"));
}

TEST_CASE("doctor says which variables tell a folder that is unknown") {
  const WithEnvironment home("HOME", ""), cache("XDG_CACHE_HOME", "");
  CHECK(contains(run_host("doctor").out, "The cache folder is unknown: set HOME or XDG_CACHE_HOME.\n"));
}

TEST_CASE("doctor works where the host configuration is wrong, and says so") {
  const HostResult r = run_host("doctor --json --config /nowhere.json");
  CHECK(r.code == 3);
  const json out = json::parse(r.out);
  CHECK(out["config_error"] == "NP401 /nowhere.json: cannot be read: No such file or directory");
  CHECK(contains(out["next"][0], "The host configuration is wrong"));
}

TEST_CASE("run --watch starts the demo again when a plugin changes") {
  const ScratchFolder folder;
  const fs::path all = fs::path(NOVAPHY_BUILD_DIR) / "tests/plugins/all";
  fs::create_directory(folder.path() / "plugins");
  for (const char* name : {"good", "tiny_demo"})
    fs::copy(all / name, folder.path() / "plugins" / name, fs::copy_options::recursive);
  const WithEnvironment data("XDG_DATA_HOME", "/nonexistent"),
      path("NOVAPHY_PLUGIN_PATH", folder.str("plugins"));
  const std::string out = folder.str("out"), err = folder.str("err");
  const std::string command =
      kHost + " run halving --watch --log off >" + out + " 2>" + err + " & echo $! >" + folder.str("pid");
  REQUIRE(std::system(command.c_str()) == 0);
  const auto wait_for = [&](const std::string& file, const std::string& text, std::size_t times) {
    for (int i = 0; i < 300; ++i) {
      const std::string read = test::read_text(file);
      std::size_t count = 0;
      for (std::size_t at = 0; (at = read.find(text, at)) != std::string::npos; at += text.size()) ++count;
      if (count >= times) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  };
  CHECK(wait_for(err, "ended with code 0; waits for a change of a plugin\n", 1));
  const fs::path library = folder.path() / "plugins/tiny_demo/libnovaphy_tiny_demo.so";
  fs::last_write_time(library, fs::file_time_type::clock::now());
  CHECK(wait_for(err, library.string() + " has changed; starts again\n", 1));
  CHECK(wait_for(out, "after 3 iterations  loss 0.25\n", 2));
  CHECK(std::system(("kill -TERM $(cat " + folder.str("pid") + ")").c_str()) == 0);
}
