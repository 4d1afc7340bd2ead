// SPDX-License-Identifier: Apache-2.0
// What a tape gives back: values that no wanted derivative reads, and only those; a later wish for them is refused.
#include <array>
#include <memory>
#include <optional>

#include "nova/tape/tape_state.hpp"
#include "novaphy/nova/derivatives.hpp"
#include "novaphy/nova/tensor_operations.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

/// Arrays of any size are given back in its lifetime.
struct GivesBackAll {
  GivesBackAll() { least_bytes_given_back() = 1; }
  ~GivesBackAll() { least_bytes_given_back() = before; }
  const std::size_t before = least_bytes_given_back();
};

constexpr int kDragSteps = 30;
const char* const kGivenBack =
    "Tape: a tensor was given back after launch 1 (advance) had read it, since no derivative that was wanted while "
    "recording needs its values. Set requires_grad before the recording, or use Tape(keep_values=True).";

/// q = q + m * f, f = q * q / 8: the derivative by q reads q and m, that by m reads f.
struct DraggedPoints {
  Tensor start = scalars({0.5f, -0.25f, 0.125f}, true), mass = scalars({0.5f, 1.0f, 0.25f}), loss{};
  std::vector<std::weak_ptr<novaphy::Storage>> q{}, f{};
  Tensor held{};  ///< the first f, when wanted
  Tape tape;

  explicit DraggedPoints(KeepValues keep = KeepValues::wanted, bool mass_wanted = false, bool hold = false,
                 OnOverwrite on_overwrite = OnOverwrite::error)
      : tape(on_overwrite, keep) {
    mass.set_requires_grad(mass_wanted);
    static const Kernel force = unary("force", [](Expr x) { return x * x * 0.125f; });
    static const Kernel advance = make_indexed_expr_kernel_typed_access_n(
        {.name = "advance",
         .in = {in("q", Row::f32), in("f", Row::f32), in("m", Row::f32)},
         .out = {out("q_out", Row::f32)}},
        [](KernelScope& k) { k.write("q_out", k.f32("q") + k.f32("m") * k.f32("f")); });
    const TapeScope scope(tape);
    Tensor now = start;
    for (int step = 0; step < kDragSteps; ++step) {
      const Tensor pull(Shape{3}), next(Shape{3});
      launch(force, {now}, {pull}, 3);
      launch(advance, {now, pull, mass}, {next}, 3);
      q.push_back(next.storage()), f.push_back(pull.storage());
      if (hold && step == 0) held = pull;
      now = next;
    }
    loss = sum(now);
  }
  static int living(const std::vector<std::weak_ptr<novaphy::Storage>>& arrays) {
    int count = 0;
    for (const auto& array : arrays) count += !array.expired();
    return count;
  }
};

}  // namespace

TEST_CASE("values that no wanted derivative reads are given back, and gradients keep their bits") {
  const GivesBackAll all;
  DraggedPoints kept(KeepValues::all), given_back;
  CHECK(DraggedPoints::living(kept.f) == kDragSteps);
  CHECK(DraggedPoints::living(given_back.f) < 8);  // the last few wait for more
  CHECK(DraggedPoints::living(given_back.q) >= kDragSteps - 1);
  kept.tape.backward(kept.loss), given_back.tape.backward(given_back.loss);
  CHECK(gradient(given_back.start) == gradient(kept.start));
  given_back.tape.backward(given_back.loss);  // once more, added
  for (std::size_t i = 0; i < 3; ++i) CHECK(gradient(given_back.start)[i] == 2 * gradient(kept.start)[i]);
}

TEST_CASE("a recording continued after backward gives back no more than before") {
  const GivesBackAll all;
  std::array<std::vector<float>, 2> gradients;
  for (const KeepValues keep : {KeepValues::wanted, KeepValues::all}) {
    DraggedPoints chain(keep);
    chain.tape.backward(chain.loss);
    Tensor loss;
    {
      const TapeScope scope(chain.tape);
      loss = sum(mul(chain.start, mul(chain.start, chain.start)));
    }
    chain.tape.backward(loss);
    gradients[keep == KeepValues::all] = gradient(chain.start);
  }
  CHECK(gradients[0] == gradients[1]);
}

TEST_CASE("small arrays stay, and nothing is given back while somebody holds it or wants its derivative") {
  CHECK(DraggedPoints::living(DraggedPoints().f) == kDragSteps);
  const GivesBackAll all;
  CHECK(DraggedPoints::living(DraggedPoints(KeepValues::wanted, true).f) == kDragSteps);
  DraggedPoints holds(KeepValues::wanted, false, true);
  CHECK(holds.held.storage() == holds.f[0].lock());
}

TEST_CASE("requires_grad after the recording is refused where a value was given back") {
  const GivesBackAll all;
  DraggedPoints late;
  late.mass.set_requires_grad(true);
  // backward begins at the end; the sentence names the first launch of that kind it comes to whose value is gone
  const Error error = error_of([&] { late.tape.backward(late.loss); });
  CHECK(error.kind() == ErrorKind::stale_record);
  CHECK(std::string(error.what()).find("(advance) had read it, since no derivative that was wanted while recording "
                                       "needs its values. Set requires_grad before the recording, or use "
                                       "Tape(keep_values=True).") != std::string::npos);
  late.mass.set_requires_grad(false);
  late.tape.backward(late.loss);  // as if nobody had asked

  DraggedPoints kept(KeepValues::all), early(KeepValues::wanted, true);
  kept.mass.set_requires_grad(true);
  kept.tape.backward(kept.loss), early.tape.backward(early.loss);
  CHECK(gradient(kept.mass) == gradient(early.mass));
  CHECK(gradient(kept.start) == gradient(late.start));
}

TEST_CASE("tangents pass arrays that were given back, but not along what nobody wanted") {
  const GivesBackAll all;
  DraggedPoints kept(KeepValues::all), given_back;
  const std::array<Tensor, 1> direction{scalars({1, -2, 0.5f})};
  const auto both = [&](auto&& action) { return values(action(given_back)) == values(action(kept)); };
  CHECK(both([&](DraggedPoints& c) {
    return jvp(c.tape, std::array<Tensor, 1>{c.start}, direction, std::array<Tensor, 1>{c.loss})[0];
  }));
  CHECK(both([&](DraggedPoints& c) { return hvp(c.tape, c.loss, std::array<Tensor, 1>{c.start}, direction)[0]; }));
  check_error(ErrorKind::stale_record, kGivenBack, [&] {
    jvp(given_back.tape, std::array<Tensor, 1>{given_back.mass}, direction,
        std::array<Tensor, 1>{given_back.loss});
  });
}

TEST_CASE("a recording that saves overwritten values gives back as any other") {
  const GivesBackAll all;
  DraggedPoints kept(KeepValues::all, false, false, OnOverwrite::save),
      given_back(KeepValues::wanted, false, false, OnOverwrite::save);
  kept.tape.backward(kept.loss), given_back.tape.backward(given_back.loss);
  CHECK(DraggedPoints::living(given_back.f) < 8);
  CHECK(gradient(given_back.start) == gradient(kept.start));
}

TEST_CASE("memory beside the engine's and slices take part in a recording that gives back") {
  const GivesBackAll all;
  std::array<std::vector<float>, 2> gradients;
  for (const KeepValues keep : {KeepValues::wanted, KeepValues::all}) {
    alignas(64) float outside[32] = {1, 2, 3};
    Tensor x = scalars({2, 3, 4}, true), loss;
    Tape tape(OnOverwrite::error, keep);
    {
      const TapeScope scope(tape);
      for (int round = 0; round < 12; ++round) {
        const Tensor wrapped(DeviceArray(novaphy::Storage::wrap(outside, 12, {}, nullptr, false), DType::f32, Shape{3}));
        const Tensor sum_of_two = add(mul(x, wrapped), x);
        const Tensor part(sum_of_two.array().slice_rows(0, 2));
        const Tensor term = sum(mul(part, part));
        loss = round == 0 ? term : add(loss, term);
      }
    }
    tape.backward(loss);
    gradients[keep == KeepValues::all] = gradient(x);
  }
  CHECK(gradients[0] == gradients[1]);
}

}  // namespace nova::test
