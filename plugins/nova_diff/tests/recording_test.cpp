// SPDX-License-Identifier: Apache-2.0
// A recording cannot lie: gradients of overwritten, reused and unreached arrays, and the texts of the
// refusals.
#include "test_kernels.hpp"

#include <cmath>

namespace nova::test {

namespace {

/// A particle of mass 1 on a spring of stiffness k to the origin: velocity first, then position.
const Kernel& spring_step() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "spring_step",
       .in = {in("x", Row::f32), in("v", Row::f32), in("k", Row::f32).uniform(), in("dt", Row::f32).value()},
       .out = {out("x_next", Row::f32), out("v_next", Row::f32)}},
      [](KernelScope& k) {
        const Expr v = k.f32("v") - k.f32("k") * k.f32("x") * k.f32("dt");
        k.write("v_next", v);
        k.write("x_next", k.f32("x") + v * k.f32("dt"));
      });
  return kernel;
}

struct Particle {
  explicit Particle(int index, float x0 = 0.0f) : x(scalars({x0})), v(scalars({0})) {
    x.array().named("particle_q", "state", index);
    v.array().named("particle_qd", "state", index);
  }
  Tensor x, v;
};

void step(Particle& from, Particle& to, const Tensor& k) {
  launch(spring_step(), {from.x, from.v, k, 0.01f}, {to.x, to.v}, 1);
}

}  // namespace

TEST_CASE("a spring rollout over separate states has the right end and gradient") {
  std::vector<Particle> states;
  for (int i = 0; i <= 100; ++i) states.emplace_back(i, i == 0 ? 1.0f : 0.0f);
  Tensor k = scalars({4}, true);
  Tape tape;
  {
    TapeScope scope(tape);
    for (std::size_t i = 0; i < 100; ++i) step(states[i], states[i + 1], k);
  }
  tape.backward(states[100].x);
  CHECK(values(states[100].x)[0] == doctest::Approx(-0.42527).epsilon(1e-5));
  CHECK(gradient(k)[0] == doctest::Approx(-0.22743).epsilon(1e-4));
  CHECK(tape.record_count() == 100);
}

TEST_CASE("two swapped states are refused, naming array, state and both launches") {
  Particle a(0, 1.0f), b(1);
  Tensor k = scalars({4}, true);
  Tape tape;
  {
    TapeScope scope(tape);
    for (int i = 0; i < 100; ++i) i % 2 == 0 ? step(a, b, k) : step(b, a, k);
  }
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_q' of state #0 was written at launch 1 (spring_step) after launch 0 "
              "(spring_step) had read it; "
              "its old values are gone. Keep one state per substep, or use novaphy.diff.Rollout, or "
              "Tape(on_overwrite=\"save\").",
              [&] { tape.backward(a.x); });
  CHECK_FALSE(k.grad().has_value());
}

TEST_CASE(
    "two swapped states with saved copies have the gradient of separate ones, also twice and through "
    "slices") {
  for (const bool slices : {false, true}) {
    Particle a(0, 1.0f), b(1);
    if (slices) {
      Tensor positions = scalars({1, 0}), speeds(Shape{2});
      a.x = positions.slice_rows(0, 1), b.x = positions.slice_rows(1, 2);
      a.v = speeds.slice_rows(0, 1), b.v = speeds.slice_rows(1, 2);
    }
    Tensor k = scalars({4}, true);
    Tape tape(OnOverwrite::save);
    {
      TapeScope scope(tape);
      for (int i = 0; i < 100; ++i) i % 2 == 0 ? step(a, b, k) : step(b, a, k);
    }
    tape.backward(a.x);
    CHECK(values(a.x)[0] == doctest::Approx(-0.42527).epsilon(1e-5));
    CHECK(gradient(k)[0] == doctest::Approx(-0.22743).epsilon(1e-4));
    tape.backward(a.x);
    CHECK(gradient(k)[0] == doctest::Approx(2 * -0.22743).epsilon(1e-4));
    CHECK(tape.report().saved_copies.size() == 99);  // the positions that a later step overwrote
    b.x.array().zero();
    CHECK(error_of([&] { tape.backward(a.x); }).kind() == ErrorKind::stale_record);
  }
}

TEST_CASE("saved copies do not hide a write that no launch made") {
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape tape(OnOverwrite::save);
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  x.array().write<float>()[0] = 5;
  check_error(
      ErrorKind::stale_record,
      "Tape: a tensor was written outside of the recording after launch 0 (square) had read it; its old "
      "values are gone. Leave it unchanged until backward, or record again.",
      [&] { tape.backward(y); });

  Tensor z = scalars({3}, true);
  z.storage()->mark_escaped();
  Tape second(OnOverwrite::save);
  {
    TapeScope scope(second);
    launch(square(), {z}, {y}, 1);
    static_cast<float*>(z.storage()->data_without_version())[0] = 5;
    z.fill(7);
  }
  CHECK(error_of([&] { second.backward(y); }).kind() == ErrorKind::stale_record);
}

TEST_CASE(
    "a gradient read inside the recording is refused; after backward it is there; after zero_grad it is "
    "gone") {
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
    check_error(ErrorKind::gradient_not_ready,
                "nova.Tensor.grad: the recording is still open, so there is no gradient yet; read it after "
                "Tape.backward",
                [&] { (void)x.grad(); });
    check_error(ErrorKind::gradient_not_ready,
                "Tape.backward: the recording is still open; call backward after the 'with' block",
                [&] { tape.backward(y); });
  }
  CHECK_FALSE(x.grad().has_value());
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{6});
  x.zero_grad();
  CHECK_FALSE(x.grad().has_value());
}

TEST_CASE("an input that changes between recording and backward is refused by name") {
  Tensor x = scalars({3}, true), y = scalars({0});
  x.array().named("particle_qd", "state", 0);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  x.array().write<float>()[0] = 5;
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_qd' of state #0 was written outside of the recording after launch 0 (square) "
              "had read it; "
              "its old values are gone. Leave it unchanged until backward, or record again.",
              [&] { tape.backward(y); });
}

TEST_CASE("a factor that changes between recording and backward is refused") {
  static const Kernel product = binary("product", [](Expr a, Expr b) { return a * b; });
  Tensor c = scalars({0}), x = scalars({3}, true), y = scalars({0});
  c.array().named("soft_contact_ke", "model");
  Tape tape;
  {
    TapeScope scope(tape);
    launch(product, {c, x}, {y}, 1);
  }
  c.fill(5);
  check_error(ErrorKind::stale_record,
              "Tape: 'soft_contact_ke' of model was written outside of the recording after launch 0 "
              "(product) had read it; "
              "its old values are gone. Leave it unchanged until backward, or record again.",
              [&] { tape.backward(y); });
}

TEST_CASE("a value that no derivative needs may be overwritten") {
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
  }
  x.fill(5);
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{2});
}

TEST_CASE("the first of two writers of one array receives no gradient") {
  Tensor x = scalars({1, 2, 3}, true), z = scalars({4, 5, 6}, true), y = scalars({0, 0, 0}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 3);
    launch(thrice(), {z}, {y}, 3);
    loss = sum(y);
  }
  CHECK(loss.item() == 45);
  tape.backward(loss);
  CHECK(gradient(z) == std::vector<float>{3, 3, 3});
  CHECK_FALSE(x.grad().has_value());
  REQUIRE(tape.report().leaves_without_path.size() == 1);
}

TEST_CASE("two writers that add to one array both receive gradient") {
  static const Kernel add_thrice = make_indexed_expr_kernel_typed_access_n(
      {.name = "add_thrice", .in = {in("a", Row::f32)}, .out = {out("out", Row::f32).add()}},
      [](KernelScope& k) { k.write("out", k.f32("a") * 3.0f); });
  Tensor x = scalars({1, 2, 3}, true), z = scalars({4, 5, 6}, true), y = scalars({0, 0, 0}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 3);
    launch(add_thrice, {z}, {y}, 3);
    loss = sum(y);
  }
  CHECK(loss.item() == 57);
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2, 2, 2});
  CHECK(gradient(z) == std::vector<float>{3, 3, 3});
}

TEST_CASE("an array updated in place carries the gradient of its old and its new value") {
  static const Kernel scaled_sum = binary("scaled_sum", [](Expr a, Expr b) { return a * 2.0f + b * 3.0f; });
  Tensor y = scalars({1, 2}, true), z = scalars({4, 5}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(scaled_sum, {y, z}, {y}, 2);
    launch(scaled_sum, {y, z}, {y}, 2);
    loss = sum(y);
  }
  tape.backward(loss);
  CHECK(gradient(y) == std::vector<float>{4, 4});  // of the value before the first launch
  CHECK(gradient(z) == std::vector<float>{9, 9});
}

TEST_CASE("an in-place update whose derivative needs the old value is refused") {
  Tensor y = scalars({3}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {y}, {y}, 1);
    loss = sum(y);
  }
  CHECK(error_of([&] { tape.backward(loss); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("intermediates need no flag to carry gradient") {
  Tensor x = scalars({2}, true), acc = scalars({0}), loss = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    acc.assign(x);
    loss.assign(acc);
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{1});
  CHECK_FALSE(acc.grad().has_value());
}

TEST_CASE("an intermediate that asks for it keeps its gradient; a new recording replaces it") {
  Tensor x = scalars({2}, true), y = scalars({0}, true), loss;
  for (int round = 1; round <= 2; ++round) {
    Tape tape;
    {
      TapeScope scope(tape);
      launch(twice(), {x}, {y}, 1);
      loss = sum(y);
    }
    tape.backward(loss);
    CHECK(gradient(y) == std::vector<float>{1});
    CHECK(gradient(x) == std::vector<float>{2.0f * static_cast<float>(round)});  // leaves add up
  }
}

TEST_CASE("an intermediate that is written again keeps the gradient of its last value only") {
  Tensor x = scalars({2}, true), z = scalars({1}, true), y = scalars({0}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    loss = sum(y);
    launch(twice(), {z}, {y}, 1);
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2});
  CHECK_FALSE(y.grad().has_value());
}

TEST_CASE("a second backward on one recording doubles the gradient, zero clears it") {
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  tape.backward(y);
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{12});
  tape.zero();
  CHECK_FALSE(x.grad().has_value());
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{6});
}

TEST_CASE("identical rollouts through the same kernels give identical gradients") {
  std::vector<float> seen;
  for (int round = 0; round < 3; ++round) {
    std::vector<Particle> states;
    for (int i = 0; i <= 50; ++i) states.emplace_back(i, i == 0 ? 1.0f : 0.0f);
    Tensor k = scalars({4}, true);
    states[0].v.set_requires_grad(true);
    Tape tape;
    {
      TapeScope scope(tape);
      for (std::size_t i = 0; i < 50; ++i) step(states[i], states[i + 1], k);
    }
    tape.backward(states[50].x);
    seen.push_back(gradient(k)[0]);
    seen.push_back(gradient(states[0].v)[0]);
  }
  CHECK(seen[0] == seen[2]);
  CHECK(seen[0] == seen[4]);
  CHECK(seen[1] == seen[3]);
  CHECK(seen[1] == seen[5]);
}

TEST_CASE("a tape that records again without a reset says so when an earlier block's values are gone") {
  Tensor x = scalars({3}, true), y = scalars({0});
  x.array().named("particle_qd", "state", 0);
  Tape tape;
  for (const float start : {3.0f, 4.0f}) {
    x.array().write<float>()[0] = start;
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_qd' of state #0 was written outside of the recording after launch 0 (square) "
              "had read it; its old values are gone. That launch is of an earlier 'with' block; reset the "
              "tape before recording again, or make a new one.",
              [&] { tape.backward(y); });
}

TEST_CASE("a recorded assign hands the gradient of an engine array to the tensor") {
  DeviceArray mass(DType::f32, Shape{3});
  mass.named("particle_mass", "model");
  Tensor logs = scalars({1, 2, 3}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    assign(mass, mul(logs, logs));
    loss = sum(mul(view(mass), view(mass)));
  }
  tape.backward(loss);
  CHECK(values(view(mass)) == std::vector<float>{1, 4, 9});
  CHECK(gradient(logs) == std::vector<float>{4, 32, 108});
  check_error(ErrorKind::shape_mismatch, "assign: 'particle_mass' of model has shape (3), the source (2)",
              [&] {
                assign(mass, scalars({1, 2}));
              });
}

}  // namespace nova::test
