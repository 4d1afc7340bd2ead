// SPDX-License-Identifier: Apache-2.0
// SimState and Control.
#include "array_set.hpp"

namespace novaphy::python {
namespace {

std::shared_ptr<SimState> state_from(const py::dict& pickled) {
  auto state = std::make_shared<SimState>();
  state->index = pickled["index"].cast<int>();
  state->requires_grad = pickled["requires_grad"].cast<bool>();
  arrays_from_dict(*state, pickled, "state", state->index);
  return state;
}

py::dict state_to(SimState& state) {
  py::dict out = arrays_to_dict(state);
  out["index"] = state.index;
  out["requires_grad"] = state.requires_grad;
  return out;
}

}  // namespace

void bind_state(py::module_& m) {
  py::class_<SimState, ArraySet, py::smart_holder> state(
      m, "SimState",
      "What changes in every step. Assigning to an array copies into it; it is never replaced.");
#define X(name, dtype, frequency, width, doc) def_array(state, #name, &SimState::name, doc);
#include "novaphy/state_arrays.inc"
  state.def_readonly("index", &SimState::index, "The number that messages use: states are counted per model.")
      .def_readonly("requires_grad", &SimState::requires_grad)
      .def_property_readonly("particle_count", &SimState::particle_count)
      .def_property_readonly("body_count", &SimState::body_count)
      .def_property_readonly("joint_coord_count", [](const SimState& self) { return self.joint_q.rows(); })
      .def_property_readonly("joint_dof_count", [](const SimState& self) { return self.joint_qd.rows(); })
      .def("clear_forces", &SimState::clear_forces, "Zeroes particle_f and body_f.")
      .def("assign", &SimState::assign, py::arg("other"),
           "Copies all arrays of another state of the same model.")
      .def("clone", &SimState::clone, "A copy in memory of its own.")
      .def_static(
          "from_model", [](const Model& model) { return model.state(); }, py::arg("model"))
      .def(
          "save_npz",
          [](const py::object& self, const py::object& path) {
            py::module_::import("novaphy.io").attr("save_state")(self, path);
          },
          py::arg("path"), "Writes every array to a file, with novaphy.provenance().")
      .def(
          "load_npz",
          [](const py::object& self, const py::object& path) {
            py::module_::import("novaphy.io").attr("load_state")(self, path);
          },
          py::arg("path"), "Reads what save_npz() of a state of the same model wrote.")
      .def("check_finite", &SimState::check_finite,
           "Raises NovaPhyError naming the first entry that is not finite.")
      .def("__copy__", &SimState::clone)
      .def(
          "__deepcopy__", [](const SimState& self, const py::dict&) { return self.clone(); }, py::arg("memo"))
      .def("__repr__",
           [](const SimState& self) {
             return text("SimState(#", self.index, ", ", self.particle_count(), " particles, ",
                         self.body_count(), " bodies)");
           })
      .def(py::pickle(&state_to, &state_from));

  py::class_<Control, ArraySet, py::smart_holder> control(m, "Control", "What a controller sets.");
#define X(name, dtype, frequency, width, doc) def_array(control, #name, &Control::name, doc);
#include "novaphy/control_arrays.inc"
  def_alias(control, "joint_target_pos", "joint_target_q",
            "Control.joint_target_pos is called joint_target_q now");
  def_alias(control, "joint_target", "joint_target_q", "Control.joint_target is called joint_target_q now");
  def_alias(control, "joint_target_vel", "joint_target_qd",
            "Control.joint_target_vel is called joint_target_qd now");
  control.def("clear", &Control::clear, "Zeroes everything.")
      .def("clone", &Control::clone, "A copy in memory of its own.")
      .def("__copy__", &Control::clone)
      .def(
          "__deepcopy__", [](const Control& self, const py::dict&) { return self.clone(); }, py::arg("memo"))
      .def("__repr__",
           [](const Control& self) { return text("Control(", self.joint_f.rows(), " degrees of freedom)"); })
      .def(py::pickle([](Control& self) { return arrays_to_dict(self); },
                      [](const py::dict& pickled) {
                        auto made = std::make_shared<Control>();
                        arrays_from_dict(*made, pickled, "control", -1);
                        return made;
                      }));
}

}  // namespace novaphy::python
