// SPDX-License-Identifier: Apache-2.0
// Element by element, in forward mode.
#include "src/element_products.hpp"

#include <algorithm>
#include <array>

#include "src/dual.hpp"
// the formulas come after the scalar that they are instantiated with
#include "novaphy/semi_implicit/formula/bending.h"
#include "novaphy/semi_implicit/formula/spring.h"
#include "novaphy/semi_implicit/formula/tetrahedron.h"
#include "novaphy/semi_implicit/formula/triangle.h"

namespace novaphy::semi_implicit {

namespace {

using Vec3Dual = Vec3T<Dual>;

Vec3Dual constant(const Vec3f& a) {
  return {a.x, a.y, a.z};
}
Vec3Dual moving(const Vec3f& a, const Vec3f& d) {
  return {{a.x, d.x}, {a.y, d.y}, {a.z, d.z}};
}
Mat22T<Dual> constant(const Mat22f& a) {
  return detail::mat22<Dual>([&](int i, int j) { return Dual(a.m[i][j]); });
}
Mat33T<Dual> constant(const Mat33f& a) {
  return detail::mat33<Dual>([&](int i, int j) { return Dual(a.m[i][j]); });
}

/// Positions and velocities of the corners of an element, one of which moves in a direction.
template <std::size_t N>
struct Corners {
  std::array<std::size_t, N> particle;
  std::array<Vec3Dual, N> x, v;
};

}  // namespace

bool ElementProducts::empty() const noexcept {
  return model_.spring_count + model_.tri_count + model_.edge_count + model_.tet_count == 0;
}

template <class Visit>
void ElementProducts::for_each(ForceMatrix matrix, std::span<const Vec3f> direction, Visit visit) const {
  const Vec3f at_rest{0, 0, 0};
  const bool positions_move = matrix == ForceMatrix::stiffness;
  const auto elements = [&]<std::size_t N>(Corners<N> corners, const char* kind, const DeviceArray& array, auto acts,
                                           auto force) {
    const auto indices = array.read<std::int32_t>();
    for (std::size_t row = 0; row < indices.size() / N; ++row) {
      const auto own = indices.subspan(row * N, N);
      const bool is_side = std::ranges::any_of(own, [](std::int32_t index) { return index < 0; });  // of one triangle
      if (is_side || !acts(row)) continue;
      for (std::size_t k = 0; k < N; ++k) {
        const auto p = corners.particle[k] = static_cast<std::size_t>(own[k]);
        corners.x[k] = positions_move ? moving(positions_[p], direction[p]) : constant(positions_[p]);
        corners.v[k] = positions_move ? constant(at_rest) : moving(at_rest, direction[p] - direction[corners.particle[0]]);
      }
      std::array<Vec3f, N> slopes;
      const std::array<Vec3Dual, N> taken = force(row, corners);
      for (std::size_t k = 0; k < N; ++k) slopes[k] = {taken[k].x.slope, taken[k].y.slope, taken[k].z.slope};
      visit(ElementName{kind, static_cast<std::int64_t>(row)}, corners.particle, slopes);
    }
  };
  const auto ke = model_.spring_stiffness.read<float>(), kd = model_.spring_damping.read<float>(),
             rest_length = model_.spring_rest_length.read<float>();
  const auto always = [](std::size_t) { return true; };
  elements(Corners<2>(), "spring", model_.spring_indices, always, [&](std::size_t i, const auto& c) {
    const Vec3Dual force = formula::spring_force<Dual>(c.x[0], c.x[1], c.v[0], c.v[1], {ke[i], kd[i], rest_length[i]});
    return std::array<Vec3Dual, 2>{force, -force};
  });
  const auto tri_poses = model_.tri_poses.read<Mat22f>();
  const auto tri_materials = model_.particle_tri_material.read<float>(),
             tri_activations = model_.particle_tri_activation.read<float>();
  // grids of tetrahedra have a skin of triangles and edges without stiffness
  const auto stiff_triangle = [&](std::size_t i) {
    return std::ranges::any_of(tri_materials.subspan(5 * i, 5), [](float number) { return number != 0.0f; });
  };
  elements(Corners<3>(), "triangle", model_.tri_indices, stiff_triangle, [&](std::size_t i, const auto& c) {
    formula::TriangleMaterial<Dual> material;
    std::ranges::copy(tri_materials.subspan(5 * i, 5), material.begin());
    const auto rest = formula::prepare_triangle<Dual>(constant(tri_poses[i]), material);
    return formula::triangle_forces<Dual>(c.x, c.v, rest, Dual(tri_activations[i]));
  });
  const auto bending = model_.edge_bending_properties.read<Vec2f>();
  const auto rest_angles = model_.edge_rest_angle.read<float>();
  const auto stiff_edge = [&](std::size_t i) { return bending[i].x != 0.0f || bending[i].y != 0.0f; };
  elements(Corners<4>(), "bending edge", model_.edge_indices, stiff_edge, [&](std::size_t i, const auto& c) {
    return formula::bending_forces<Dual>(c.x, c.v, {bending[i].x, bending[i].y, rest_angles[i]});
  });
  const auto poses = model_.tet_poses.read<Mat33f>();
  const auto materials = model_.particle_tet_material.read<Vec3f>();
  const auto activations = model_.particle_tet_activation.read<float>();
  elements(Corners<4>(), "tetrahedron", model_.tet_indices, always, [&](std::size_t i, const auto& c) {
    const auto rest = formula::prepare_tetrahedron<Dual>(constant(poses[i]), constant(materials[i]));
    return formula::tetrahedron_forces<Dual>(c.x, c.v, rest, Dual(activations[i]));
  });
}

void ElementProducts::multiply(ForceMatrix matrix, std::span<const Vec3f> direction, std::span<Vec3f> out) const {
  std::ranges::fill(out, Vec3f{0, 0, 0});
  for_each(matrix, direction, [&](const ElementName&, const auto& particles, const auto& slopes) {
    for (std::size_t k = 0; k < particles.size(); ++k) out[particles[k]] = out[particles[k]] + slopes[k];
  });
}

ElementName ElementProducts::largest_share(ForceMatrix matrix, std::span<const Vec3f> direction) const {
  ElementName largest;
  float most = 0.0f;
  for_each(matrix, direction, [&](const ElementName& name, const auto& particles, const auto& slopes) {
    float share = 0.0f;
    for (std::size_t k = 0; k < particles.size(); ++k) share += dot(direction[particles[k]], slopes[k]);
    if (share > most) most = share, largest = name;
  });
  return largest;
}

}  // namespace novaphy::semi_implicit
