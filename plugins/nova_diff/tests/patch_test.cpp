// SPDX-License-Identifier: Apache-2.0
// Patches: on every mesh, thread count, patch size and build, the bytes are those of the loop that adds
// element by element.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "patch_kernels.hpp"
#include "test_kernels.hpp"
#include "tetrahedra.hpp"
#include "ways.hpp"

namespace nova::test {
namespace {

std::vector<float> random_floats(std::mt19937& rng, std::size_t count, float low, float high) {
  std::uniform_real_distribution<float> any(low, high);
  std::vector<float> out(count);
  for (float& x : out) x = any(rng);
  return out;
}

/// Four corners an element, some of them missing (-1) or twice the same.
struct Mesh {
  std::vector<std::int32_t> corners;
  std::int64_t vertices = 0;
  std::int64_t elements() const { return static_cast<std::int64_t>(corners.size() / 4); }
};

Mesh grid_mesh(int cells) {
  const TetrahedronGrid grid(cells);
  return {grid.corners, grid.vertices};
}

Mesh shuffled_mesh(int cells) {
  Mesh mesh = grid_mesh(cells);
  std::vector<std::array<std::int32_t, 4>> elements(static_cast<std::size_t>(mesh.elements()));
  std::memcpy(elements.data(), mesh.corners.data(), mesh.corners.size() * sizeof(std::int32_t));
  std::shuffle(elements.begin(), elements.end(), std::mt19937(4));
  std::memcpy(mesh.corners.data(), elements.data(), mesh.corners.size() * sizeof(std::int32_t));
  return mesh;
}

/// `band` < vertices: corners of an element lie near each other.
Mesh random_mesh(std::int64_t elements, std::int32_t vertices, std::int32_t band) {
  std::mt19937 rng(5);
  Mesh mesh{{}, vertices};
  for (std::int64_t e = 0; e < elements; ++e)
    for (int q = 0; q < 4; ++q) {
      const auto near = static_cast<std::int32_t>(e * vertices / elements);
      const auto v = near + std::uniform_int_distribution<std::int32_t>(-band, band)(rng);
      mesh.corners.push_back(std::clamp(v, -1, vertices - 1));
    }
  return mesh;
}

/// One vertex that every element reaches, and others that none reaches.
Mesh star_mesh() {
  Mesh mesh{{}, 2000};
  for (std::int32_t e = 0; e < 700; ++e) mesh.corners.insert(mesh.corners.end(), {7, 2 * e, 7, 7});
  return mesh;
}

const Kernel& many_outputs() {
  static const Kernel kernel = make_many_outputs_kernel();
  return kernel;
}

/// Values and gradients of a run, all arrays one after another.
std::vector<float> run_many_outputs(const Mesh& mesh) {
  std::mt19937 rng(11);
  const auto v = static_cast<std::size_t>(mesh.vertices), n = static_cast<std::size_t>(mesh.elements());
  const Shape vec3{mesh.vertices, 3};
  Tensor x = tensor(random_floats(rng, 3 * v, -1, 1), vec3, true);
  Tensor m = tensor(random_floats(rng, 9 * v, -1, 1), Shape{mesh.vertices, 3, 3}, true);
  Tensor w = scalars(random_floats(rng, n, -1, 1), true);
  Tensor c = tensor({0.25f, -1.5f}, Shape{1, 2}, true);
  Tensor f = tensor(random_floats(rng, 3 * v, -1, 1), vec3, true);
  Tensor g = tensor(random_floats(rng, 7 * v, -1, 1), Shape{mesh.vertices, 7});
  Tensor h(Shape{mesh.vertices}), energy(Shape{1}), row(Shape{mesh.elements(), 2});
  const Tensor corner = integers(mesh.corners, Shape{mesh.elements(), 4});
  Tape tape;
  Tensor loss;
  {
    const TapeScope scope(tape);
    launch(many_outputs(), {x, m, w, c, corner}, {f, g, h, energy, row}, mesh.elements());
    const auto flat = [](const Tensor& t) {
      return Tensor(DeviceArray(t.storage(), DType::f32, Shape{t.size()}));
    };
    loss = add(add(sum(mul(flat(f), flat(f))), sum(mul(flat(g), flat(g)))),
               add(add(sum(mul(h, h)), energy), sum(mul(flat(row), flat(row)))));
  }
  tape.backward(loss);
  std::vector<float> all;
  for (const Tensor& t : {f, g, h, energy, row}) {
    const auto part = values(t);
    all.insert(all.end(), part.begin(), part.end());
  }
  for (const Tensor& t : {x, m, w, c}) {
    const auto part = gradient(t);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void check_same(const std::vector<float>& got, const std::vector<float>& want, const std::string& what) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::memcmp(&got[i], &want[i], 4) != 0)
      FAIL(what, ": number ", i, " is ", got[i], ", want ", want[i]);
}

}  // namespace

TEST_CASE(
    "scatters on patches give the bytes of the serial loop on every mesh, thread count and patch size") {
  const std::pair<const char*, Mesh> meshes[] = {{"grid", grid_mesh(7)},
                                                 {"shuffled grid", shuffled_mesh(7)},
                                                 {"band", random_mesh(1777, 600, 20)},
                                                 {"random graph", random_mesh(1500, 900, 900)},
                                                 {"star", star_mesh()}};
  for (const auto& [name, mesh] : meshes) {
    std::vector<float> want;
    {
      const Way serial(Patches::never, 1, 0, 0, 1);
      want = run_many_outputs(mesh);
    }
    for (const int threads : {1, 2, 3, 7})
      for (const int vertices : {16, 33, 64}) {
        const Way way(Patches::always, threads, vertices, threads == 1 ? 512 : 256);
        check_same(run_many_outputs(mesh), want,
                   novaphy::text(name, ", ", threads, " threads, ", vertices, " vertices"));
      }
    for (std::size_t build = 1; build <= machine::builds().size(); ++build)
      for (const bool compiled : {false, true})
        for (const int threads : {1, 3}) {
          const Way way(Patches::always, threads, 0, 0, build, compiled);
          check_same(run_many_outputs(mesh), want,
                     novaphy::text(name, ", ", compiled ? "compiled" : "interpreted", " for ",
                                   machine::builds()[build - 1].name, ", ", threads, " threads"));
        }
  }
}

TEST_CASE("patches are cut from the mesh: few vertices each, tasks at multiples of 256 rows, all rows once") {
  const Mesh mesh = grid_mesh(12);
  const PatchPlan plan(mesh.corners.data(), {mesh.elements(), 4, 0, 4});
  std::int64_t row = 0;
  for (const machine::Patch& patch : plan.patches()) {
    CHECK(patch.first == row);
    CHECK(patch.vertex_count <= machine::kPatchVertices);
    CHECK(patch.rows <= machine::kPatchRows);
    row += patch.rows;
  }
  CHECK(row == mesh.elements());
  CHECK(plan.tasks().size() > 4);
  for (const PatchPlan::Task& task : plan.tasks()) CHECK(task.first_row % 256 == 0);
  CHECK(plan.pays());
  const Mesh shuffled = shuffled_mesh(12);
  CHECK(!PatchPlan(shuffled.corners.data(), {shuffled.elements(), 4, 0, 4}).pays());
}

TEST_CASE("patches follow an index array that is written anew") {
  Mesh mesh = grid_mesh(4);
  Tensor corner = integers(mesh.corners, Shape{mesh.elements(), 4});
  const Tensor x =
      tensor(std::vector<float>(static_cast<std::size_t>(3 * mesh.vertices), 1.0f), Shape{mesh.vertices, 3});
  static const Kernel count =
      make_indexed_expr_kernel_typed_access_n({.name = "count",
                                               .in = {in("x", Row::vec3).gather("corner")},
                                               .out = {out("f", Row::f32).scatter_add("corner")},
                                               .index = {index("corner", Row::ivec4)}},
                                              [](KernelScope& k) { k.write("f", k.vec3("x").x); });
  const auto counted = [&] {
    Tensor f(Shape{mesh.vertices});
    launch(count, {x, corner}, {f}, mesh.elements());
    return values(f);
  };
  const Way way(Patches::always, 1);
  const auto first = counted();
  corner.array().write<std::int32_t>()[0] = 30;
  const auto second = counted();
  CHECK(second[30] == first[30] + 1.0f);
  CHECK(second[static_cast<std::size_t>(mesh.corners[0])] ==
        first[static_cast<std::size_t>(mesh.corners[0])] - 1.0f);
}

TEST_CASE("a kernel that scatters into what it gathers sees the values before the launch, with patches too") {
  static const Kernel spread =
      make_indexed_expr_kernel_typed_access_n({.name = "spread",
                                               .in = {in("x", Row::vec3).gather("corner", 4)},
                                               .out = {out("f", Row::vec3).scatter_add("corner", 4)},
                                               .index = {index("corner", Row::ivec4)}},
                                              [](KernelScope& k) {
                                                const auto x = k.vec3s<4>("x");
                                                k.write("f", std::array<Vec3E, 4>{x[1], x[2], x[3], x[0]});
                                              });
  const Mesh mesh = grid_mesh(5);
  const auto run = [&] {
    std::mt19937 rng(2);
    Tensor x = tensor(random_floats(rng, static_cast<std::size_t>(3 * mesh.vertices), -1, 1),
                      Shape{mesh.vertices, 3});
    launch(spread, {x, integers(mesh.corners, Shape{mesh.elements(), 4})}, {x}, mesh.elements());
    return values(x);
  };
  std::vector<float> want;
  {
    const Way serial(Patches::never, 1);
    want = run();
  }
  const Way way(Patches::always, 3);
  check_same(run(), want, "in place");
}

TEST_CASE("gradients of an array that is gathered twice add up in one order") {
  static const Kernel pair = make_indexed_expr_kernel_typed_access_n(
      {.name = "pair",
       .in = {in("a", Row::vec3).gather("corner", 2), in("b", Row::vec3).gather("corner", 2, 2),
              in("w", Row::f32)},
       .out = {out("y", Row::f32)},
       .index = {index("corner", Row::ivec4)}},
      [](KernelScope& k) {
        const auto a = k.vec3s<2>("a"), b = k.vec3s<2>("b");
        k.write("y", dot(cross(a[0], a[1]), cross(b[0], b[1])) * k.f32("w"));
      });
  const Mesh mesh = grid_mesh(5);
  const auto run = [&] {
    std::mt19937 rng(2);
    Tensor x = tensor(random_floats(rng, static_cast<std::size_t>(3 * mesh.vertices), -1, 1),
                      Shape{mesh.vertices, 3}, true);
    Tensor y(Shape{mesh.elements()});
    Tape tape;
    Tensor loss;
    {
      const TapeScope scope(tape);
      launch(pair,
             {x, x, scalars(random_floats(rng, static_cast<std::size_t>(mesh.elements()), -1, 1)),
              integers(mesh.corners, Shape{mesh.elements(), 4})},
             {y}, mesh.elements());
      loss = sum(y);
    }
    tape.backward(loss);
    return gradient(x);
  };
  std::vector<float> want;
  {
    const Way serial(Patches::never, 1);
    want = run();
  }
  const Way way(Patches::always, 3);
  check_same(run(), want, "one array twice");
}

}  // namespace nova::test
