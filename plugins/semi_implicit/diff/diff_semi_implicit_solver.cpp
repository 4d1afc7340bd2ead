// SPDX-License-Identifier: Apache-2.0
// The differentiable step: a kernel for each kind of elements, one for contacts, one for the integration.
#include "novaphy/semi_implicit/diff_semi_implicit_solver.hpp"

#include <cmath>

#include "diff/contact_records.hpp"
#include "diff/elements.hpp"
#include "diff/pair_forces.hpp"
#include "diff/particles.hpp"
#include "diff/recorded_forces.hpp"
#include "novaphy/collision/static_contact_kernel.hpp"
#include "novaphy/error.hpp"
#include "novaphy/log.hpp"
#include "novaphy/nova/tape.hpp"
#include "novaphy/semi_implicit/solver_semi_implicit.hpp"

namespace novaphy {

namespace {

using semi_implicit::Element;
using semi_implicit::Unstepped;

bool is_wanted(const DiffSolverConfig& config, Element element) {
  switch (element) {
    case Element::body:
    case Element::joint:
      return config.enable_rigid;
    case Element::carried_shape:
    case Element::other_shape:
      return config.enable_particles && config.enable_contacts;
    default:
      return true;
  }
}

/// As semi_implicit::carry_over(); poses and twists of bodies pass through the tape, since contacts read
/// them.
void carry_bodies(const SimState& state_in, SimState& state_out) {
  if (!nova::is_recording() || state_in.body_q.rows() == 0)
    return semi_implicit::carry_over(state_in, state_out);
  nova::assign(state_out.body_q, nova::Tensor(state_in.body_q));
  nova::assign(state_out.body_qd, nova::Tensor(state_in.body_qd));
  if (state_in.joint_q.rows() > 0) state_out.joint_q.copy_from(state_in.joint_q);
  if (state_in.joint_qd.rows() > 0) state_out.joint_qd.copy_from(state_in.joint_qd);
}

/// Memory for the total force of each recorded step: the integration kernel's adjoint reads it, while
/// state_in.particle_f may be cleared for the next use of the state. A buffer is free again when no recording
/// holds it.
class ForceBuffers {
 public:
  DeviceArray& next(const DeviceArray& like) {
    if (next_ == buffers_.size() && !buffers_.empty() && is_free(buffers_.front())) next_ = 0;
    if (next_ == buffers_.size() || !is_free(buffers_[next_])) {
      DeviceArray made(DType::f32, like.shape(), like.device());
      made.named("total particle force", "solver");
      buffers_.insert(buffers_.begin() + static_cast<std::ptrdiff_t>(next_), std::move(made));
    }
    return buffers_[next_++];
  }

 private:
  static bool is_free(const DeviceArray& array) { return array.storage().use_count() == 1; }
  std::vector<DeviceArray> buffers_;
  std::size_t next_ = 0;
};

}  // namespace

/// What is kept between steps.
struct DiffSemiImplicitSolver::Kept {
  ForceBuffers totals;
  semi_implicit::RecordedForces forces;
  semi_implicit::MaterialRows materials;
  semi_implicit::TouchingPairs pairs;
  semi_implicit::RecordOrder order;  ///< for the records that `ordered_` has seen
};

DiffSemiImplicitSolver::DiffSemiImplicitSolver(std::shared_ptr<Model> model, const DiffSolverConfig& config)
    : model_(std::move(model)), config_(config), kept_(std::make_unique<Kept>()) {
  check_config({.angular_damping = config_.angular_damping,
                .friction_smoothing = config_.friction_smoothing,
                .friction_law = config_.friction_law},
               "DiffSemiImplicitSolver");
  NOVAPHY_REQUIRE(config_.soft_contact_margin >= 0.0f && std::isfinite(config_.soft_contact_margin),
                  ErrorKind::value, "DiffSemiImplicitSolver: soft_contact_margin is ",
                  config_.soft_contact_margin, "; give a finite distance of at least 0 m");
  kept_->forces = semi_implicit::RecordedForces(*model_, config_.forces, "DiffSemiImplicitSolver");
  skip_or_refuse();
}

DiffSemiImplicitSolver::~DiffSemiImplicitSolver() = default;

void DiffSemiImplicitSolver::skip_or_refuse() {
  if (checked_.is_current(*model_)) return;
  semi_implicit::check_owners("DiffSemiImplicitSolver", *model_);
  auto parts = semi_implicit::unstepped_elements(*model_);
  for (const Unstepped& part : semi_implicit::unsupported_shapes(*model_)) parts.push_back(part);
  std::erase_if(parts, [&](const Unstepped& part) { return !is_wanted(config_, part.element); });
  NOVAPHY_REQUIRE(parts.empty() || !config_.strict, ErrorKind::unsupported_feature,
                  "DiffSemiImplicitSolver: the model has ", semi_implicit::listed(parts),
                  ", which this solver does not step; DiffSolverConfig(strict=False) skips them");
  checked_.note(*model_);
  std::vector<std::string> skipped;
  skips_carried_shapes_ = false;
  for (const Unstepped& part : parts) {
    skipped.push_back(semi_implicit::listed({part}));
    skips_carried_shapes_ |= part.element == Element::carried_shape;
  }
  if (skipped == skipped_) return;
  skipped_ = std::move(skipped);
  if (!parts.empty())
    log(LogLevel::warn,
        text("DiffSemiImplicitSolver: skips ", semi_implicit::listed(parts), " (strict=False)"));
}

void DiffSemiImplicitSolver::check_materials() {
  if (checked_materials_.is_current(*model_)) return;
  semi_implicit::check_materials("DiffSemiImplicitSolver.step", *model_);
  checked_materials_.note(*model_);
}

void DiffSemiImplicitSolver::step(SimState& state_in, SimState& state_out, const Control* control,
                                  const Contacts* contacts, float dt) {
  refuse_in_capture("DiffSemiImplicitSolver.step (supports_graph_capture is False)");
  const collision::OneThread::Entry entry(one_thread_, "DiffSemiImplicitSolver.step", "solver");
  std::optional<nova::NoGrad> no_grad;
  if (forward_only) no_grad.emplace();
  skip_or_refuse();
  check_materials();
  semi_implicit::check_step("DiffSemiImplicitSolver.step", *model_, state_in, state_out, contacts, dt);
  const bool touches = config_.enable_contacts && (contacts != nullptr || config_.soft_contact_margin > 0.0f);
  if (config_.check_stability) watch_.before_step("DiffSemiImplicitSolver.step", *model_, state_in, dt, touches);
  const semi_implicit::Forces& forces = kept_->forces.forces();
  if (!forces.empty()) {
    forces.check_state("DiffSemiImplicitSolver.step", "state_in", state_in);
    forces.check_state("DiffSemiImplicitSolver.step", "state_out", state_out);
  }
  NOVAPHY_REQUIRE(&state_in != &state_out || !nova::is_recording(), ErrorKind::value,
                  "DiffSemiImplicitSolver.step: state_in and state_out are the same state, whose old values "
                  "backward needs; "
                  "give one state for each step while a tape is open");
  if (model_->particle_count > 0) {
    step_particles(state_in, state_out, control, contacts, dt);
    watch_.after_step("DiffSemiImplicitSolver.step", *model_, state_in, state_out, dt, config_.check_finite);
  }
  carry_bodies(state_in, state_out);
  if (!forces.empty()) kept_->forces.carry_over(state_in, state_out, dt);
}

void DiffSemiImplicitSolver::step_particles(SimState& state_in, SimState& state_out, const Control* control,
                                            const Contacts* contacts, float dt) {
  if (!config_.enable_particles) {
    if (&state_in != &state_out) {
      nova::assign(state_out.particle_q, nova::Tensor(state_in.particle_q));
      nova::assign(state_out.particle_qd, nova::Tensor(state_in.particle_qd));
    }
    return;
  }
  // clear_forces() or an assignment since an earlier step from this state begins a new external force
  nova::accept_outside_write(state_in.particle_f);
  const DeviceArray& force = total_force(state_in, control, contacts);
  semi_implicit::integrate_particles(*model_, state_in.particle_q, state_in.particle_qd, force,
                                     state_out.particle_q, state_out.particle_qd, dt);
}

const DeviceArray& DiffSemiImplicitSolver::total_force(SimState& state_in, const Control* control,
                                                       const Contacts* contacts) {
  DeviceArray& external = state_in.particle_f;
  DeviceArray* total = add_pairs(state_in, add_elements(state_in, control));
  bool external_is_total = total == nullptr;
  if (config_.enable_contacts)
    if (DeviceArray* const with_contacts = add_contacts(state_in, contacts, total))
      total = with_contacts, external_is_total = true;
  if (!kept_->forces.forces().empty()) {
    if (total == nullptr) total = &begin_total(external);
    kept_->forces.add_to(*total, *model_, state_in);
    external_is_total = false;
  }
  if (!external_is_total) nova::assign(external, nova::Tensor(*total));
  return total != nullptr ? *total : external;
}

DeviceArray& DiffSemiImplicitSolver::begin_total(const DeviceArray& external) {
  DeviceArray& total = kept_->totals.next(external);
  nova::assign(total, nova::Tensor(external));
  return total;
}

DeviceArray* DiffSemiImplicitSolver::add_elements(SimState& state_in, const Control* control) {
  const semi_implicit::SteppedElements stepped{config_.enable_triangles, config_.enable_tetrahedra};
  const auto activations = semi_implicit::activations_of("DiffSemiImplicitSolver.step", *model_, control);
  if (!stepped.any(*model_)) return nullptr;
  DeviceArray& total = begin_total(state_in.particle_f);
  semi_implicit::subtract_element_forces(*model_, stepped, state_in.particle_q, state_in.particle_qd,
                                         activations, total);
  return &total;
}

DeviceArray* DiffSemiImplicitSolver::add_pairs(const SimState& state_in, DeviceArray* total) {
  if (!config_.enable_contacts) return total;
  semi_implicit::TouchingPairs& pairs = kept_->pairs;
  pairs.find_for_step("DiffSemiImplicitSolver", *model_, state_in.particle_q.read<Vec3f>(),
                      config_.enable_tri_contact && config_.enable_triangles);
  if (pairs.empty()) return total;
  if (total == nullptr) total = &begin_total(state_in.particle_f);
  kept_->materials.follow(*model_);
  semi_implicit::add_pair_forces(*model_, pairs, state_in.particle_q, state_in.particle_qd,
                                 kept_->materials.particle, kept_->materials.soft, *total);
  return total;
}

DeviceArray* DiffSemiImplicitSolver::add_contacts(SimState& state_in, const Contacts* contacts,
                                                  DeviceArray* total) {
  const DeviceArray &q = state_in.particle_q, &qd = state_in.particle_qd;
  DeviceArray& external = state_in.particle_f;
  DeviceArray& sum = total != nullptr ? *total : external;  // the forces so far
  const auto own_memory = [&] { return total != nullptr ? total : &kept_->totals.next(external); };
  if (contacts != nullptr) {
    if (contacts->soft_contacts_used() == 0) return nullptr;
    if (!ordered_.is_current(*contacts)) {
      check_records(*contacts);
      kept_->order = semi_implicit::order_of(*model_, *contacts, skips_carried_shapes_);
      ordered_.note(*contacts);
    }
    const auto records = semi_implicit::records_for_step(*model_, *contacts, kept_->order);
    if (records.used == 0) return nullptr;
    DeviceArray* const result = own_memory();
    semi_implicit::add_contact_forces(*model_, state_in, records, sum, *result, kept_->materials);
    return result;
  }
  if (config_.soft_contact_margin > 0.0f && model_->shape_count > 0) {
    collision::check_static_contact(*model_, config_.soft_contact_margin, !config_.strict,
                                    "DiffSemiImplicitSolver.step without contacts");
    DeviceArray* const result = own_memory();
    collision::subtract_static_contacts(*model_, q, qd, sum, *result, config_.soft_contact_margin);
    nova::assign(external, nova::Tensor(*result));
    return result;
  }
  return nullptr;
}

}  // namespace novaphy
