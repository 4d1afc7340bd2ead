// SPDX-License-Identifier: Apache-2.0
// How the builder's calls take rows of numbers, and the place of a grid or mesh.
#pragma once

#include <pybind11/numpy.h>

#include "builder.hpp"
#include "novaphy/python_arrays.hpp"

namespace novaphy::python {

using Number = std::optional<double>;

/// Rows of three floats from anything array-like.
inline std::vector<Vec3f> vec3_rows(const py::object& value, const std::string& where) {
  const py::array rows = convert_array(value, {where, DType::f32, {-1, 3}});
  const auto* begin = static_cast<const Vec3f*>(rows.data());
  return {begin, begin + rows.shape(0)};
}

inline std::vector<double> doubles(const py::object& value, const std::string& where) {
  if (value.is_none()) return {};
  // the check of kind, shape and range; the builder rounds the doubles itself
  convert_array(value, {where, DType::f32, {-1}});
  return py::module_::import("numpy")
      .attr("asarray")(value, "float64")
      .attr("tolist")()
      .cast<std::vector<double>>();
}

inline std::vector<int> integers(const py::object& value, const std::string& where) {
  if (value.is_none()) return {};
  const py::array given = convert_array(value, {where, DType::i32, {-1}});
  const auto* begin = static_cast<const int*>(given.data());
  return {begin, begin + given.shape(0)};
}

/// pos, rot and vel of a grid or mesh; None = the defaults.
template <class Grid>
void place(Grid& grid, const std::string& where, const py::object& pos, const py::object& rot,
           const py::object& vel) {
  grid.pos = vec3_argument(pos, where + ": pos");
  grid.rot = quat_argument(rot, where + ": rot (x, y, z, w)");
  grid.vel = vec3_argument(vel, where + ": vel");
}

}  // namespace novaphy::python
