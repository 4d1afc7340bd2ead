// SPDX-License-Identifier: Apache-2.0
// What the demos share: a rollout that is recorded whole, its loss, and gradient descent through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "novaphy/builder.hpp"
#include "novaphy/collision.hpp"
#include "novaphy/demo.hpp"
#include "novaphy/model.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/nova/tensor.hpp"
#include "novaphy/solver.hpp"

namespace novaphy::demos {

/// Steps of one rollout.
struct Timing {
  int frames, substeps;  ///< substeps a frame
  int steps() const { return frames * substeps; }
  float dt() const { return static_cast<float>(1.0 / 60.0 / substeps); }  // s
};

/// States, contacts and tape are made once and used again in every iteration.
class TrainedDemo : public IDemo {
 public:
  float iterate() final;
  float rollout() final;
  /// particle_q_substeps and particle_qd_substeps (steps + 1, P, 3), particle_q (frames + 1, P, 3).
  std::vector<DemoArray> arrays() const final;

 protected:
  TrainedDemo(Timing timing, float contact_margin) : timing_(timing), contact_margin_(contact_margin) {}

  /// Makes pipeline, solver, states and contacts for `model`. Throws Error(plugin_not_available) without the
  /// modules.
  void start(std::shared_ptr<Model> model);
  /// What stands before a step, such as fresh contacts.
  virtual void before_step(SimState&) {}
  virtual nova::Tensor loss(nova::Tensor particle_q) const = 0;
  /// One step of gradient descent; gradients were just computed.
  virtual void update() = 0;

  const Timing timing_;
  const float contact_margin_;  // m
  std::shared_ptr<Model> model_;
  std::unique_ptr<ICollisionPipeline> pipeline_;
  std::vector<std::shared_ptr<SimState>> states_;
  std::shared_ptr<Contacts> contacts_;
  nova::Tensor parameter_;  ///< what is trained; its gradient is dropped before each backward

 private:
  nova::Tensor run_substeps();

  std::unique_ptr<ISolver> solver_;
  nova::Tape tape_;
};

/// The wall and the ground of both scenes, and the contact constants of `surface` for particles: friction and
/// restitution as in Newton's examples.
void add_wall_and_ground(ModelBuilder& builder, const ShapeConfig& surface);
void set_contact_material(Model& model, const ShapeConfig& surface);

/// Throws Error(value) for an option of the command line that is not among `known`.
void check_options(const char* demo, const DemoOptions& options, const std::vector<std::string>& known);

}  // namespace novaphy::demos
