// SPDX-License-Identifier: Apache-2.0
// Writes the arrays of a demo as raw values with a JSON of names, shapes and provenance beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "novaphy/demo.hpp"
#include "verbs.hpp"

namespace novaphy::host {

/// What a dump says about where its numbers come from, beside version, commit and plugins.
struct DumpOrigin {
  std::string demo;
  int iterations = 0;
};

/// Writes `<folder>/<array>.f32` (or .i32, .u32, .u8: the bytes as they lie in memory) and
/// `<folder>/states.json`. The folder is made when it does not exist. Throws Error when a file cannot be
/// written.
void dump_arrays(const std::filesystem::path& folder, const std::vector<DemoArray>& arrays,
                 const DumpOrigin& origin, const Runtime& runtime, const Common& common);

}  // namespace novaphy::host
