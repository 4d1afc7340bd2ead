// SPDX-License-Identifier: Apache-2.0
// Files that are no library of this machine, and libraries that another compiler made: each by its sentence,
// with a good plugin beside it.
#include <doctest/doctest.h>

#include <elf.h>

#include <cstring>

#include "fixtures/plugins/greeting.hpp"
#include "novaphy/plugin.hpp"
#include "with_runtime.hpp"

using namespace novaphy;
using test::WithRuntime;

namespace {

const std::string kUnusual = std::string(NOVAPHY_BUILD_DIR) + "/tests/plugins/unusual";

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A plugin whose library is `bytes`: the text of NP302 without its beginning.
void check_library(const std::string& bytes, const std::string& text) {
  const test::ScratchFolder folder;
  folder.write_plugin("odd");
  folder.write("odd/lib.so", bytes);
  RuntimeOptions options;
  options.paths = {folder.str(), test::kAll};
  const WithRuntime runtime(options);
  CHECK(runtime.load("odd") ==
        "plugin 'odd' isn't loaded: failed: cannot load " + folder.str("odd/lib.so") + ": " + text);
  CHECK(runtime.verdict("odd").starts_with("failed | NP302 " +
                                           folder.str("odd/odd.novaplugin.json#/modules/0: ")));
  CHECK(runtime.load("good") == "");
}

std::vector<std::string> notes_of(const WithRuntime& runtime, const std::string& name) {
  std::vector<std::string> out;
  const std::vector<ReportRow> rows = runtime->info(name);
  for (const std::string& note : rows.at(0).notes)
    if (note.starts_with("NP")) out.push_back(note);
  return out;
}

}  // namespace

TEST_CASE("a file that is no library (NP302)") {
  check_library("", "it is no ELF library");
  check_library("#!/bin/sh\necho hello\n", "it is no ELF library");
  check_library(std::string(100'000, '\xa5'), "it is no ELF library");
  check_library(
      "\x7f"
      "ELF",
      "it is no ELF library");
}

TEST_CASE("a library for another machine or word length (NP302) is told as such") {
  const std::string good = bytes_of(test::library_of("good"));
  std::string arm = good, narrow = good, unheard_of = good;
  arm[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  narrow[EI_CLASS] = ELFCLASS32;
  unheard_of[offsetof(Elf64_Ehdr, e_machine)] = '\x7b';
  check_library(arm, "it is built for aarch64, this is x86-64");
  check_library(narrow, "it has 32 bits, this process has 64");
  check_library(unheard_of, "it is built for processor 123, this is x86-64");
}

TEST_CASE("a library that was cut off while it was copied (NP302) does not end the process") {
  const std::string good = bytes_of(test::library_of("good"));
  Elf64_Ehdr header{};
  std::memcpy(&header, good.data(), sizeof header);
  std::size_t end = 0, last = 0;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    std::memcpy(&segment, good.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || segment.p_offset + segment.p_filesz < end) continue;
    end = segment.p_offset + segment.p_filesz;
    last = i;
  }
  const auto text = [](std::size_t size, const std::string& needed) {
    return "it is cut off: it has " + std::to_string(size) + " bytes and needs " + needed +
           "; copy or build it again";
  };
  for (const std::size_t size : {std::size_t{64}, std::size_t{500}})
    check_library(good.substr(0, size), text(size, "a table of its segments"));
  check_library(good.substr(0, end - 1), text(end - 1, "all bytes of segment " + std::to_string(last)));
  for (const std::size_t size : {std::size_t{1024}, std::size_t{4096}, end / 2, end * 3 / 4}) {
    const test::ScratchFolder folder;
    folder.write_plugin("odd");
    folder.write("odd/lib.so", good.substr(0, size));
    RuntimeOptions options;
    options.paths = {folder.str(), test::kAll};
    const WithRuntime runtime(options);
    CHECK(runtime.load("odd").starts_with("plugin 'odd' isn't loaded: failed: cannot load " +
                                          folder.str("odd/lib.so: it is cut off: it has ")));
    CHECK(runtime.load("good") == "");
  }
}

TEST_CASE("a stripped library loads") {
  RuntimeOptions options;
  options.paths = {kUnusual};
  const WithRuntime runtime(options);
  CHECK(runtime.load("stripped") == "");
  CHECK(find<test::IGreeting>("stripped").greet() == "hello from stripped");
}

TEST_CASE("a library of another compiler loads with a note (NP315)") {
  RuntimeOptions options;
  options.paths = {kUnusual};
  const WithRuntime runtime(options);
  CHECK(runtime.load("other_compiler") == "");
  CHECK(runtime.verdict("other_compiler") == "loaded");
#ifndef __clang__
  const std::string text = "NP315 built with clang 14, runtime with " NOVAPHY_FINGERPRINT_COMPILER
                           "; works as a rule, not tested by us";
  CHECK(notes_of(runtime, "other_compiler") == std::vector<std::string>{text});
#else
  CHECK(notes_of(runtime, "other_compiler").size() == 1);
#endif
}

TEST_CASE("a library that clang really built passes strings and exceptions to a runtime of g++") {
  if (!NOVAPHY_HAS_CLANG_FIXTURE) {
    MESSAGE("not tested: wants clang++ when the build is configured");
    return;
  }
  RuntimeOptions options;
  options.paths = {kUnusual};
  const WithRuntime runtime(options);
  CHECK(runtime.load("built_by_clang") == "");
  CHECK(notes_of(runtime, "built_by_clang").size() == 1);
  CHECK(find<test::IGreeting>("built_by_clang").config == "{}");
  CHECK_THROWS_WITH_AS(find<test::IGreeting>("built_by_clang").greet(), "clang says 42", Error);
}
