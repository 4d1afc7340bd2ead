// SPDX-License-Identifier: Apache-2.0
// Slices on the tape: gradients by byte range, and every protection for memory that is seen through several
// views.
#include <vector>

#include "novaphy/nova/custom.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

Tensor row(const Tensor& all, std::int64_t at) {
  return all.slice_rows(at, at + 1);
}

/// to = 2 * from
void double_into(const Tensor& from, const Tensor& to) {
  launch(twice(), {from.reshape(Shape{from.size()})}, {to.reshape(Shape{to.size()})}, from.size());
}

}  // namespace

TEST_CASE("the same rows are one storage as long as somebody holds it") {
  Tensor all = scalars({1, 2, 3, 4});
  const Tensor rows = all.slice_rows(1, 3);
  CHECK(rows.storage() == all.slice_rows(1, 3).storage());
  CHECK(rows.storage() == all.slice_rows(1, 4).slice_rows(0, 2).storage());
  CHECK(all.slice_rows(0, 4).storage() == all.storage());
  CHECK(values(rows) == std::vector<float>{2, 3});
  CHECK(all.slice_rows(2, 2).size() == 0);
  check_error(ErrorKind::index, "rows 3 to 5 of an array of shape (4)", [&] { (void)all.slice_rows(3, 5); });
}

TEST_CASE("a gradient flows through a slice into its rows of the whole") {
  Tensor x = scalars({1, 2, 3, 4}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    const Tensor part = x.slice_rows(1, 3);
    loss = sum(mul(part, part));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{0, 4, 6, 0});
  CHECK(gradient(x.slice_rows(1, 3)) == std::vector<float>{4, 6});
}

TEST_CASE("a ring of states in one tensor, written slice by slice, has exact gradients") {
  constexpr std::int64_t kSteps = 50;
  Tensor ring(Shape{kSteps + 1, 2, 3});
  Tensor start = tensor({1, 2, 3, 4, 5, 6}, Shape{1, 2, 3}, true), loss;
  const Tensor half = tensor(std::vector<float>(6, 0.5f), Shape{1, 2, 3});
  Tape tape;
  {
    TapeScope scope(tape);
    row(ring, 0).assign(start);
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const Tensor shrunk = mul(row(ring, t), half);
      row(ring, t + 1).assign(t < 2 ? mul(shrunk, row(ring, t)) : shrunk);  // x^2 / 2 twice, then x / 2
    }
    loss = sum(add(row(ring, kSteps), row(ring, 1)));
  }
  tape.backward(loss);
  // ring[1] = x^2 / 2 and ring[50] = x^4 / 8 / 2^48
  std::vector<float> wanted;
  for (const float x : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) wanted.push_back(x * x * x / 2 * 0x1p-48f + x);
  CHECK(gradient(start) == wanted);
}

TEST_CASE("a ring whose first slice is set before the recording keeps its gradient there and nowhere else") {
  Tensor ring = scalars({3, 0, 0, 0}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    for (std::int64_t t = 0; t < 3; ++t) double_into(row(ring, t), row(ring, t + 1));
    loss = sum(mul(row(ring, 3), row(ring, 3)));
  }
  tape.backward(loss);
  // d(64 x^2)/dx = 384, and for slices that the recording made, of the value they held
  CHECK(gradient(ring) == std::vector<float>{384, 192, 96, 48});
}

TEST_CASE("the whole that was written in parts is read as one") {
  Tensor x = scalars({1, 2}, true), all(Shape{4}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, all.slice_rows(0, 2));
    launch(thrice(), {x}, {all.slice_rows(2, 4)}, 2);
    loss = sum(mul(all, all));
  }
  tape.backward(loss);
  CHECK(loss.item() == 4 + 16 + 9 + 36);
  CHECK(gradient(x) == std::vector<float>{2 * 4 + 2 * 9, 2 * (8 + 18)});
}

TEST_CASE("the parts of a whole that was written as one are read each for itself") {
  Tensor x = scalars({1, 2, 3}, true), all(Shape{3}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, all);
    loss = mul(row(all, 0), row(all, 2));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{12, 0, 4});
}

TEST_CASE("a set write ends only the gradient of its own rows") {
  Tensor x = scalars({1, 2, 3}, true), z = scalars({10}, true), y(Shape{3}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, y);
    launch(thrice(), {z}, {row(y, 1)}, 1);
    loss = sum(y);
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2, 0, 2});
  CHECK(gradient(z) == std::vector<float>{3});
}

TEST_CASE("an add into a slice passes the gradient of the old content through") {
  static const Kernel add_thrice = make_indexed_expr_kernel_typed_access_n(
      {.name = "add_thrice", .in = {in("a", Row::f32)}, .out = {out("out", Row::f32).add()}},
      [](KernelScope& k) { k.write("out", k.f32("a") * 3.0f); });
  Tensor x = scalars({1, 2, 3}, true), z = scalars({10}, true), y(Shape{3}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, y);
    launch(add_thrice, {z}, {row(y, 1)}, 1);
    loss = sum(y);
  }
  CHECK(loss.item() == 42);
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2, 2, 2});
  CHECK(gradient(z) == std::vector<float>{3});
}

TEST_CASE("a slice that is updated in place carries the gradient of its old and its new value") {
  Tensor y = scalars({1, 2, 3}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    for (int i = 0; i < 3; ++i) double_into(row(y, 1), row(y, 1));
    loss = sum(y);
  }
  tape.backward(loss);
  CHECK(loss.item() == 20);
  CHECK(gradient(y) == std::vector<float>{1, 8, 1});
}

TEST_CASE("inputs that overlap in part have the sum of both gradients") {
  Tensor x = scalars({1, 2, 3, 4}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    loss = sum(mul(x.slice_rows(0, 3), x.slice_rows(1, 4)));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2, 4, 6, 3});
}

TEST_CASE("slices of an array without a flag pass gradient on, and tell nothing inside the recording") {
  Tensor x = scalars({1, 2}, true), buffer(Shape{4}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    buffer.slice_rows(1, 3).assign(x);
    loss = sum(buffer.slice_rows(1, 3));
    CHECK(error_of([&] { (void)x.slice_rows(0, 1).grad(); }).kind() == ErrorKind::gradient_not_ready);
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{1, 1});
  CHECK_FALSE(buffer.grad().has_value());
  x.slice_rows(0, 1).zero_grad();
  CHECK_FALSE(x.grad().has_value());
}

TEST_CASE("a loss may be a slice that no launch wrote as such") {
  Tensor x = scalars({1, 2, 3}, true), y(Shape{3});
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, y);
  }
  tape.backward(row(y, 2));
  CHECK(gradient(x) == std::vector<float>{0, 0, 2});
}

TEST_CASE("a write through another view of the same rows is found") {
  Tensor x = scalars({1, 2, 3, 4}, true), y(Shape{2}), z(Shape{2});
  x.array().named("particle_q", "state", 1);
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x.slice_rows(1, 3)}, {y}, 2);
    launch(twice(), {z}, {x.slice_rows(2, 4)}, 2);
  }
  check_error(
      ErrorKind::stale_record,
      "Tape: 'particle_q' of state #1 was written at launch 1 (twice) after launch 0 (square) had read it; "
      "its old values are gone. Keep one state per substep, or use novaphy.diff.Rollout, or "
      "Tape(on_overwrite=\"save\").",
      [&] {
        tape.backward(y, scalars({1, 1}));
      });
}

TEST_CASE("a write to other rows leaves what was read alone") {
  Tensor x = scalars({1, 2, 3, 4}, true), y(Shape{2}), z(Shape{2});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(square(), {x.slice_rows(0, 2)}, {y}, 2);
    launch(twice(), {z}, {x.slice_rows(2, 4)}, 2);
  }
  x.slice_rows(2, 4).array().zero();
  tape.backward(y, scalars({1, 1}));
  CHECK(gradient(x) == std::vector<float>{2, 4, 0, 0});
}

TEST_CASE("a write beside the tape is found through whole and part") {
  const auto refused = [](auto write, auto read) {
    Tensor x = scalars({1, 2, 3, 4}, true), y(Shape{4}), out;
    Tape tape;
    {
      TapeScope scope(tape);
      double_into(x.slice_rows(0, 2), y.slice_rows(0, 2));
      double_into(x, y);
      write(y);
      out = read(y).clone();
    }
    try {
      tape.backward(out, Tensor(out.shape()));
    } catch (const Error& error) {
      return error.kind() == ErrorKind::stale_record;
    }
    return false;
  };
  const auto whole = [](Tensor& y) { return y; };
  const auto part = [](Tensor& y) { return y.slice_rows(0, 2); };
  const auto other = [](Tensor& y) { return y.slice_rows(2, 4); };
  const auto through = [](auto select) { return [select](Tensor& y) { select(y).array().zero(); }; };
  CHECK(refused(through(whole), whole));
  CHECK(refused(through(whole), part));
  CHECK(refused(through(whole), other));
  CHECK(refused(through(part), whole));
  CHECK(refused(through(part), part));
  CHECK_FALSE(refused(through(other), part));
  CHECK(refused(through(other), other));
}

TEST_CASE("a recorded write to one part does not hide a write beside the tape to another") {
  Tensor x = scalars({1, 2}, true), y(Shape{4}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    double_into(x, y.slice_rows(0, 2));
    y.slice_rows(0, 2).array().zero();
    double_into(x, y.slice_rows(2, 4));
    loss = sum(y);
  }
  CHECK(error_of([&] { tape.backward(loss); }).kind() == ErrorKind::stale_record);
}

TEST_CASE("a value of the recording that was copied into another part beside the tape is refused") {
  for (const bool copied : {false, true}) {
    Tensor x = scalars({1, 2}, true), y = scalars({5, 6, 7, 8}), loss;
    Tape tape;
    {
      TapeScope scope(tape);
      double_into(x, y.slice_rows(0, 2));
      Tensor other = y.slice_rows(2, 4);
      if (copied) other.array().copy_from(y.slice_rows(0, 2).array());
      loss = sum(mul(other, other));
    }
    if (copied)
      CHECK(error_of([&] { tape.backward(loss); }).kind() == ErrorKind::stale_record);
    else
      tape.backward(loss);
  }
}

TEST_CASE("escaped memory that was written in parts is compared by its parts") {
  for (const bool changed : {false, true}) {
    Tensor x = scalars({1, 2}, true), y(Shape{4}), loss;
    y.storage()->mark_escaped();
    float* const held = static_cast<float*>(y.storage()->data_without_version());
    Tape tape;
    {
      TapeScope scope(tape);
      double_into(x, y.slice_rows(0, 2));
      double_into(x, y.slice_rows(2, 4));
      if (changed) held[1] = 7;
      loss = sum(mul(y, y));
    }
    if (changed) {
      CHECK(error_of([&] { tape.backward(loss); }).kind() == ErrorKind::stale_record);
      continue;
    }
    tape.backward(loss);
    CHECK(gradient(x) == std::vector<float>{16, 32});
  }
}

TEST_CASE("a launch that reads rows which it moves is refused") {
  Tensor x = scalars({1, 2, 3, 4});
  check_error(
      ErrorKind::value,
      "twice: output 'out' shares memory with input 'a', which other rows read; write into another array",
      [&] { launch(twice(), {x.slice_rows(0, 3)}, {x.slice_rows(1, 4)}, 3); });
}

TEST_CASE("a custom operation works on slices as a kernel does") {
  class Negate final : public CustomOperation {
    const char* name() const noexcept override { return "negate"; }
    void forward(const Forward& f) const override {
      for (int i = 0; i < 2; ++i)
        static_cast<float*>(f.outputs[0])[i] = -static_cast<const float*>(f.inputs[0])[i];
    }
    void backward(const Backward& b) const override {
      for (int i = 0; i < 2; ++i) b.input_cotangents[0][i] -= b.output_cotangents[0][i];
    }
  };
  Tensor ring = scalars({1, 2, 0, 0}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    apply(std::make_shared<Negate>(), {ring.slice_rows(0, 2)}, {ring.slice_rows(2, 4)});
    loss = sum(ring);
  }
  tape.backward(loss);
  CHECK(gradient(ring) == std::vector<float>{0, 0, 1, 1});
}

TEST_CASE("a reshape is the same memory and carries gradient") {
  Tensor x = tensor({1, 2, 3, 4}, Shape{2, 2}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    const Tensor flat = x.reshape(Shape{4});
    loss = sum(mul(flat, flat));
  }
  tape.backward(loss);
  CHECK(gradient(x) == std::vector<float>{2, 4, 6, 8});
  check_error(ErrorKind::shape_mismatch,
              "nova.Tensor.reshape: a tensor of shape (2, 2) has 4 elements, shape (3) has 3",
              [&] { (void)x.reshape(Shape{3}); });
}

}  // namespace nova::test
