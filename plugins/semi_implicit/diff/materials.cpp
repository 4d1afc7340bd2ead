// SPDX-License-Identifier: Apache-2.0
#include "diff/materials.hpp"

#include "novaphy/error.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::semi_implicit {

namespace {

nova::Kernel make_materials_kernel(bool shared) {
  auto params = nova::in("material_params", nova::Row::vec2);
  if (shared) params.uniform();
  return nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "assign_tet_materials",
       .in = {params, nova::in("base_tet_materials", nova::Row::vec3)},
       .out = {nova::out("materials", nova::Row::vec3)}},
      [](nova::KernelScope& k) {
        const auto given = k.vec2("material_params");
        k.write("materials", nova::Vec3E{given.x, given.y, k.vec3("base_tet_materials").z});
      });
}

}  // namespace

nova::Tensor assign_tet_materials_generated(const nova::Tensor& material_params,
                                            const nova::Tensor& base_tet_materials, std::int64_t tet_count) {
  static const nova::Kernel of_all = make_materials_kernel(true), of_each = make_materials_kernel(false);
  constexpr const char* kName = "assign_tet_materials_generated";
  NOVAPHY_REQUIRE(tet_count >= 0, ErrorKind::value, kName, ": tet_count is ", tet_count, "; give at least 0");
  NOVAPHY_REQUIRE(base_tet_materials.shape() == (Shape{tet_count, 3}), ErrorKind::shape_mismatch, kName,
                  ": base_tet_materials has shape ", to_string(base_tet_materials.shape()), ", (", tet_count,
                  ", 3) is wanted");
  const std::int64_t given = material_params.size();
  NOVAPHY_REQUIRE(given == 2 || given == 2 * tet_count, ErrorKind::value, kName, ": material_params holds ",
                  given, " numbers; give 2 that all tetrahedra share, or 2 for each, which are ",
                  2 * tet_count);
  const bool shared = given == 2;
  const nova::Tensor params = material_params.reshape(Shape{shared ? 1 : tet_count, 2});
  nova::Tensor materials(Shape{tet_count, 3}, DType::f32, base_tet_materials.array().device());
  nova::launch(shared ? of_all : of_each, {params, base_tet_materials}, {materials}, tet_count);
  return materials;
}

}  // namespace novaphy::semi_implicit
