// SPDX-License-Identifier: Apache-2.0
// Rules for every class of this package and of its plugins: no attribute comes into being by a misspelling,
// and an object that cannot be pickled says so under every protocol.
#include <algorithm>

#include "bindings.hpp"
#include "novaphy/error.hpp"

namespace novaphy::python {
namespace {

/// Attributes of other engines and of older releases, and where their meaning is found here.
constexpr const char* kElsewhere[][2] = {
    {"ground", "the ground is a shape: builder.add_ground_plane()"},
    {"rigid_contact_margin", "set ShapeConfig(margin=...) in the builder, or model.shape_margin"},
    {"thickness", "it is called margin now"},
    {"mode", "it is called actuator_mode now"},
    {"joint_attach_ke", "pass it to the solver"},
    {"joint_attach_kd", "pass it to the solver"},
    {"add_shape_mesh", "meshes are not supported yet; use primitive shapes"},
    {"add_shape_convex_hull", "meshes are not supported yet; use primitive shapes"},
    {"add_shape_heightfield", "height fields are not supported yet; use primitive shapes"},
    {"add_soft_mesh", "meshes are not supported yet; use add_soft_grid()"},
    {"add_cloth_mesh", "meshes are not supported yet; use add_cloth_grid()"},
    {"add_urdf", "importers are not supported yet"},
    {"add_mjcf", "importers are not supported yet"},
    {"add_usd", "importers are not supported yet"},
};

/// How like a name must be to be meant, from 0 to 1 (difflib's ratio).
constexpr double kNear = 0.75;

std::string class_name(const py::handle& object) {
  return py::str(py::type::handle_of(object).attr("__name__"));
}

/// The nearest public name that the object has, "" when none is near.
std::string nearest_name(const py::object& object, const std::string& name) {
  py::list known;
  for (const py::handle one : object.attr("__dir__")())
    if (!one.cast<std::string>().starts_with('_')) known.append(one);
  const py::list near = py::module_::import("difflib").attr("get_close_matches")(name, known, 1, kNear);
  return near.empty() ? "" : std::string(py::str(near[0]));
}

/// object.__reduce_ex__, whose old protocols would make an instance of pybind11's base class and so end the
/// process.
py::object reduce_ex(const py::object& self, int protocol) {
  const py::object type = py::type::of(self);
  const py::object object = py::module_::import("builtins").attr("object");
  const bool has_own =
      py::hasattr(type, "__setstate__") || !type.attr("__reduce__").is(object.attr("__reduce__"));
  NOVAPHY_REQUIRE(has_own, ErrorKind::type, "cannot pickle '", class_name(self),
                  "': it belongs to its process",
                  py::hasattr(type, "clone") ? "; its clone() is a copy" : "");
  return object.attr("__reduce_ex__")(self, std::max(protocol, 2));
}

void finish(const py::handle& cls) {
  const py::object object = py::module_::import("builtins").attr("object");
  if (cls.attr("__setattr__").is(object.attr("__setattr__")))  // array sets have their own
    cls.attr("__setattr__") = py::cpp_function(&set_existing_attribute, py::name("__setattr__"),
                                               py::is_method(cls), py::arg("name"), py::arg("value"));
  cls.attr("__reduce_ex__") =
      py::cpp_function(&reduce_ex, py::name("__reduce_ex__"), py::is_method(cls), py::arg("protocol"));
  for (const auto& [name, inner] : py::dict(cls.attr("__dict__").attr("copy")()))
    if (PyType_Check(inner.ptr()) && py::isinstance(inner, py::type::handle_of(cls))) finish(inner);
}

}  // namespace

void raise_no_attribute(const py::object& object, const std::string& name, std::string hint) {
  for (const auto& [wrong, advice] : kElsewhere)
    if (name == wrong) hint = advice;
  if (hint.empty() && class_name(object) == "Model") {
    const py::object builder = py::module_::import("novaphy._core").attr("ModelBuilder");
    if (name.starts_with("add_") && py::hasattr(builder, name.c_str()))
      hint = "call it on the ModelBuilder, before finalize()";
  }
  if (hint.empty()) {
    hint = nearest_name(object, name);
    if (!hint.empty()) hint = "did you mean '" + hint + "'?";
  }
  fail(ErrorKind::attribute, "'", class_name(object), "' has no attribute '", name, "'",
       hint.empty() ? "" : "; ", hint);
}

void set_existing_attribute(const py::object& object, const std::string& name, const py::object& value) {
  const py::object type = py::type::of(object);
  const py::object member = py::getattr(type, name.c_str(), py::none());
  // a class that a user derives in Python has a dictionary and may keep in it what it likes
  if (member.is_none() && !py::hasattr(object, "__dict__")) raise_no_attribute(object, name);
  NOVAPHY_REQUIRE(!py::isinstance(member, py::handle(reinterpret_cast<PyObject*>(&PyProperty_Type))) ||
                      !member.attr("fset").is_none(),
                  ErrorKind::attribute, "'", class_name(object), ".", name, "' cannot be assigned",
                  name != "grad" ? ""
                  : py::hasattr(type, "zero_grad")
                      ? "; zero_grad() drops the gradient"
                      : "; nova.as_tensor(array).zero_grad() drops the gradient");
  if (PyObject_GenericSetAttr(object.ptr(), py::str(name).ptr(), value.ptr()) == 0) return;
  py::error_already_set error;
  // the setter of a plain number was given something else
  if (error.matches(PyExc_TypeError) &&
      std::string(py::str(error.value())).find("incompatible function arguments") != std::string::npos)
    fail(ErrorKind::type, "'", class_name(object), ".", name, "' cannot be ", std::string(py::repr(value)),
         ", which is ", class_name(value));
  throw error;
}

void bind_class_rules(py::module_& m) {
  m.def(
      "finish_classes",
      [](const py::module_& module) {
        const py::object bound = py::type::of(py::type::of<ArraySet>());
        for (const auto& [name, value] : py::dict(module.attr("__dict__").attr("copy")()))
          if (py::isinstance(value, bound)) finish(value);
      },
      py::arg("module"), "Gives the classes of an extension the rules that hold for all of ours.");
}

}  // namespace novaphy::python
