// SPDX-License-Identifier: Apache-2.0
// Rows of elements by generated functions, or by the formulas; then their sum over particles.
#include "src/element_forces.hpp"

#include <algorithm>

#include "novaphy/semi_implicit/formula/bending.h"
#include "novaphy/semi_implicit/formula/spring.h"
#include "novaphy/semi_implicit/formula/tetrahedron.h"
#include "novaphy/semi_implicit/formula/triangle.h"
#include "novaphy/task_pool.hpp"

namespace novaphy::semi_implicit {

namespace {

/// Row `row` of argument `k`, as values of T.
template <class T>
const T& read(const void* const* arguments, std::size_t k, std::int64_t row) {
  return static_cast<const T*>(arguments[k])[row];
}

/// Calls force(row, x, v) for each complete element; others have no force. The corners are argument `index`.
template <std::size_t N, class Force>
void for_each_element(const void* const* arguments, std::size_t index, void* const* outputs,
                      std::int64_t begin, std::int64_t end, Force force) {
  for (std::int64_t row = begin; row < end; ++row) {
    const auto& corners = read<std::array<std::int32_t, N>>(arguments, index, row);
    std::array<Vec3f, N> x{}, v{}, forces{};
    const bool complete = std::ranges::all_of(corners, [](std::int32_t corner) { return corner >= 0; });
    if (complete) {
      for (std::size_t k = 0; k < N; ++k)
        x[k] = read<Vec3f>(arguments, 0, corners[k]), v[k] = read<Vec3f>(arguments, 1, corners[k]);
      forces = force(row, x, v);
    }
    for (std::size_t k = 0; k < N; ++k) static_cast<Vec3f*>(outputs[k])[row] = forces[k];
  }
}

void springs(const void* const* a, void* const* outputs, std::int64_t begin, std::int64_t end) {
  for_each_element<2>(a, 5, outputs, begin, end, [&](std::int64_t row, const auto& x, const auto& v) {
    const formula::SpringMaterial<float> spring{read<float>(a, 2, row), read<float>(a, 3, row),
                                                read<float>(a, 4, row)};
    const Vec3f force = formula::spring_force<float>(x[0], x[1], v[0], v[1], spring);
    return std::array<Vec3f, 2>{force, -force};
  });
}

void triangles(const void* const* a, void* const* outputs, std::int64_t begin, std::int64_t end) {
  for_each_element<3>(a, 5, outputs, begin, end, [&](std::int64_t row, const auto& x, const auto& v) {
    const auto rest = formula::prepare_triangle<float>(read<Mat22f>(a, 2, row),
                                                       read<formula::TriangleMaterial<float>>(a, 3, row));
    return formula::triangle_forces<float>(x, v, rest, read<float>(a, 4, row));
  });
}

void bending(const void* const* a, void* const* outputs, std::int64_t begin, std::int64_t end) {
  for_each_element<4>(a, 4, outputs, begin, end, [&](std::int64_t row, const auto& x, const auto& v) {
    const auto& material = read<Vec2f>(a, 2, row);
    return formula::bending_forces<float>(x, v, {material.x, material.y, read<float>(a, 3, row)});
  });
}

void tetrahedra(const void* const* a, void* const* outputs, std::int64_t begin, std::int64_t end) {
  for_each_element<4>(a, 5, outputs, begin, end, [&](std::int64_t row, const auto& x, const auto& v) {
    const auto rest = formula::prepare_tetrahedron<float>(read<Mat33f>(a, 2, row), read<Vec3f>(a, 3, row));
    return formula::tetrahedron_forces<float>(x, v, rest, read<float>(a, 4, row));
  });
}

const void* data_of(const DeviceArray& array) {
  return array.storage() ? array.storage()->data() : nullptr;
}

}  // namespace

void add_element_forces(const ElementRows& elements, std::span<Vec3f> total, std::int64_t grain,
                        std::vector<Vec3f>& buffer, std::size_t sets) {
  if (elements.rows == 0) return;
  const auto corners = static_cast<std::size_t>(elements.corner_count);
  const auto rows = static_cast<std::size_t>(elements.rows);
  buffer.resize(corners * rows);
  std::array<void*, 4> outputs{};
  for (std::size_t k = 0; k < corners; ++k) outputs[k] = buffer.data() + k * rows;
  RowFunction function = nullptr;
  if (sets > 0 && elements.rows >= kFewestRows) function = (*elements.generated)[sets - 1];
  if (function == nullptr) function = elements.formula;
  parallel_for(elements.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    function(elements.arguments.data(), outputs.data(), begin, end);
  });
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < corners; ++k) {
      const std::int32_t particle = elements.corners[row * corners + k];
      if (particle < 0) continue;
      Vec3f& sum = total[static_cast<std::size_t>(particle)];
      sum = sum - buffer[k * rows + row];
    }
}

std::array<ElementRows, 4> element_rows(const Model& model, const SimState& state,
                                        const Activations& activations) {
  const void* const x = data_of(state.particle_q);
  const void* const v = data_of(state.particle_qd);
  static const std::array<RowFunctions, 4> generated{row_functions("springs"), row_functions("triangles"),
                                                     row_functions("bending"), row_functions("tetrahedra")};
  return {{{"springs",
            &generated[0],
            &springs,
            model.spring_count,
            model.spring_indices.read<std::int32_t>(),
            2,
            {x, v, data_of(model.spring_stiffness), data_of(model.spring_damping),
             data_of(model.spring_rest_length), data_of(model.spring_indices)}},
           {"triangles",
            &generated[1],
            &triangles,
            model.tri_count,
            model.tri_indices.read<std::int32_t>(),
            3,
            {x, v, data_of(model.tri_poses), data_of(model.particle_tri_material),
             data_of(activations.triangles), data_of(model.tri_indices)}},
           {"bending",
            &generated[2],
            &bending,
            model.edge_count,
            model.edge_indices.read<std::int32_t>(),
            4,
            {x, v, data_of(model.edge_bending_properties), data_of(model.edge_rest_angle),
             data_of(model.edge_indices)}},
           {"tetrahedra",
            &generated[3],
            &tetrahedra,
            model.tet_count,
            model.tet_indices.read<std::int32_t>(),
            4,
            {x, v, data_of(model.tet_poses), data_of(model.particle_tet_material),
             data_of(activations.tetrahedra), data_of(model.tet_indices)}}}};
}

}  // namespace novaphy::semi_implicit
