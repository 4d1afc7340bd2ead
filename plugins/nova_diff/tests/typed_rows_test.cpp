// SPDX-License-Identifier: Apache-2.0
// Every row type through every way of reaching and writing rows, and every formula of novaphy/math.hpp, from
// the kernel's body to the tape: all ways of running give the same bits, derivatives agree with differences
// in float64 and with each other.
#include <cmath>

#include "program_problem.hpp"
#include "test_kernels.hpp"

namespace nova::test {
namespace {

/// Number by number, so that no two numbers of a row can be swapped unseen.
template <class T, class F>
T each(const T& a, const T& b, F f) {
  std::vector<Expr> right;
  RowTraits<T>::visit(b, [&](const Expr& x) { right.push_back(x); });
  T out = a;
  std::size_t k = 0;
  RowTraits<T>::visit(out, [&](Expr& x) {
    x = f(x, right[k], 1.0f + 0.25f * static_cast<float>(k));
    ++k;
  });
  return out;
}
template <class T>
T product(const T& a, const T& b) {
  return each(a, b, [](Expr x, Expr y, float k) { return sin(x * k) * y + x; });
}

/// Rows at e, uniform, of a domain and of pairs; a fixed reduction; set, added and summed.
template <class T>
Kernel reducing(Row row) {
  return make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "reducing",
       .in = {in("a", row), in("u", row).uniform(), in("d", row).domain(), in("p", row).pair()},
       .out = {out("set", row), out("added", row).add(), out("sum", row).sum()}},
      domain("part"), [&](KernelScope& k) { return k.read<T>("a"); },
      [&](KernelScope& k, Acc<T>& acc) {
        acc.add(product(k.read<T>("d"), k.read<T>("p")));
        acc.sub(product(k.read<T>("p"), k.read<T>("a")));
      },
      [&](KernelScope& k, const T& total) {
        const T u = k.read<T>("u");
        k.write("set", product(total, u));
        k.write("added", product(u, total));
        k.write("sum", product(k.read<T>("a"), total));
      });
}

/// Rows gathered through two columns of an index; scattered, added and subtracted.
template <class T>
Kernel scattering(Row row) {
  return make_indexed_expr_kernel_typed_access_n(
      {.name = "scattering",
       .in = {in("x", row).gather("ij", 2), in("a", row)},
       .out = {out("plus", row).scatter_add("ij", 2), out("minus", row).scatter_sub("ij", 2)},
       .index = {index("ij", Row::ivec2)}},
      [&](KernelScope& k) {
        const auto x = k.read_columns<T, 2>("x");
        const T a = k.read<T>("a");
        k.write("plus", std::array<T, 2>{product(x[0], a), product(x[1], x[0])});
        k.write("minus", std::array<T, 2>{product(a, x[1]), product(x[0], x[1])});
      });
}

void agree(double got, double want, double scale, const Program& program) {
  if (!(std::fabs(got - want) <= 1e-6 * (1 + scale)))
    FAIL(program.name.view(), ": ", got, ", want ", want, "\n", listing(program));
}

/// Every way of running the program, its adjoint and its tangent; derivatives in float64.
void check_program(const Program& program) {
  std::mt19937 rng(5);
  const Masks masks = masks_of(program);
  const Program adjoint = reverse(program, masks.wanted, masks.seeded),
                tangent = forward(program, masks.wanted);
  for (int round = 0; round < 4; ++round)
    for (const Program* p : {&program, &adjoint, &tangent}) check_tiers(*p, *p, rng, round);
  Problem problem(program, rng, Flavour::smooth);
  const Columns u = problem.random_direction(), v = problem.random_direction(),
                seeds = problem.random_seeds();
  const Columns tangents = problem.jvp(u), cotangents = problem.vjp(seeds),
                rounded = problem.float_vjp(seeds);
  const double step = 1e-5, scale = norm(tangents);
  CHECK(scale > 0);
  const Columns up = problem.value(u, step), down = problem.value(u, -step);
  for (std::size_t k = 0; k < up.size(); ++k)
    for (std::size_t j = 0; j < up[k].size(); ++j)
      agree(tangents[k][j], (up[k][j] - down[k][j]) / (2 * step), scale, program);
  agree(dot(seeds, tangents), dot(cotangents, u), norm(cotangents) * norm(u), program);
  agree(dot(v, problem.hvp(seeds, u)), dot(u, problem.hvp(seeds, v)), scale, program);
  for (std::size_t k = 0; k < cotangents.size(); ++k)
    for (std::size_t j = 0; j < cotangents[k].size(); ++j)
      if (!(std::fabs(cotangents[k][j] - rounded[k][j]) <= 3e-5 * (1 + norm(cotangents))))
        FAIL(program.name.view(), ": the gradient of input ", k, " is ", rounded[k][j], ", in float64 ",
             cotangents[k][j]);
}

template <class T>
void check_row(Row row) {
  check_program(reducing<T>(row).program());
  check_program(scattering<T>(row).program());
}

/// out = f(a, b): one formula over whole rows.
template <class A, class B, class F>
void check_formula(const char* name, Row a, Row b, Row result, F f) {
  check_program(make_indexed_expr_kernel_typed_access_n(
                    {.name = name, .in = {in("a", a), in("b", b)}, .out = {out("out", result)}},
                    [&](KernelScope& k) { k.write("out", f(k.read<A>("a"), k.read<B>("b"))); })
                    .program());
}

/// Sums, differences, negation, factors from both sides.
template <class T>
void check_linear(const char* name, Row row) {
  check_formula<T, T>(name, row, row, row,
                      [](const T& a, const T& b) { return 2.0f * a - (-b) * 0.5f + (a + b) * Expr(0.25f); });
}
template <class T>
void check_dot(const char* name, Row row) {
  check_formula<T, T>(name, row, row, Row::f32,
                      [](const T& a, const T& b) { return dot(a, b) * length(a) + length(a - b); });
}

}  // namespace

TEST_CASE("rows of every float type are reached and written in every way, with their derivatives") {
  check_row<Expr>(Row::f32);
  check_row<Vec2E>(Row::vec2);
  check_row<Vec3E>(Row::vec3);
  check_row<Vec4E>(Row::vec4);
  check_row<QuatE>(Row::quat);
  check_row<TransformE>(Row::transform);
  check_row<SpatialE>(Row::spatial);
  check_row<Mat22E>(Row::mat22);
  check_row<Mat33E>(Row::mat33);
}

TEST_CASE("formulas of vectors, quaternions, spatial vectors and matrices have the derivatives of float64") {
  check_linear<Vec2E>("vec2", Row::vec2), check_linear<Vec3E>("vec3", Row::vec3);
  check_linear<Vec4E>("vec4", Row::vec4), check_linear<QuatE>("quat", Row::quat);
  check_linear<SpatialE>("spatial", Row::spatial);
  check_linear<Mat22E>("mat22", Row::mat22), check_linear<Mat33E>("mat33", Row::mat33);
  check_dot<Vec2E>("dot2", Row::vec2), check_dot<Vec4E>("dot4", Row::vec4);
  check_dot<QuatE>("dot_quat", Row::quat), check_dot<SpatialE>("dot_spatial", Row::spatial);
  check_formula<Vec2E, Vec2E>("unit2", Row::vec2, Row::vec2, Row::vec2,
                              [](const Vec2E& a, const Vec2E& b) { return normalize(a) + b / 3.0f; });
  check_formula<Vec4E, Vec4E>("unit4", Row::vec4, Row::vec4, Row::vec4,
                              [](const Vec4E& a, const Vec4E& b) { return normalize(a) + b / 3.0f; });
  check_formula<Mat22E, Vec2E>("turn2", Row::mat22, Row::vec2, Row::vec2,
                               [](const Mat22E& a, const Vec2E& b) { return transpose(a) * (a * b); });
  check_formula<Mat22E, Mat22E>("product2", Row::mat22, Row::mat22, Row::mat22,
                                [](const Mat22E& a, const Mat22E& b) { return a * b * determinant(a); });
  check_formula<Mat33E, Mat33E>("product3", Row::mat33, Row::mat33, Row::mat33,
                                [](const Mat33E& a, const Mat33E& b) { return a * transpose(b) - b; });
}

TEST_CASE("inverses of matrices have the derivatives of float64") {
  // of matrices that are far from singular
  check_formula<Mat22E, Mat22E>("inverse2", Row::mat22, Row::mat22, Row::mat22,
                                [](Mat22E a, const Mat22E& b) {
                                  for (int i = 0; i < 2; ++i) a.m[i][i] = a.m[i][i] + 3.0f;
                                  return inverse(a) * b;
                                });
  check_formula<Mat33E, Mat33E>("inverse3", Row::mat33, Row::mat33, Row::mat33,
                                [](Mat33E a, const Mat33E& b) {
                                  for (int i = 0; i < 3; ++i) a.m[i][i] = a.m[i][i] + 4.0f;
                                  return inverse(a) * b;
                                });
}

TEST_CASE("the inverse of a singular matrix is zero, and so is its derivative") {
  static const Kernel kernel = make_indexed_expr_kernel_typed_access_n(
      {.name = "inverse", .in = {in("a", Row::mat33)}, .out = {out("out", Row::mat33)}},
      [](KernelScope& k) { k.write("out", inverse(k.mat33("a"))); });
  Tensor a = tensor({1, 2, 3, 2, 4, 6, 0, 0, 1}, Shape{1, 9}, true), y(Shape{1, 9});
  Tape tape;
  {
    TapeScope scope(tape);
    launch(kernel, {a}, {y}, 1);
  }
  tape.backward(y, tensor(std::vector<float>(9, 1.0f), Shape{1, 9}));
  CHECK(values(y) == std::vector<float>(9, 0.0f));
  CHECK(gradient(a) == std::vector<float>(9, 0.0f));
}

TEST_CASE("rows of uint8 and of uint32 are read as integers however they are reached") {
  static const Kernel kernel = make_indexed_fixed_reduce_expr_kernel_typed_access_n(
      {.name = "bytes",
       .in = {in("kind", Row::u8), in("flags", Row::flags), in("layer", Row::u8).uniform(),
              in("there", Row::u8).gather("ij", 2), in("far", Row::flags).gather("ij", 2),
              in("each", Row::u8).domain(), in("pair", Row::u8).pair(), in("x", Row::f32)},
       .out = {out("word", Row::ivec4), out("y", Row::f32)},
       .index = {index("ij", Row::ivec2)}},
      domain("part"), [](KernelScope& k) { return k.f32("x"); },
      [](KernelScope& k, Acc<Expr>& acc) {
        acc.add_if(k.u8("pair") > Int(100), to_float(k.u8("each")) * k.f32("x"));
      },
      [](KernelScope& k, Expr total) {
        const auto there = k.read_columns<Int, 2>("there"), far = k.read_columns<Int, 2>("far");
        k.write("word", std::array<Int, 4>{min(k.u8("kind"), k.u8("layer")), max(there[0], there[1]),
                                           k.flags("flags"), far[1] >> Int(31)});
        k.write("y", total);
      });
  std::mt19937 rng(3);
  for (int round = 0; round < 8; ++round) check_tiers(kernel.program(), kernel.program(), rng, round);

  const auto bytes = [](std::vector<std::uint8_t> v) {
    return Tensor::from<std::uint8_t>(std::span<const std::uint8_t>(v),
                                      Shape{static_cast<std::int64_t>(v.size())});
  };
  const std::vector<std::uint32_t> top{7, 0x80000000u};
  const Tensor flags = Tensor::from<std::uint32_t>(std::span<const std::uint32_t>(top), Shape{2});
  Tensor x = scalars({2, 3}, true), word(Shape{2, 4}, DType::i32), y(Shape{2});
  const auto run = [&](const Tensor& kind) {
    launch(kernel,
           {kind, flags, bytes({200}), bytes({255, 4}), flags, bytes({10, 20}), bytes({0, 101, 255, 100}), x,
            integers({0, 1, 1, -1}, Shape{2, 2})},
           {word, y}, 2, 2);
  };
  Tape tape;
  {
    TapeScope scope(tape);
    run(bytes({255, 1}));
  }
  const auto got = word.array().read<std::int32_t>();
  CHECK(std::vector<std::int32_t>(got.begin(), got.end()) ==
        std::vector<std::int32_t>{200, 255, 7, -1, 1, 4, static_cast<std::int32_t>(0x80000000u), 0});
  CHECK(values(y) == std::vector<float>{2 + 20 * 2, 3 + 10 * 3});
  tape.backward(y, scalars({1, 1}));
  CHECK(gradient(x) == std::vector<float>{21, 11});
  check_error(ErrorKind::type,
              "bytes: input 'kind' has shape (2) and type int32; wanted are 2 rows of 1 uint8", [&] {
                run(integers({1, 2}, Shape{2}));
              });
}

TEST_CASE("rows of uint8 are inputs only, and no index") {
  check_error(ErrorKind::value, "program 'k': output 'o' is of the row type u8, which is only read", [] {
    make_indexed_expr_kernel_typed_access_n(
        {.name = "k", .in = {in("a", Row::u8)}, .out = {out("o", Row::u8)}},
        [](KernelScope& k) { k.write("o", k.u8("a")); });
  });
  check_error(ErrorKind::value, "program 'k': argument 'a' is a value; of the row type u8 are arrays only",
              [] {
                make_indexed_expr_kernel_typed_access_n(
                    {.name = "k", .in = {in("a", Row::u8).value()}, .out = {out("o", Row::i32)}},
                    [](KernelScope& k) { k.write("o", k.u8("a")); });
              });
  check_error(ErrorKind::value, "program 'k': index 'i' must be of an int32 row type", [] {
    make_indexed_expr_kernel_typed_access_n({.name = "k",
                                             .in = {in("a", Row::f32).gather("i")},
                                             .out = {out("o", Row::f32)},
                                             .index = {index("i", Row::u8)}},
                                            [](KernelScope& k) { k.write("o", k.f32("a")); });
  });
}

}  // namespace nova::test
