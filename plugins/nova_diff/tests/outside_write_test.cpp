// SPDX-License-Identifier: Apache-2.0
// Writes that no launch made: beside the tape, through writable views, through other tensors over the same
// memory.
#include "test_kernels.hpp"

namespace nova::test {

TEST_CASE("a write that the tape cannot see, between a recorded write and a recorded read, is refused") {
  Tensor x = scalars({1}, true), y = scalars({0}), loss;
  y.array().named("particle_f", "state", 4);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    y.array().zero();
    loss = sum(y);
  }
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_f' of state #4 was written outside of the recording between launch 0 (twice), "
              "which wrote it, and "
              "launch 1 (sum), which read it; the tape cannot see that write. Write with "
              "novaphy.diff.assign, or into another array.",
              [&] { tape.backward(loss); });
}

TEST_CASE("a change through a writable view is found although no version saw it") {
  Tensor x = scalars({3}, true), y = scalars({0});
  x.array().named("particle_qd", "state", 0);
  x.storage()->mark_escaped();
  float* const held = static_cast<float*>(x.storage()->data_without_version());
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  tape.backward(y);
  CHECK(gradient(x) == std::vector<float>{6});
  *held = 5;
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_qd' of state #0 was changed through a writable view after launch 0 (square) "
              "had read it; "
              "its old values are gone. Leave it unchanged until backward, or record again.",
              [&] { tape.backward(y); });
}

TEST_CASE("a writable view that is taken after recording is refused, written or not") {
  Tensor x = scalars({3}, true), y = scalars({0});
  x.array().named("particle_qd", "state", 0);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x}, {y}, 1);
  }
  x.storage()->mark_escaped();
  check_error(ErrorKind::stale_record,
              "Tape: a writable view of 'particle_qd' of state #0 was taken after launch 0 (square) had read "
              "it, so its old values cannot "
              "be trusted. Take the view before recording, or after backward.",
              [&] { tape.backward(y); });
}

TEST_CASE("a change through a writable view between a recorded write and a recorded read is refused") {
  Tensor x = scalars({1}, true), y = scalars({0}), loss;
  y.array().named("particle_q", "state", 4);
  y.storage()->mark_escaped();
  float* const held = static_cast<float*>(y.storage()->data_without_version());
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    loss = sum(y);
  }
  tape.backward(loss);  // nobody wrote
  CHECK(gradient(x) == std::vector<float>{2});
  tape.reset();
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    *held = 7;
    loss = sum(y);
  }
  check_error(ErrorKind::stale_record,
              "Tape: 'particle_q' of state #4 was written outside of the recording between launch 0 (twice), "
              "which wrote it, and launch 1 (sum), which read it; the tape cannot see that write. Write with "
              "novaphy.diff.assign, or into another array.",
              [&] { tape.backward(loss); });
}

TEST_CASE("a writable view that is taken between a recorded write and a recorded read is refused") {
  Tensor x = scalars({1}, true), y = scalars({0}), loss;
  y.array().named("particle_q", "state", 4);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    y.storage()->mark_escaped();
    loss = sum(y);
  }
  check_error(
      ErrorKind::stale_record,
      "Tape: a writable view of 'particle_q' of state #4 was taken between launch 0 (twice), which "
      "wrote it, and launch 1 (sum), which read it, so what was read cannot be trusted. Take the view "
      "before recording, or after backward.",
      [&] { tape.backward(loss); });
}

TEST_CASE("a value that changes through a writable view and back again is refused") {
  Tensor x = scalars({1}, true), factor = scalars({3}), a, b, loss;
  factor.storage()->mark_escaped();
  float* const held = static_cast<float*>(factor.storage()->data_without_version());
  Tape tape;
  {
    TapeScope scope(tape);
    a = mul(x, factor);
    *held = 7;
    b = mul(x, factor);
    *held = 3;
    loss = add(a, b);
  }
  check_error(ErrorKind::stale_record,
              "Tape: a tensor was changed through a writable view after launch 1 (mul) had read it; its old "
              "values are gone. Leave it unchanged until backward, or record again.",
              [&] { tape.backward(loss); });
}

TEST_CASE("two tensors over the same memory are refused where one of them is written or wanted") {
  alignas(64) float memory[2] = {1, 2};
  const auto over = [&](std::size_t first, std::size_t count) {
    return Tensor(
        DeviceArray(novaphy::Storage::wrap(memory + first, count * sizeof(float), {}, nullptr, true),
                    DType::f32, Shape{static_cast<std::int64_t>(count)}));
  };
  Tensor x = scalars({5}, true), both = over(0, 2), second = over(1, 1), first = over(0, 1), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    second.assign(x);
    loss = sum(both);
  }
  CHECK(loss.item() == 6);
  check_error(ErrorKind::value,
              "Tape: a tensor and a tensor lie over the same memory, so the tape cannot tell what a launch "
              "reads through one of them after a write through the other. Use one tensor for that memory.",
              [&] { tape.backward(loss); });
  tape.reset();
  {
    TapeScope scope(tape);
    loss = sum(mul(mul(x, first), second));
  }
  tape.backward(loss);  // side by side
  CHECK(gradient(x) == std::vector<float>{5});
  tape.reset();
  x.zero_grad();
  {
    TapeScope scope(tape);
    loss = add(sum(mul(x, first)), sum(both));
  }
  tape.backward(loss);  // constants
  CHECK(gradient(x) == std::vector<float>{1});
}

TEST_CASE("an outside write that is accepted ends the gradient of what was there, and is a new value") {
  Tensor x = scalars({3}, true), y = scalars({0}), first, loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(twice(), {x}, {y}, 1);
    first = sum(y);
    y.array().zero();
    accept_outside_write(y.array());
    accept_outside_write(y.array());  // nothing new
    CHECK(tape.record_count() == 3);
    loss = add(first, sum(y));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2});
  accept_outside_write(y.array());  // no open tape: nothing
}

}  // namespace nova::test
