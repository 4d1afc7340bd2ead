// SPDX-License-Identifier: Apache-2.0
// A folder for one test, empty at its beginning and removed at its end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace test {

namespace fs = std::filesystem;

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "novaphy_test_XXXXXX").string();
    path_ = fs::canonical(mkdtemp(pattern.data()));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }
  std::string str(const std::string& below = "") const {
    return below.empty() ? path_.string() : (path_ / below).string();
  }

  fs::path write(const std::string& below, const std::string& text) const {
    const fs::path file = (path_ / below).lexically_normal();
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  /// A plugin of one module; it needs no library as long as nothing loads it.
  fs::path write_plugin(const std::string& name, const std::string& folder = ".") const {
    write(folder + "/" + name + "/lib.so", "");
    return write(folder + "/" + name + "/" + name + ".novaplugin.json",
                 "{\"schema\": 1, \"name\": \"" + name +
                     "\", \"version\": \"0.1.0\", \"modules\": [{\"name\": \"" + name +
                     "\", \"library\": \"lib.so\", \"abi\": \"1.0\"}]}");
  }

 private:
  fs::path path_;
};

/// Sets a variable of the environment and restores it.
class WithEnvironment {
 public:
  WithEnvironment(const char* name, const std::string& value) : WithEnvironment(name) {
    setenv(name, value.c_str(), 1);
  }
  ~WithEnvironment() {
    if (was_set_)
      setenv(name_, before_.c_str(), 1);
    else
      unsetenv(name_);
  }
  WithEnvironment(const WithEnvironment&) = delete;
  WithEnvironment& operator=(const WithEnvironment&) = delete;

 protected:
  explicit WithEnvironment(const char* name) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, was_set_ = true;
  }

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

/// Removes a variable of the environment and restores it.
class WithoutEnvironment : public WithEnvironment {
 public:
  explicit WithoutEnvironment(const char* name) : WithEnvironment(name) { unsetenv(name); }
};

}  // namespace test
