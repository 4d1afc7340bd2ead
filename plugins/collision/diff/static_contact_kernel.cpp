// SPDX-License-Identifier: Apache-2.0
// The traced contact of a particle with one shape of the world.
#include "novaphy/collision/static_contact_kernel.hpp"

#include <cmath>

#include "novaphy/collision/formula/soft_contact_record.h"
#include "novaphy/collision/soft_contact_generator.hpp"
#include "novaphy/collision/traced_material.hpp"
#include "novaphy/collision/traced_shape.hpp"
#include "novaphy/error.hpp"

namespace novaphy::collision {

namespace {

using nova::Expr;
using nova::Int;
using nova::Mask;
using nova::Row;
using nova::Vec3E;

/// The pairs that CollisionPipeline tests: active particles, shapes of the world that meet particles,
/// compatible worlds.
Mask may_meet(nova::KernelScope& k) {
  const Int zero(0);
  const Mask meets_particles = (k.flags("shape_flags") & Int(ShapeFlags::COLLIDE_PARTICLES)) != zero;
  const Int particle_world = k.i32("world"), shape_world = k.i32("shape_world");
  const Mask same_world =
      either(either(particle_world < zero, shape_world < zero), particle_world == shape_world);
  return both(both(is_active(k), meets_particles), both(same_world, k.i32("shape_body") < zero));
}

}  // namespace

void check_static_contact(const Model& model, float margin, bool ignore_body_shapes, const char* who) {
  NOVAPHY_REQUIRE(std::isfinite(margin), ErrorKind::value, who, ": soft_contact_margin is ", margin,
                  "; give a finite distance in m");
  const auto types = model.shape_type.read<GeoType>();
  const auto flags = model.shape_flags.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  for (std::size_t s = 0; s < types.size(); ++s) {
    if ((flags[s] & ShapeFlags::COLLIDE_PARTICLES) == 0) continue;
    NOVAPHY_REQUIRE(bodies[s] < 0 || ignore_body_shapes, ErrorKind::unsupported_feature, who, ": shape ", s,
                    " is carried by body ", bodies[s],
                    ", and this operator knows shapes of the world alone; pass "
                    "ignore_body_shapes=True to leave it out");
    NOVAPHY_REQUIRE(bodies[s] >= 0 || has_particle_distance(types[s]), ErrorKind::unsupported_feature, who,
                    ": shape ", s, " is a ", to_string(types[s]),
                    ", and this operator knows PLANE, BOX, SPHERE and CAPSULE alone; build it with "
                    "has_particle_collision=False");
  }
}

std::vector<nova::In> static_contact_inputs() {
  using nova::in;
  return {in("x", Row::vec3),
          in("v", Row::vec3),
          in("radius", Row::f32).rate_static(),
          in("flags", Row::flags).rate_static(),
          in("world", Row::i32).rate_static(),
          in("shape_type", Row::i32).domain().rate_static(),
          in("shape_flags", Row::flags).domain().rate_static(),
          in("shape_body", Row::i32).domain().rate_static(),
          in("shape_world", Row::i32).domain().rate_static(),
          in("shape_scale", Row::vec3).domain().rate_static(),
          in("shape_pose", Row::transform).domain().rate_static(),
          in("shape_margin", Row::f32).domain().rate_static().constant(),
          in("ke", Row::f32).domain().rate_static(),
          in("kd", Row::f32).domain().rate_static(),
          in("kf", Row::f32).domain().rate_static(),
          in("mu", Row::f32).domain().rate_static(),
          in("soft", Row::vec4).uniform().rate_static(),
          in("particle_material", Row::spatial).uniform().rate_static().constant(),
          in("margin", Row::f32).value()};
}

StaticContactOperands::StaticContactOperands(const Model& model, const DeviceArray& particle_q,
                                             const DeviceArray& particle_qd, float margin)
    : soft_material_(soft_contact_row(model)), particle_material_(particle_contact_row(model)) {
  operands = {particle_q,
              particle_qd,
              model.particle_radius,
              model.particle_flags,
              model.particle_world,
              model.shape_type,
              model.shape_flags,
              model.shape_body,
              model.shape_world,
              model.shape_scale,
              model.shape_transform,
              model.shape_margin,
              model.shape_material_ke,
              model.shape_material_kd,
              model.shape_material_kf,
              model.shape_material_mu,
              soft_material_,
              particle_material_,
              margin};
}

void subtract_static_contact(nova::KernelScope& k, nova::Acc<Vec3E>& force) {
  const Vec3E x = k.vec3("x");
  const nova::TransformE pose = k.transform("shape_pose");
  const Vec3E local = transform_point(inverse(pose), x);
  const auto surface = traced_surface(k.i32("shape_type"), k.vec3("shape_scale"), local);
  const auto contact = formula::contact_geometry(local, surface, pose, pose.q);
  const Expr gap = formula::soft_contact_gap(x, k.f32("radius"), contact.point, contact.normal);
  const Mask near =
      formula::within_reach(surface.distance, k.f32("margin"), k.f32("shape_margin"), k.f32("radius"));
  force.sub_if(both(both(may_meet(k), near), touches(k, gap)),
               formula::soft_contact_force(gap, contact.normal, k.vec3("v"), contact_material(k)));
}

}  // namespace novaphy::collision
