// SPDX-License-Identifier: Apache-2.0
// Losses and projections as kernels.
#include "novaphy/nova/losses.hpp"

#include "novaphy/nova/kernel.hpp"
#include "novaphy/nova/tensor_operations.hpp"

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

void require_points(const char* who, const Tensor& particle_q) {
  NOVAPHY_REQUIRE(particle_q.dtype() == novaphy::DType::f32, ErrorKind::type, who, ": particle_q is ",
                  to_string(particle_q.dtype()), ", float32 is wanted");
  NOVAPHY_REQUIRE(particle_q.shape().ndim() == 2 && particle_q.shape()[1] == 3, ErrorKind::shape_mismatch,
                  who, ": particle_q has shape ", to_string(particle_q.shape()), ", (n, 3) is wanted");
}

Tensor point_loss_of(const Tensor& points, std::int64_t row, float target_x, float target_y, float target_z) {
  const auto at = static_cast<std::int32_t>(row);
  const Tensor particle = Tensor::from<std::int32_t>(std::span(&at, 1), Shape{1});
  Tensor loss(Shape{1});
  launch(point_loss(), {points, target_x, target_y, target_z, particle}, {loss}, 1);
  return loss;
}

// In the order of rows, so that the sum is that of a loop over the particles.
const Kernel& centroid() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "particle_centroid",
       .in = {in("q", Row::vec3), in("count", Row::f32).value()},
       .out = {out("centre", Row::vec3).scatter_add("first")},
       .index = {index("first")}},
      [](KernelScope& k) { k.write("centre", k.vec3("q") / k.f32("count")); });
  return kernel;
}

}  // namespace

Tensor particle_point_loss_generated(const Tensor& particle_q, std::int64_t particle_index, float target_x,
                                     float target_y, float target_z) {
  require_points("particle_point_loss_generated", particle_q);
  NOVAPHY_REQUIRE(particle_index >= 0 && particle_index < particle_q.rows(), ErrorKind::index,
                  "particle_point_loss_generated: particle_index is ", particle_index, ", particle_q has ",
                  particle_q.rows(), " rows");
  return point_loss_of(particle_q, particle_index, target_x, target_y, target_z);
}

Tensor particle_centroid_generated(const Tensor& particle_q) {
  require_points("particle_centroid_generated", particle_q);
  const std::int64_t count = particle_q.rows();
  NOVAPHY_REQUIRE(count > 0, ErrorKind::value,
                  "particle_centroid_generated: particle_q has no particle; a mean needs at least one");
  const Tensor first(Shape{count}, novaphy::DType::i32);
  Tensor centre(Shape{1, 3});
  launch(centroid(), {particle_q, static_cast<float>(count), first}, {centre}, count);
  return centre;
}

Tensor vec3_point_loss_generated(const Tensor& point, float target_x, float target_y, float target_z) {
  NOVAPHY_REQUIRE(point.shape() == (Shape{1, 3}) || point.shape() == (Shape{3}), ErrorKind::shape_mismatch,
                  "vec3_point_loss_generated: point has shape ", to_string(point.shape()), ", (1, 3) is wanted");
  return point_loss_of(point.reshape(Shape{1, 3}), 0, target_x, target_y, target_z);
}

Tensor clamp_f32_generated(const Tensor& x, float lower, float upper) {
  NOVAPHY_REQUIRE(lower <= upper, ErrorKind::value, "clamp_f32_generated: lower is ", lower, ", upper is ", upper,
                  "; give bounds with lower <= upper");
  return clamp(x, lower, upper);
}

}  // namespace nova
