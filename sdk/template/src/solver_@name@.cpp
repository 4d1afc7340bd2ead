// SPDX-License-Identifier: Apache-2.0
@file solver@
// One step: the new velocity from the forces at the old state, the new position from the new velocity.
#include "@name@/solver_@name@.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "@name@/formula/drag.h"
#include "novaphy/capture.hpp"
#include "novaphy/error.hpp"

namespace @name@ {

using novaphy::ErrorKind;
using novaphy::Vec3f;

namespace {

void check_model(const novaphy::Model& model) {
  const struct {
    const char* name;
    int count;
  } unstepped[] = {{"springs", model.spring_count}, {"triangles", model.tri_count}, {"bending edges", model.edge_count},
                   {"tetrahedra", model.tet_count}, {"bodies", model.body_count},   {"joints", model.joint_count}};
  for (const auto& [name, count] : unstepped)
    NOVAPHY_REQUIRE(count == 0, ErrorKind::unsupported_feature, "Solver@Name@: the model has ", count, " ", name,
                    ", which this solver does not step; it steps particles");
}

}  // namespace

Solver@Name@::Solver@Name@(std::shared_ptr<novaphy::Model> model, const Options& options)
    : model_(std::move(model)), options_(options) {
  check_model(*model_);
}

Solver@Name@::~Solver@Name@() = default;

void Solver@Name@::step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control*,
                        const novaphy::Contacts* contacts, float dt) {
  novaphy::refuse_in_capture("Solver@Name@.step (supports_graph_capture is False)");
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, "Solver@Name@.step: dt is ", dt,
                  "; give a positive time in s");
  NOVAPHY_REQUIRE(contacts == nullptr || contacts->soft_contacts_used() == 0, ErrorKind::unsupported_feature,
                  "Solver@Name@.step: this solver knows no contacts; pass contacts=None");
  for (const novaphy::SimState* state : {&state_in, &state_out})
    NOVAPHY_REQUIRE(state->particle_count() == model_->particle_count, ErrorKind::shape_mismatch,
                    "Solver@Name@.step: a state has ", state->particle_count(), " particles, the model has ",
                    model_->particle_count, "; take it from this model's state()");
  const auto q = state_in.particle_q.read<Vec3f>(), qd = state_in.particle_qd.read<Vec3f>(),
             gravity = model_->gravity.read<Vec3f>();
  const auto inverse_mass = model_->particle_inv_mass.read<float>();
  const auto flags = model_->particle_flags.read<std::int32_t>(), world = model_->particle_world.read<std::int32_t>();
  const auto force = state_in.particle_f.write<Vec3f>(), q_out = state_out.particle_q.write<Vec3f>(),
             qd_out = state_out.particle_qd.write<Vec3f>();
  for (std::size_t p = 0; p < q_out.size(); ++p) {
    Vec3f velocity = qd[p];
    const bool active = (flags[p] & novaphy::ParticleFlags::ACTIVE) != 0;
    if (active && inverse_mass[p] > 0.0f) {
      const Vec3f& fall = gravity[world[p] < 0 ? 0 : static_cast<std::size_t>(world[p])];
      const Vec3f drag = formula::drag_acceleration(velocity, options_.drag);
      velocity = velocity + (force[p] * inverse_mass[p] + fall + drag) * dt;
      force[p] = force[p] + drag * (1.0f / inverse_mass[p]);  // the total force that acted
    }
    q_out[p] = active ? q[p] + velocity * dt : q[p];
    qd_out[p] = velocity;
  }
  // a tape that is open on this thread then refuses to take these values for constants
  for (novaphy::DeviceArray* array : {&state_out.particle_q, &state_out.particle_qd, &state_in.particle_f})
    array->join_open_recording();
}

}  // namespace @name@
