// SPDX-License-Identifier: Apache-2.0
// The ball's scene, loss and update.
#include "src/diffsim_ball.hpp"

#include "novaphy/builder.hpp"
#include "novaphy/nova/losses.hpp"

namespace novaphy::demos {

namespace {

constexpr float kBallRate = 0.02f;
constexpr Vec3f kBallTarget{0.0f, -2.0f, 1.5f};  // m

std::shared_ptr<Model> make_ball() {
  ShapeConfig surface;
  surface.ke = 1e4, surface.kf = 0.0, surface.kd = 10.0, surface.mu = 0.2;
  ModelBuilder builder;
  builder.add_particle({0.0f, -0.5f, 1.0f}, {0.0f, 5.0f, -5.0f}, 1.0);
  add_wall_and_ground(builder, surface);
  auto model = builder.finalize();
  set_contact_material(*model, surface);
  return model;
}

}  // namespace

void DiffsimBall::build(const DemoOptions& options) {
  check_options("diffsim_ball", options, {});
  start(make_ball());
  pipeline_->collide(*states_[0], *contacts_);
  parameter_ = nova::view(states_[0]->particle_qd).set_requires_grad(true);
}

nova::Tensor DiffsimBall::loss(nova::Tensor particle_q) const {
  return nova::particle_point_loss_generated(particle_q, 0, kBallTarget.x, kBallTarget.y, kBallTarget.z);
}

void DiffsimBall::update() {
  const auto gradient = parameter_.grad()->array().read<float>();
  const auto velocity = parameter_.array().write<float>();
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] -= kBallRate * gradient[i];
}

}  // namespace novaphy::demos
