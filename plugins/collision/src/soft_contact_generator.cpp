// SPDX-License-Identifier: Apache-2.0
// Tests every (shape, particle) pair in parallel, then gives the finds their slots in pair order.
#include "novaphy/collision/soft_contact_generator.hpp"

#include <algorithm>
#include <limits>

#include "novaphy/collision/formula/soft_contact_record.h"
#include "novaphy/task_pool.hpp"
#include "novaphy/types.hpp"

namespace novaphy {

namespace formula = collision::formula;

namespace {

bool meets_particles(std::int32_t flags) {
  return (flags & ShapeFlags::COLLIDE_PARTICLES) != 0;
}

formula::SurfaceDistance<float> surface_distance(GeoType type, const Vec3f& scale, const Vec3f& x) {
  switch (type) {
    case GeoType::PLANE:
      return formula::plane_distance(x, scale.x, scale.y);
    case GeoType::BOX:
      return formula::box_distance(x, scale);
    case GeoType::SPHERE:
      return formula::sphere_distance(x, scale.x);
    case GeoType::CAPSULE:
      return formula::capsule_distance(x, scale.x, scale.y);
    default:
      fail(ErrorKind::unsupported_feature, "CollisionPipeline: no particle distance for ", to_string(type));
  }
}

}  // namespace

bool has_particle_distance(GeoType type) {
  return type == GeoType::PLANE || type == GeoType::BOX || type == GeoType::SPHERE ||
         type == GeoType::CAPSULE;
}

void require_particle_distance_functions(const Model& model) {
  if (model.particle_count == 0) return;
  const auto types = model.shape_type.read<GeoType>();
  const auto flags = model.shape_flags.read<std::int32_t>();
  for (std::size_t s = 0; s < types.size(); ++s) {
    if (!meets_particles(flags[s]) || has_particle_distance(types[s])) continue;
    const std::string label = s < model.shape_label.size() ? model.shape_label[s] : std::string();
    fail(
        ErrorKind::unsupported_feature, "CollisionPipeline: shape ", s, label.empty() ? "" : " '", label,
        label.empty() ? "" : "'", " is a ", to_string(types[s]),
        ", which particles can not collide with yet (PLANE, BOX, SPHERE and CAPSULE they can); build it with "
        "has_particle_collision=False");
  }
}

void SoftContactGenerator::place_shapes(const Model& model, const SimState& state) {
  shapes_.clear();
  const auto types = model.shape_type.read<GeoType>();
  const auto flags = model.shape_flags.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  const auto worlds = model.shape_world.read<std::int32_t>();
  const auto poses = model.shape_transform.read<Transformf>();
  const auto scales = model.shape_scale.read<Vec3f>();
  const auto margins = model.shape_margin.read<float>();
  const auto body_poses = state.body_q.read<Transformf>();
  for (std::size_t s = 0; s < types.size(); ++s) {
    if (!meets_particles(flags[s])) continue;
    NOVAPHY_REQUIRE(bodies[s] < model.body_count, ErrorKind::index, "CollisionPipeline: shape ", s,
                    " is on body ", bodies[s], ", the model has ", model.body_count,
                    "; correct shape_body, in which -1 means the world");
    const Transformf in_world =
        bodies[s] < 0 ? poses[s] : body_poses[static_cast<std::size_t>(bodies[s])] * poses[s];
    shapes_.push_back({static_cast<std::int32_t>(s), worlds[s], types[s], scales[s], margins[s], poses[s],
                       in_world.q, inverse(in_world)});
  }
}

void SoftContactGenerator::find_contacts(const Model& model, const SimState& state, float margin) {
  const auto positions = state.particle_q.read<Vec3f>();
  const auto radii = model.particle_radius.read<float>();
  const auto flags = model.particle_flags.read<std::int32_t>();
  const auto worlds = model.particle_world.read<std::int32_t>();
  const auto particles = static_cast<std::int64_t>(positions.size());
  const std::int64_t pairs = static_cast<std::int64_t>(shapes_.size()) * particles;

  found_.resize(static_cast<std::size_t>((pairs + grain_ - 1) / grain_));
  parallel_for(pairs, grain_, [&](std::int64_t begin, std::int64_t end) {
    auto& found = found_[static_cast<std::size_t>(begin / grain_)];
    found.clear();
    auto shape = static_cast<std::size_t>(begin / particles);
    auto particle = static_cast<std::size_t>(begin % particles);
    for (std::int64_t pair = begin; pair < end; ++pair) {
      const PlacedShape& placed = shapes_[shape];
      if ((flags[particle] & ParticleFlags::ACTIVE) != 0 && share_a_world(worlds[particle], placed.world)) {
        const Vec3f local = transform_point(placed.from_world, positions[particle]);
        const auto surface = surface_distance(placed.type, placed.scale, local);
        if (formula::within_reach(surface.distance, margin, placed.margin, radii[particle])) {
          const auto contact = formula::contact_geometry(local, surface, placed.in_body, placed.rotation);
          found.push_back({static_cast<std::int32_t>(particle), placed.index, contact.point, contact.normal});
        }
      }
      if (++particle == positions.size()) particle = 0, ++shape;
    }
  });
}

void SoftContactGenerator::write_records(const Model& model, Contacts& contacts) {
  first_slot_.resize(found_.size());
  std::int64_t total = 0;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    first_slot_[i] = total;
    total += static_cast<std::int64_t>(found_[i].size());
  }
  contacts.soft_contact_count.write<std::int32_t>()[0] =
      static_cast<std::int32_t>(std::min(total, std::int64_t{std::numeric_limits<std::int32_t>::max()}));
  contacts.soft_contact_overflow = total > contacts.soft_contact_max;

  const auto particle = contacts.soft_contact_particle.write<std::int32_t>();
  const auto shape = contacts.soft_contact_shape.write<std::int32_t>();
  const auto point = contacts.soft_contact_body_pos.write<Vec3f>();
  const auto velocity = contacts.soft_contact_body_vel.write<Vec3f>();
  const auto normal = contacts.soft_contact_normal.write<Vec3f>();
  const auto element = contacts.soft_contact_indices.write<std::int32_t>();
  const auto tids = contacts.soft_contact_tids.write<std::int32_t>();  // empty for very many pairs
  std::fill(tids.begin(), tids.end(), -1);

  const std::int64_t room = contacts.soft_contact_max;
  parallel_for(static_cast<std::int64_t>(found_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t list = begin; list < end; ++list) {
      std::int64_t next = first_slot_[static_cast<std::size_t>(list)];
      for (const Record& record : found_[static_cast<std::size_t>(list)]) {
        if (next >= room) break;
        const auto slot = static_cast<std::size_t>(next);
        particle[slot] = record.particle;
        shape[slot] = record.shape;
        point[slot] = record.point;
        velocity[slot] =
            Vec3f{0.0f, 0.0f, 0.0f};  // the surface of a primitive does not move in its body's frame
        normal[slot] = record.normal;
        element[slot] = -1;
        if (!tids.empty())
          tids[static_cast<std::size_t>(record.shape) * static_cast<std::size_t>(model.particle_count) +
               static_cast<std::size_t>(record.particle)] = static_cast<std::int32_t>(next);
        ++next;
      }
    }
  });
}

void SoftContactGenerator::generate(const Model& model, const SimState& state, float margin,
                                    Contacts& contacts) {
  place_shapes(model, state);
  find_contacts(model, state, margin);
  write_records(model, contacts);
  ++contacts.generation;
}

}  // namespace novaphy
