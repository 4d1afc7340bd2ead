// SPDX-License-Identifier: Apache-2.0
// Where manifests are looked for, in which order, and what is not trusted.
#include "resolve/discover.hpp"

#include <doctest/doctest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>

#include "platform/process.hpp"
#include "scratch_folder.hpp"

using namespace novaphy;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names(const Discovery& discovery) {
  std::vector<std::string> out;
  for (const ManifestFile& file : discovery.files) out.push_back(file.name);
  return out;
}

std::string lines(const ManifestFile& file) {
  return joined_lines(file.problems);
}

}  // namespace

TEST_CASE("places are searched in the documented order, each one level deep and by name") {
  const test::ScratchFolder folder;
  const fs::path single = folder.write_plugin("single", "explicit");
  for (const char* name : {"b_config", "a_config"}) folder.write_plugin(name, "config");
  folder.write_plugin("option", "option");
  folder.write_plugin("environment", "environment");
  folder.write_plugin("entry_point", "entry_points");
  folder.write_plugin("data", "data/novaphy/plugins");
  folder.write_plugin("too_deep", "option/nested");
  const test::WithEnvironment data("XDG_DATA_HOME", folder.str("data")),
      path("NOVAPHY_PLUGIN_PATH", folder.str("environment"));
  RuntimeOptions options;
  options.manifests = {single.string()};
  options.config_file = "/h.json";
  options.paths = {folder.str("option")};
  options.entry_point_paths = {folder.str("entry_points")};
  const Discovery found = discover(options, {folder.str("config")});
  CHECK(names(found) == std::vector<std::string>{"single", "a_config", "b_config", "option", "environment",
                                                 "entry_point", "data"});
  std::vector<std::string> labels;
  for (const SearchPlace& place : found.places) labels.push_back(place.label);
  CHECK(labels == std::vector<std::string>{"command line", "/h.json", "command line", "NOVAPHY_PLUGIN_PATH",
                                           "entry points", "user data", "beside the runtime"});
}

TEST_CASE("the current folder is never searched, and relative entries of the environment are refused aloud") {
  const test::ScratchFolder folder;
  folder.write_plugin("here");
  const test::WithEnvironment data("XDG_DATA_HOME", "/nonexistent"),
      path("NOVAPHY_PLUGIN_PATH", "relative::" + folder.str("none"));
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const Discovery found = discover({}, {});
  fs::current_path(before);
  CHECK(names(found).empty());
  CHECK(found.notes == std::vector<std::string>{
                           "NOVAPHY_PLUGIN_PATH: 'relative' is relative and ignored; write an absolute path",
                           "NOVAPHY_PLUGIN_PATH: an empty entry is ignored; remove the extra ':'",
                           "NOVAPHY_PLUGIN_PATH: '" + folder.str("none") +
                               "' does not exist; correct it, or make the folder"});
}

TEST_CASE("links are followed, one file counts once, and a link to nothing is said") {
  const test::ScratchFolder folder;
  folder.write_plugin("real", "elsewhere");
  fs::create_directory(folder.path() / "plugins");
  fs::create_directory_symlink("../elsewhere/real", folder.path() / "plugins/real");
  fs::create_directory_symlink("../elsewhere/real", folder.path() / "plugins/same");
  fs::create_directory_symlink("../elsewhere/gone", folder.path() / "plugins/gone");
  const test::WithEnvironment data("XDG_DATA_HOME", "/nonexistent"), path("NOVAPHY_PLUGIN_PATH", "");
  RuntimeOptions options;
  options.paths = {folder.str("plugins")};
  const Discovery found = discover(options, {});
  REQUIRE(found.files.size() == 1);
  CHECK(found.files[0].path == folder.path() / "elsewhere/real/real.novaplugin.json");
  CHECK(found.files[0].problems.empty());
  CHECK(found.notes == std::vector<std::string>{folder.str("plugins/gone") +
                                                ": is a link to something that does not exist"});
}

TEST_CASE("a place that is no folder, or is the plugin's own folder, is said") {
  const test::ScratchFolder folder;
  folder.write_plugin("vbd", "plugins");
  folder.write("file", "");
  const test::WithEnvironment data("XDG_DATA_HOME", "/nonexistent"),
      path("NOVAPHY_PLUGIN_PATH", folder.str("file") + ":" + folder.str("plugins/vbd"));
  RuntimeOptions options;
  options.paths = {""};
  options.manifests = {""};
  const Discovery found = discover(options, {});
  REQUIRE(found.files.size() == 1);
  CHECK(lines(found.files[0]) == "NP101 : cannot be read: No such file or directory");
  CHECK(found.notes == std::vector<std::string>{
                           folder.str("file") + ": cannot be searched: Not a directory",
                           folder.str("plugins/vbd/vbd.novaplugin.json") +
                               ": lies in the folder that is searched and is not read; search the folder "
                               "above, " +
                               folder.str("plugins")});
}

TEST_CASE("without a home there is no place for the user's plugins") {
  const test::WithoutEnvironment data("XDG_DATA_HOME"), home("HOME");
  for (const SearchPlace& place : discover({}, {}).places) CHECK(place.label != "user data");
}

TEST_CASE("a manifest whose folder has another name is refused and not passed over") {
  const test::ScratchFolder folder;
  folder.write_plugin("vbd");
  fs::rename(folder.path() / "vbd", folder.path() / "vbd-1.0");
  const test::WithEnvironment data("XDG_DATA_HOME", "/nonexistent"),
      path("NOVAPHY_PLUGIN_PATH", folder.str());
  const Discovery found = discover({}, {});
  REQUIRE(found.files.size() == 1);
  CHECK(lines(found.files[0]) == "NP110 " + folder.str("vbd-1.0/vbd.novaplugin.json") +
                                     "#/name: is 'vbd', the folder is 'vbd-1.0'; make them equal");
}

TEST_CASE("safe: only the folder beside the runtime is searched, and that is said") {
  const test::ScratchFolder folder;
  const fs::path manifest = folder.write_plugin("good");
  const test::WithEnvironment data("XDG_DATA_HOME", folder.str("data")),
      path("NOVAPHY_PLUGIN_PATH", folder.str());
  folder.write_plugin("of_user", "data/novaphy/plugins");
  RuntimeOptions options;
  options.manifests = {manifest.string()};
  options.paths = options.entry_point_paths = {folder.str()};
  CHECK(names(discover(options, {folder.str()})) == std::vector<std::string>{"good", "of_user"});
  options.safe = true;
  const Discovery found = discover(options, {folder.str()});
  CHECK(names(found).empty());
  REQUIRE(found.places.size() == 1);
  CHECK(found.places[0].path == (platform::runtime_folder() / "novaphy/plugins").string());
  CHECK(found.notes == std::vector<std::string>{"safe: only the folder beside the runtime is searched"});
}

TEST_CASE("a process with raised rights does not read its user's environment") {
  // the kernel raises the rights of a program with the set-group-id bit; only root can make one of another
  // group
  if (geteuid() != 0) {
    MESSAGE("not tested: wants root");
    return;
  }
  const test::ScratchFolder folder;
  folder.write_plugin("planted");
  const fs::path program = folder.path() / "raised";
  fs::copy_file("/proc/self/exe", program);
  fs::permissions(folder.path(), static_cast<fs::perms>(0755));
  REQUIRE(chown(program.c_str(), 0, 1) == 0);
  fs::permissions(program, fs::perms::set_gid | static_cast<fs::perms>(0755));
  const test::WithEnvironment data("XDG_DATA_HOME", folder.str()), path("NOVAPHY_PLUGIN_PATH", folder.str()),
      asked("NOVAPHY_TEST_RAISED", "1");
  const auto places = [](const fs::path& run) {
    std::string out;
    FILE* pipe = popen(("'" + run.string() + "' -ns -tc='places of a child'").c_str(), "r");
    for (int c = 0; (c = fgetc(pipe)) != EOF;) out += static_cast<char>(c);
    pclose(pipe);
    return out;
  };
  CHECK(places(fs::read_symlink("/proc/self/exe")).find("place: NOVAPHY_PLUGIN_PATH") != std::string::npos);
  const std::string raised = places(program);
  if (raised.find("raised: yes") == std::string::npos) {
    MESSAGE("not tested: wants a file system that allows set-group-id programs");
    return;
  }
  CHECK(raised.find("place: beside the runtime") != std::string::npos);
  CHECK(raised.find("place: NOVAPHY_PLUGIN_PATH") == std::string::npos);
  CHECK(raised.find("place: user data") == std::string::npos);
}

TEST_CASE("places of a child" * doctest::skip(std::getenv("NOVAPHY_TEST_RAISED") == nullptr)) {
  std::printf("raised: %s\n", getauxval(AT_SECURE) != 0 ? "yes" : "no");
  for (const SearchPlace& place : discover({}, {}).places) std::printf("place: %s\n", place.label.c_str());
}
