// SPDX-License-Identifier: Apache-2.0
// Tangents along recordings and products with Hessians.
#include "novaphy/nova/derivatives.hpp"

#include <array>
#include <cmath>
#include <random>

#include "novaphy/nova/custom.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

/// Springs between points: gathers, a scatter, a root, a loop over a domain, a sum.
const Kernel& springs() {
  static const Kernel kernel =
      make_indexed_expr_kernel_typed_access_n({.name = "springs",
                                               .in = {in("x", Row::vec3).gather("ij", 2), in("ke", Row::f32)},
                                               .out = {out("f", Row::vec3).scatter_add("ij", 2)},
                                               .index = {index("ij", Row::ivec2)}},
                                              [](KernelScope& k) {
                                                const auto x = k.vec3s<2>("x");
                                                const Vec3E d = x[1] - x[0];
                                                const Expr l = novaphy::length(d);
                                                const Vec3E f = d * (k.f32("ke") * (l - 0.5f) / l);
                                                k.write("f", std::array<Vec3E, 2>{f, -f});
                                              });
  return kernel;
}
const Kernel& attract() {
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "attract",
       .in = {in("x", Row::vec3), in("c", Row::vec3).domain()},
       .out = {out("f", Row::vec3).add()}},
      domain("centre"),
      [](KernelScope&) {
        return Vec3E{0.0f, 0.0f, 0.0f};
      },
      [](KernelScope& k, Acc<Vec3E>& sum) {
        const Vec3E d = k.vec3("c") - k.vec3("x");
        sum.add_if(d.x > -0.7f, d * exp(-novaphy::dot(d, d)));
      });
  return kernel;
}
const Kernel& step() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "step", .in = {in("x", Row::vec3), in("f", Row::vec3)}, .out = {out("x1", Row::vec3)}},
      [](KernelScope& k) { k.write("x1", k.vec3("x") + k.vec3("f") * Expr(0.1f)); });
  return kernel;
}
const Kernel& energy() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "energy", .in = {in("x", Row::vec3)}, .out = {out("e", Row::f32).sum()}}, [](KernelScope& k) {
        const Vec3E x = k.vec3("x");
        k.write("e", novaphy::dot(x, x) * (sin(x.x) + 2.0f));
      });
  return kernel;
}

constexpr std::int64_t kPoints = 5;

/// Two steps of five points; the force of each is cleared, scattered to and added to.
struct Scene {
  Tensor x, ke, c, loss = scalars({0}), last;
  Tensor ij = integers({0, 1, 1, 2, 2, 3, 3, 4}, Shape{4, 2});
  Tape tape;

  Scene(const std::vector<float>& points, const std::vector<float>& stiffness,
        const std::vector<float>& centres)
      : x(tensor(points, Shape{kPoints, 3}, true)),
        ke(scalars(stiffness, true)),
        c(tensor(centres, Shape{2, 3}, true)) {
    const TapeScope scope(tape);
    Tensor now = x;
    for (int i = 0; i < 2; ++i) {
      Tensor f(Shape{kPoints, 3}), next(Shape{kPoints, 3});
      f.zero();
      launch(springs(), {now, ke, ij}, {f}, 4);
      launch(attract(), {now, c}, {f}, kPoints, 2);
      launch(step(), {now, f}, {next}, kPoints);
      now = next;
    }
    last = now;
    launch(energy(), {now}, {loss}, kPoints);
  }
};

struct Point {
  std::vector<float> x, ke, c;
  std::array<std::vector<float>*, 3> parts() { return {&x, &ke, &c}; }
};
Point random_point(std::mt19937& rng, float low, float high) {
  std::uniform_real_distribution<float> any(low, high);
  Point out{std::vector<float>(15), std::vector<float>(4), std::vector<float>(6)};
  for (auto* part : out.parts())
    for (float& v : *part) v = any(rng);
  return out;
}
Point moved(Point at, Point along, float step) {
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < at.parts()[i]->size(); ++j)
      (*at.parts()[i])[j] += step * (*along.parts()[i])[j];
  return at;
}
std::array<Tensor, 3> tensors(const Point& p) {
  return {tensor(p.x, Shape{kPoints, 3}), scalars(p.ke), tensor(p.c, Shape{2, 3})};
}
double dot(const std::array<Tensor, 3>& a, const std::array<Tensor, 3>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < values(a[i]).size(); ++j)
      sum += static_cast<double>(values(a[i])[j]) * static_cast<double>(values(b[i])[j]);
  return sum;
}
std::array<Tensor, 3> hessian_times(Scene& scene, const std::array<Tensor, 3>& direction) {
  const std::array<Tensor, 3> params{scene.x, scene.ke, scene.c};
  const auto out = hvp(scene.tape, scene.loss, params, direction);
  return {out[0], out[1], out[2]};
}

}  // namespace

TEST_CASE("tangents along a recording are the transpose of its gradient") {
  std::mt19937 rng(3);
  for (int round = 0; round < 20; ++round) {
    const Point at = random_point(rng, -1, 1), along = random_point(rng, -1, 1);
    Scene scene(at.x, at.ke, at.c);
    const std::array<Tensor, 3> inputs{scene.x, scene.ke, scene.c}, direction = tensors(along);
    const auto tangents = jvp(scene.tape, inputs, direction, std::array<Tensor, 2>{scene.loss, scene.last});
    scene.tape.backward(scene.loss);
    const double backward = dot({*scene.x.grad(), *scene.ke.grad(), *scene.c.grad()}, direction);
    CHECK(static_cast<double>(tangents[0].item()) == doctest::Approx(backward).epsilon(1e-4));
    CHECK(tangents[1].shape() == Shape{kPoints, 3});
  }
}

TEST_CASE(
    "products with the Hessian agree with differences of gradients, are symmetric, and leave gradients "
    "alone") {
  std::mt19937 rng(4);
  for (int round = 0; round < 20; ++round) {
    const Point at = random_point(rng, -1, 1), u = random_point(rng, -1, 1), v = random_point(rng, -1, 1);
    Scene scene(at.x, at.ke, at.c);
    const auto hu = hessian_times(scene, tensors(u)), hv = hessian_times(scene, tensors(v));
    CHECK(!scene.x.grad().has_value());
    const double scale = std::sqrt(dot(hu, hu) * dot(tensors(v), tensors(v)));
    CHECK(std::fabs(dot(hu, tensors(v)) - dot(hv, tensors(u))) <= 1e-4 * scale + 1e-4);
    const float step = 2e-3f;
    std::array<double, 2> slope{};
    for (const int side : {0, 1}) {
      const Point there = moved(at, u, side == 0 ? step : -step);
      Scene other(there.x, there.ke, there.c);
      other.tape.backward(other.loss);
      slope[static_cast<std::size_t>(side)] =
          dot({*other.x.grad(), *other.ke.grad(), *other.c.grad()}, tensors(v));
    }
    const double wanted = (slope[0] - slope[1]) / (2.0 * static_cast<double>(step));
    CHECK(std::fabs(dot(hu, tensors(v)) - wanted) <= 2e-2 * scale + 1e-2);
    scene.tape.backward(scene.loss);
    CHECK(scene.x.grad().has_value());
  }
}

TEST_CASE("the Hessian of a singular point is finite") {
  const Kernel length = make_indexed_expr_kernel_typed_access_n(
      {.name = "length", .in = {in("x", Row::vec3)}, .out = {out("l", Row::f32)}},
      [](KernelScope& k) { k.write("l", novaphy::length(k.vec3("x"))); });
  Tensor x = tensor({0, 0, 0}, Shape{1, 3}, true), l = scalars({0});
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(length, {x}, {l}, 1);
  }
  const auto h =
      hvp(tape, l, std::array<Tensor, 1>{x}, std::array<Tensor, 1>{tensor({1, 2, 3}, Shape{1, 3})});
  for (const float value : values(h[0])) CHECK(std::isfinite(value));
}

namespace {

/// y = a^2, without derivatives of its own in forward mode.
class PairSquares final : public CustomOperation {
 public:
  const char* name() const noexcept override { return "squares"; }
  void forward(const Forward& f) const override {
    const auto* const a = static_cast<const float*>(f.inputs[0]);
    for (int i = 0; i < 2; ++i) static_cast<float*>(f.outputs[0])[i] = a[i] * a[i];
  }
  void backward(const Backward& b) const override {
    const auto* const a = static_cast<const float*>(b.inputs[0]);
    for (int i = 0; i < 2; ++i) b.input_cotangents[0][i] += 2 * a[i] * b.output_cotangents[0][i];
  }
};

/// The same with them.
class PairSquaresWithTangents final : public CustomOperation {
 public:
  const char* name() const noexcept override { return "squares"; }
  void forward(const Forward& f) const override { PairSquares().forward(f); }
  void backward(const Backward& b) const override { PairSquares().backward(b); }
  void tangent(const Tangent& t) const override {
    const auto* const a = static_cast<const float*>(t.inputs[0]);
    for (int i = 0; i < 2; ++i) t.output_tangents[0][i] = 2 * a[i] * t.input_tangents[0][i];
  }
  void backward_tangent(const BackwardTangent& b) const override {
    const auto* const a = static_cast<const float*>(b.inputs[0]);
    for (int i = 0; i < 2; ++i) {
      if (b.input_tangents[0])
        b.input_cotangent_tangents[0][i] += 2 * b.input_tangents[0][i] * b.output_cotangents[0][i];
      if (b.output_cotangent_tangents[0])
        b.input_cotangent_tangents[0][i] += 2 * a[i] * b.output_cotangent_tangents[0][i];
    }
  }
};

template <class Operation>
struct CustomScene {
  Tensor a = scalars({1, 2}, true), y = scalars({0, 0}), z = scalars({0, 0}), loss;
  Tape tape;
  CustomScene() {
    const TapeScope scope(tape);
    apply(std::make_shared<Operation>(), {a}, {y});
    launch(square(), {y}, {z}, 2);
    loss = sum(z);  // sum of a^4
  }
};

}  // namespace

TEST_CASE("custom operations take part in forward mode and Hessians, or are refused by name") {
  CustomScene<PairSquaresWithTangents> known;
  const std::array<Tensor, 1> a{known.a}, direction{scalars({1, 10})};
  CHECK(jvp(known.tape, a, direction, std::array<Tensor, 1>{known.loss})[0].item() == 4 + 32 * 10);
  CHECK(values(hvp(known.tape, known.loss, a, direction)[0]) == std::vector<float>{12, 48 * 10});
  CustomScene<PairSquares> unknown;
  const Error error = error_of([&] {
    jvp(unknown.tape, std::array<Tensor, 1>{unknown.a}, direction, std::array<Tensor, 1>{unknown.loss});
  });
  CHECK(error.kind() == ErrorKind::unsupported_feature);
  CHECK(std::string(error.what()).find("squares") != std::string::npos);
}

TEST_CASE(
    "Hessians through values that a tape saved before they were overwritten, and through slices, are right") {
  Tensor x = scalars({1, 2, 3}, true), y = scalars({0, 0, 0}), loss;
  Tape tape(OnOverwrite::save);
  {
    const TapeScope scope(tape);
    launch(square(), {x}, {y}, 3);
    launch(square(), {y}, {y}, 3);
    loss = sum(Tensor(y.array().slice_rows(1, 3)));  // x^4 of the last two
  }
  const std::array<Tensor, 1> inputs{x}, direction{scalars({1, 10, 1})};
  CHECK(jvp(tape, inputs, direction, std::array<Tensor, 1>{loss})[0].item() == 32 * 10 + 108);
  CHECK(values(hvp(tape, loss, inputs, direction)[0]) == std::vector<float>{0, 48 * 10, 108});
}

TEST_CASE("vjp gives the gradients that backward would store, and stores none") {
  Tensor x = scalars({1, 2, 3}, true), unused = scalars({1}, true), y(Shape{3});
  Tape tape;
  {
    const TapeScope scope(tape);
    launch(square(), {x}, {y}, 3);
  }
  const auto g = vjp(tape, y, scalars({1, 0, -1}), std::array<Tensor, 2>{x, unused});
  CHECK(values(g[0]) == std::vector<float>{2, 0, -6});
  CHECK(values(g[1]) == std::vector<float>{0});
  CHECK(!x.grad().has_value());
  check_error(ErrorKind::value,
              "nova.vjp: input 0 does not require gradient; set requires_grad before the recording", [&] {
                vjp(tape, y, scalars({1, 0, -1}), std::array<Tensor, 1>{scalars({1})});
              });
}

TEST_CASE("forward mode says what is wrong with what it is given") {
  Tensor x = scalars({1, 2}, true), y = scalars({0, 0});
  Tape tape;
  tape.open();
  launch(twice(), {x}, {y}, 2);
  const auto tangents = [&](const Tensor& input, const Tensor& direction, const Tensor& output) {
    return jvp(tape, std::array<Tensor, 1>{input}, std::array<Tensor, 1>{direction},
               std::array<Tensor, 1>{output});
  };
  check_error(ErrorKind::gradient_not_ready,
              "nova.jvp: the recording is still open; differentiate after the 'with' block", [&] {
                tangents(x, scalars({1, 1}), y);
              });
  tape.close();
  CHECK(values(tangents(x, scalars({1, 3}), y)[0]) == std::vector<float>{2, 6});
  check_error(ErrorKind::shape_mismatch, "nova.jvp: input 0 has shape (2), its direction (3)", [&] {
    tangents(x, scalars({1, 1, 1}), y);
  });
  check_error(ErrorKind::type, "nova.jvp: direction 0 is int32, float32 is wanted", [&] {
    tangents(x, integers({1, 1}, Shape{2}), y);
  });
  check_error(ErrorKind::value, "nova.jvp: 1 inputs and 0 directions were given; give one for each",
              [&] { jvp(tape, std::array<Tensor, 1>{x}, {}, std::array<Tensor, 1>{y}); });
  check_error(ErrorKind::value,
              "nova.jvp: input 0, a tensor, is not on the tape; no recorded launch reads it", [&] {
                tangents(scalars({1, 2}), scalars({1, 1}), y);
              });
  check_error(ErrorKind::value,
              "nova.jvp: an output, a tensor, is not on the tape; compute it inside the recording", [&] {
                tangents(x, scalars({1, 1}), scalars({1}));
              });
  check_error(ErrorKind::value, "nova.jvp: input 0, a tensor, is written by the recording before it is read",
              [&] {
                tangents(y, scalars({1, 1}), y);
              });
  check_error(ErrorKind::value, "nova.hvp: the loss has shape (2), one number is wanted", [&] {
    hvp(tape, y, std::array<Tensor, 1>{x}, std::array<Tensor, 1>{scalars({1, 1})});
  });
  x.array().write<float>()[0] = 3;
  const Error stale = error_of([&] {
    Tape again;
    {
      const TapeScope scope(again);
      launch(square(), {x}, {y}, 2);
    }
    x.array().write<float>()[0] = 4;
    jvp(again, std::array<Tensor, 1>{x}, std::array<Tensor, 1>{scalars({1, 1})}, std::array<Tensor, 1>{y});
  });
  CHECK(stale.kind() == ErrorKind::stale_record);
}

TEST_CASE("a slice that a recording meets before its whole moves as a part of the whole") {
  Tensor x = scalars({1, 2, 3, 4}, true), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    const Tensor part = x.slice_rows(2, 4);
    loss = add(sum(mul(part, part)), sum(x));
  }
  const Tensor along = scalars({1, 1, 1, 2});
  CHECK(jvp(tape, std::vector{x}, std::vector{along}, std::vector{loss})[0].item() == 6 + 16 + 5);
  CHECK(values(hvp(tape, loss, std::vector{x}, std::vector{along})[0]) == std::vector<float>{0, 0, 2, 4});
}

}  // namespace nova::test
