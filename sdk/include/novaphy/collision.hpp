// SPDX-License-Identifier: Apache-2.0
// Contact generation as an interface.
#pragma once

#include <memory>
#include <string>

#include "novaphy/model.hpp"

namespace novaphy {

enum class BroadPhase : int { explicit_pairs = 0, sap, nxn };

struct CollisionConfig {
  BroadPhase broad_phase = BroadPhase::explicit_pairs;
  float soft_contact_margin = 0.01f;  ///< m; a particle within radius + shape margin + this gets a record
  int soft_contact_max = -1;          ///< -1 = shape_count * particle_count
  int rigid_contact_max = -1;         ///< -1 = automatic
};

/// Generates contacts for one model. One thread a pipeline.
class NOVAPHY_API ICollisionPipeline {
 public:
  virtual ~ICollisionPipeline();
  /// Buffers of this pipeline's capacities.
  virtual std::shared_ptr<Contacts> contacts() const = 0;
  /// Rewrites `contacts` from the poses in `state`. Throws Error(shape_mismatch) when they belong to another model.
  virtual void collide(const SimState& state, Contacts& contacts) = 0;
};

/// Makes pipelines. Any thread.
class NOVAPHY_API ICollisionPipelineFactory {
 public:
  static constexpr const char* kId = "novaphy.ICollisionPipeline/1";
  virtual ~ICollisionPipelineFactory();
  /// Throws Error(value) for a margin that is not finite, Error(unsupported_feature) for shapes that it does not know.
  virtual std::unique_ptr<ICollisionPipeline> create(std::shared_ptr<Model> model, const CollisionConfig& config) = 0;
};

}  // namespace novaphy
