// SPDX-License-Identifier: Apache-2.0
// Sums over rows: one order for losses, uniforms and rows of a domain, in memory that does not grow with
// rows.
#include <cstring>
#include <random>

#include "nova/kernel/execute.hpp"
#include "novaphy/task_pool.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

/// y = sum over s of k[s] * x * u
const Kernel& weighted() {
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "weighted",
       .in = {in("x", Row::f32), in("k", Row::f32).domain(), in("u", Row::f32).uniform()},
       .out = {out("y", Row::f32)}},
      domain("s"), [](KernelScope&) { return Expr(0.0f); },
      [](KernelScope& k, Acc<Expr>& sum) { sum.add(k.f32("k") * k.f32("x") * k.f32("u")); });
  return kernel;
}

}  // namespace

TEST_CASE("gradients of domain rows and uniforms are the tree sum over rows, on any number of threads") {
  std::mt19937 rng(1);
  std::uniform_real_distribution<float> any(-1.0f, 1.0f);
  const int threads_before = novaphy::task_pool().thread_count();
  for (const std::size_t n : {1, 2, 7, 16, 100, 256, 257, 3000})
    for (const int threads : {1, 3}) {
      novaphy::task_pool().set_thread_count(threads);
      set_rows_per_task(threads == 1 ? 0 : 1);
      std::vector<float> xs(n), seeds(n), products(n);
      for (std::size_t i = 0; i < n; ++i)
        xs[i] = any(rng), seeds[i] = any(rng), products[i] = seeds[i] * xs[i];
      const std::vector<float> ks{0.5f, -3.0f, 2.0f};
      Tensor x = scalars(xs), k = scalars(ks, true), u = scalars({1.0f}, true),
             y(Shape{static_cast<std::int64_t>(n)});
      Tape tape;
      {
        const TapeScope scope(tape);
        launch(weighted(), {x, k, u}, {y}, static_cast<std::int64_t>(n), 3);
      }
      tape.backward(y, scalars(seeds));
      const float want = tree_sum(products.data(), static_cast<std::int64_t>(n));
      for (const float got : gradient(k)) CHECK(std::memcmp(&got, &want, sizeof(float)) == 0);
      CHECK(gradient(u)[0] == doctest::Approx(want * (0.5f - 3.0f + 2.0f)).epsilon(1e-4).scale(1));
    }
  set_rows_per_task(0);
  novaphy::task_pool().set_thread_count(threads_before);
}

TEST_CASE("folded leaves are pairs of neighbours, an odd one waits") {
  float leaves[5] = {1e8f, 1.0f, -1e8f, 1.0f, 0.5f};
  CHECK(fold_leaves(leaves, 5) == ((1e8f + 1.0f) + (-1e8f + 1.0f)) + 0.5f);
  CHECK(fold_leaves(nullptr, 0) == 0.0f);
}

}  // namespace nova::test
