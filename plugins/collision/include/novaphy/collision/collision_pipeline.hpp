// SPDX-License-Identifier: Apache-2.0
// CollisionPipeline: contact generation on the CPU.
#pragma once

#include <cstdint>
#include <memory>

#include "novaphy/collision.hpp"
#include "novaphy/collision/one_thread.hpp"
#include "novaphy/collision/soft_contact_generator.hpp"

namespace novaphy {

/// Generates particle-shape contacts for particles against planes, boxes, spheres and capsules, fixed to the
/// world or carried by a body. Every (shape, particle) pair of compatible worlds is tested whatever the broad
/// phase: the broad phase orders candidate pairs of shapes, which this pipeline does not collide with each
/// other yet. One thread a pipeline.
class NOVAPHY_API CollisionPipeline final : public ICollisionPipeline {
 public:
  /// Throws Error(unsupported_feature) for a shape type that particles can not touch yet, Error(value) for a
  /// margin that is not finite. Logs one line when the model has candidate pairs of shapes, unless
  /// `rigid_contact_max` is 0.
  CollisionPipeline(std::shared_ptr<Model> model, const CollisionConfig& config);
  ~CollisionPipeline() override;

  /// Above this many (shape, particle) pairs contacts() leaves soft_contact_tids empty.
  static constexpr std::int64_t kMostTids = 4'000'000;

  std::shared_ptr<Contacts> contacts() const override;
  void collide(const SimState& state, Contacts& contacts) override;
  /// The same with another margin for this call, m.
  void collide_within(const SimState& state, Contacts& contacts, float soft_contact_margin);

  const std::shared_ptr<Model>& model() const noexcept { return model_; }
  const CollisionConfig& config() const noexcept { return config_; }
  SoftContactGenerator& soft_contacts() noexcept { return soft_contacts_; }

 private:
  std::shared_ptr<Model> model_;
  CollisionConfig config_;
  SoftContactGenerator soft_contacts_;
  collision::OneThread one_thread_;
  bool overflow_logged_ = false;
};

}  // namespace novaphy
