// SPDX-License-Identifier: Apache-2.0
// The ball's scene, rollout and training step.
#include "src/diffsim_ball.hpp"

#include <algorithm>

#include "novaphy/api.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/error.hpp"
#include "novaphy/nova/losses.hpp"

namespace novaphy::demos {

namespace {

constexpr int kFrames = 36, kSubsteps = 8, kSteps = kFrames * kSubsteps;
constexpr float kTimeStep = static_cast<float>(1.0 / 60.0 / kSubsteps);  // s
constexpr float kContactMargin = 10.0f;  // m: collided once, for the whole flight
constexpr float kTrainRate = 0.02f;
constexpr Vec3f kTarget{0.0f, -2.0f, 1.5f};  // m

std::shared_ptr<Model> make_model() {
  ShapeConfig surface;
  surface.ke = 1e4, surface.kf = 0.0, surface.kd = 10.0, surface.mu = 0.2;
  ModelBuilder builder;
  builder.add_particle({0.0f, -0.5f, 1.0f}, {0.0f, 5.0f, -5.0f}, 1.0);
  builder.add_shape_box(-1, 1.0, 0.25, 1.0,
                        {.xform = Transformf{{0, 2, 1}, {0, 0, 0, 1}}, .cfg = surface, .label = "wall"});
  builder.add_ground_plane(0.0, surface);
  auto model = builder.finalize();
  const float soft_contact[] = {1e4f, 10.0f, 0.0f, 0.2f, 1.0f};  // ke, kd, kf, mu, restitution
  model->soft_contact_material.assign_bytes(soft_contact, sizeof soft_contact);
  return model;
}

/// Every `stride`-th state's array that `member` names, one below the other.
DeviceArray stacked(const std::vector<std::shared_ptr<SimState>>& states, DeviceArray SimState::*member,
                    std::size_t stride) {
  DeviceArray out(DType::f32, {static_cast<std::int64_t>((states.size() - 1) / stride + 1), 1, 3});
  auto next = out.write<float>().begin();
  for (std::size_t t = 0; t < states.size(); t += stride) {
    const auto values = (states[t].get()->*member).read<float>();
    next = std::copy(values.begin(), values.end(), next);
  }
  return out;
}

}  // namespace

void DiffsimBall::build(const DemoOptions& options) {
  NOVAPHY_REQUIRE(options.values.empty(), ErrorKind::value, "diffsim_ball: there is no option '",
                  options.values.begin()->first, "'; it takes none");
  model_ = make_model();
  pipeline_ =
      find<ICollisionPipelineFactory>("collision").create(model_, {.soft_contact_margin = kContactMargin});
  solver_ = find<ISolverFactory>("semi_implicit_diff").create(model_, "");
  states_.clear();
  for (int t = 0; t <= kSteps; ++t) states_.push_back(model_->state());
  contacts_ = pipeline_->contacts();
  pipeline_->collide(*states_[0], *contacts_);
  start_velocity_ = nova::view(states_[0]->particle_qd).set_requires_grad(true);
}

nova::Tensor DiffsimBall::run_substeps() {
  for (int t = 0; t < kSteps; ++t) {
    const auto now = static_cast<std::size_t>(t);
    states_[now]->clear_forces();
    solver_->step(*states_[now], *states_[now + 1], nullptr, contacts_.get(), kTimeStep);
  }
  return nova::particle_point_loss_generated(nova::view(states_.back()->particle_q), 0, kTarget.x, kTarget.y,
                                             kTarget.z);
}

float DiffsimBall::rollout() {
  const nova::NoGrad no_grad;
  return run_substeps().item();
}

float DiffsimBall::iterate() {
  tape_.reset();
  nova::Tensor loss;
  {
    const nova::TapeScope recording(tape_);
    loss = run_substeps();
  }
  start_velocity_.zero_grad();
  tape_.backward(loss);
  const auto gradient = start_velocity_.grad()->array().read<float>();
  const auto velocity = states_[0]->particle_qd.write<float>();
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] -= kTrainRate * gradient[i];
  return loss.item();
}

std::vector<DemoArray> DiffsimBall::arrays() const {
  return {{"particle_q_substeps", stacked(states_, &SimState::particle_q, 1)},
          {"particle_qd_substeps", stacked(states_, &SimState::particle_qd, 1)},
          {"particle_q", stacked(states_, &SimState::particle_q, kSubsteps)}};
}

}  // namespace novaphy::demos
