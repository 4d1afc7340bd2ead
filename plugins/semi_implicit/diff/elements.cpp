// SPDX-License-Identifier: Apache-2.0
// Generated kernels of springs and tetrahedra.
#include "diff/elements.hpp"

#include <array>

#include "novaphy/error.hpp"
#include "novaphy/semi_implicit/formula/spring.h"
#include "novaphy/semi_implicit/formula/tetrahedron.h"

namespace novaphy::semi_implicit {

namespace {

using nova::Expr;
using nova::in;
using nova::out;
using nova::Row;
using nova::Vec3E;

nova::Kernel make_tetrahedra_kernel() {
  return nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "tetrahedra",
       .in = {in("x", Row::vec3).gather("tet", 4), in("v", Row::vec3).gather("tet", 4),
              in("rest", Row::mat33).rate_static(), in("material", Row::vec3).rate_static(),
              in("activation", Row::f32)},
       .out = {out("f", Row::vec3).scatter_sub("tet", 4)},
       .index = {nova::index("tet", Row::ivec4)}},
      [](nova::KernelScope& k) {
        const auto rest = formula::prepare_tetrahedron(k.mat33("rest"), k.vec3("material"));
        k.write("f",
                formula::tetrahedron_forces(k.vec3s<4>("x"), k.vec3s<4>("v"), rest, k.f32("activation")));
      });
}

nova::Kernel make_springs_kernel() {
  return nova::make_indexed_expr_kernel_typed_access_n(
      {.name = "springs",
       .in = {in("x", Row::vec3).gather("spring", 2), in("v", Row::vec3).gather("spring", 2),
              in("ke", Row::f32).rate_static(), in("kd", Row::f32).rate_static(),
              in("rest_length", Row::f32)},
       .out = {out("f", Row::vec3).scatter_sub("spring", 2)},
       .index = {nova::index("spring", Row::ivec2)}},
      [](nova::KernelScope& k) {
        const auto x = k.vec3s<2>("x"), v = k.vec3s<2>("v");
        const Vec3E force = formula::spring_force<Expr>(x[0], x[1], v[0], v[1],
                                                        {k.f32("ke"), k.f32("kd"), k.f32("rest_length")});
        k.write("f", std::array<Vec3E, 2>{force, -force});
      });
}

void require_particle_rows(const char* who, const char* name, const nova::Tensor& tensor,
                           const Model& model) {
  NOVAPHY_REQUIRE(tensor.shape() == (Shape{model.particle_count, 3}), ErrorKind::shape_mismatch, who, ": ",
                  name, " has shape ", to_string(tensor.shape()), "; the model's particles want (",
                  model.particle_count, ", 3)");
}

/// particle_f as the start of the sum, in memory of its own.
nova::Tensor begin_sum(const char* who, const Model& model, const nova::Tensor& particle_q,
                       const nova::Tensor& particle_qd, const nova::Tensor& particle_f) {
  require_particle_rows(who, "particle_q", particle_q, model);
  require_particle_rows(who, "particle_qd", particle_qd, model);
  require_particle_rows(who, "particle_f", particle_f, model);
  return particle_f.clone();
}

}  // namespace

const nova::Kernel& tetrahedra_kernel() {
  static const nova::Kernel kernel = make_tetrahedra_kernel();
  return kernel;
}

const nova::Kernel& springs_kernel() {
  static const nova::Kernel kernel = make_springs_kernel();
  return kernel;
}

nova::Tensor eval_tetrahedra_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                              const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                              const nova::Tensor& tet_activations,
                                              const nova::Tensor& tet_materials) {
  nova::Tensor force =
      begin_sum("eval_tetrahedra_forces_generated", model, particle_q, particle_qd, particle_f);
  nova::launch(tetrahedra_kernel(),
               {particle_q, particle_qd, model.tet_poses, tet_materials, tet_activations, model.tet_indices},
               {force}, model.tet_count);
  return force;
}

nova::Tensor eval_spring_forces_generated(const Model& model, const nova::Tensor& particle_q,
                                          const nova::Tensor& particle_qd, const nova::Tensor& particle_f,
                                          const SpringTensors& springs) {
  nova::Tensor force = begin_sum("eval_spring_forces_generated", model, particle_q, particle_qd, particle_f);
  const auto operand = [](const std::optional<nova::Tensor>& given, const DeviceArray& own) {
    return given ? nova::Operand(*given) : nova::Operand(own);
  };
  nova::launch(springs_kernel(),
               {particle_q, particle_qd, operand(springs.ke, model.spring_stiffness),
                operand(springs.kd, model.spring_damping),
                operand(springs.rest_length, model.spring_rest_length), model.spring_indices},
               {force}, model.spring_count);
  return force;
}

}  // namespace novaphy::semi_implicit
