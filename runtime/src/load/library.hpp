// SPDX-License-Identifier: Apache-2.0
// Opens a module's library and checks, before anything in it runs, that it speaks this runtime's ABI.
#pragma once

#include <string>
#include <vector>

#include "novaphy/abi.h"

namespace novaphy {

class CheckedLibrary;

/// Why a module cannot be loaded: "NP302" and its text.
struct LoadFailure {
  std::string code, text;
};

/// What the manifest says about the library.
struct ExpectedModule {
  std::string name, version;
};

/// Opens the library, calls its entry and returns the descriptor, which lives as long as the process: a
/// library is never unmapped. Adds to `notes` what is unusual and no hindrance. Throws LoadFailure.
const novaphy_plugin* open_module(const CheckedLibrary& file, const ExpectedModule& expected,
                                  std::vector<std::string>& notes);

/// Checks a descriptor against this runtime and the manifest. Throws LoadFailure NP304 to NP308.
void check_descriptor(const novaphy_plugin* plugin, const ExpectedModule& expected,
                      std::vector<std::string>& notes);

/// "two copies of the runtime are loaded: ...", or nothing where there is one.
std::string two_runtimes();

/// What differs between a library's fingerprint and the runtime's: hard differences refuse (NP307), the
/// compiler is a note (NP315). "cxx11_abi=0, runtime has 1; ..." or empty.
struct FingerprintDifference {
  std::string hard, note;
};
FingerprintDifference compare_fingerprints(const std::string& library, const std::string& runtime);

}  // namespace novaphy
