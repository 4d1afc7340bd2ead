// SPDX-License-Identifier: Apache-2.0
// Attributes of array sets: custom arrays by name, and no attribute that does not exist.
#include "array_set.hpp"

#include <array>

#include "novaphy/api.hpp"
#include "novaphy/force.hpp"

namespace novaphy::python {
namespace {

constexpr std::array kFrequencies = {"once",
                                     "world",
                                     "particle",
                                     "spring",
                                     "tri",
                                     "edge",
                                     "tet",
                                     "muscle",
                                     "body",
                                     "shape",
                                     "shape_pair",
                                     "joint",
                                     "joint_bound",
                                     "joint_coord",
                                     "joint_dof",
                                     "articulation",
                                     "articulation_bound",
                                     "soft_contact",
                                     "rigid_contact",
                                     "particle_shape"};
static_assert(kFrequencies.size() == static_cast<std::size_t>(Frequency::particle_shape) + 1);
constexpr std::array kOwners = {"model", "state", "control", "contacts"};

template <std::size_t N>
int index_in(const std::array<const char*, N>& names, const std::string& name, const char* argument) {
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    if (name == names[i]) return static_cast<int>(i);
    all += (i ? ", " : "") + std::string(names[i]);
  }
  fail(ErrorKind::value, "add_custom_array: ", argument, " '", name, "' is not one of ", all);
}

/// Names that would be taken for a method or for Python's own.
void require_free_name(const std::string& name, ArrayOwner owner) {
  const py::type classes[] = {py::type::of<Model>(), py::type::of<SimState>(), py::type::of<Control>(),
                              py::type::of<Contacts>()};
  const py::type& cls = classes[static_cast<std::size_t>(owner)];
  const bool keyword = py::module_::import("keyword").attr("iskeyword")(name).cast<bool>();
  NOVAPHY_REQUIRE(!keyword && !name.starts_with("__"), ErrorKind::value, "add_custom_array: '", name,
                  "' is a name of Python itself; choose another");
  NOVAPHY_REQUIRE(!py::hasattr(cls, name.c_str()), ErrorKind::value,
                  "add_custom_array: ", std::string(py::str(cls.attr("__name__"))), " has an attribute '",
                  name, "' already; choose another name");
}

/// The array of a force is not there before the solver that adds it. Their names begin with that of the
/// force.
[[noreturn]] void raise_no_array(const py::object& self, const std::string& name) {
  std::string hint;
  for (const ProvidedInterface& force : list<IForce>())
    if (name.starts_with(force.name + "_"))
      hint = "the arrays of force '" + force.name + "' are added by a solver that is made with forces=['" +
             force.name + "']" + (py::isinstance<Model>(self) ? "" : ", to states that are made after it");
  raise_no_attribute(self, name, hint);
}

py::object get_attribute(const py::object& self, const std::string& name) {
  if (name.starts_with("__"))
    fail(ErrorKind::attribute, "no attribute '", name, "'");  // Python's own questions
  const DeviceArray* array = self.cast<ArraySet&>().find(name);
  if (array == nullptr) raise_no_array(self, name);
  return py::cast(*array);
}

void set_attribute(const py::object& self, const std::string& name, const py::object& value) {
  if (py::hasattr(py::type::of(self), name.c_str())) return set_existing_attribute(self, name, value);
  DeviceArray* array = self.cast<ArraySet&>().find(name);
  if (array == nullptr && py::hasattr(self, "__dict__")) return set_existing_attribute(self, name, value);
  if (array == nullptr) raise_no_array(self, name);
  assign_array(*array, value, describe(*array));
}

py::list names_of(const py::object& self) {
  py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
  for (const ArraySet::Custom& custom : self.cast<ArraySet&>().custom_arrays)
    names.append(custom.spec.info.name);
  return names;
}

}  // namespace

py::tuple custom_to_tuple(const CustomArray& spec) {
  return py::make_tuple(spec.info.name, static_cast<int>(spec.info.dtype),
                        static_cast<int>(spec.info.frequency), spec.info.width, spec.info.doc,
                        static_cast<int>(spec.owner), spec.default_row);
}

CustomArray custom_from_tuple(const py::tuple& state) {
  CustomArray spec;
  spec.info.name = state[0].cast<std::string>();
  spec.info.dtype = static_cast<DType>(state[1].cast<int>());
  spec.info.frequency = static_cast<Frequency>(state[2].cast<int>());
  spec.info.width = state[3].cast<int>();
  spec.info.doc = state[4].cast<std::string>();
  spec.owner = static_cast<ArrayOwner>(state[5].cast<int>());
  spec.default_row = state[6].cast<std::vector<float>>();
  return spec;
}

CustomArray custom_argument(const std::string& name, const std::string& frequency, const py::object& dtype,
                            int width, const py::object& default_value, const std::string& owner) {
  CustomArray spec;
  spec.info.name = name;
  spec.info.frequency = static_cast<Frequency>(index_in(kFrequencies, frequency, "frequency"));
  spec.info.dtype = dtype_argument(dtype, "add_custom_array");
  spec.info.width = width;
  spec.owner = static_cast<ArrayOwner>(index_in(kOwners, owner, "owner"));
  require_free_name(name, spec.owner);
  NOVAPHY_REQUIRE(width >= 1, ErrorKind::value, "add_custom_array: width must be at least 1, is ", width);
  if (const std::optional<double> number = number_of(default_value)) {
    spec.default_row.assign(static_cast<std::size_t>(width), static_cast<float>(*number));
  } else {
    spec.default_row.resize(static_cast<std::size_t>(width));
    read_floats(default_value, spec.default_row.data(), spec.default_row.size(), "add_custom_array: default");
  }
  return spec;
}

py::dict arrays_to_dict(ArraySet& set) {
  py::dict arrays;
  py::list custom;
  set.visit([&](const ArrayInfo& info, DeviceArray& array) {
    const bool keeps_gradient = array.storage() && array.storage()->requires_grad();
    arrays[py::str(info.name)] = py::make_tuple(array_to_tuple(array), keeps_gradient);
  });
  for (const ArraySet::Custom& one : set.custom_arrays) custom.append(custom_to_tuple(one.spec));
  py::dict out;
  out["arrays"] = arrays;
  out["custom"] = custom;
  return out;
}

void arrays_from_dict(ArraySet& set, const py::dict& state, const char* owner, int index) {
  for (const py::handle one : state["custom"])
    set.custom_arrays.push_back({custom_from_tuple(one.cast<py::tuple>()), {}});
  const py::dict arrays = state["arrays"];
  set.visit([&](const ArrayInfo& info, DeviceArray& array) {
    if (!arrays.contains(info.name)) return;  // pickled by an older release, which did not have it
    const auto [data, keeps_gradient] = arrays[py::str(info.name)].cast<std::pair<py::tuple, bool>>();
    array = array_from_tuple(data);
    array.named(info.name, owner, index);
    if (array.storage()) array.storage()->set_requires_grad(keeps_gradient);
  });
}

void bind_array_set(py::module_& m) {
  py::class_<ArraySet, py::smart_holder>(m, "ArraySet",
                                         "Named arrays: the base of Model, SimState, Control and Contacts.")
      .def("__getattr__", &get_attribute, py::arg("name"))
      .def("__setattr__", &set_attribute, py::arg("name"), py::arg("value"))
      .def("__dir__", &names_of)
      .def(
          "array_names",
          [](ArraySet& self) {
            std::vector<std::string> names;
            self.visit([&](const ArrayInfo& info, DeviceArray&) { names.push_back(info.name); });
            return names;
          },
          "Names of all arrays, ours and custom ones.");
}

}  // namespace novaphy::python
