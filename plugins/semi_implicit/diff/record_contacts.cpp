// SPDX-License-Identifier: Apache-2.0
// Contact forces record by record: of constant records, and of records whose point and normal are computed
// again from the positions and poses that they were found with, so that gradients pass through them.
#include <vector>

#include "diff/contact_records.hpp"
#include "diff/kernels.hpp"
#include "novaphy/collision/formula/carried_contact.h"
#include "novaphy/collision/formula/soft_contact.h"
#include "novaphy/collision/formula/soft_contact_record.h"
#include "novaphy/collision/traced_material.hpp"
#include "novaphy/collision/traced_shape.hpp"

namespace novaphy::semi_implicit {

namespace {

namespace contact = collision::formula;
using nova::Expr;
using nova::in;
using nova::out;
using nova::QuatE;
using nova::Row;
using nova::TransformE;
using nova::Vec3E;

TransformE select(nova::Mask condition, const TransformE& a, const TransformE& b) {
  return {select(condition, a.p, b.p),
          {select(condition, a.q.x, b.q.x), select(condition, a.q.y, b.q.y), select(condition, a.q.z, b.q.z),
           select(condition, a.q.w, b.q.w)}};
}

nova::Mask on_body(nova::KernelScope& k) {
  return k.i32("body") >= nova::Int(0);
}

/// Point in the frame of the body and normal in world axes, as collide() computed them.
contact::ContactGeometry<Expr> find_again(nova::KernelScope& k, bool carried) {
  const TransformE in_body = k.transform("shape_pose");
  TransformE in_world = in_body;
  if (carried) in_world = select(on_body(k), k.transform("body_found") * in_body, in_body);
  const Vec3E local = transform_point(inverse(in_world), k.vec3("x_found"));
  const auto surface = collision::traced_surface(k.i32("shape_type"), k.vec3("shape_scale"), local);
  return contact::contact_geometry(local, surface, in_body, in_world.q);
}

void write_force(nova::KernelScope& k, RecordKernel kind) {
  const contact::ContactGeometry<Expr> found =
      kind.finds_again ? find_again(k, kind.carried)
                       : contact::ContactGeometry<Expr>{k.vec3("point"), k.vec3("normal")};
  const Expr zero(0.0f);
  contact::MovingPoint<Expr> at{found.point, {zero, zero, zero}};
  Vec3E v = k.vec3("v");
  if (kind.carried) {
    const auto moved = contact::carried_contact(k.transform("body_q"), k.spatial("body_qd"),
                                                k.vec3("body_com"), found.point, k.vec3("velocity"));
    at.point = select(on_body(k), moved.point, found.point);
    v = select(on_body(k), v - moved.velocity, v);
  }
  const Expr gap = contact::soft_contact_gap(k.vec3("x"), k.f32("radius"), at.point, found.normal);
  const Vec3E force = contact::soft_contact_force(gap, found.normal, v, collision::contact_material(k));
  const nova::Mask touching = both(collision::is_active(k), collision::touches(k, gap));
  k.write("total", select(touching, force, Vec3E{zero, zero, zero}));
}

nova::Kernel make_record_kernel(RecordKernel kind) {
  nova::KernelDesc desc{
      .name = kind.finds_again ? "particle_shape_contact_found" : "particle_shape_contact_records",
      .in = {in("x", Row::vec3).gather("particle"), in("v", Row::vec3).gather("particle"),
             in("radius", Row::f32).gather("particle").rate_static(),
             in("flags", Row::flags).gather("particle").rate_static()},
      .out = {out("total", Row::vec3).scatter_sub("particle")},
      .index = {nova::index("particle"), nova::index("shape")}};
  const auto append = [&](std::initializer_list<nova::In> inputs) { desc.in.insert(desc.in.end(), inputs); };
  if (kind.finds_again) {
    append({in("x_found", Row::vec3).gather("particle"),
            in("shape_type", Row::i32).gather("shape").rate_static(),
            in("shape_scale", Row::vec3).gather("shape").rate_static(),
            in("shape_pose", Row::transform).gather("shape").rate_static()});
    if (kind.carried) append({in("body_found", Row::transform).gather("body")});
  } else {
    append({in("point", Row::vec3).constant(), in("normal", Row::vec3).constant()});
  }
  append({in("ke", Row::f32).gather("shape").rate_static(), in("kd", Row::f32).gather("shape").rate_static(),
          in("kf", Row::f32).gather("shape").rate_static(), in("mu", Row::f32).gather("shape").rate_static(),
          in("soft", Row::vec4).uniform().rate_static(),
          in("particle_material", Row::spatial).uniform().rate_static().constant()});
  if (kind.carried) {
    append({in("body_q", Row::transform).gather("body"), in("body_qd", Row::spatial).gather("body"),
            in("body_com", Row::vec3).gather("body").rate_static(), in("velocity", Row::vec3).constant()});
    desc.index.push_back(nova::index("body"));
  }
  return nova::make_indexed_expr_kernel_typed_access_n(desc,
                                                       [=](nova::KernelScope& k) { write_force(k, kind); });
}

/// A view of the rows in use.
DeviceArray in_use(const DeviceArray& array, std::int64_t rows) {
  const Shape shape = array.shape().ndim() == 1 ? Shape{rows} : Shape{rows, array.shape()[1]};
  return DeviceArray(array.storage(), array.dtype(), shape);
}

}  // namespace

const nova::Kernel& record_contact_kernel(RecordKernel kind) {
  static const nova::Kernel constant = make_record_kernel({}),
                            carried = make_record_kernel({.carried = true}),
                            found = make_record_kernel({.finds_again = true}),
                            found_carried = make_record_kernel({.finds_again = true, .carried = true});
  if (kind.finds_again) return kind.carried ? found_carried : found;
  return kind.carried ? carried : constant;
}

void subtract_by_record(const Model& model, const SimState& state, const ContactRecords& records,
                        const DeviceArray& total, const MaterialRows& materials) {
  const RecordKernel kind{.finds_again = records.origin != nullptr, .carried = records.body != nullptr};
  const auto rows = [&](const DeviceArray* array) {
    return array == nullptr ? DeviceArray{} : in_use(*array, records.used);
  };
  const DeviceArray point = rows(records.point), normal = rows(records.normal),
                    velocity = rows(records.velocity), particle = rows(records.particle),
                    shape = rows(records.shape), body = rows(records.body);
  std::vector<nova::Operand> inputs{state.particle_q, state.particle_qd, model.particle_radius,
                                    model.particle_flags};
  if (kind.finds_again) {
    const Contacts::Origin& origin = *records.origin;
    inputs.insert(inputs.end(),
                  {origin.particle_q, model.shape_type, origin.shape_scale, origin.shape_transform});
    if (kind.carried) inputs.emplace_back(origin.body_q);
  } else {
    inputs.insert(inputs.end(), {point, normal});
  }
  inputs.insert(inputs.end(), {model.shape_material_ke, model.shape_material_kd, model.shape_material_kf,
                               model.shape_material_mu, materials.soft, materials.particle});
  if (kind.carried) inputs.insert(inputs.end(), {state.body_q, state.body_qd, model.body_com, velocity});
  inputs.insert(inputs.end(), {particle, shape});
  if (kind.carried) inputs.emplace_back(body);
  const nova::Operand outputs[] = {total};
  nova::launch(record_contact_kernel(kind), inputs, outputs, records.used);
}

}  // namespace novaphy::semi_implicit
