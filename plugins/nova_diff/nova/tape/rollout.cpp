// SPDX-License-Identifier: Apache-2.0
// Rollout: follows a schedule of actions, carries cotangents from segment to segment.
#include "novaphy/nova/rollout.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "nova/tape/carry.hpp"
#include "nova/tape/effects.hpp"
#include "nova/tape/rollout_states.hpp"
#include "nova/tape/schedule.hpp"

namespace nova {

using novaphy::ErrorKind;
using novaphy::SimState;
using novaphy::Storage;

class Rollout::Run {
 public:
  Run(std::shared_ptr<const novaphy::Model> model, std::size_t steps, RolloutCallbacks callbacks,
      std::size_t budget)
      : states(std::move(model)),
        calls_(std::move(callbacks)),
        steps_(steps),
        budget_(budget),
        tape_(state_of(owner_)) {}

  std::optional<Tensor> roll(RolloutStates::State start);
  void backward();
  const RolloutPlan& plan();
  std::size_t memory_bytes() const;
  std::size_t budget() const noexcept { return budget_; }
  /// Forgets the present roll.
  void abandon();

  RolloutStates states;

 private:
  void run_step(std::size_t step, const RolloutState& in, const RolloutState& out);
  void check_state(std::size_t step, SimState& state);
  void advance(const RolloutAction& action);
  void record(const RolloutAction& action);
  void note_losses(std::size_t step, const RolloutState& state, bool first);
  void check_losses(std::size_t step, std::uint64_t values, bool first);
  void differentiate(const RolloutAction& action);
  void check_start(std::size_t step, const StateArrays& start,
                   const std::vector<std::uint64_t>& versions) const;
  void store_gradients();
  RolloutCost measure();
  std::size_t recorded_bytes(const TapeState& tape) const;
  static void expect_cotangents(TapeState& tape, const StateArrays& start);

  RolloutCallbacks calls_;
  std::size_t steps_, budget_;
  Tape owner_;
  TapeState& tape_;
  std::optional<RolloutPlan> plan_;
  std::vector<RolloutAction> actions_;
  std::size_t next_action_ = 0;
  bool is_rolled_ = false;
  std::size_t done_ = 0, total_ = 0;   // for progress
  std::vector<std::uint64_t> hashes_;  // of the states that came out of each step
  std::vector<std::uint64_t> loss_hashes_;  // of the losses after each step
  std::size_t known_ = 0;              // steps whose hash is known
  std::optional<Tensor> loss_;
  std::vector<Tensor> losses_;  // of the segment on the tape
  CotangentCarry carry_;
  std::vector<float*> state_cotangents_;  // of the state where the last segment began
};

void Rollout::Run::abandon() {
  is_rolled_ = false;
  losses_.clear(), carry_.clear(), state_cotangents_.clear(), loss_.reset();
  owner_.reset();
  states.drop_from(1);
}

// Once by hash: a step that gives something else when it runs again would give a wrong gradient.
void Rollout::Run::check_state(std::size_t step, SimState& state) {
  if (plan_->stores_all()) return;
  const std::uint64_t hash = content_hash(StateArrays(state));
  if (step > known_) {
    hashes_[step] = hash, known_ = step;
    return;
  }
  NOVAPHY_REQUIRE(
      hashes_[step] == hash, ErrorKind::stale_record, "novaphy.diff.Rollout: step ", step - 1,
      " gave another state when it ran again for backward; what a step reads (start state, parameters, "
      "control, contacts, callbacks) must be the same each time, or give a larger memory_budget");
}

void Rollout::Run::run_step(std::size_t step, const RolloutState& in, const RolloutState& out) {
  calls_.step(step, in, out);
  check_state(step + 1, *out);
  if (calls_.progress) calls_.progress(++done_, total_);
}

// The values of the losses are added up once, when their steps run first; their gradient is that of each
// alone.
void Rollout::Run::note_losses(std::size_t step, const RolloutState& state, bool first) {
  if (!calls_.losses) return;
  std::uint64_t values = 1;
  for (const Tensor& loss : calls_.losses(step, state)) {
    NOVAPHY_REQUIRE(loss.size() == 1 && loss.dtype() == novaphy::DType::f32, ErrorKind::value,
                    "novaphy.diff.Rollout: the loss after ", step, " steps has shape ",
                    to_string(loss.shape()), " and type ", to_string(loss.dtype()),
                    ", one float32 is wanted");
    losses_.push_back(loss);
    values = values * 0x9E3779B97F4A7C15ull + std::bit_cast<std::uint32_t>(loss.array().read<float>()[0]) + 1;
    if (!first) continue;
    const NoGrad no_grad;
    loss_ = loss_ ? add(*loss_, loss.reshape(loss_->shape())) : loss.detach();
  }
  check_losses(step, values, first);
}

// As for states: a loss that is another one when its step runs again would give the gradient of that one.
void Rollout::Run::check_losses(std::size_t step, std::uint64_t values, bool first) {
  if (loss_hashes_.size() <= step) loss_hashes_.resize(step + 1);
  if (first) loss_hashes_[step] = values;
  NOVAPHY_REQUIRE(loss_hashes_[step] == values, ErrorKind::stale_record, "novaphy.diff.Rollout: the loss after ",
                  step,
                  " steps was another one when it was computed again for backward; it must be the same each "
                  "time, or give a larger memory_budget");
}

// Before a segment is recorded that does not begin the rollout: the steps before it want what flows into its start.
void Rollout::Run::expect_cotangents(TapeState& tape, const StateArrays& start) {
  for (std::size_t i = 0; i < start.carried; ++i) tape.arrays[tape.array_of(start.arrays[i])].carried = true;
}

// Steps run on the tape here too: so their results carry its number, and a value that a callback keeps beside
// the states is found when a later step reads it.
void Rollout::Run::advance(const RolloutAction& action) {
  RolloutStates::State now = states.at(action.from);
  for (std::size_t step = action.from; step < action.to; ++step) {
    RolloutStates::State next = states.take();
    const bool first = step >= known_;
    {
      const TapeScope scope(owner_);
      run_step(step, now, next);
      if (first) note_losses(step + 1, next, true);
    }
    losses_.clear();
    tape_.drop_records();
    if (step > action.from) states.give_back(std::move(now));
    now = std::move(next);
  }
  states.hold(action.to, std::move(now));
}

void Rollout::Run::record(const RolloutAction& action) {
  const bool first = action.to > known_ || plan_->stores_all();
  const StateArrays start(*states.at(action.from));
  std::vector<std::uint64_t> versions;
  for (const auto& array : start.arrays) {
    array->set_recording(0);  // what it holds is carried on by the rollout itself
    versions.push_back(array->version());
  }
  if (action.from > 0) expect_cotangents(tape_, start);
  {
    const TapeScope scope(owner_);
    for (std::size_t step = action.from; step < action.to; ++step) {
      states.hold(step + 1, states.take());
      run_step(step, states.at(step), states.at(step + 1));
      note_losses(step + 1, states.at(step + 1), first);
    }
  }
  if (action.from > 0) check_start(action.from, start, versions);
}

// What came out of the step before must be what the first launch of the segment read.
void Rollout::Run::check_start(std::size_t step, const StateArrays& start,
                               const std::vector<std::uint64_t>& versions) const {
  std::unordered_set<std::uint32_t> seen;
  for (const Record& record : tape_.records)
    for (std::size_t i = 0; i < record.signature->inputs; ++i) {
      const Use& use = tape_.uses[record.first_use + i];
      if (use.array == kNone || !seen.insert(use.array).second) continue;
      const Storage* const storage = tape_.arrays[use.array].storage.get();
      for (std::size_t k = 0; k < start.carried; ++k)
        NOVAPHY_REQUIRE(start.arrays[k].get() != storage || versions[k] == use.version,
                        ErrorKind::stale_record, "novaphy.diff.Rollout: ", to_string(storage->label()),
                        " was written between step ", step - 1, ", which made it, and step ", step,
                        ", which read it; the gradient would end there. Write with novaphy.diff.assign.");
    }
}

std::optional<Tensor> Rollout::Run::roll(RolloutStates::State start) {
  NOVAPHY_REQUIRE(
      novaphy::open_recording() == 0 || novaphy::open_recording() == novaphy::kNoRecording,
      ErrorKind::unsupported_feature,
      "novaphy.diff.Rollout: a tape records on this thread, and a rollout has a tape of its own; call "
      "backward of the rollout outside of it, or step the solver inside");
  novaphy::refuse_in_capture("novaphy.diff.Rollout");
  NOVAPHY_REQUIRE(!start->is_of_another_model(states.model()), ErrorKind::value,
                  "novaphy.diff.Rollout: the start, state #", start->index,
                  ", was made by another model; take it from state() of the solver's model");
  abandon();
  (void)plan();
  states.begin(std::move(start));
  actions_ = actions_of(*plan_);
  next_action_ = 0, known_ = 0, done_ = 0, total_ = steps_;
  hashes_.assign(plan_->stores_all() ? 0 : steps_ + 1, 0);
  try {
    while (actions_[next_action_].kind == RolloutAction::Kind::advance) advance(actions_[next_action_++]);
    record(actions_[next_action_]);
  } catch (...) {
    abandon();
    throw;
  }
  states.set_last(steps_);
  is_rolled_ =
      novaphy::open_recording() != novaphy::kNoRecording;  // under no_grad there is nothing to differentiate
  return loss_;
}

void Rollout::Run::backward() {
  NOVAPHY_REQUIRE(
      is_rolled_, ErrorKind::generic,
      "novaphy.diff.Rollout.backward: nothing was rolled since the last backward; call the rollout first");
  NOVAPHY_REQUIRE(loss_.has_value(), ErrorKind::value,
                  "novaphy.diff.Rollout.backward: there is no loss; give loss=, loss_each= or loss_fn");
  novaphy::refuse_in_capture("novaphy.diff.Rollout.backward");
  done_ = 0, total_ = plan_->repeated;
  for (std::size_t at = next_action_ + 1; at < actions_.size(); ++at)
    if (actions_[at].kind == RolloutAction::Kind::record) total_ += actions_[at].to - actions_[at].from;
  try {
    differentiate(actions_[next_action_++]);
    for (; next_action_ < actions_.size(); ++next_action_) {
      const RolloutAction& action = actions_[next_action_];
      if (action.kind == RolloutAction::Kind::advance) {
        advance(action);
      } else {
        record(action);
        differentiate(action);
      }
    }
    store_gradients();
  } catch (...) {
    abandon();
    throw;
  }
  abandon();
}

void Rollout::Run::differentiate(const RolloutAction& action) {
  const StateArrays start(*states.at(action.from)), end(*states.at(action.to));
  for (std::size_t i = 0; i < state_cotangents_.size(); ++i)
    if (state_cotangents_[i] != nullptr)
      carry_.put(end.arrays[i], std::exchange(state_cotangents_[i], nullptr));
  const std::size_t carried = action.from > 0 ? start.carried : 0;
  run_backward_part(tape_, losses_, carry_, std::span(start.arrays).first(carried));
  state_cotangents_.assign(carried, nullptr);
  for (std::size_t i = 0; i < carried; ++i) state_cotangents_[i] = carry_.take(start.arrays[i].get());
  // forces that callbacks set on states of the rollout's own are gone with them
  for (std::size_t step = std::max<std::size_t>(action.from, 1); step <= action.to; ++step)
    for (const auto& array : StateArrays(*states.at(step)).arrays)
      if (float* const left = carry_.take(array.get())) tape_.pool.give_back(left, array->bytes());
  losses_.clear();
  tape_.drop_records();
  states.drop_from(action.from);
}

void Rollout::Run::store_gradients() {
  for (const CotangentCarry::Entry& entry : carry_.entries())
    if (entry.array->requires_grad())
      Effects::now().store_gradient(entry.array, entry.cotangent, GradientStore::add, tape_.serial);
}

std::size_t Rollout::Run::recorded_bytes(const TapeState& tape) const {
  std::size_t bytes = tape.records.size() * sizeof(Record) + tape.uses.size() * sizeof(Use) +
                      tape.arrays.size() * sizeof(TapeArray);
  std::unordered_set<const Storage*> of_states;
  for (const auto& [step, state] : states.all())
    for (const auto& array : StateArrays(*state).arrays) of_states.insert(array.get());
  for (const TapeArray& array : tape.arrays) {
    const std::string_view owner = array.storage->label().owner;
    if (!array.released && !array.storage->root() && !of_states.contains(array.storage.get()) && owner != "model" &&
        owner != "control")
      bytes += array.storage->bytes();
  }
  return bytes;
}

// Two steps on a tape: what the second adds is what each adds. Twice the state for the cotangents of a step,
// and once for those that wait for the segment before, and all wanted parameters.
RolloutCost Rollout::Run::measure() {
  RolloutCost cost{.state = states.bytes_of_one(), .record = 0, .constant = 3 * states.bytes_of_one()};
  Tape tape;
  TapeState& record = state_of(tape);
  std::vector<RolloutStates::State> trial;
  for (std::size_t i = 0; i <= std::min<std::size_t>(steps_, 2); ++i) trial.push_back(states.take());
  expect_cotangents(record, StateArrays(*trial[0]));
  std::size_t before = 0;
  for (std::size_t step = 0; step + 1 < trial.size(); ++step) {
    const TapeScope scope(tape);
    calls_.step(step, trial[step], trial[step + 1]);
    if (calls_.losses && step + 1 < steps_) (void)calls_.losses(step + 1, trial[step + 1]);
    std::size_t bytes = recorded_bytes(record);
    for (const RolloutStates::State& state : trial)
      for (const auto& array : StateArrays(*state).arrays)
        if (record.find(array.get()) != kNone) bytes -= array->bytes();
    cost.record = bytes - std::min(bytes, before), before = bytes;
  }
  for (const TapeArray& array : record.arrays)
    if (array.starts_as_input && array.storage->requires_grad()) cost.constant += array.storage->bytes();
  for (RolloutStates::State& state : trial) states.give_back(std::move(state));
  return cost;
}

const RolloutPlan& Rollout::Run::plan() {
  if (plan_) return *plan_;
  RolloutCost cost{.state = states.bytes_of_one(), .record = 0, .constant = 0};
  if (budget_ > 0) cost = measure();
  plan_ = plan_rollout(steps_, cost, budget_);
  return *plan_;
}

std::size_t Rollout::Run::memory_bytes() const {
  const std::size_t one = const_cast<RolloutStates&>(states).bytes_of_one();
  return states.count() * one + recorded_bytes(tape_) + tape_.pool.bytes();
}

Rollout::Rollout(std::shared_ptr<const novaphy::Model> model, std::size_t steps, RolloutCallbacks callbacks,
                 std::size_t memory_budget) {
  NOVAPHY_REQUIRE(model != nullptr && callbacks.step, ErrorKind::value,
                  "novaphy.diff.Rollout: a model and a step are wanted");
  NOVAPHY_REQUIRE(steps > 0, ErrorKind::value, "novaphy.diff.Rollout: substeps is 0; give at least 1");
  run_ = std::make_unique<Run>(std::move(model), steps, std::move(callbacks), memory_budget);
}

Rollout::~Rollout() = default;

std::optional<Tensor> Rollout::roll(std::shared_ptr<SimState> start) {
  NOVAPHY_REQUIRE(start != nullptr, ErrorKind::value, "novaphy.diff.Rollout: a start state is wanted");
  return run_->roll(std::move(start));
}
void Rollout::backward() {
  run_->backward();
}
std::vector<std::pair<std::size_t, std::shared_ptr<SimState>>> Rollout::states() const {
  return run_->states.all();
}
std::size_t Rollout::memory_bytes() const {
  return run_->memory_bytes();
}
RolloutPlan Rollout::plan() {
  return run_->plan();
}
void Rollout::release() {
  run_->abandon();
  run_->states.clear();
}

std::string Rollout::estimate() {
  const RolloutPlan plan = run_->plan();
  if (plan.stores_all())
    return novaphy::text("all states of ", plan.steps, " steps are kept: ", plan.bytes,
                         run_->budget() > 0 ? " bytes" : " bytes of states",
                         run_->budget() > 0 ? novaphy::text(" of ", run_->budget()) : "",
                         "; no step runs again");
  return novaphy::text(plan.checkpoints, " checkpoints and segments of ", plan.segment, " of ", plan.steps,
                       " steps are kept: ", plan.bytes, " bytes of ", run_->budget(), "; ",
                       plan.repeated + plan.steps - std::min(plan.steps, plan.segment),
                       " steps run again in backward");
}

std::function<void(std::size_t, const RolloutState&, const RolloutState&)> solver_step(
    std::shared_ptr<novaphy::ISolver> solver, std::shared_ptr<novaphy::Control> control,
    std::shared_ptr<novaphy::Contacts> contacts, float dt) {
  return [=](std::size_t, const RolloutState& in, const RolloutState& out) {
    in->clear_forces();
    solver->step(*in, *out, control.get(), contacts.get(), dt);
  };
}

}  // namespace nova
