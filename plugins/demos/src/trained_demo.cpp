// SPDX-License-Identifier: Apache-2.0
// Rollout, training step and dump of all demos.
#include "src/trained_demo.hpp"

#include <algorithm>

#include "novaphy/api.hpp"
#include "novaphy/error.hpp"

namespace novaphy::demos {

namespace {

/// Every `stride`-th state's array that `member` names, one below the other.
DeviceArray stacked(const std::vector<std::shared_ptr<SimState>>& states, DeviceArray SimState::*member,
                    std::size_t stride) {
  const auto rows = static_cast<std::int64_t>((states.size() - 1) / stride + 1);
  DeviceArray out(DType::f32, {rows, (states[0].get()->*member).rows(), 3});
  auto next = out.write<float>().begin();
  for (std::size_t t = 0; t < states.size(); t += stride) {
    const auto values = (states[t].get()->*member).read<float>();
    next = std::copy(values.begin(), values.end(), next);
  }
  return out;
}

}  // namespace

void TrainedDemo::start(std::shared_ptr<Model> model) {
  model_ = std::move(model);
  pipeline_ =
      find<ICollisionPipelineFactory>("collision").create(model_, {.soft_contact_margin = contact_margin_});
  solver_ = find<ISolverFactory>("semi_implicit_diff").create(model_, "");
  tape_.reset();
  states_.clear();
  for (int t = 0; t <= timing_.steps(); ++t) states_.push_back(model_->state());
  contacts_ = pipeline_->contacts();
}

nova::Tensor TrainedDemo::run_substeps() {
  for (std::size_t now = 0; now + 1 < states_.size(); ++now) {
    states_[now]->clear_forces();
    before_step(*states_[now]);
    solver_->step(*states_[now], *states_[now + 1], nullptr, contacts_.get(), timing_.dt());
  }
  return loss(nova::view(states_.back()->particle_q));
}

float TrainedDemo::rollout() {
  const nova::NoGrad no_grad;
  return run_substeps().item();
}

float TrainedDemo::iterate() {
  tape_.reset();
  nova::Tensor value;
  {
    const nova::TapeScope recording(tape_);
    value = run_substeps();
  }
  parameter_.zero_grad();
  tape_.backward(value);
  update();
  return value.item();
}

std::vector<DemoArray> TrainedDemo::arrays() const {
  return {
      {"particle_q_substeps", stacked(states_, &SimState::particle_q, 1)},
      {"particle_qd_substeps", stacked(states_, &SimState::particle_qd, 1)},
      {"particle_q", stacked(states_, &SimState::particle_q, static_cast<std::size_t>(timing_.substeps))}};
}

void add_wall_and_ground(ModelBuilder& builder, const ShapeConfig& surface) {
  builder.add_shape_box(-1, 1.0, 0.25, 1.0,
                        {.xform = Transformf{{0, 2, 1}, {0, 0, 0, 1}}, .cfg = surface, .label = "wall"});
  builder.add_ground_plane(0.0, surface);
}

void set_contact_material(Model& model, const ShapeConfig& surface) {
  const double given[] = {surface.ke, surface.kd, surface.kf, surface.mu, 1.0};  // the last is restitution
  float soft_contact[5];
  std::transform(std::begin(given), std::end(given), soft_contact,
                 [](double x) { return static_cast<float>(x); });
  model.soft_contact_material.assign_bytes(soft_contact, sizeof soft_contact);
}

void check_options(const char* demo, const DemoOptions& options, const std::vector<std::string>& known) {
  for (const auto& [name, text] : options.values) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string names;
    for (const std::string& one : known) names += (names.empty() ? "there is " : ", ") + one;
    throw Error(ErrorKind::value, std::string(demo) + ": there is no option '" + name + "'; " +
                                      (known.empty() ? "it takes none" : names));
  }
}

}  // namespace novaphy::demos
