// SPDX-License-Identifier: Apache-2.0
#include "diff/push_box.hpp"

#include <cmath>

#include "novaphy/error.hpp"
#include "novaphy/nova/kernel.hpp"

namespace novaphy::semi_implicit {

namespace {

constexpr const char* kWho = "integrate_push_box_generated";

/// The numbers of a push by the names that users give them.
template <class T, class Visit>
void each_number(T& push, Visit visit) {
  visit("pusher_radius", push.pusher_radius), visit("box_half_extent", push.half_extent);
  visit("box_mass", push.mass), visit("ke", push.ke), visit("kd", push.kd), visit("mu", push.mu);
  visit("gravity", push.gravity), visit("friction_smoothing", push.smoothing), visit("dt", push.dt);
}

void check(const formula::PushBox<float>& push) {
  each_number(push, [&](const char* name, const float& value) {
    const bool positive = &value == &push.mass || &value == &push.smoothing || &value == &push.dt;
    NOVAPHY_REQUIRE(std::isfinite(value) && (positive ? value > 0.0f : value >= 0.0f), ErrorKind::value, kWho,
                    ": ", name, " is ", value, "; give a ",
                    positive ? "positive number" : "number of at least 0");
  });
}

const nova::Kernel& push_kernel() {
  static const nova::Kernel kernel = [] {
    nova::KernelDesc desc{.name = "push_box", .in = {}, .out = {}};
    for (const char* name : {"box_x", "box_vx", "pusher_x", "pusher_vx"})
      desc.in.push_back(nova::in(name, nova::Row::f32));
    formula::PushBox<float> names{};
    each_number(names,
                [&](const char* name, float&) { desc.in.push_back(nova::in(name, nova::Row::f32).value()); });
    desc.out = {nova::out("x", nova::Row::f32), nova::out("v", nova::Row::f32)};
    return nova::make_indexed_expr_kernel_typed_access_n(desc, [](nova::KernelScope& k) {
      formula::PushBox<nova::Expr> push;
      each_number(push, [&](const char* name, nova::Expr& value) { value = k.f32(name); });
      const auto next = formula::push_box<nova::Expr>({k.f32("box_x"), k.f32("box_vx")},
                                                      {k.f32("pusher_x"), k.f32("pusher_vx")}, push);
      k.write("x", next.x), k.write("v", next.v);
    });
  }();
  return kernel;
}

}  // namespace

PushedBoxes integrate_push_box_generated(const nova::Tensor& box_x, const nova::Tensor& box_vx,
                                         const nova::Tensor& pusher_x, const nova::Tensor& pusher_vx,
                                         const formula::PushBox<float>& push) {
  check(push);
  const Shape wanted{box_x.shape().ndim() == 1 ? box_x.shape()[0] : 0};
  const std::pair<const char*, const nova::Tensor*> given[] = {
      {"box_x", &box_x}, {"box_vx", &box_vx}, {"pusher_x", &pusher_x}, {"pusher_vx", &pusher_vx}};
  for (const auto& [name, tensor] : given)
    NOVAPHY_REQUIRE(tensor->shape() == wanted, ErrorKind::shape_mismatch, kWho, ": ", name, " has shape ",
                    to_string(tensor->shape()), "; give four tensors of one number a box, (n)");
  const PushedBoxes next{nova::Tensor(wanted, DType::f32, box_x.array().device()),
                         nova::Tensor(wanted, DType::f32, box_x.array().device())};
  std::vector<nova::Operand> inputs{box_x, box_vx, pusher_x, pusher_vx};
  each_number(push, [&](const char*, const float& value) { inputs.emplace_back(value); });
  const nova::Operand outputs[] = {next.x, next.v};
  nova::launch(push_kernel(), inputs, outputs, wanted[0]);
  return next;
}

}  // namespace novaphy::semi_implicit
