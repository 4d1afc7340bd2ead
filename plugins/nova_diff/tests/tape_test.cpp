// SPDX-License-Identifier: Apache-2.0
// Tape and tensor: flags, views, copies, integers, and the texts of mistakes.
#include <memory>
#include <thread>

#include "novaphy/nova/losses.hpp"
#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("fill inside a recording ends the gradient of what was there") {
  Tensor x = scalars({1, 2}, true), y = scalars({0, 0}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 2);
    y.zero();
    loss = sum(y);
  }
  tape.backward(loss);
  CHECK_FALSE(x.grad().has_value());
}

TEST_CASE("a copy carries gradient, a detached one does not") {
  Tensor x = scalars({3}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    loss = sum(mul(x.clone(), x.detach()));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{3});
}

TEST_CASE("array and view share one gradient") {
  DeviceArray q(DType::f32, Shape{2});
  Tensor first = view(q), second = view(q), y = scalars({0, 0}), loss;
  first.set_requires_grad(true);
  CHECK(second.requires_grad());
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {second}, {y}, 2);
    loss = sum(y);
  }
  tape.backward(loss);
  REQUIRE(grad_of(q).has_value());
  CHECK(grad_of(q)->storage() == first.grad()->storage());
  CHECK(values(Tensor(*grad_of(q))) == std::vector<float>{2, 2});
}

TEST_CASE("mistakes with a tape are told in one sentence") {
  Tensor x = scalars({1, 2}, true), y = scalars({0, 0}), other = scalars({0});
  Tape tape;
  check_error(ErrorKind::generic,
              "Tape.backward: nothing was recorded; run the launches inside 'with nova.Tape() as tape'",
              [&] { tape.backward(y); });
  {
    TapeScope scope(tape);
    Tape inner;
    check_error(ErrorKind::generic, "nova.Tape: this thread records on a tape already; close that one first",
                [&] { inner.open(); });
    launch(twice(), {x}, {y}, 2);
  }
  check_error(ErrorKind::generic,
              "Tape.backward: the loss is not on this tape; compute it inside the recording",
              [&] { tape.backward(other); });
  check_error(ErrorKind::value,
              "Tape.backward: the loss has shape (2); give a scalar, or a gradient of that shape as the "
              "second argument",
              [&] { tape.backward(y); });
  check_error(ErrorKind::shape_mismatch, "Tape.backward: the gradient has shape (1), the loss (2)",
              [&] { tape.backward(y, other); });
  tape.backward(y, scalars({10, 1}));
  CHECK(gradient(x) == std::vector<float>{20, 2});
  y.array().zero();
  CHECK(error_of([&] { tape.backward(y, scalars({1, 1})); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("nothing is recorded without a tape or under NoGrad") {
  Tensor x = scalars({1}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    CHECK(is_recording());
    const NoGrad pause;
    CHECK_FALSE(is_recording());
    launch(twice(), {x}, {y}, 1);
  }
  CHECK(tape.record_count() == 0);
  CHECK(values(y) == std::vector<float>{2});
}

TEST_CASE("a leaf that only a comparison or another output depends on has no gradient, not one of zeros") {
  static const Kernel choose = binary("choose", [](Expr a, Expr b) { return select(a > 0.0f, b, b * 2.0f); });
  static const Kernel both_outputs =
      make_indexed_expr_kernel_typed_access_n({.name = "both",
                                               .in = {in("a", Row::f32), in("b", Row::f32)},
                                               .out = {out("p", Row::f32), out("q", Row::f32)}},
                                              [](KernelScope& k) {
                                                k.write("p", k.f32("a") * 3.0f);
                                                k.write("q", k.f32("b") * 5.0f);
                                              });
  Tensor a = scalars({2}, true), b = scalars({3}, true), y = scalars({0}), p = scalars({0}), q = scalars({0});
  a.array().named("particle_q", "state", 0);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(choose, {a, b}, {y}, 1);
    launch(both_outputs, {a, y}, {p, q}, 1);
  }
  tape.backward(q);
  CHECK_FALSE(a.grad().has_value());
  CHECK(gradient(b) == std::vector<float>{5});
  CHECK(tape.report().leaves_without_path == std::vector<std::string>{"'particle_q' of state #0"});
}

TEST_CASE("a tape that ends on another thread than the one it is open on leaves that thread without one") {
  auto tape = std::make_unique<Tape>();
  tape->open();
  std::thread([&] { tape.reset(); }).join();
  CHECK_FALSE(is_recording());
  CHECK(mul(scalars({3}, true), scalars({2})).item() == 6);
  Tape next;
  const TapeScope scope(next);
  CHECK(is_recording());
}

TEST_CASE("one tape is open on one thread at a time") {
  Tape tape;
  const TapeScope scope(tape);
  std::thread([&] {
    check_error(ErrorKind::generic, "nova.Tape: another thread records on this tape; use one tape a thread",
                [&] { tape.open(); });
    check_error(ErrorKind::generic, "nova.Tape: this tape is not open on this thread", [&] { tape.close(); });
  }).join();
  CHECK(tape.is_open());
}

TEST_CASE("reset drops the records") {
  Tensor x = scalars({1}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
  }
  CHECK(tape.memory_bytes() > 0);
  tape.reset();
  CHECK(tape.record_count() == 0);
  CHECK(error_of([&] { tape.backward(y); }).kind() == ErrorKind::generic);
}

TEST_CASE("an integer array cannot require gradient") {
  Tensor indices = integers({1, 2}, Shape{2});
  check_error(ErrorKind::type, "nova.Tensor: requires_grad wants float32, this tensor is int32",
              [&] { indices.set_requires_grad(true); });
}

TEST_CASE("a path from float to integer to float is refused at backward and stands in the report") {
  static const Kernel count = make_indexed_expr_kernel_typed_access_n(
      {.name = "count", .in = {in("a", Row::f32)}, .out = {out("n", Row::i32)}},
      [](KernelScope& k) { k.write("n", select(k.f32("a") > 0.0f, Int(1), Int(0))); });
  static const Kernel choose = make_indexed_expr_kernel_typed_access_n(
      {.name = "choose", .in = {in("n", Row::i32), in("b", Row::f32)}, .out = {out("out", Row::f32)}},
      [](KernelScope& k) { k.write("out", select(k.i32("n") == 1, k.f32("b"), Expr(0.0f))); });
  Tensor a = scalars({2}, true), n = integers({0}, Shape{1}), b = scalars({3}, true), y = scalars({0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(count, {a}, {n}, 1);
    launch(choose, {n, b}, {y}, 1);
  }
  check_error(ErrorKind::unsupported_feature,
              "Tape: the loss depends on differentiable values through the integers of a tensor, written at "
              "launch 0 (count) and read at "
              "launch 1 (choose), which have no derivative; keep that path in float32.",
              [&] { tape.backward(y); });
  CHECK(tape.report().cuts == std::vector<std::string>{"a tensor, written at launch 0 (count)"});

  // through slices of one integer array, and cut on purpose
  Tensor counts = integers({0, 0}, Shape{2});
  for (const bool on_purpose : {false, true}) {
    a.zero_grad(), b.zero_grad();
    Tape second;
    {
      TapeScope scope(second);
      launch(count, {on_purpose ? a.detach() : a}, {counts.slice_rows(1, 2)}, 1);
      launch(choose, {counts.slice_rows(1, 2), b}, {y}, 1);
    }
    if (!on_purpose) {
      CHECK(error_of([&] { second.backward(y); }).kind() == ErrorKind::unsupported_feature);
      continue;
    }
    second.backward(y);
    CHECK_FALSE(a.grad().has_value());
    CHECK(gradient(b) == std::vector<float>{1});
  }
}

TEST_CASE("the point loss is the squared distance and its gradient twice the difference") {
  Tensor q = tensor({0, 0, 0, 1, 2, 4}, Shape{2, 3}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    loss = particle_point_loss_generated(q, 1, 0.0f, 0.0f, 1.0f);
  }
  CHECK(loss.item() == 14);
  tape.backward(loss);
  CHECK(gradient(q) == std::vector<float>{0, 0, 0, 2, 4, 6});
  check_error(ErrorKind::index, "particle_point_loss_generated: particle_index is 2, particle_q has 2 rows",
              [&] { (void)particle_point_loss_generated(q, 2, 0, 0, 0); });
  check_error(ErrorKind::shape_mismatch,
              "particle_point_loss_generated: particle_q has shape (2, 2), (n, 3) is wanted", [&] {
                (void)particle_point_loss_generated(tensor({1, 2, 3, 4}, Shape{2, 2}), 0, 0, 0, 0);
              });
}

}  // namespace nova::test
