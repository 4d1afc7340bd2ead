// SPDX-License-Identifier: Apache-2.0
// What this extension was built from and with. The commit comes from a header that the build rewrites when it
// changes.
#include "bindings.hpp"
#include "novaphy/error.hpp"
#include "novaphy_commit.hpp"

#ifndef NOVAPHY_BUILD_TYPE
#define NOVAPHY_BUILD_TYPE ""
#endif

namespace novaphy::python {

void bind_build_info(py::module_& m) {
  using namespace py::literals;
#ifdef __clang__
  const std::string compiler = text("clang ", __clang_major__, ".", __clang_minor__);
#else
  const std::string compiler = text("gcc ", __GNUC__, ".", __GNUC_MINOR__);
#endif
  m.attr("__version__") = NOVAPHY_VERSION;
  m.attr("commit") = kCommit;
  m.attr("compiler") = compiler;
  m.attr("build_type") = NOVAPHY_BUILD_TYPE;
}

}  // namespace novaphy::python
