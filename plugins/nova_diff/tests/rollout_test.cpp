// SPDX-License-Identifier: Apache-2.0
// Rollouts over a small solver of their own: the bits of one tape at every budget, memory, and callbacks that
// differ.
#include "novaphy/nova/rollout.hpp"

#include <cstring>
#include <utility>

#include "nova/tape/tape_state.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/nova/losses.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

using novaphy::Model;
using novaphy::ModelBuilder;
using novaphy::SimState;

constexpr std::size_t kSteps = 40;

/// Particles whose neighbours pull on each other, so that every step mixes rows; the parameter is a stiffness
/// each.
struct Chain {
  std::shared_ptr<Model> model;
  std::shared_ptr<SimState> start;
  Tensor stiffness, next;

  explicit Chain(int particles = 8) {
    ModelBuilder builder;
    for (int p = 0; p < particles; ++p)
      builder.add_particle({0.3f * static_cast<float>(p), 0.1f * static_cast<float>(p % 3), 1}, {0, 0, 0.5f},
                           1.0);
    model = builder.finalize();
    start = model->state();
    start->particle_q.storage()->set_requires_grad(true);
    start->particle_qd.storage()->set_requires_grad(true);
    std::vector<float> ke;
    std::vector<std::int32_t> neighbour;
    for (int p = 0; p < particles; ++p)
      ke.push_back(20.0f + static_cast<float>(p)), neighbour.push_back((p + 1) % particles);
    stiffness = scalars(ke, true), next = integers(neighbour, Shape{particles});
  }

  void step(SimState& in, SimState& out) const {
    static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
        {.name = "pull",
         .in = {nova::in("x", Row::vec3), nova::in("v", Row::vec3), nova::in("y", Row::vec3).gather("next"),
                nova::in("ke", Row::f32), nova::in("dt", Row::f32).value()},
         .out = {nova::out("x_out", Row::vec3), nova::out("v_out", Row::vec3)},
         .index = {index("next")}},
        [](KernelScope& k) {
          const Vec3E d = k.vec3("y") - k.vec3("x");
          const Vec3E v = k.vec3("v") + d * (k.f32("ke") * k.f32("dt"));
          k.write("x_out", k.vec3("x") + v * k.f32("dt"));
          k.write("v_out", v);
        });
    launch(kernel, {in.particle_q, in.particle_qd, in.particle_q, stiffness, 0.01f, next},
           {out.particle_q, out.particle_qd}, in.particle_count());
  }
  /// A point loss after each tenth step and after the last.
  std::vector<Tensor> losses(std::size_t step, SimState& state) const {
    if (step % 10 != 0 && step != kSteps) return {};
    return {particle_point_loss_generated(view(state.particle_q), 1, 0.5f, 0.0f, 2.0f)};
  }
  RolloutCallbacks callbacks() const {
    return {.step = [this](std::size_t, const RolloutState& in, const RolloutState& out) { step(*in, *out); },
            .losses = [this](std::size_t s, const RolloutState& state) { return losses(s, *state); }};
  }
};

struct Result {
  float loss = 0;
  std::vector<float> q, qd, stiffness;
  friend bool operator==(const Result& a, const Result& b) {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
    };
    return a.loss == b.loss && same(a.q, b.q) && same(a.qd, b.qd) && same(a.stiffness, b.stiffness);
  }
};

Result result_of(const Chain& chain, float loss) {
  return {loss, gradient(view(chain.start->particle_q)), gradient(view(chain.start->particle_qd)),
          gradient(chain.stiffness)};
}

/// One ordinary tape over all steps.
Result by_tape() {
  Chain chain;
  std::vector<std::shared_ptr<SimState>> states{chain.start};
  Tape tape;
  Tensor total;
  {
    TapeScope scope(tape);
    for (std::size_t step = 0; step < kSteps; ++step) {
      states.push_back(chain.model->state(false));
      chain.step(*states[step], *states[step + 1]);
      for (const Tensor& loss : chain.losses(step + 1, *states[step + 1]))
        total = total.size() == 0 ? loss : add(total, loss);
    }
  }
  tape.backward(total);
  return result_of(chain, total.item());
}

}  // namespace

TEST_CASE("temporaries of a step are kept where the steps before it want them") {
  const std::size_t before = std::exchange(least_bytes_given_back(), 1);
  std::vector<Result> results;
  for (const std::size_t budget : {std::size_t{0}, std::size_t{20000}}) {
    static const Kernel pull_back = make_indexed_expr_kernel_typed_access_n(
        {.name = "pull_back",
         .in = {in("x", Row::vec3), in("v", Row::vec3), in("f", Row::vec3)},
         .out = {out("x_out", Row::vec3), out("v_out", Row::vec3)}},
        [](KernelScope& k) {
          const Vec3E v = k.vec3("v") - k.vec3("f") * 0.01f;
          k.write("x_out", k.vec3("x") + v * 0.01f);
          k.write("v_out", v);
        });
    Chain fresh{};
    Rollout rollout(
        fresh.model, kSteps,
        {.step =
             [](std::size_t, const RolloutState& from, const RolloutState& to) {
               const Tensor square = mul(view(from->particle_q), view(from->particle_q));
               const Tensor force = mul(square, square);  // its derivative reads `square`
               launch(pull_back, {from->particle_q, from->particle_qd, force}, {to->particle_q, to->particle_qd},
                      from->particle_count());
             },
         .losses = [&](std::size_t s, const RolloutState& state) { return fresh.losses(s, *state); }},
        budget);
    const float loss = rollout.roll(fresh.start)->item();
    rollout.backward();
    results.push_back({loss, gradient(view(fresh.start->particle_q)), gradient(view(fresh.start->particle_qd)), {}});
    if (budget > 0) CHECK_FALSE(rollout.plan().stores_all());
  }
  least_bytes_given_back() = before;
  CHECK(results[0] == results[1]);
}

TEST_CASE("a rollout gives the bits of one tape, whatever its budget") {
  const Result want = by_tape();
  Chain sample;
  const RolloutPlan all = Rollout(sample.model, kSteps, sample.callbacks()).plan();
  CHECK(all.stores_all());
  std::size_t plans_that_repeat = 0;
  for (std::size_t budget = 0; budget < 3 * all.bytes;
       budget = budget == 0 ? all.bytes / 6 : budget + budget / 6) {
    CAPTURE(budget);
    Chain chain;
    Rollout rollout(chain.model, kSteps, chain.callbacks(), budget);
    RolloutPlan plan;
    try {
      plan = rollout.plan();
    } catch (const Error&) {
      continue;  // too small
    }
    plans_that_repeat += plan.repeated > 0;
    const auto loss = rollout.roll(chain.start);
    REQUIRE(loss.has_value());
    CHECK(rollout.states().front().second == chain.start);
    CHECK(rollout.states().back().first == kSteps);
    rollout.backward();
    REQUIRE(result_of(chain, loss->item()) == want);
  }
  CHECK(plans_that_repeat >= 4);
}

TEST_CASE("a rollout can be rolled again, and gradients add up") {
  Chain chain;
  Rollout rollout(chain.model, kSteps, chain.callbacks());
  rollout.roll(chain.start);
  rollout.backward();
  const std::vector<float> once = gradient(chain.stiffness);
  rollout.roll(chain.start);
  rollout.backward();
  std::vector<float> twice = once;
  for (float& value : twice) value += value;
  CHECK(gradient(chain.stiffness) == twice);
  check_error(
      ErrorKind::generic,
      "novaphy.diff.Rollout.backward: nothing was rolled since the last backward; call the rollout first",
      [&] { rollout.backward(); });
  CHECK(rollout.memory_bytes() > 0);
  rollout.release();
  CHECK(rollout.memory_bytes() == 0);
  CHECK(rollout.roll(chain.start).has_value());
}

TEST_CASE("a step that differs when it runs again is named") {
  Chain chain(300);
  std::size_t runs = 0;
  RolloutCallbacks calls = chain.callbacks();
  calls.step = [&](std::size_t step, const RolloutState& in, const RolloutState& out) {
    const float shift = step == 3 ? static_cast<float>(runs++) : 0.0f;
    chain.step(*in, *out);
    const Tensor q = view(out->particle_q);
    if (shift != 0) nova::assign(out->particle_q, add(q, mul(q, q)));
  };
  Rollout rollout(chain.model, kSteps, calls, 200000);
  REQUIRE(rollout.plan().repeated > 0);
  rollout.roll(chain.start);
  check_error(ErrorKind::stale_record,
              "novaphy.diff.Rollout: step 3 gave another state when it ran again for backward; what a step "
              "reads (start "
              "state, parameters, control, contacts, callbacks) must be the same each time, or give a larger "
              "memory_budget",
              [&] { rollout.backward(); });
  CHECK_FALSE(chain.stiffness.grad().has_value());
}

TEST_CASE("a value that a callback keeps from step to step beside the states is refused, not cut") {
  Chain chain(300);
  Tensor kept;
  RolloutCallbacks calls = chain.callbacks();
  calls.step = [&](std::size_t step, const RolloutState& in, const RolloutState& out) {
    if (step == 0) kept = Tensor(in->particle_q.shape());
    kept = add(kept, view(in->particle_q));
    chain.step(*in, *out);
    nova::assign(out->particle_qd, add(view(out->particle_qd), kept));
  };
  Rollout rollout(chain.model, 12, calls, 200000);
  REQUIRE(rollout.plan().repeated > 0);
  rollout.roll(chain.start);
  CHECK(error_of([&] { rollout.backward(); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("an interrupt leaves the rollout ready for another roll") {
  const Result want = by_tape();
  Chain chain;
  std::size_t stop_at = 7;
  RolloutCallbacks calls = chain.callbacks();
  calls.progress = [&](std::size_t done, std::size_t) {
    if (done == stop_at) novaphy::fail(ErrorKind::generic, "stop");
  };
  Rollout sized(chain.model, kSteps, chain.callbacks());
  Rollout rollout(chain.model, kSteps, calls, sized.plan().bytes * 2);
  REQUIRE(rollout.plan().repeated > 0);
  CHECK(std::string(error_of([&] { rollout.roll(chain.start); }).what()) == "stop");
  stop_at = kSteps + 1;
  rollout.roll(chain.start);
  stop_at = 3;
  CHECK(std::string(error_of([&] { rollout.backward(); }).what()) == "stop");
  CHECK_FALSE(chain.stiffness.grad().has_value());
  stop_at = 100000;
  const float loss = rollout.roll(chain.start)->item();
  rollout.backward();
  CHECK(result_of(chain, loss) == want);
}

TEST_CASE("a start that was written between roll and backward is found") {
  Chain chain;
  Rollout rollout(chain.model, kSteps, chain.callbacks());
  rollout.roll(chain.start);
  chain.start->particle_q.write<float>()[0] += 1.0f;
  CHECK(error_of([&] { rollout.backward(); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("mistakes with a rollout are told in one sentence") {
  Chain chain;
  check_error(ErrorKind::value, "novaphy.diff.Rollout: substeps is 0; give at least 1",
              [&] { Rollout(chain.model, 0, chain.callbacks()); });
  RolloutCallbacks no_loss = chain.callbacks();
  no_loss.losses = nullptr;
  Rollout rollout(chain.model, 3, no_loss);
  CHECK_FALSE(rollout.roll(chain.start).has_value());
  check_error(ErrorKind::value,
              "novaphy.diff.Rollout.backward: there is no loss; give loss=, loss_each= or loss_fn",
              [&] { rollout.backward(); });
  Tape tape;
  const TapeScope scope(tape);
  check_error(ErrorKind::unsupported_feature,
              "novaphy.diff.Rollout: a tape records on this thread, and a rollout has a tape of its own; "
              "call backward of "
              "the rollout outside of it, or step the solver inside",
              [&] { rollout.roll(chain.start); });
}

}  // namespace nova::test
