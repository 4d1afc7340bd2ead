// SPDX-License-Identifier: Apache-2.0
// A library between its check and its use: who may write it, its hash, and that the file that was checked is
// loaded.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

#include "fixtures/plugins/greeting.hpp"
#include "host_process.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
namespace fs = std::filesystem;
using test::WithRuntime;

namespace {

/// What another program says of the file.
std::string sha256sum(const fs::path& file) {
  FILE* pipe = popen(("sha256sum '" + file.string() + "'").c_str(), "r");
  char text[65] = {};
  REQUIRE(fread(text, 1, 64, pipe) == 64);
  pclose(pipe);
  return text;
}

/// A copy of fixture `good` in a folder of one's own.
class OwnCopy {
 public:
  OwnCopy() { fs::copy(test::kAll + "/good", folder.path() / "good", fs::copy_options::recursive); }
  fs::path library() const { return folder.path() / "good/libnovaphy_good.so"; }
  std::string place() const { return folder.str("good/good.novaplugin.json") + "#/modules/0: "; }
  RuntimeOptions options() const {
    RuntimeOptions out;
    out.paths = {folder.str()};
    return out;
  }
  /// Puts a library with other contents into its place, as an installer does.
  void replace() const {
    const fs::path next = folder.path() / "good/next";
    fs::copy_file(library(), next);
    std::ofstream(next, std::ios::app) << "later build";
    fs::rename(next, library());
  }

  test::ScratchFolder folder;
};

}  // namespace

TEST_CASE("NP118: a library that everyone may write is not opened") {
  const OwnCopy copy;
  fs::permissions(copy.library(), static_cast<fs::perms>(0757));
  {
    const WithRuntime runtime(copy.options());
    CHECK(runtime.verdict("good") == "ready");
    CHECK(runtime.load("good") ==
          "plugin 'good' isn't loaded: failed: library libnovaphy_good.so may be written by everyone (mode "
          "0757); "
          "chmod o-w, or pass --allow-writable DIR");
    CHECK(runtime.verdict("good").starts_with("failed | NP118 " + copy.place()));
  }
  RuntimeOptions allowing = copy.options();
  allowing.allow_writable = {copy.folder.str()};
  CHECK(WithRuntime(allowing).load("good") == "");
}

TEST_CASE("NP118: a folder that was opened to everyone after the plan is seen when the library loads") {
  const OwnCopy copy;
  const WithRuntime runtime(copy.options());
  fs::permissions(copy.folder.path() / "good", static_cast<fs::perms>(0777));
  CHECK(runtime.load("good") == "plugin 'good' isn't loaded: failed: '" + copy.folder.str("good") +
                                    "' may be written by everyone (mode 0777); chmod o-w, or pass "
                                    "--allow-writable DIR");
}

TEST_CASE("NP118: a further library in the folder, which the first may link or Python import") {
  const OwnCopy copy;
  const fs::path extension = copy.folder.write("good/_good.cpython-311.so", "");
  copy.folder.write("good/table.txt", "");
  fs::permissions(copy.folder.path() / "good/table.txt", static_cast<fs::perms>(0666));
  CHECK(WithRuntime(copy.options()).load("good") == "");
  fs::permissions(extension, static_cast<fs::perms>(0666));
  CHECK(WithRuntime(copy.options()).load("good") ==
        "plugin 'good' isn't loaded: failed: '" + extension.string() +
            "' may be written by everyone (mode 0666); chmod o-w, or pass --allow-writable DIR");
}

TEST_CASE("a library of that name in the current folder is not taken for one that is missing") {
  const OwnCopy copy;
  const fs::path elsewhere = copy.folder.path() / "current", before = fs::current_path();
  fs::create_directory(elsewhere);
  fs::rename(copy.library(), elsewhere / "libnovaphy_good.so");
  fs::current_path(elsewhere);
  CHECK(WithRuntime(copy.options()).load("good") ==
        "plugin 'good' isn't loaded: failed: library libnovaphy_good.so not found; was the plugin built?");
  fs::current_path(before);
}

TEST_CASE("NP317: a library whose SHA-256 is pinned loads, and another one does not") {
  const OwnCopy copy;
  const std::string pinned = sha256sum(copy.library());
  RuntimeOptions options = copy.options();
  options.config_file =
      copy.folder.write("novaphy.host.json", R"({"sha256": {"good": ")" + pinned + "\"}}").string();
  CHECK(WithRuntime(options).load("good") == "");

  copy.replace();
  const WithRuntime runtime(options);
  CHECK(runtime.load("good") != "");
  CHECK(runtime.verdict("good") == "failed | NP317 " + copy.place() +
                                       "library libnovaphy_good.so has sha256 " + sha256sum(copy.library()) +
                                       ", " + options.config_file + "#/sha256/good wants " + pinned +
                                       "; install the build that was pinned, or change the pin");
}

TEST_CASE(
    "NP318: a process that has loaded an earlier library does not take it for the one that lies there now") {
  const OwnCopy copy;
  CHECK(WithRuntime(copy.options()).load("good") == "");
  CHECK(WithRuntime(copy.options()).load("good") == "");  // the same file again is fine
  copy.replace();
  const WithRuntime runtime(copy.options());
  CHECK(runtime.load("good") != "");
  CHECK(runtime.verdict("good") == "failed | NP318 " + copy.place() + copy.library().string() +
                                       " is not the file that was checked: it was replaced meanwhile, or "
                                       "this process has loaded an earlier "
                                       "one of that path; start the process again");
}

TEST_CASE("NP301: a library that may not be read") {
  const OwnCopy copy;
  fs::permissions(copy.library(), fs::perms::none);
  if (std::ifstream(copy.library()).is_open()) {
    MESSAGE("not tested: wants a user other than root, who may read everything");
    return;
  }
  CHECK(WithRuntime(copy.options()).load("good") ==
        "plugin 'good' isn't loaded: failed: library libnovaphy_good.so cannot be opened: Permission denied; "
        "was "
        "the plugin built?");
}

TEST_CASE(
    "plugins beside the runtime work in a folder that everyone may write: so could the runtime itself be") {
  const test::ScratchFolder folder;
  const fs::path build = NOVAPHY_BUILD_DIR, prefix = folder.path() / "prefix";
  fs::create_directories(prefix / "bin");
  fs::create_directories(prefix / "lib/novaphy/plugins");
  fs::copy_file(build / "bin/novaphy-host", prefix / "bin/novaphy-host");
  for (const auto& entry : fs::directory_iterator(build / "lib"))
    if (entry.path().filename().string().starts_with("libnovaphy_runtime.so."))
      fs::copy_file(entry.path(), prefix / "lib" / entry.path().filename());
  fs::copy(test::kAll + "/good", prefix / "lib/novaphy/plugins/good", fs::copy_options::recursive);
  fs::permissions(prefix, static_cast<fs::perms>(0777));
  const std::string program = (prefix / "bin/novaphy-host").string();
  const auto run = [&](const std::string& arguments) {
    const std::string out = folder.str("out");
    REQUIRE(std::system((program + " " + arguments + " >" + out).c_str()) >= 0);
    return test::read_text(out);
  };
  CHECK(run("list").find("NP118") == std::string::npos);
  CHECK(run("list").find("good") != std::string::npos);
  fs::permissions(prefix / "lib/novaphy", static_cast<fs::perms>(0777));
  CHECK(run("list").find("NP118 " + (prefix / "lib/novaphy/plugins/good/good.novaplugin.json").string() +
                         ": '" + (prefix / "lib/novaphy").string() +
                         "' may be written by everyone (mode 0777)") != std::string::npos);
}
