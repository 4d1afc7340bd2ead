// SPDX-License-Identifier: Apache-2.0
// integrate_push_box_generated of novaphy.diff.
#include "../diff/push_box.hpp"
#include "bind_push_box.hpp"

namespace py = pybind11;

namespace novaphy::python {

void bind_push_box(py::module_& m) {
  using nova::Tensor;
  m.def(
      "integrate_push_box_generated",
      [](const Tensor& box_x, const Tensor& box_vx, const Tensor& pusher_x, const Tensor& pusher_vx,
         double pusher_radius, double box_half_extent, double box_mass, double ke, double kd, double mu,
         double gravity, double friction_smoothing, double dt) {
        const auto number = [](double value) { return static_cast<float>(value); };
        const auto next = semi_implicit::integrate_push_box_generated(
            box_x, box_vx, pusher_x, pusher_vx,
            {number(pusher_radius), number(box_half_extent), number(box_mass), number(ke), number(kd),
             number(mu), number(gravity), number(friction_smoothing), number(dt)});
        return py::make_tuple(next.x, next.v);
      },
      py::arg("box_x"), py::arg("box_vx"), py::arg("pusher_x"), py::arg("pusher_vx"), py::kw_only(),
      py::arg("pusher_radius"), py::arg("box_half_extent"), py::arg("box_mass"), py::arg("ke"), py::arg("kd"),
      py::arg("mu"), py::arg("gravity") = 9.81, py::arg("friction_smoothing") = 1e-3, py::arg("dt"),
      "(box_x_next [m], box_vx_next [m/s]), new tensors (n), after one step of dt [s] of n boxes that slide "
      "along one axis, "
      "each pushed by a sphere whose position [m] and speed [m/s] are given. The contact is that of "
      "particles with shapes, "
      "stiffness ke [N/m], damping kd [N s/m] on approach; the ground's friction is mu box_mass gravity, "
      "smooth below "
      "friction_smoothing [m/s]. ValueError for a mass, dt or friction_smoothing that is not positive.");
}

}  // namespace novaphy::python
