// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's meshes: mass, order of vertices, and what they refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "messages.hpp"
#include "novaphy/builder.hpp"
#include "novaphy/log.hpp"

namespace novaphy {
namespace {

const std::vector<Vec3f> kCorners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

double sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <class Call>
std::string warnings_of(Call call) {
  std::string told;
  set_log_sink([](void* context, LogLevel, const char* message) { *static_cast<std::string*>(context) += message; },
               &told);
  call();
  set_log_sink(nullptr, nullptr);
  return told;
}

}  // namespace

TEST_CASE("a soft mesh weighs density times volume, a cloth mesh density times area") {
  const int tet[] = {0, 1, 2, 3}, triangle[] = {0, 1, 2};
  ModelBuilder soft;
  soft.add_soft_mesh({.scale = 2, .vertices = kCorners, .indices = tet, .density = 30.0});
  CHECK(sum(soft.particle_mass) == doctest::Approx(30 * 8.0 / 6));
  CHECK(soft.tri_count() == 4);
  CHECK(soft.edge_count() == 6);
  CHECK(soft.particle_tet_material == std::vector<float>{1000, 1000, 0});
  ModelBuilder cloth;
  cloth.add_cloth_mesh({.vertices = std::span(kCorners).first(3), .indices = triangle, .density = 0.5});
  CHECK(sum(cloth.particle_mass) == doctest::Approx(0.25));
  CHECK(cloth.edge_count() == 3);
}

TEST_CASE("of the 24 orders of a tetrahedron's vertices 12 weigh the same and 12 are refused with index and volume") {
  std::array<int, 4> order{0, 1, 2, 3};
  int right = 0, inverted = 0;
  do {
    ModelBuilder b;
    const auto add = [&] { b.add_soft_mesh({.vertices = kCorners, .indices = order, .density = 6.0}); };
    std::array<int, 4> sorted = order;
    int swaps = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = i + 1; j < 4; ++j)
        if (sorted[static_cast<std::size_t>(i)] > sorted[static_cast<std::size_t>(j)]) ++swaps;
    if (swaps % 2 == 0) {
      add();
      CHECK(b.particle_mass == std::vector<float>{0.25f, 0.25f, 0.25f, 0.25f});
      ++right;
    } else {
      CHECK_FAILS(add(), degenerate_element,
                  text("add_soft_mesh: tetrahedron 0 (", order[0], ", ", order[1], ", ", order[2], ", ", order[3],
                       ") is inverted, its signed volume is -0.166667 m^3: swap two of its particles"));
      CHECK(b.particle_count() == 0);
      ++inverted;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(right == 12);
  CHECK(inverted == 12);
}

TEST_CASE("each tetrahedron of a soft mesh may have its own constants") {
  const std::vector<Vec3f> vertices{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  const int indices[] = {0, 1, 2, 3, 1, 2, 3, 4};
  const double k_mu[] = {10, 20}, k_lambda[] = {7}, three[] = {1, 2, 3};
  ModelBuilder b;
  b.add_soft_mesh({.vertices = vertices, .indices = indices, .k_mu = k_mu, .k_lambda = k_lambda});
  CHECK(b.particle_tet_material == std::vector<float>{10, 7, 0, 20, 7, 0});
  CHECK_FAILS(b.add_soft_mesh({.vertices = vertices, .indices = indices, .k_damp = three}), value,
              "add_soft_mesh: k_damp has 3 entries: want one number, or one for each of the 2 tetrahedra");
}

TEST_CASE("meshes that cannot be are refused and leave nothing behind") {
  const int tet[] = {0, 1, 2, 3}, beyond[] = {0, 1, 2, 4}, flat[] = {0, 1, 2, 2}, triangle[] = {0, 1, 1};
  ModelBuilder b;
  CHECK_FAILS(b.add_soft_mesh({.vertices = kCorners, .indices = beyond}), index,
              "add_soft_mesh: indices[3], of tetrahedron 0, is 4: the mesh has 4 vertices, want an index from 0 to 3");
  CHECK_FAILS(b.add_soft_mesh({.vertices = kCorners, .indices = std::span(tet).first(3)}), value,
              "add_soft_mesh: indices has 3 entries: want 4 for each tetrahedron");
  CHECK_FAILS(b.add_soft_mesh({.indices = tet}), value,
              "add_soft_mesh: vertices are empty: want a row (x, y, z) for each particle");
  CHECK_FAILS(b.add_soft_mesh({.scale = 0, .vertices = kCorners, .indices = tet}), value,
              "add_soft_mesh: scale is 0: want a finite number above 0");
  CHECK_FAILS(b.add_soft_mesh({.vertices = kCorners, .indices = flat}), degenerate_element,
              "add_soft_mesh: tetrahedron 0 (0, 1, 2, 2) has volume 0 m^3 and a longest side of 1.41421 m: want "
              "particles that do not lie in a plane");
  CHECK_FAILS(b.add_cloth_mesh({.vertices = kCorners, .indices = triangle}), degenerate_element,
              "add_cloth_mesh: triangle 0 (0, 1, 1) has area 0 m^2 and a longest side of 1 m: want particles that do "
              "not lie on a line");
  CHECK(b.particle_count() == 0);
  CHECK(b.tet_count() == 0);
}

TEST_CASE("vertices that no element has are told of") {
  const int triangle[] = {0, 1, 3};
  ModelBuilder b;
  const std::string told = warnings_of([&] { b.add_cloth_mesh({.vertices = kCorners, .indices = triangle}); });
  CHECK(told.find("add_cloth_mesh: 1 of 4 vertices belong to no triangle, the first is 2; their particles have no mass "
                  "and stay where they are") != std::string::npos);
  CHECK(b.particle_mass[2] == 0);
}

}  // namespace novaphy
