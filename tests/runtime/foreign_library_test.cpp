// SPDX-License-Identifier: Apache-2.0
// Files that are no library of this machine, and libraries that another compiler made: each by its sentence,
// with a good plugin beside it.
#include <doctest/doctest.h>

#include <elf.h>

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

TEST_CASE("a library that was cut off while it was copied (NP302)") {
  const std::string good = bytes_of(test::library_of("good"));
  for (const std::size_t size : {std::size_t{64}, std::size_t{500}}) {
    const test::ScratchFolder folder;
    folder.write_plugin("odd");
    folder.write("odd/lib.so", good.substr(0, size));
    RuntimeOptions options;
    options.paths = {folder.str(), test::kAll};
    const WithRuntime runtime(options);
    CHECK(runtime.load("odd").starts_with("plugin 'odd' isn't loaded: failed: cannot load " +
                                          folder.str("odd/lib.so: ")));
    CHECK(runtime.verdict("odd").starts_with("failed | NP302 "));
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
  if (!NOVAPHY_HAS_CLANG_FIXTURE) return;
  RuntimeOptions options;
  options.paths = {kUnusual};
  const WithRuntime runtime(options);
  CHECK(runtime.load("built_by_clang") == "");
  CHECK(notes_of(runtime, "built_by_clang").size() == 1);
  CHECK(find<test::IGreeting>("built_by_clang").config == "{}");
  CHECK_THROWS_WITH_AS(find<test::IGreeting>("built_by_clang").greet(), "clang says 42", Error);
}
