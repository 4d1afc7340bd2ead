// SPDX-License-Identifier: Apache-2.0
// How a plugin's Python extension begins: NOVAPHY_PYTHON_MODULE(name, m) { m.def(...); }
//
// An extension is a file of its own beside the plugin's library (novaphy_add_python_module in CMake). Rules:
// every class of a hierarchy is held by py::smart_holder (`py::classh<T>` for short), bases are never
// py::module_local(), exceptions are thrown as novaphy::Error (the core translates them), and the GIL is
// released around steps, loads and kernel compiles.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "novaphy/array.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {

namespace py = pybind11;

/// "__pybind11_internals_v12_...__" -> "v12".
inline std::string internals_version(std::string_view id) {
  constexpr std::string_view prefix = "__pybind11_internals_";
  if (id.substr(0, prefix.size()) == prefix) id.remove_prefix(prefix.size());
  return std::string(id.substr(0, id.find('_')));
}

/// What NOVAPHY_PYTHON_MODULE does before any type is touched: imports the core, refuses an extension of
/// another pybind11 (their classes would not know each other), and has the runtime load the module that the
/// extension binds. Raises ImportError with the whole reason.
inline void begin_extension(const char* extension, const char* module) {
  const py::module_ core = py::module_::import("novaphy._core");
  const std::string theirs = py::str(core.attr("pybind_internals"));
  const std::string ours = PYBIND11_INTERNALS_ID;
  if (theirs != ours) {
    const bool same_version = internals_version(ours) == internals_version(theirs);
    throw py::import_error(text(extension, " was built with pybind11 internals ",
                                same_version ? ours : internals_version(ours), ", novaphy has ",
                                same_version ? theirs : internals_version(theirs), "; rebuild with pybind11 ",
                                std::string(py::str(core.attr("pybind_version")))));
  }
  core.attr("require_module")(module, extension);
}

/// What NOVAPHY_PYTHON_MODULE does when the body has filled `m`: its classes get the rules that hold for all
/// of ours. Assigning an attribute that does not exist raises with the nearest name, and an object that
/// cannot be pickled says so under every protocol.
inline void end_extension(const py::module_& m) {
  py::module_::import("novaphy._core").attr("finish_classes")(m);
}

/// The name of an integer argument. pybind11 would cut a NumPy float down to an integer; this refuses it, and
/// takes whatever Python itself takes as an index.
inline py::arg integer(const char* name) {
  return py::arg(name).noconvert();
}

/// pybind11 passes None as a null pointer. Throws Error(type).
template <class Pointer>
void require_model(const Pointer& model, const char* who) {
  NOVAPHY_REQUIRE(model != nullptr, ErrorKind::type, who, ": model wants a novaphy.Model, got None");
}

}  // namespace novaphy::python

#ifndef NOVAPHY_PYTHON_PLUGIN_MODULE
/// The plugin module that the extension binds; novaphy_add_python_module() defines it.
#define NOVAPHY_PYTHON_PLUGIN_MODULE ""
#endif

/// Defines the init function of extension `name`; the body that follows fills `m`.
#define NOVAPHY_PYTHON_MODULE(name, m)                                       \
  static void novaphy_fill_##name(::pybind11::module_& m);                   \
  PYBIND11_MODULE(name, novaphy_module_) {                                   \
    ::novaphy::python::begin_extension(#name, NOVAPHY_PYTHON_PLUGIN_MODULE); \
    novaphy_fill_##name(novaphy_module_);                                    \
    ::novaphy::python::end_extension(novaphy_module_);                       \
  }                                                                          \
  static void novaphy_fill_##name(::pybind11::module_& m)
