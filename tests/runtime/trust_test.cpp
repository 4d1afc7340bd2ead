// SPDX-License-Identifier: Apache-2.0
// NP118: who may change a plugin, its folder and what lies above.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/trust.hpp"
#include "resolve/discover.hpp"
#include "scratch_folder.hpp"

using namespace novaphy;
namespace fs = std::filesystem;

namespace {

constexpr const char* kRemedy = "; chmod o-w, or pass --allow-writable DIR";

void set_mode(const fs::path& path, unsigned mode) {
  REQUIRE(chmod(path.c_str(), mode) == 0);
}

/// The lines and notes of the only manifest below a place; `allowed` may be written by others.
struct Verdict {
  std::string lines;
  std::vector<std::string> notes;
};
Verdict verdict(const fs::path& place, const std::string& allowed = "") {
  const test::WithEnvironment data("XDG_DATA_HOME", "/nonexistent"), path("NOVAPHY_PLUGIN_PATH", "");
  RuntimeOptions options;
  options.paths = {place.string()};
  if (!allowed.empty()) options.allow_writable = {allowed};
  const Discovery found = discover(options, {});
  REQUIRE(found.files.size() == 1);
  return {joined_lines(found.files[0].problems), found.files[0].notes};
}

}  // namespace

TEST_CASE("NP118: what everyone may write is refused, unless its folder is allowed; a group is only noted") {
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("open");
  set_mode(manifest, 0666);
  CHECK(verdict(folder.path()).lines == "NP118 " + manifest.string() +
                                            ": may be written by everyone (mode 0666); chmod o-w, or pass "
                                            "--allow-writable DIR");
  CHECK(verdict(folder.path(), folder.str()).lines == "");
  CHECK(verdict(folder.path(), folder.str("op")).lines != "");

  set_mode(manifest, 0664);
  const Verdict group = verdict(folder.path());
  CHECK(group.lines == "");
  CHECK(group.notes == std::vector<std::string>{"its group may write the manifest"});
}

TEST_CASE("NP118: a plugin's folder into which everyone may put further files, even with the sticky bit") {
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("open");
  for (const unsigned mode : {0777U, 01777U}) {
    set_mode(manifest.parent_path(), mode);
    CHECK(verdict(folder.path()).lines ==
          "NP118 " + manifest.string() + ": '" + manifest.parent_path().string() +
              "' may be written by everyone (mode " + (mode == 0777 ? "0777" : "1777") + ")" + kRemedy);
  }
}

TEST_CASE("NP118: a folder above, in which everyone could put another plugin in its place") {
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("vbd", "shared/plugins");
  set_mode(folder.path() / "shared", 0777);
  CHECK(verdict(folder.path() / "shared/plugins").lines ==
        "NP118 " + manifest.string() + ": '" + folder.str("shared") +
            "' may be written by everyone (mode 0777)" + kRemedy);
  CHECK(verdict(folder.path() / "shared/plugins", folder.str("shared/plugins")).lines == "");
  // as in /tmp, where nobody can rename what belongs to others
  set_mode(folder.path() / "shared", 01777);
  CHECK(verdict(folder.path() / "shared/plugins").lines == "");
}

TEST_CASE("NP118: a link in a place where everyone could turn it") {
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("vbd", "mine");
  fs::create_directory(folder.path() / "place");
  fs::create_directory_symlink("../mine/vbd", folder.path() / "place/vbd");
  CHECK(verdict(folder.path() / "place").lines == "");
  set_mode(folder.path() / "place", 0777);
  CHECK(verdict(folder.path() / "place").lines == "NP118 " + manifest.string() + ": '" + folder.str("place") +
                                                      "' may be written by everyone (mode 0777)" + kRemedy);
  if (geteuid() != 0) {
    MESSAGE("not tested: wants root, which alone can make a stranger's link");
    return;
  }
  set_mode(folder.path() / "place", 01777);
  REQUIRE(lchown((folder.path() / "place/vbd").c_str(), 54321, 54321) == 0);
  CHECK(verdict(folder.path() / "place").lines ==
        "NP118 " + manifest.string() + ": the link '" + folder.str("place/vbd") +
            "' is owned by '54321', neither you nor root; chown it, or pass --allow-writable DIR");
}

TEST_CASE("NP118: a stranger's manifest, folder or folder above is refused") {
  // only root can make one; for others the owner of the file is themselves, and it must be trusted
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("vbd", "plugins");
  CHECK(verdict(folder.path() / "plugins").lines == "");
  if (geteuid() != 0) {
    MESSAGE("not tested: wants root");
    return;
  }
  const std::string end = "is owned by '54321', neither you nor root; chown it, or pass --allow-writable DIR";
  for (const fs::path& strange : {folder.path() / "plugins", manifest.parent_path(), manifest}) {
    REQUIRE(chown(strange.c_str(), 54321, 54321) == 0);
    const std::string whose = strange == manifest ? "" : "'" + strange.string() + "' ";
    CHECK(verdict(folder.path() / "plugins").lines == "NP118 " + manifest.string() + ": " + whose + end);
  }
}

TEST_CASE(
    "what lies above the runtime's own folder is not asked: whoever may write there could change the "
    "runtime") {
  platform::FolderTrust trust;
  const test::ScratchFolder folder;
  fs::create_directories(folder.path() / "a/b");
  CHECK_FALSE(trust.above(folder.path() / "a/b"));
  set_mode(folder.path() / "a", 0777);
  CHECK_FALSE(trust.above(folder.path() / "a/b"));  // each folder is looked at once
  CHECK(platform::FolderTrust().above(folder.path() / "a/b")->folder == folder.path() / "a");
}
