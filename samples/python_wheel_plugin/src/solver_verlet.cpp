// SPDX-License-Identifier: Apache-2.0
// One step of velocity Verlet.
#include "solver_verlet.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "novaphy/capture.hpp"
#include "novaphy/error.hpp"

namespace acme {

using novaphy::ErrorKind;
using novaphy::Vec3f;

SolverVerlet::SolverVerlet(std::shared_ptr<novaphy::Model> model) : model_(std::move(model)) {
  const int others = model_->spring_count + model_->tri_count + model_->edge_count + model_->tet_count +
                     model_->muscle_count + model_->body_count + model_->joint_count;
  NOVAPHY_REQUIRE(others == 0, ErrorKind::unsupported_feature, "SolverVerlet: the model has ", others,
                  " elements, bodies and joints, which this solver does not step; it steps free particles");
}

SolverVerlet::~SolverVerlet() = default;

void SolverVerlet::step(novaphy::SimState& state_in, novaphy::SimState& state_out, const novaphy::Control*,
                        const novaphy::Contacts*, float dt) {
  novaphy::refuse_in_capture("SolverVerlet.step (supports_graph_capture is False)");
  NOVAPHY_REQUIRE(dt > 0.0f && std::isfinite(dt), ErrorKind::value, "SolverVerlet.step: dt is ", dt,
                  "; give a positive time in s");
  for (const novaphy::SimState* state : {&state_in, &state_out})
    NOVAPHY_REQUIRE(state->particle_count() == model_->particle_count, ErrorKind::shape_mismatch,
                    "SolverVerlet.step: a state has ", state->particle_count(), " particles, the model has ",
                    model_->particle_count, "; take it from this model's state()");
  const auto q = state_in.particle_q.read<Vec3f>(), qd = state_in.particle_qd.read<Vec3f>(),
             force = state_in.particle_f.read<Vec3f>(), gravity = model_->gravity.read<Vec3f>();
  const auto inverse_mass = model_->particle_inv_mass.read<float>();
  const auto flags = model_->particle_flags.read<std::int32_t>(), world = model_->particle_world.read<std::int32_t>();
  const auto next_q = state_out.particle_q.write<Vec3f>(), next_qd = state_out.particle_qd.write<Vec3f>();
  for (std::size_t p = 0; p < q.size(); ++p) {
    const bool moves = (flags[p] & novaphy::ParticleFlags::ACTIVE) != 0 && inverse_mass[p] > 0.0f;
    const Vec3f& fall = gravity[world[p] < 0 ? 0 : static_cast<std::size_t>(world[p])];
    const Vec3f change = moves ? (force[p] * inverse_mass[p] + fall) * dt : Vec3f{0.0f, 0.0f, 0.0f};
    next_q[p] = moves ? q[p] + (qd[p] + change * 0.5f) * dt : q[p];
    next_qd[p] = qd[p] + change;
  }
  for (novaphy::DeviceArray* array : {&state_out.particle_q, &state_out.particle_qd}) array->join_open_recording();
}

}  // namespace acme
