// SPDX-License-Identifier: Apache-2.0
// Decides from texts alone what may load, in which order, and why the rest may not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.hpp"
#include "novaphy/runtime.hpp"
#include "resolve/host_config.hpp"

namespace novaphy {

/// What the plan needs to know of this process.
struct Facts {
  Version runtime;
  std::string platform;
  int abi_major = 1, abi_minor = 0;
  std::vector<std::string> searched;  ///< folders, for messages
};

/// One module of one manifest, or one manifest that is refused or shadowed (then without a module).
struct PlannedModule {
  std::size_t file = 0;               ///< index into the manifest files
  std::optional<std::size_t> module;  ///< index into the manifest's modules
  PluginState state = PluginState::found;
  std::vector<PluginProblem> problems;
  std::vector<std::size_t> required, optional;  ///< rows that load first
  std::vector<std::string> notes;

  /// What a sentence "requires 'x', which ..." says of this row: "is disabled by ...", "requires 'y', which
  /// ...".
  std::string clause() const;
  /// Why it is not ready, without code and path; empty when it is.
  std::string reason() const;
};

struct Plan {
  std::vector<PlannedModule> rows;
  std::vector<std::size_t> order;  ///< rows that are ready, in the order of loading
};

/// Pure: the result depends on the arguments alone. Order: phase, then what is required first, then name.
Plan make_plan(const std::vector<ManifestFile>& files, const HostConfig& host, const Facts& facts);

/// The problem of a module whose required module `name` is not healthy.
PluginProblem blocked_by(const std::string& path, const std::string& pointer, const std::string& name,
                         const PlannedModule& other);

/// "module 'x' is blocked: ..." without the beginning: "blocked: ...", "disabled by ...".
std::string state_and_reason(PluginState state, const std::string& reason);

}  // namespace novaphy
