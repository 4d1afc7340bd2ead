// SPDX-License-Identifier: Apache-2.0
// Graphs: replays give the bits of the calls made one by one, and what cannot be captured is refused at its
// line.
#include "novaphy/nova/capture.hpp"

#include <cstring>
#include <functional>

#include "novaphy/nova/custom.hpp"
#include "novaphy/nova/losses.hpp"
#include "novaphy/nova/optim.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.size() == b.size() &&
         std::memcmp(a.storage()->data(), b.storage()->data(), a.array().bytes()) == 0;
}

/// A chain of kernels with gathers, scatters and sums over two parameters.
struct Chain {
  Tensor x = scalars({0.3f, -1.2f, 2.5f, 0.7f}, true), w = scalars({1.5f, -0.25f, 0.1f, 0.9f}, true);
  Tensor index = integers({0, 2, 2, 1, 3, 0}, Shape{6});

  Tensor loss() const {
    static const Kernel gather_scatter = make_indexed_expr_kernel_typed_access_n(
        {.name = "gather_scatter",
         .in = {in("a", Row::f32).gather("i"), in("scale", Row::f32).value()},
         .out = {out("sum", Row::f32).scatter_add("i")},
         .index = {nova::index("i")}},
        [](KernelScope& k) { k.write("sum", k.f32("a") * k.f32("a") * k.f32("scale")); });
    const Tensor product = mul(x, w), scattered(Shape{4});
    launch(gather_scatter, {product, 0.125f, index}, {scattered}, 6);
    return sum(mul(sub(scattered, x), sub(scattered, x)));
  }
};

/// A loss, recorded and differentiated on a tape of its own.
Tensor differentiated(const std::function<Tensor()>& loss_of) {
  Tape tape;
  Tensor loss;
  {
    const TapeScope scope(tape);
    loss = loss_of();
  }
  tape.backward(loss);
  return loss;
}

void differentiate_square(const Tensor& x) {
  differentiated([&] { return sum(mul(x, x)); });
}

using Step = std::function<Tensor(Chain&, optim::Optimizer&)>;

Tensor train_once(Chain& chain, optim::Optimizer& optimizer) {
  optimizer.zero_grad();
  Tensor loss = differentiated([&] { return chain.loss(); });
  optimizer.step();
  return loss;
}

template <class Optimizer>
void check_training(const std::function<Optimizer(Chain&)>& make) {
  Chain eager, captured;
  Optimizer of_eager = make(eager), of_captured = make(captured);
  Tensor loss_of_graph;
  ScopedCapture capture;
  loss_of_graph = train_once(captured, of_captured);
  const Graph graph = capture.finish();
  CHECK(same_bits(captured.x, eager.x));  // nothing ran
  CHECK_FALSE(captured.x.grad().has_value());
  for (int i = 0; i < 50; ++i) {
    if (i == 30) of_eager.set_learning_rate(0.003f), of_captured.set_learning_rate(0.003f);
    const Tensor loss = train_once(eager, of_eager);
    graph.launch();
    CAPTURE(i);
    REQUIRE(same_bits(loss, loss_of_graph));
    REQUIRE(same_bits(eager.x, captured.x));
    REQUIRE(same_bits(eager.w, captured.w));
    REQUIRE(same_bits(*eager.w.grad(), *captured.w.grad()));
  }
  CHECK(eager.x.array().read<float>()[0] != 0.3f);
}

Graph captured(const std::function<void()>& what) {
  ScopedCapture capture;
  what();
  return capture.finish();
}

}  // namespace

TEST_CASE("a captured training step equals an uncaptured one bit for bit over 50 iterations") {
  check_training<optim::SGD>([](Chain& c) { return optim::SGD({c.x, c.w}, 0.01f); });
  check_training<optim::SGD>([](Chain& c) {
    return optim::SGD({c.x, c.w}, 0.01f, 0.9f, {.low = -1, .high = 2});
  });
  check_training<optim::Adam>([](Chain& c) { return optim::Adam({c.x, c.w}, 0.05f); });
}

TEST_CASE("new start values in the same arrays give exactly what an uncaptured run gives with them") {
  Chain chain, other;
  Tensor loss;
  const Graph graph = captured([&] { loss = differentiated([&] { return chain.loss(); }); });
  const std::vector<float> start{4, 3, -2, 0.125f};
  chain.x.array().assign_bytes(start.data(), 16), other.x.array().assign_bytes(start.data(), 16);
  graph.launch();
  const Tensor want = differentiated([&] { return other.loss(); });
  CHECK(same_bits(loss, want));
  CHECK(same_bits(*chain.x.grad(), *other.x.grad()));
}

TEST_CASE("replays without clearing add up gradients, as backward does") {
  Tensor x = scalars({3}, true);
  const Graph graph = captured([&] { differentiate_square(x); });
  graph.launch(), graph.launch(), graph.launch();
  CHECK(gradient(x) == std::vector<float>{18});
  const Tensor held = *x.grad();
  x.zero_grad();
  CHECK_FALSE(x.grad().has_value());
  graph.launch();
  CHECK(gradient(x) == std::vector<float>{6});
  CHECK(x.grad()->storage() == held.storage());  // the buffer that the graph knows
  differentiate_square(x);
  graph.launch();
  CHECK(gradient(x) == std::vector<float>{18});
}

TEST_CASE("a graph whose array was replaced refuses") {
  Tensor x = scalars({3}), y = scalars({0});
  x.array().named("particle_q", "state", 0);
  const Graph graph = captured([&] { launch(square(), {x}, {y}, 1); });
  graph.launch();
  CHECK(values(y) == std::vector<float>{9});
  x = scalars({4});
  check_error(
      ErrorKind::capture,
      "graph.launch: 'particle_q' of state #0 is held by nobody but the graph any more, so it was replaced "
      "and "
      "a launch would work on the old array; keep what was captured and write new values into it, or capture "
      "again",
      [&] { graph.launch(); });
}

TEST_CASE("numbers are frozen and listed; a tensor of one row may change between replays") {
  Tensor x = scalars({3}, true), rate = scalars({0.5f});
  differentiate_square(x);
  const Graph frozen = captured([&] { sgd_update_f32(x, 0.5f); });
  const Graph live = captured([&] { sgd_update_f32(x, rate); });
  REQUIRE(frozen.numbers().size() == 1);
  CHECK(frozen.numbers()[0].operation == "sgd_update_f32");
  CHECK(frozen.numbers()[0].name == "learning_rate");
  CHECK(frozen.numbers()[0].value == 0.5);
  CHECK(live.numbers().empty());
  frozen.launch();
  CHECK(values(x) == std::vector<float>{0});
  rate.fill(2.0f);
  live.launch();
  CHECK(values(x) == std::vector<float>{-12});
}

TEST_CASE("a gradient that was cleared since the capture is not read") {
  Tensor x = scalars({3}, true);
  differentiate_square(x);
  const Graph graph = captured([&] { sgd_update_f32(x, 0.5f); });
  x.zero_grad();
  check_error(
      ErrorKind::capture,
      "graph.launch: the graph reads the gradient of a tensor, which was there when it was captured and has "
      "been cleared since; launch after a backward, or capture the backward too",
      [&] { graph.launch(); });
  CHECK(values(x) == std::vector<float>{3});
}

TEST_CASE("an index array that changed between replays is looked at again") {
  Chain chain;
  Tensor loss;
  const Graph graph = captured([&] { loss = chain.loss(); });
  graph.launch();
  chain.index.array().write<std::int32_t>()[4] = 7;
  CHECK(std::string(error_of([&] { graph.launch(); }).what()) ==
        "gather_scatter: index 'i' row 4, column 0 is 7, 'a' has 4 rows");
}

TEST_CASE("a graph launched while a tape records is recorded: the gradient is 6, not 0") {
  Tensor x = scalars({3}, true), y = scalars({0}), loss;
  const Graph graph = captured([&] { launch(square(), {x}, {y}, 1); });
  Tape tape;
  {
    TapeScope scope(tape);
    graph.launch();
    loss = sum(y);
  }
  tape.backward(loss);
  CHECK(tape.record_count() == 2);
  CHECK(gradient(x) == std::vector<float>{6});

  Chain chain;
  Tensor loss_of_graph, again;
  const Graph larger = captured([&] { loss_of_graph = chain.loss(); });
  Tape recorded, one_by_one;
  {
    TapeScope scope(recorded);
    larger.launch();
  }
  recorded.backward(loss_of_graph);
  const std::vector<float> got = gradient(chain.x);
  chain.x.zero_grad();
  {
    TapeScope scope(one_by_one);
    again = chain.loss();
  }
  one_by_one.backward(again);
  CHECK(got == gradient(chain.x));
}

TEST_CASE("a graph with a backward is refused while a tape records") {
  Tensor x = scalars({3}, true);
  const Graph graph = captured([&] {
    Tape inner;
    Tensor loss;
    {
      TapeScope scope(inner);
      loss = sum(mul(x, x));
    }
    inner.backward(loss);
  });
  Tape tape;
  TapeScope scope(tape);
  const std::string text = error_of([&] { graph.launch(); }).what();
  CHECK(text.starts_with(
      "graph.launch: a tape records on this thread, and the graph holds an operation without a "
      "derivative ("));
  const NoGrad no_grad;
  graph.launch();
}

TEST_CASE("a graph owns what its operations allocated, and begins it with zeros") {
  Chain chain;
  Tensor loss;
  const Graph graph = captured([&] { loss = chain.loss(); });
  CHECK(graph.memory_bytes() > 0);
  // mul; scattered starts from zeros: clear and scatter; sub twice, mul, sum
  CHECK(graph.op_count() == 7);
  graph.launch();
  const std::vector<float> first = values(loss);
  graph.launch();
  CHECK(values(loss) == first);
  CHECK(first == values(chain.loss()));
}

TEST_CASE("a custom operation is captured, forward and backward") {
  class Triple final : public CustomOperation {
    const char* name() const noexcept override { return "triple"; }
    void forward(const Forward& f) const override {
      static_cast<float*>(f.outputs[0])[0] = 3.0f * static_cast<const float*>(f.inputs[0])[0];
    }
    void backward(const Backward& b) const override {
      if (b.input_cotangents[0] != nullptr) b.input_cotangents[0][0] += 3.0f * b.output_cotangents[0][0];
    }
  };
  Tensor x = scalars({2}, true), y = scalars({0}), loss;
  const auto step = [&] {
    Tape tape;
    {
      TapeScope scope(tape);
      apply(std::make_shared<Triple>(), {CustomInput(x)}, {CustomOutput(y)});
      loss = sum(mul(y, y));
    }
    tape.backward(loss);
  };
  const Graph graph = captured(step);
  CHECK(values(y) == std::vector<float>{0});
  graph.launch();
  CHECK(values(loss) == std::vector<float>{36});
  CHECK(gradient(x) == std::vector<float>{36});
  x.fill(1), x.zero_grad();
  graph.launch();
  CHECK(gradient(x) == std::vector<float>{18});
}

TEST_CASE("slices are captured, of arrays from before and of those that the graph owns") {
  Tensor x = scalars({1, 2, 3, 4}, true), loss;
  const auto step = [&] {
    Tape tape;
    {
      TapeScope scope(tape);
      const Tensor parts(Shape{4});
      launch(square(), {x.array().slice_rows(0, 2)}, {parts.array().slice_rows(2, 4)}, 2);
      launch(twice(), {x.array().slice_rows(1, 3)}, {parts.array().slice_rows(0, 2)}, 2);
      const Tensor shifted =
          mul(Tensor(parts.array().slice_rows(0, 3)), Tensor(parts.array().slice_rows(1, 4)));
      loss = sum(mul(shifted, shifted));
    }
    tape.backward(loss);
  };
  const Graph graph = captured(step);
  graph.launch(), graph.launch();
  const std::vector<float> got = values(loss), twice_the_gradient = gradient(x);
  CHECK(twice_the_gradient.size() == 4);
  x.zero_grad();
  step(), step();
  CHECK(got == values(loss));
  CHECK(twice_the_gradient == gradient(x));
  graph.launch();
  const DeviceArray held = x.array().slice_rows(0, 1);
  x = scalars({0});
  graph.launch();  // a slice of the array is still held
}

TEST_CASE("a slice of a gradient is read where the graph keeps it") {
  Tensor x = scalars({1, 2, 3, 4}, true), y = scalars({0, 0});
  const Graph graph = captured([&] {
    differentiate_square(x);
    launch(twice(), {*grad_of(x.array().slice_rows(2, 4))}, {y}, 2);
    x.zero_grad();
  });
  graph.launch(), graph.launch();
  CHECK(values(y) == std::vector<float>{12, 16});
  CHECK_FALSE(x.grad().has_value());
}

TEST_CASE("what acts at once is refused at its line inside a capture") {
  const char* const kAtOnce =
      ": this thread captures a graph, which runs nothing before its launch, and this acts at once; do it "
      "before or "
      "after the capture";
  Tensor x = scalars({3}, true), y = scalars({0});
  Tape before;
  Tensor loss;
  {
    TapeScope scope(before);
    loss = sum(mul(x, x));
  }
  ScopedCapture capture;
  CHECK(is_capturing());
  check_error(ErrorKind::capture, std::string("nova.Tensor.item") + kAtOnce, [&] { (void)x.item(); });
  check_error(ErrorKind::capture, std::string("a write from the host into a tensor") + kAtOnce,
              [&] { x.array().zero(); });
  check_error(ErrorKind::capture, std::string("a write from the host into a tensor") + kAtOnce,
              [&] { x.array().write<float>()[0] = 1; });
  check_error(ErrorKind::capture, std::string("a write from the host into a tensor") + kAtOnce,
              [&] { x.array().copy_from(y.array()); });
  check_error(ErrorKind::capture, std::string("DeviceArray.clone of a tensor") + kAtOnce,
              [&] { (void)x.array().clone(); });
  check_error(ErrorKind::capture, "nova.ScopedCapture: this thread captures already; end that capture first",
              [] { const ScopedCapture inner; });
  check_error(
      ErrorKind::capture,
      "Tape.backward: the recording was made before the capture, which could not see its arrays change; "
      "record inside the capture",
      [&] { before.backward(loss); });
  check_error(ErrorKind::capture,
              "nova.Tape: the tape holds launches from before the capture; reset it, or open a new one",
              [&] { before.open(); });
  check_error(
      ErrorKind::capture,
      "nova.Tape: on_overwrite=\"save\" copies values at once, which a capture cannot; use \"error\" inside",
      [] {
        Tape saving(OnOverwrite::save);
        saving.open();
      });
  Tape inside;
  {
    TapeScope scope(inside);
    launch(square(), {x}, {y}, 1);
  }
  const Graph graph = capture.finish();
  CHECK_FALSE(is_capturing());
  check_error(
      ErrorKind::capture,
      "Tape.backward: the recording was captured, so its launches have not run and belong to the graph; call "
      "backward inside the capture",
      [&] { inside.backward(y, scalars({1})); });
  check_error(ErrorKind::capture,
              "graph.launch: nothing was captured; the capture has not ended, or ended with an error",
              [] { Graph().launch(); });
  Tape open;
  const TapeScope scope(open);
  check_error(
      ErrorKind::capture,
      "nova.ScopedCapture: a tape records on this thread; open the capture first and the tape inside it",
      [] { const ScopedCapture late; });
}

TEST_CASE("an abandoned capture leaves gradients as they were") {
  Tensor x = scalars({3}, true);
  differentiate_square(x);
  {
    const ScopedCapture capture;
    x.zero_grad();
    CHECK_FALSE(x.grad().has_value());
  }
  CHECK_FALSE(is_capturing());
  CHECK(gradient(x) == std::vector<float>{6});
}

}  // namespace nova::test
