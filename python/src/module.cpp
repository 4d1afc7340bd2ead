// SPDX-License-Identifier: Apache-2.0
// novaphy._core: the data model and the plugin system. It loads no plugin and does not import NumPy.
#include "bindings.hpp"
#include "novaphy/error.hpp"
#include "novaphy/runtime.hpp"

PYBIND11_MODULE(_core, m) {
  namespace py = pybind11;
  using namespace novaphy::python;
  m.doc() = "NovaPhy's data model and plugin system.";
  // what NOVAPHY_PYTHON_MODULE compares before an extension touches a type
  m.attr("pybind_internals") = PYBIND11_INTERNALS_ID;
  m.attr("pybind_version") = novaphy::text(PYBIND11_VERSION_MAJOR, ".", PYBIND11_VERSION_MINOR);
  if (novaphy::Runtime::version() != NOVAPHY_VERSION)
    throw py::import_error(novaphy::text(
        "novaphy._core is of release ", NOVAPHY_VERSION, ", and the loaded libnovaphy_runtime of release ",
        novaphy::Runtime::version(), "; remove the other copy from the library path"));
  bind_errors(m);
  bind_log(m);
  bind_device(m);
  bind_enums(m);
  bind_transform(m);
  bind_device_array(m);
  bind_array_set(m);
  bind_state(m);
  bind_contacts(m);
  bind_model(m);
  bind_builder(m);
  bind_solver(m);
  bind_plugins(m);
  bind_build_info(m);
  bind_class_rules(m);
  m.attr("finish_classes")(m);
}
