// SPDX-License-Identifier: Apache-2.0
// Losses as kernels.
#include "novaphy/nova/losses.hpp"

#include "novaphy/nova/kernel.hpp"

namespace nova {
namespace {

using novaphy::ErrorKind;
using novaphy::Shape;

// One row; the particle is reached through an index, so one kernel serves all.
const Kernel& point_loss() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "particle_point_loss",
       .in = {in("q", Row::vec3).gather("particle"), in("target_x", Row::f32).value(),
              in("target_y", Row::f32).value(), in("target_z", Row::f32).value()},
       .out = {out("loss", Row::f32)},
       .index = {index("particle")}},
      [](KernelScope& k) {
        const Vec3E d = k.vec3("q") - Vec3E{k.f32("target_x"), k.f32("target_y"), k.f32("target_z")};
        k.write("loss", dot(d, d));
      });
  return kernel;
}

}  // namespace

Tensor particle_point_loss_generated(const Tensor& particle_q, std::int64_t particle_index, float target_x,
                                     float target_y, float target_z) {
  NOVAPHY_REQUIRE(particle_q.dtype() == novaphy::DType::f32, ErrorKind::type,
                  "particle_point_loss_generated: particle_q is ", to_string(particle_q.dtype()),
                  ", float32 is wanted");
  NOVAPHY_REQUIRE(particle_q.shape().ndim() == 2 && particle_q.shape()[1] == 3, ErrorKind::shape_mismatch,
                  "particle_point_loss_generated: particle_q has shape ", to_string(particle_q.shape()),
                  ", (n, 3) is wanted");
  NOVAPHY_REQUIRE(particle_index >= 0 && particle_index < particle_q.rows(), ErrorKind::index,
                  "particle_point_loss_generated: particle_index is ", particle_index, ", particle_q has ",
                  particle_q.rows(), " rows");
  const auto at = static_cast<std::int32_t>(particle_index);
  const Tensor particle = Tensor::from<std::int32_t>(std::span(&at, 1), Shape{1});
  Tensor loss(Shape{1});
  launch(point_loss(), {particle_q, target_x, target_y, target_z, particle}, {loss}, 1);
  return loss;
}

}  // namespace nova
