// SPDX-License-Identifier: Apache-2.0
// Custom operations on the tape: gradients, write modes, and every protection that kernels have.
#include <memory>

#include "novaphy/nova/custom.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

/// y = x * x, or y += x * x.
class Squares final : public CustomOperation {
 public:
  explicit Squares(std::int64_t count, bool adds = false) : count_(count), adds_(adds) {}
  const char* name() const noexcept override { return "squares"; }
  void forward(const Forward& f) const override {
    const auto* const x = static_cast<const float*>(f.inputs[0]);
    auto* const y = static_cast<float*>(f.outputs[0]);
    CHECK_FALSE(is_recording());
    for (std::int64_t i = 0; i < count_; ++i) y[i] = (adds_ ? y[i] : 0.0f) + x[i] * x[i];
  }
  void backward(const Backward& b) const override {
    const auto* const x = static_cast<const float*>(b.inputs[0]);
    if (b.input_cotangents[0] == nullptr || b.output_cotangents[0] == nullptr) return;
    for (std::int64_t i = 0; i < count_; ++i)
      b.input_cotangents[0][i] += 2.0f * x[i] * b.output_cotangents[0][i];
  }

 private:
  std::int64_t count_;
  bool adds_;
};

class Refuses final : public CustomOperation {
 public:
  const char* name() const noexcept override { return "refuses"; }
  void forward(const Forward&) const override { novaphy::fail(ErrorKind::domain_check, "refuses: never"); }
  void backward(const Backward&) const override {}
};

/// n[0] = x[0] > 0
class Sign final : public CustomOperation {
 public:
  const char* name() const noexcept override { return "sign"; }
  void forward(const Forward& f) const override {
    *static_cast<std::int32_t*>(f.outputs[0]) = *static_cast<const float*>(f.inputs[0]) > 0 ? 1 : -1;
  }
  void backward(const Backward&) const override { FAIL("integers have no cotangent"); }
};

}  // namespace

TEST_CASE("a custom operation stands between kernels and carries their gradient") {
  Tensor x = scalars({1, 2, 3}, true), y = scalars({0, 0, 0}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Squares>(3), {mul(x, x)}, {y});
    loss = sum(y);
  }
  CHECK(loss.item() == 98);
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{4, 32, 108});  // x^4
}

TEST_CASE(
    "a custom operation that sets ends the gradient of the old content, one that adds passes it through") {
  for (const bool adds : {false, true}) {
    Tensor x = scalars({3}, true), z = scalars({5}, true), y = scalars({0}), loss;
    Tape tape;
    {
      TapeScope scope(tape);
      launch(twice(), {z}, {y}, 1);
      CustomOutput out(y);
      if (adds) out.add();
      apply(std::make_shared<Squares>(1, adds), {x}, {out});
      loss = sum(y);
    }
    CHECK(loss.item() == (adds ? 19 : 9));
    tape.backward(loss);
    CHECK(gradient(x) == std::vector<float>{6});
    CHECK(z.grad().has_value() == adds);
    if (adds) CHECK(gradient(z) == std::vector<float>{2});
  }
}

TEST_CASE("a value that a custom operation needs and that is overwritten is refused with its name") {
  Tensor x = scalars({3}, true), y = scalars({0});
  x.array().named("particle_q", "state", 2);
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Squares>(1), {x}, {y});
    x.fill(5);
  }
  check_error(
      ErrorKind::stale_record,
      "Tape: 'particle_q' of state #2 was written at launch 1 (fill) after launch 0 (squares) had read "
      "it; its old values are gone. Keep one state per substep, or use novaphy.diff.Rollout, or "
      "Tape(on_overwrite=\"save\").",
      [&] { tape.backward(y); });
}

TEST_CASE("an input whose value no derivative reads may be overwritten") {
  class Twice final : public CustomOperation {
    const char* name() const noexcept override { return "twice"; }
    void forward(const Forward& f) const override {
      *static_cast<float*>(f.outputs[0]) = 2 * *static_cast<const float*>(f.inputs[0]);
    }
    void backward(const Backward& b) const override {
      CHECK(b.inputs[0] == nullptr);
      *b.input_cotangents[0] += 2 * *b.output_cotangents[0];
    }
  };
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Twice>(), {CustomInput(x).value_not_needed()}, {y});
    x.fill(5);
  }
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{2});
}

TEST_CASE("a custom operation that works in place on a value which it needs is refused") {
  Tensor x = scalars({3}, true);
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Squares>(1), {x}, {x});
  }
  CHECK(error_of([&] { tape.backward(x); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("writes beside the tape are seen around custom operations") {
  Tensor x = scalars({3}, true), y = scalars({0}), z = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Squares>(1), {x}, {y});
    y.array().write<float>()[0] = 7;
    apply(std::make_shared<Squares>(1), {y}, {z});
  }
  CHECK(
      std::string(error_of([&] { tape.backward(z); }).what()) ==
      "Tape: a tensor was written outside of the recording between launch 0 (squares), which wrote it, and "
      "launch 1 (squares), which read it; the tape cannot see that write. Write with novaphy.diff.assign, or "
      "into another array.");

  Tensor escaped = scalars({0});
  escaped.storage()->mark_escaped();
  Tape second;
  {
    TapeScope scope(second);
    apply(std::make_shared<Squares>(1), {x}, {escaped});
    static_cast<float*>(escaped.storage()->data_without_version())[0] = 7;
    apply(std::make_shared<Squares>(1), {escaped}, {z});
  }
  CHECK(error_of([&] { second.backward(z); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("after a custom operation that failed its output is not to be trusted, and the rest is") {
  Tensor x = scalars({3}, true), y = scalars({0}), broken = scalars({0});
  const auto refuses = std::make_shared<Refuses>();
  Tape tape;
  {
    TapeScope scope(tape);
    check_error(ErrorKind::domain_check, "refuses: never", [&] { apply(refuses, {x}, {broken}); });
    CHECK(is_recording());
    apply(std::make_shared<Squares>(1), {x}, {y});
  }
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{6});
  CHECK(error_of([&] { tape.backward(broken); }).kind() == ErrorKind::stale_record);
  Tape second;
  {
    TapeScope scope(second);
    CHECK_THROWS_AS(apply(refuses, {x}, {broken}), Error);
    apply(std::make_shared<Squares>(1), {broken}, {y});
  }
  CHECK(error_of([&] { second.backward(y); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("integers out of a custom operation cut the gradient and say so") {
  static const Kernel choose = make_indexed_expr_kernel_typed_access_n(
      {.name = "choose", .in = {in("n", Row::i32), in("b", Row::f32)}, .out = {out("out", Row::f32)}},
      [](KernelScope& k) { k.write("out", select(k.i32("n") == 1, k.f32("b"), Expr(0.0f))); });
  Tensor a = scalars({2}, true), n = integers({0}, Shape{1}), b = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Sign>(), {a}, {n});
    launch(choose, {n, b}, {y}, 1);
  }
  check_error(
      ErrorKind::unsupported_feature,
      "Tape: the loss depends on differentiable values through the integers of a tensor, written at "
      "launch 0 (sign) and read at launch 1 (choose), which have no derivative; keep that path in float32.",
      [&] { tape.backward(y); });
}

TEST_CASE("mistakes with custom operations are told in one sentence") {
  Tensor x = scalars({3}), y = scalars({0});
  check_error(ErrorKind::value, "squares: outputs 0 and 1 share memory", [&] {
    apply(std::make_shared<Squares>(1), {x}, {y, y});
  });
  check_error(ErrorKind::value, "nova.apply: the operation is empty", [&] { apply(nullptr, {x}, {y}); });
  const std::vector<CustomInput> many(65, CustomInput(x));
  const CustomOutput out(y);
  check_error(ErrorKind::value, "squares: 65 inputs and 1 outputs were given, 64 of each is the most",
              [&] { apply(std::make_shared<Squares>(1), many, std::span(&out, 1)); });
  check_error(ErrorKind::unsupported_feature,
              "squares: this operation has no forward derivative; nova.jvp and nova.jacobian cannot pass it",
              [] { Squares(1).tangent({}); });
  check_error(ErrorKind::unsupported_feature,
              "squares: this operation has no second derivative; nova.hvp cannot pass it",
              [] { Squares(1).backward_tangent({}); });
}

}  // namespace nova::test
