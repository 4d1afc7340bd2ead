// SPDX-License-Identifier: Apache-2.0
// Kernels: reaches, scatters, sums, fixed reductions, their adjoints, threads, and what a launch refuses.
#include <cmath>
#include <cstring>
#include <random>

#include "ball_kernels.hpp"
#include "nova/kernel/execute.hpp"
#include "novaphy/task_pool.hpp"
#include "test_kernels.hpp"

namespace nova::test {

namespace {

std::vector<float> random_values(std::mt19937& rng, std::size_t count, float low = -1.0f, float high = 1.0f) {
  std::uniform_real_distribution<float> any(low, high);
  std::vector<float> out(count);
  for (float& x : out) x = any(rng);
  return out;
}

const Kernel& spring_force() {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "spring_force",
       .in = {in("x", Row::vec3).gather("ij", 2), in("ke", Row::f32), in("rest", Row::f32)},
       .out = {out("f", Row::vec3).scatter_add("ij", 2)},
       .index = {index("ij", Row::ivec2)}},
      [](KernelScope& k) {
        const auto [a, b] = k.vec3s<2>("x");
        const Vec3E d = a - b;
        const Vec3E force = novaphy::normalize(d) * (k.f32("ke") * (novaphy::length(d) - k.f32("rest")));
        k.write("f", std::array{-force, force});
      });
  return kernel;
}

struct Springs {
  explicit Springs(std::int64_t particles, std::size_t count, unsigned seed) {
    std::mt19937 rng(seed);
    x = tensor(random_values(rng, static_cast<std::size_t>(3 * particles)), Shape{particles, 3}, true);
    std::uniform_int_distribution<std::int32_t> any(-1, static_cast<std::int32_t>(particles - 1));
    std::vector<std::int32_t> pairs(2 * count);
    for (auto& i : pairs) i = any(rng);
    ij = integers(pairs, Shape{static_cast<std::int64_t>(count), 2});
    ke = scalars(random_values(rng, count, 1, 10), true),
    rest = scalars(random_values(rng, count, 0.1f, 1), true);
  }
  Tensor forces() const {
    Tensor f(x.shape());
    launch(spring_force(), {x, ke, rest, ij}, {f}, ke.rows());
    return f;
  }
  Tensor x, ij, ke, rest;
};

/// The ball-like step on many particles, all gradients wanted; returns every result and gradient in one list.
std::vector<float> ball_like_run(std::int64_t n, std::int64_t shapes) {
  static const Kernel contact = make_contact_kernel(), integrate = make_integrate_kernel();
  std::mt19937 rng(5);
  const auto rows = static_cast<std::size_t>(n), pairs = static_cast<std::size_t>(n * shapes),
             domain_rows = static_cast<std::size_t>(shapes);
  Tensor x = tensor(random_values(rng, 3 * rows), Shape{n, 3}, true),
         v = tensor(random_values(rng, 3 * rows), Shape{n, 3}, true);
  Tensor f = tensor(random_values(rng, 3 * rows), Shape{n, 3}, true),
         radius = scalars(random_values(rng, rows, 0.1f, 0.6f), true);
  Tensor point = tensor(random_values(rng, 3 * pairs), Shape{n * shapes, 3}, true),
         normal = tensor(random_values(rng, 3 * pairs), Shape{n * shapes, 3}, true);
  std::vector<std::int32_t> record_data(pairs), flag_data(rows);
  std::uniform_int_distribution<std::int32_t> any(-static_cast<std::int32_t>(pairs) / 2,
                                                  static_cast<std::int32_t>(pairs) - 1),
      bit(0, 3);
  for (auto& r : record_data) r = std::max(any(rng), -1);
  for (auto& b : flag_data) b = bit(rng) == 0 ? 0 : 1;
  Tensor record = integers(record_data, Shape{n * shapes}), flags = integers(flag_data, Shape{n});
  std::vector<Tensor> material;
  for (int k = 0; k < 4; ++k) material.push_back(scalars(random_values(rng, domain_rows, 1, 10), true));
  for (int k = 0; k < 4; ++k) material.push_back(scalars(random_values(rng, 1, 1, 10), true));
  Tensor w = scalars(random_values(rng, rows, 0, 1), true),
         gravity = tensor({0, 0, -9.81f}, Shape{1, 3}, true);
  Tensor total(Shape{n, 3}), x2(Shape{n, 3}), v2(Shape{n, 3}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(contact,
           {x, v, f, radius, flags, point, normal, material[0], material[1], material[2], material[3],
            material[4], material[5], material[6], material[7], record},
           {total}, n, shapes);
    launch(integrate, {x, v, total, w, flags, gravity, 2.0f, 0.1f}, {x2, v2}, n);
    loss = sum(add(mul(x2, x2), v2));
  }
  tape.backward(loss);
  std::vector<float> all;
  std::vector<Tensor> leaves{x, v, f, radius, point, normal, w, gravity};
  leaves.insert(leaves.end(), material.begin(), material.end());
  const auto append = [&](const Tensor& t) {
    const std::vector<float> part = values(t);
    all.insert(all.end(), part.begin(), part.end());
  };
  for (const Tensor& t : {total, x2, v2, loss}) append(t);
  for (const Tensor& leaf : leaves) {
    REQUIRE(leaf.grad().has_value());
    append(*leaf.grad());
  }
  return all;
}

}  // namespace

TEST_CASE("a scatter adds in element order, whatever the order of the elements, and skips negative indices") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Springs springs(40, 300, seed);
    const std::vector<float> got = values(springs.forces());
    // the same in plain C++
    const auto x = springs.x.array().read<novaphy::Vec3f>();
    const auto ij = springs.ij.array().read<std::int32_t>();
    const auto ke = springs.ke.array().read<float>(), rest = springs.rest.array().read<float>();
    std::vector<novaphy::Vec3f> f(x.size(), {0, 0, 0});
    for (std::size_t e = 0; e < ke.size(); ++e) {
      const auto at = [&](std::int32_t i) {
        return i < 0 ? novaphy::Vec3f{0, 0, 0} : x[static_cast<std::size_t>(i)];
      };
      const novaphy::Vec3f d = at(ij[2 * e]) - at(ij[2 * e + 1]);
      const novaphy::Vec3f force = novaphy::normalize(d) * (ke[e] * (novaphy::length(d) - rest[e]));
      if (ij[2 * e] >= 0)
        f[static_cast<std::size_t>(ij[2 * e])] = f[static_cast<std::size_t>(ij[2 * e])] + -force;
      if (ij[2 * e + 1] >= 0)
        f[static_cast<std::size_t>(ij[2 * e + 1])] = f[static_cast<std::size_t>(ij[2 * e + 1])] + force;
    }
    CHECK(std::memcmp(got.data(), f.data(), got.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("gradients flow through gathers and scatters") {
  Springs springs(6, 9, 4);
  Tape tape;
  Tensor loss;
  {
    TapeScope scope(tape);
    const Tensor f = springs.forces();
    loss = sum(mul(f, f));
  }
  tape.backward(loss);
  const auto at = [&](Tensor& leaf, std::size_t i, float value) {
    leaf.array().write<float>()[i] = value;
    const Tensor f = springs.forces();
    double total = 0;
    for (const float x : values(f)) total += static_cast<double>(x) * static_cast<double>(x);
    return total;
  };
  for (Tensor* leaf : {&springs.x, &springs.ke, &springs.rest}) {
    const std::vector<float> got = gradient(*leaf), start = values(*leaf);
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double eps = 1e-3,
                   want = (at(*leaf, i, start[i] + 1e-3f) - at(*leaf, i, start[i] - 1e-3f)) / (2 * eps);
      at(*leaf, i, start[i]);
      CHECK(static_cast<double>(got[i]) == doctest::Approx(want).epsilon(2e-2).scale(10));
    }
  }
}

TEST_CASE("a fixed reduction sums in domain order and keeps masked sums to the bit") {
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "masked_sum",
       .in = {in("start", Row::f32), in("a", Row::f32), in("b", Row::f32).domain(),
              in("on", Row::i32).pair()},
       .out = {out("total", Row::f32)}},
      domain("slot"), [](KernelScope& k) { return k.f32("start"); },
      [](KernelScope& k, Acc<Expr>& total) {
        total.sub_if(k.i32("on") != 0, k.f32("a") / k.f32("b"));
        total.add(k.f32("a") * k.f32("b"));
      });
  std::mt19937 rng(11);
  constexpr std::int64_t n = 300, slots = 7;
  Tensor start = scalars(random_values(rng, n), true), a = scalars(random_values(rng, n), true),
         b = scalars(random_values(rng, slots), true);
  std::vector<std::int32_t> on(n * slots);
  for (auto& x : on) x = std::uniform_int_distribution<int>(0, 1)(rng);
  b.array().write<float>()[2] = 0;  // a / b is infinite in slot 2, where no row is on
  for (std::size_t e = 0; e < n; ++e) on[2 * n + e] = 0;
  Tensor total(Shape{n}), loss;
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {start, a, b, integers(on, Shape{n * slots})}, {total}, n, slots);
    loss = sum(total);
  }
  tape.backward(loss);
  const auto va = values(a), vb = values(b), vs = values(start);
  std::vector<double> want_a(n, 0.0), want_b(slots, 0.0);
  for (std::size_t e = 0; e < n; ++e) {
    float acc = vs[e];
    for (std::size_t s = 0; s < slots; ++s) {
      const bool active = on[s * n + e] != 0;
      if (active) acc = acc - va[e] / vb[s];
      acc = acc + va[e] * vb[s];
      want_a[e] += static_cast<double>(vb[s]) - (active ? 1.0 / static_cast<double>(vb[s]) : 0.0);
      want_b[s] += static_cast<double>(va[e]) +
                   (active ? static_cast<double>(va[e]) / static_cast<double>(vb[s] * vb[s]) : 0.0);
    }
    CHECK(values(total)[e] == acc);
  }
  CHECK(gradient(start) == std::vector<float>(n, 1.0f));
  for (std::size_t e = 0; e < n; ++e)
    CHECK(static_cast<double>(gradient(a)[e]) == doctest::Approx(want_a[e]).epsilon(1e-4).scale(10));
  for (std::size_t s = 0; s < slots; ++s)
    CHECK(static_cast<double>(gradient(b)[s]) == doctest::Approx(want_b[s]).epsilon(1e-4).scale(100));
}

TEST_CASE("a reduction with a nonlinear finish is differentiated through its sum") {
  // y = (x0 + sum over s of x0 * c_s)^2 * x0
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "finished",
       .in = {in("x", Row::f32), in("c", Row::f32).domain()},
       .out = {out("y", Row::f32)}},
      domain("slot"), [](KernelScope& k) { return k.f32("x"); },
      [](KernelScope& k, Acc<Expr>& acc) { acc.add(k.f32("x") * k.f32("c")); },
      [](KernelScope& k, Expr total) { k.write("y", total * total * k.f32("x")); });
  Tensor x = scalars({2, -3}, true), c = scalars({1, 2, 3}, true), y = scalars({0, 0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {x, c}, {y}, 2, 3);
  }
  CHECK(values(y) == std::vector<float>{49 * 8, -49 * 27});
  tape.backward(y, scalars({1, 1}));
  CHECK(gradient(x) == std::vector<float>{3 * 49 * 4, 3 * 49 * 9});
  // dy/dc_s = 2 (7 x) x x summed over rows
  CHECK(gradient(c) == std::vector<float>(3, 14.0f * 8 - 14.0f * 27));
}

TEST_CASE("a domain of no rows leaves the start value and its gradient") {
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "empty_domain",
       .in = {in("x", Row::f32), in("c", Row::f32).domain()},
       .out = {out("y", Row::f32)}},
      domain("slot"), [](KernelScope& k) { return k.f32("x"); },
      [](KernelScope& k, Acc<Expr>& acc) { acc.add(k.f32("x") * k.f32("c")); });
  Tensor x = scalars({2, -3}, true), y = scalars({0, 0});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {x, Tensor(Shape{0})}, {y}, 2, 0);
  }
  CHECK(values(y) == std::vector<float>{2, -3});
  tape.backward(y, scalars({1, 1}));
  CHECK(gradient(x) == std::vector<float>{1, 1});
}

TEST_CASE("all row types travel in memory order") {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "types",
       .in = {in("t", Row::transform), in("s", Row::spatial), in("m", Row::mat33), in("q", Row::quat),
              in("a", Row::mat22), in("b", Row::vec2), in("c", Row::vec4), in("i", Row::ivec4),
              in("j", Row::ivec3)},
       .out = {out("point", Row::vec3), out("t2", Row::transform), out("a2", Row::mat22),
               out("i2", Row::ivec4)}},
      [](KernelScope& k) {
        const auto s = k.spatial("s");
        const auto c = k.vec4("c");
        k.write("point", novaphy::transform_point(k.transform("t"), k.mat33("m") * (s.linear + s.angular)) *
                             c.w * k.vec2("b").y);
        k.write("t2", TransformE{k.transform("t").p, k.quat("q")});
        k.write("a2", k.mat22("a"));
        const auto i = k.ivec4("i");
        const auto j = k.ivec3("j");
        k.write("i2", std::array<Int, 4>{i[3] + j[0], i[2] - j[1], i[1] * j[2], i[0] ^ Int(1)});
      });
  Tensor point(Shape{1, 3}), t2(Shape{1, 7}), a2(Shape{1, 4}), i2(Shape{1, 4}, DType::i32);
  launch(kernel,
         {tensor({1, 2, 3, 0, 0, 0, 1}, Shape{1, 7}), tensor({1, 2, 3, 10, 20, 30}, Shape{1, 6}),
          tensor({1, 0, 0, 0, 0, -1, 0, 1, 0}, Shape{1, 3, 3}), tensor({0.1f, 0.2f, 0.3f, 0.4f}, Shape{1, 4}),
          tensor({1, 2, 3, 4}, Shape{1, 2, 2}), tensor({5, 2}, Shape{1, 2}),
          tensor({0, 0, 0, 0.5f}, Shape{1, 4}), integers({1, 2, 3, 4}, Shape{1, 4}),
          integers({10, 20, 30}, Shape{1, 3})},
         {point, t2, a2, i2}, 1);
  CHECK(values(point) == std::vector<float>{12, -31, 25});
  CHECK(values(t2) == std::vector<float>{1, 2, 3, 0.1f, 0.2f, 0.3f, 0.4f});
  CHECK(values(a2) == std::vector<float>{1, 2, 3, 4});
  const auto got = i2.array().read<std::int32_t>();
  CHECK(std::vector<std::int32_t>(got.begin(), got.end()) == std::vector<std::int32_t>{14, -17, 60, 0});
}

TEST_CASE("results and gradients are the same bits on 1, 2, 3 and 7 threads, at any task size") {
  const int before = novaphy::task_pool().thread_count();
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 7})
    for (const std::int64_t rows : {0, 1, 100, 256}) {
      novaphy::task_pool().set_thread_count(threads);
      set_rows_per_task(rows);
      const std::vector<float> got = ball_like_run(2000, 3);
      if (first.empty()) first = got;
      CHECK(std::memcmp(first.data(), got.data(), got.size() * sizeof(float)) == 0);
    }
  set_rows_per_task(0);
  novaphy::task_pool().set_thread_count(before);
}

TEST_CASE("a row gives the same bits alone and among others") {
  static const Kernel integrate = make_integrate_kernel();
  std::mt19937 rng(8);
  constexpr std::size_t n = 200;
  const auto xs = random_values(rng, 3 * n), vs = random_values(rng, 3 * n, -3, 3),
             fs = random_values(rng, 3 * n), ws = random_values(rng, n);
  Tensor gravity = tensor({0, 0, -9.81f}, Shape{1, 3}), x2(Shape{n, 3}), v2(Shape{n, 3}), x1(Shape{1, 3}),
         v1(Shape{1, 3});
  launch(integrate,
         {tensor(xs, Shape{n, 3}), tensor(vs, Shape{n, 3}), tensor(fs, Shape{n, 3}), scalars(ws),
          integers(std::vector<std::int32_t>(n, 1), Shape{n}), gravity, 2.0f, 0.1f},
         {x2, v2}, n);
  for (std::size_t e = 0; e < n; ++e) {
    const auto one = [&](const std::vector<float>& v) {
      return tensor({v[3 * e], v[3 * e + 1], v[3 * e + 2]}, Shape{1, 3});
    };
    launch(integrate,
           {one(xs), one(vs), one(fs), scalars({ws[e]}), integers({1}, Shape{1}), gravity, 2.0f, 0.1f},
           {x1, v1}, 1);
    CHECK(std::memcmp(values(x1).data(), values(x2).data() + 3 * e, 12) == 0);
    CHECK(std::memcmp(values(v1).data(), values(v2).data() + 3 * e, 12) == 0);
  }
}

TEST_CASE("the sum over rows has one order") {
  std::mt19937 rng(3);
  for (const std::size_t n : {1, 15, 256, 257, 5000}) {
    const auto v = random_values(rng, n);
    double exact = 0;
    for (const float x : v) exact += static_cast<double>(x);
    CHECK(static_cast<double>(sum(scalars(v)).item()) == doctest::Approx(exact).epsilon(1e-5).scale(10));
    CHECK(sum(scalars(v)).item() == tree_sum(v.data(), static_cast<std::int64_t>(n)));
  }
}

TEST_CASE("a launch refuses wrong types and shapes, naming kernel, argument, and both shapes") {
  const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "drag",
       .in = {in("v", Row::vec3), in("c", Row::f32).value(), in("flags", Row::flags)},
       .out = {out("f", Row::vec3)}},
      [](KernelScope& k) { k.write("f", k.vec3("v") * k.f32("c")); });
  Tensor v(Shape{4, 3}), f(Shape{4, 3}), flags(Shape{4}, DType::i32);
  check_error(ErrorKind::shape_mismatch,
              "drag: input 'v' has shape (4, 4) and type float32; wanted are 4 rows of 3 float32", [&] {
                launch(kernel, {Tensor(Shape{4, 4}), 1.0f, flags}, {f}, 4);
              });
  check_error(ErrorKind::shape_mismatch,
              "drag: input 'v' has shape (5, 3) and type float32; wanted are 4 rows of 3 float32", [&] {
                launch(kernel, {Tensor(Shape{5, 3}), 1.0f, flags}, {f}, 4);
              });
  check_error(ErrorKind::type,
              "drag: input 'v' has shape (4, 3) and type int32; wanted are 4 rows of 3 float32", [&] {
                launch(kernel, {Tensor(Shape{4, 3}, DType::i32), 1.0f, flags}, {f}, 4);
              });
  check_error(ErrorKind::type,
              "drag: input 'flags' has shape (4) and type float32; wanted are 4 rows of 1 int32 or uint32",
              [&] {
                launch(kernel, {v, 1.0f, Tensor(Shape{4})}, {f}, 4);
              });
  check_error(ErrorKind::type, "drag: input 'c' is a float, an int was given", [&] {
    launch(kernel, {v, 1, flags}, {f}, 4);
  });
  check_error(ErrorKind::type, "drag: input 'c' is a number, an array was given", [&] {
    launch(kernel, {v, f, flags}, {f}, 4);
  });
  check_error(ErrorKind::type, "drag: input 'v' is an array, a number was given", [&] {
    launch(kernel, {1.0f, 1.0f, flags}, {f}, 4);
  });
  check_error(ErrorKind::value, "drag: takes 3 inputs and 1 outputs, 2 and 1 were given", [&] {
    launch(kernel, {v, 1.0f}, {f}, 4);
  });
  check_error(ErrorKind::shape_mismatch,
              "drag: output 'f' has shape (3, 3) and type float32; wanted are 4 rows of 3 float32", [&] {
                launch(kernel, {v, 1.0f, flags}, {Tensor(Shape{3, 3})}, 4);
              });
}

TEST_CASE("an index out of range is named with row and column, before anything is written") {
  Tensor x(Shape{3, 3}), f(Shape{3, 3}), one = scalars({1, 1}), ij = integers({0, 1, 2, 7}, Shape{2, 2});
  check_error(ErrorKind::index, "spring_force: index 'ij' row 1, column 1 is 7, 'x' has 3 rows", [&] {
    launch(spring_force(), {x, one, one, ij}, {f}, 2);
  });
  std::vector<std::int32_t> many(2000, 0);
  Tensor ones = scalars(std::vector<float>(1000, 1.0f)), long_index = integers(many, Shape{1000, 2});
  launch(spring_force(), {x, ones, ones, long_index}, {f}, 1000);
  long_index.array().write<std::int32_t>()[34] = 1200;  // a new version is checked again
  check_error(ErrorKind::index, "spring_force: index 'ij' row 17, column 0 is 1200, 'x' has 3 rows", [&] {
    launch(spring_force(), {x, ones, ones, long_index}, {f}, 1000);
  });
}

TEST_CASE("an output that other rows read is refused") {
  const Kernel neighbour =
      make_indexed_expr_kernel_typed_access_n({.name = "neighbour",
                                               .in = {in("x", Row::f32).gather("n")},
                                               .out = {out("y", Row::f32)},
                                               .index = {index("n")}},
                                              [](KernelScope& k) { k.write("y", k.f32("x")); });
  Tensor x = scalars({1, 2});
  check_error(
      ErrorKind::value,
      "neighbour: output 'y' shares memory with input 'x', which other rows read; write into another array",
      [&] {
        launch(neighbour, {x, integers({1, 0}, Shape{2})}, {x}, 2);
      });
}

}  // namespace nova::test
