// SPDX-License-Identifier: Apache-2.0
// What the pipeline checks before and after contact generation.
#include "novaphy/collision/collision_pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "novaphy/error.hpp"
#include "novaphy/log.hpp"

namespace novaphy {

namespace {

void require_finite_margin(float margin) {
  NOVAPHY_REQUIRE(std::isfinite(margin), ErrorKind::value, "CollisionPipeline: soft_contact_margin is ",
                  margin, "; give a finite distance in m");
}

/// Candidate pairs of which at least one shape is on a body. Throws Error(index) for a pair of no shapes.
std::int64_t moving_pairs(const Model& model) {
  const auto pairs = model.shape_contact_pairs.read<std::int32_t>();
  const auto bodies = model.shape_body.read<std::int32_t>();
  const auto on_body = [&](std::size_t entry) {
    NOVAPHY_REQUIRE(pairs[entry] >= 0 && pairs[entry] < model.shape_count, ErrorKind::index,
                    "CollisionPipeline: shape_contact_pairs row ", entry / 2, " names shape ", pairs[entry],
                    ", the model has ", model.shape_count);
    return bodies[static_cast<std::size_t>(pairs[entry])] >= 0;
  };
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const bool first = on_body(i), second = on_body(i + 1);
    count += first || second ? 1 : 0;
  }
  return count;
}

/// While a recording is open: what the records come from, so that a recorded step can differentiate them.
void note_origin(const Model& model, const SimState& state, Contacts& contacts) {
  contacts.origin = {};
  if (open_recording() == 0 || open_recording() == kNoRecording) return;
  contacts.origin = {state.particle_q, state.body_q, model.shape_transform, model.shape_scale, 0,
                     open_recording()};
  contacts.origin.versions = contacts.origin_versions();
}

void warn_of_rigid_contact(const Model& model) {
  const std::int64_t count = moving_pairs(model);
  if (count == 0) return;
  log(LogLevel::warn,
      text("CollisionPipeline: contact between shapes is not generated yet, so ", count,
           count == 1 ? " pair" : " pairs",
           " of colliding shapes will pass through each other; rigid_contact_max=0 accepts this"));
}

}  // namespace

CollisionPipeline::CollisionPipeline(std::shared_ptr<Model> model, const CollisionConfig& config)
    : model_(std::move(model)), config_(config) {
  require_finite_margin(config_.soft_contact_margin);
  require_particle_distance_functions(*model_);
  if (config_.rigid_contact_max != 0) warn_of_rigid_contact(*model_);
}

CollisionPipeline::~CollisionPipeline() = default;

std::shared_ptr<Contacts> CollisionPipeline::contacts() const {
  const std::int64_t pairs = std::int64_t{model_->shape_count} * model_->particle_count;
  const std::int64_t soft = config_.soft_contact_max < 0 ? pairs : config_.soft_contact_max;
  const auto most = std::int64_t{std::numeric_limits<int>::max()};
  auto out = model_->contacts(static_cast<int>(std::min(soft, most)), std::max(config_.rigid_contact_max, 0));
  if (pairs > kMostTids) {
    out->soft_contact_tids = DeviceArray(DType::i32, {0}, model_->device);
    out->soft_contact_tids.named("soft_contact_tids", "contacts");
  }
  return out;
}

void CollisionPipeline::collide(const SimState& state, Contacts& contacts) {
  collide_within(state, contacts, config_.soft_contact_margin);
}

void CollisionPipeline::collide_within(const SimState& state, Contacts& contacts, float soft_contact_margin) {
  refuse_in_capture("CollisionPipeline.collide");
  const collision::OneThread::Entry entry(one_thread_, "CollisionPipeline.collide", "pipeline");
  require_finite_margin(soft_contact_margin);
  NOVAPHY_REQUIRE(
      contacts.particle_count == model_->particle_count && contacts.shape_count == model_->shape_count,
      ErrorKind::shape_mismatch, "CollisionPipeline.collide: contacts were made for ",
      contacts.particle_count, " particles and ", contacts.shape_count, " shapes, the model has ",
      model_->particle_count, " and ", model_->shape_count, "; take them from this pipeline's contacts()");
  NOVAPHY_REQUIRE(
      state.particle_count() == model_->particle_count && state.body_count() == model_->body_count,
      ErrorKind::shape_mismatch, "CollisionPipeline.collide: the state has ", state.particle_count(),
      " particles and ", state.body_count(), " bodies, the model has ", model_->particle_count, " and ",
      model_->body_count, "; take it from this model's state()");
  require_particle_distance_functions(*model_);  // flags may have changed since construction
  soft_contacts_.generate(*model_, state, soft_contact_margin, contacts);
  note_origin(*model_, state, contacts);
  if (contacts.soft_contact_overflow && !overflow_logged_) {
    overflow_logged_ = true;
    log(LogLevel::warn, text("CollisionPipeline: ", contacts.soft_contact_count.read<std::int32_t>()[0],
                             " soft contacts, room for ", contacts.soft_contact_max,
                             "; the rest is left out: raise soft_contact_max"));
  }
}

}  // namespace novaphy
