// SPDX-License-Identifier: Apache-2.0
// Anomaly names the first operation behind a number that is not finite.
#include "novaphy/nova/anomaly.hpp"
#include "novaphy/nova/capture.hpp"
#include "novaphy/nova/custom.hpp"

#include <cmath>

#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("an anomaly names launch, output, row and operation") {
  const Kernel root = unary("root", [](Expr a) { return sqrt(a - 1.0f) + a; });
  Tensor x = scalars({4, 2, 0.5f, 3}), y = scalars({0, 0, 0, 0});
  launch(root, {x}, {y}, 4);  // nobody looks
  const Anomaly anomaly;
  check_error(ErrorKind::generic,
              "nova.anomaly: root makes 'out' nan in row 2, number 0: operation 3, sqrt(-0.5) gave nan.",
              [&] { launch(root, {x}, {y}, 4); });
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(twice(), {scalars({1})}, {scalars({0})}, 1);
    check_error(
        ErrorKind::generic,
        "nova.anomaly: launch 1 (inverse) makes 'out' inf in row 1, number 0: operation 2, div(1, 0) gave "
        "inf.",
        [&] {
          launch(unary("inverse", [](Expr a) { return 1.0f / a; }), {scalars({1, 0})}, {scalars({0, 0})}, 2);
        });
  }
}

TEST_CASE("an anomaly follows the arm that was taken, and finite results are none") {
  const Anomaly anomaly;
  const Kernel safe = unary("safe", [](Expr a) { return select(a > 0.0f, 1.0f / a, a); });
  Tensor y = scalars({0, 0});
  launch(safe, {scalars({0, 2})}, {y}, 2);
  CHECK(values(y) == std::vector<float>{0, 0.5f});
  check_error(ErrorKind::generic,
              "nova.anomaly: safe makes 'out' -inf in row 1, number 0: input 'a' already was -inf.", [&] {
                launch(safe, {scalars({0, -std::numeric_limits<float>::infinity()})}, {y}, 2);
              });
}

TEST_CASE("an anomaly of backward names the cotangent and the launch") {
  Tensor x = scalars({1, 0}, true), y = scalars({0, 0});
  const Kernel logarithm = unary("logarithm", [](Expr a) { return log(a + 0.0f); });
  Tape other;
  Tensor z = scalars({0, 0});
  {
    const TapeScope scope(other);
    launch(unary("root", [](Expr a) { return sqrt(a * a * a); }), {x}, {z}, 2);
    launch(logarithm, {z}, {y}, 2);
  }
  const Anomaly anomaly;
  check_error(
      ErrorKind::generic,
      "nova.anomaly: backward of launch 1 (logarithm) makes the cotangent of 'a' inf in row 1, number 0: "
      "operation 4, zdiv(1, 0) gave inf.",
      [&] {
        other.backward(y, scalars({1, 1}));
      });
}

TEST_CASE("an anomaly in the backward of a custom operation is named, also in a replay") {
  class Root final : public CustomOperation {
    const char* name() const noexcept override { return "root"; }
    void forward(const Forward& f) const override {
      *static_cast<float*>(f.outputs[0]) = std::sqrt(*static_cast<const float*>(f.inputs[0]));
    }
    void backward(const Backward& b) const override {
      *b.input_cotangents[0] += *b.output_cotangents[0] / (2 * std::sqrt(*static_cast<const float*>(b.inputs[0])));
    }
  };
  Tensor x = scalars({0}, true), y = scalars({0});
  const auto record = [&](Tape& tape) {
    const TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    apply(std::make_shared<Root>(), {x}, {y});
  };
  Tape tape, captured;
  record(tape);
  const Anomaly anomaly;
  check_error(ErrorKind::generic,
              "nova.anomaly: backward of launch 1 (root) makes the cotangent of input 0 inf at number 0.",
              [&] { tape.backward(y); });
  ScopedCapture capture;
  record(captured);
  captured.backward(y);
  const Graph graph = capture.finish();
  check_error(ErrorKind::generic,
              "nova.anomaly: backward of root makes the cotangent of input 0 inf at number 0.",
              [&] { graph.launch(); });
}

TEST_CASE("an anomaly in a replay names the operation, and no launch of another recording") {
  class Inverse final : public CustomOperation {
    const char* name() const noexcept override { return "inverse"; }
    void forward(const Forward& f) const override {
      *static_cast<float*>(f.outputs[0]) = 1.0f / *static_cast<const float*>(f.inputs[0]);
    }
    void backward(const Backward&) const override {}
  };
  const Kernel logarithm = unary("logarithm", [](Expr a) { return log(a + 0.0f); });
  Tensor x = scalars({1}, true), y = scalars({0}), z = scalars({0});
  ScopedCapture first;
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(logarithm, {x}, {y}, 1);
  }
  tape.backward(y);
  const Graph backward = first.finish();
  ScopedCapture second;
  apply(std::make_shared<Inverse>(), {x}, {z});
  const Graph custom = second.finish();
  Tape other;
  {
    const TapeScope scope(other);
    for (int i = 0; i < 3; ++i) launch(twice(), {x}, {z}, 1);
  }
  other.backward(z);
  x.fill(0);
  const Anomaly anomaly;
  check_error(ErrorKind::generic, "nova.anomaly: inverse makes output 0 inf at number 0.",
              [&] { custom.launch(); });
  x.fill(1), backward.launch(), x.fill(1e-42);
  check_error(ErrorKind::generic,
              "nova.anomaly: backward of logarithm makes the cotangent of 'a' inf in row 0, number 0: "
              "operation 4, zdiv(1, 1.00053e-42) gave inf.",
              [&] { backward.launch(); });
}

}  // namespace nova::test
