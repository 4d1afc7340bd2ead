// SPDX-License-Identifier: Apache-2.0
// Exception classes: each kind of novaphy::Error becomes a class that is also the builtin a Python user
// expects.
#include <array>
#include <exception>

#include "bindings.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(ErrorKind::attribute) + 1;
/// Never released: extensions may translate until the interpreter ends.
std::array<PyObject*, kKinds> classes{};

PyObject*& class_of(ErrorKind kind) {
  return classes[static_cast<std::size_t>(kind)];
}

PyObject* new_class(py::module_& m, const char* name, const py::tuple& bases, const char* doc) {
  PyObject* made =
      PyErr_NewExceptionWithDoc((std::string("novaphy.") + name).c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw py::error_already_set();
  m.add_object(name, made);
  return made;
}

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Error& error) {
    PyErr_SetString(class_of(error.kind()), error.what());
  }
}

}  // namespace

void bind_errors(py::module_& m) {
  PyObject* base = new_class(m, "NovaPhyError", py::make_tuple(py::handle(PyExc_RuntimeError)),
                             "Base of NovaPhy's own errors.");
  classes.fill(base);
  class_of(ErrorKind::value) = PyExc_ValueError;
  class_of(ErrorKind::type) = PyExc_TypeError;
  class_of(ErrorKind::index) = PyExc_IndexError;
  class_of(ErrorKind::attribute) = PyExc_AttributeError;

  const auto define = [&](ErrorKind kind, const char* name, PyObject* builtin, const char* doc) {
    py::tuple bases = py::make_tuple(py::handle(base));
    if (builtin) bases = py::make_tuple(py::handle(base), py::handle(builtin));
    class_of(kind) = new_class(m, name, bases, doc);
  };
  define(ErrorKind::shape_mismatch, "ShapeMismatchError", PyExc_ValueError,
         "An array has another shape than the one wanted.");
  define(ErrorKind::device_mismatch, "DeviceMismatchError", PyExc_ValueError,
         "Arrays of one call lie on different devices.");
  define(ErrorKind::unsupported_feature, "UnsupportedFeatureError", PyExc_NotImplementedError,
         "Valid input outside the documented domain.");
  define(ErrorKind::plugin_not_available, "PluginNotAvailableError", PyExc_ImportError,
         "A plugin is absent or cannot load; the text says why and where it was looked for.");
  define(ErrorKind::degenerate_element, "DegenerateElementError", PyExc_ValueError,
         "An element has no rest area or volume, or is inverted.");
  define(ErrorKind::domain_check, "DomainCheckError", nullptr,
         "A guard compared a forward result and refused to record its gradient.");
  define(ErrorKind::capture, "CaptureError", nullptr, "A call cannot be part of a captured graph.");
  define(ErrorKind::gradient_not_ready, "GradientNotReadyError", nullptr,
         "A gradient was read, or backward called, inside the open recording.");
  define(ErrorKind::stale_record, "StaleRecordError", nullptr,
         "A recorded value was overwritten before backward.");
  define(ErrorKind::trace, "TraceError", nullptr, "A kernel's Python asked a traced value for a number.");
  define(ErrorKind::parse, "ParseError", PyExc_ValueError, "A file does not hold what its format demands.");
  py::register_exception_translator(&translate);
}

}  // namespace novaphy::python
