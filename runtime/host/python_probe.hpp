// SPDX-License-Identifier: Apache-2.0
// The Python that belongs to this NovaPhy, and questions that only it can answer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

namespace novaphy::host {

/// An interpreter, and the package novaphy that it imports.
struct PythonFound {
  std::string program, version;          ///< empty when there is none
  std::string package, package_version;  ///< folder of the package; empty when it cannot be imported
  std::vector<std::string> nvrtc;        ///< NVRTC libraries among its packages
  std::string reason;                    ///< what is missing; empty when nothing is
  std::vector<std::pair<std::string, std::string>> environment;  ///< what makes the package importable
};

/// `wanted`, else NOVAPHY_PYTHON, else python3 on PATH; with the package that lies beside this program first.
/// An interpreter that does not answer within `limit` seconds is one that cannot be used.
PythonFound find_python(const std::string& wanted, double limit);

/// Asks whether the extension of a module has what the manifest says ("imports") or refuses while its module
/// is disabled ("refuses").
Outcome ask_python_about_extension(const PythonFound& python, const nlohmann::json& question, double limit);

}  // namespace novaphy::host
