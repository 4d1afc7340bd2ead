// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: particles, springs, triangles, edges, tetrahedra and grids, and what they refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "messages.hpp"
#include "novaphy/builder.hpp"

namespace novaphy {
namespace {


/// A unit tetrahedron's corners.
ModelBuilder corners() {
  ModelBuilder b;
  for (const Vec3f& p : {Vec3f{0, 0, 0}, Vec3f{1, 0, 0}, Vec3f{0, 1, 0}, Vec3f{0, 0, 1}})
    b.add_particle(p, {0, 0, 0}, 1);
  return b;
}

}  // namespace

TEST_CASE("a particle has Newton's defaults, and mass 0 means fixed") {
  ModelBuilder b;
  CHECK(b.add_particle({1, 2, 3}, {4, 5, 6}, 0.5) == 0);
  CHECK(b.add_particle({0, 0, 0}, {0, 0, 0}, 0, 0.25, 0) == 1);
  const auto m = b.finalize();
  CHECK(m->particle_radius.read<float>()[0] == 0.1f);
  CHECK(m->particle_radius.read<float>()[1] == 0.25f);
  CHECK(m->particle_inv_mass.read<float>()[0] == 2);
  CHECK(m->particle_inv_mass.read<float>()[1] == 0);
  CHECK(m->particle_flags.read<std::int32_t>()[0] == ParticleFlags::ACTIVE);
  CHECK(m->particle_flags.read<std::int32_t>()[1] == 0);
  CHECK(m->particle_world.read<std::int32_t>()[0] == -1);
  CHECK(m->particle_max_radius == 0.25f);
  CHECK(m->particle_max_velocity == 1e5f);
}

TEST_CASE("a particle that cannot be is refused") {
  ModelBuilder b;
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK_FAILS(b.add_particle({0, 0, infinite}, {0, 0, 0}, 1), value,
              "add_particle: pos is (0, 0, inf): want finite numbers");
  CHECK_FAILS(b.add_particle({0, 0, 0}, {0, infinite, 0}, 1), value,
              "add_particle: vel is (0, inf, 0): want finite numbers");
  CHECK_FAILS(b.add_particle({0, 0, 0}, {0, 0, 0}, -1), value,
              "add_particle: mass is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_particle({0, 0, 0}, {0, 0, 0}, kNan), value,
              "add_particle: mass is nan: want a finite number of at least 0");
  CHECK_FAILS(b.add_particle({0, 0, 0}, {0, 0, 0}, 1e300), value,
              "add_particle: mass is 1e+300: want a finite number of at least 0");
  CHECK_FAILS(b.add_particle({0, 0, 0}, {0, 0, 0}, 1, -0.5), value,
              "add_particle: radius is -0.5: want a finite number of at least 0");
  CHECK(b.particle_count() == 0);
}

TEST_CASE("many particles are added at once or not at all") {
  ModelBuilder b;
  const Vec3f pos[2] = {{1, 0, 0}, {2, 0, 0}}, vel[2] = {};
  const double mass[2] = {1, 2}, bad_mass[2] = {1, -2}, radius[2] = {0.5, 0.25};
  b.add_particles(pos, vel, mass);
  b.add_particles(pos, vel, mass, radius);
  CHECK(b.particle_count() == 4);
  CHECK(b.particle_radius == std::vector<float>{0.1f, 0.1f, 0.5f, 0.25f});
  CHECK_FAILS(b.add_particles(pos, vel, bad_mass), value,
              "add_particles: mass[1] is -2: want a finite number of at least 0");
  CHECK_FAILS(b.add_particles(pos, std::span(vel, 1), mass), value,
              "add_particles: vel has 1 entries: want 2, as many as pos");
  CHECK_FAILS(b.add_particles(pos, vel, mass, std::span(radius, 1)), value,
              "add_particles: radius has 1 entries: want 2, as many as pos");
  CHECK(b.particle_count() == 4);
}

TEST_CASE("a spring rests at the distance of its particles") {
  ModelBuilder b = corners();
  CHECK(b.add_spring(1, 2, 100, 10, 0.5) == 0);
  CHECK(b.spring_rest_length[0] == std::sqrt(2.0f));
  CHECK_FAILS(b.add_spring(0, 4, 1, 1, 0), index,
              "add_spring: j is 4: the builder has 4 particles, want an index from 0 to 3");
  CHECK_FAILS(b.add_spring(-1, 0, 1, 1, 0), index,
              "add_spring: i is -1: the builder has 4 particles, want an index from 0 to 3");
  CHECK_FAILS(b.add_spring(2, 2, 1, 1, 0), value,
              "add_spring: i and j are both 2: want two different particles");
  CHECK_FAILS(b.add_spring(0, 1, kNan, 1, 0), value, "add_spring: ke is nan: want a finite number");
  CHECK_FAILS(ModelBuilder().add_spring(0, 1, 1, 1, 0), index,
              "add_spring: i is 0: there is no particle yet");
  CHECK(b.spring_count() == 1);
}

TEST_CASE("a triangle has Newton's defaults and returns its area") {
  ModelBuilder b = corners();
  CHECK(b.add_triangle(0, 1, 2) == doctest::Approx(0.5));
  CHECK(b.particle_tri_material == std::vector<float>{100, 100, 10, 0, 0});
  b.default_tri_drag = 3;
  b.add_triangle(0, 1, 3, {.tri_ke = 7.0});
  CHECK(b.particle_tri_material[5] == 7);
  CHECK(b.particle_tri_material[8] == 3);
  const int i[] = {0, 0}, j[] = {1, 2}, k[] = {2, 3};
  CHECK(b.add_triangles(i, j, k).size() == 2);
  CHECK(b.tri_count() == 4);
}

TEST_CASE("a triangle without area is refused") {
  ModelBuilder b = corners();
  b.add_particle({2, 0, 0}, {0, 0, 0}, 1);
  CHECK_FAILS(b.add_triangle(0, 1, 4), degenerate_element,
              "add_triangle: triangle 0 (0, 1, 4) has area 0 m^2 and a longest side of 2 m: want particles "
              "that do not lie on a line");
  CHECK_FAILS(b.add_triangle(0, 1, 1), degenerate_element,
              "add_triangle: triangle 0 (0, 1, 1) has area 0 m^2 and a longest side of 1 m: want particles "
              "that do not lie on a line");
  CHECK_FAILS(b.add_triangle(0, 1, 9), index,
              "add_triangle: k is 9: the builder has 5 particles, want an index from 0 to 4");
  CHECK_FAILS(b.add_triangle(0, 1, 2, {.tri_lift = kNan}), value,
              "add_triangle: tri_lift is nan: want a finite number");
  const int i[] = {0, 0}, j[] = {1, 1}, k[] = {2, 4};
  CHECK_FAILS(b.add_triangles(i, j, k), degenerate_element,
              "add_triangles: triangle 1 (0, 1, 4) has area 0 m^2 and a longest side of 2 m: want particles "
              "that do not lie on a line");
  CHECK_FAILS(b.add_triangles(i, std::span(j, 1), k), value,
              "add_triangles: i, j and k have 2, 1 and 2 entries: want the same number");
  CHECK(b.tri_count() == 0);
  CHECK(b.tri_indices.empty());
}

TEST_CASE("a nearly flat triangle is refused at every scale, a thin one is not") {
  for (const float scale : {1e-3f, 1.0f, 1e4f}) {
    ModelBuilder b;
    for (const Vec3f& p : {Vec3f{0, 0, 0}, Vec3f{1, 0, 0}, Vec3f{0.5f, 1e-8f, 0}, Vec3f{0.5f, 1e-3f, 0}})
      b.add_particle(p * scale, {0, 0, 0}, 1);
    CHECK(failure_of([&] { b.add_triangle(0, 1, 2); }).kind == ErrorKind::degenerate_element);
    b.add_triangle(0, 1, 3);
    CHECK(b.tri_count() == 1);
  }
}

TEST_CASE("an edge bends between two triangles; a boundary has none") {
  ModelBuilder b = corners();
  CHECK(b.add_edge(2, 3, 0, 1) == 0);
  CHECK(std::abs(b.edge_rest_angle[0]) == doctest::Approx(1.5707964f));
  CHECK(b.edge_rest_length[0] == 1);
  CHECK(b.edge_bending_properties == std::vector<float>{100, 0});
  CHECK(b.add_edge(-1, 3, 0, 1) == 1);
  CHECK(b.edge_rest_angle[1] == 0);
  CHECK(b.add_edge(2, 3, 0, 1, 0.25) == 2);
  CHECK(b.edge_rest_angle[2] == 0.25f);
  CHECK_FAILS(b.add_edge(-2, 3, 0, 1), index,
              "add_edge: i is -2: the builder has 4 particles, want -1 (none) or an index from 0 to 3");
  CHECK_FAILS(b.add_edge(2, 3, 0, -1), index,
              "add_edge: l is -1: the builder has 4 particles, want an index from 0 to 3");
  CHECK_FAILS(b.add_edge(2, 3, 1, 1), degenerate_element,
              "add_edge: the edge of particles (1, 1) has length 0: want two particles at different places");
  CHECK_FAILS(b.add_edge(2, 3, 0, 1, kNan), value, "add_edge: rest is nan: want a finite number");
  CHECK_FAILS(b.add_edge(2, 3, 0, 1, {}, {.edge_kd = kNan}), value,
              "add_edge: edge_kd is nan: want a finite number");
  CHECK(b.edge_count() == 3);
}

TEST_CASE("a tetrahedron returns its volume; an inverted or flat one is refused") {
  ModelBuilder b = corners();
  b.add_particle({1, 1, 0}, {0, 0, 0}, 1);
  CHECK(b.add_tetrahedron(0, 1, 2, 3) == doctest::Approx(1.0 / 6));
  CHECK(b.particle_tet_material == std::vector<float>{1000, 1000, 0});
  CHECK_FAILS(b.add_tetrahedron(0, 2, 1, 3), degenerate_element,
              "add_tetrahedron: tetrahedron 1 (0, 2, 1, 3) is inverted, its signed volume is -0.166667 m^3: "
              "swap two of its particles");
  CHECK_FAILS(b.add_tetrahedron(0, 1, 2, 4), degenerate_element,
              "add_tetrahedron: tetrahedron 1 (0, 1, 2, 4) has volume 0 m^3 and a longest side of 1.41421 m: "
              "want particles that do not lie in a plane");
  CHECK_FAILS(b.add_tetrahedron(0, 1, 2, 7), index,
              "add_tetrahedron: l is 7: the builder has 5 particles, want an index from 0 to 4");
  CHECK_FAILS(b.add_tetrahedron(0, 1, 2, 3, kNan), value,
              "add_tetrahedron: k_mu is nan: want a finite number");
  CHECK(b.tet_count() == 1);
}

TEST_CASE("a rest matrix is the inverse of the edges") {
  ModelBuilder b;
  for (const Vec3f& p : {Vec3f{0.1f, 0, 0}, Vec3f{1, 0.3f, 0}, Vec3f{0, 1, 0.2f}, Vec3f{0.3f, 0.1f, 1}})
    b.add_particle(p, {0, 0, 0}, 1);
  b.add_tetrahedron(0, 1, 2, 3);
  const auto m = b.finalize();
  const auto q = m->particle_q.read<Vec3f>();
  const Mat33f edges = from_columns(q[1] - q[0], q[2] - q[0], q[3] - q[0]);
  const Mat33f product = edges * m->tet_poses.read<Mat33f>()[0];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(product.m[i][j] == doctest::Approx(i == j ? 1 : 0).epsilon(1e-6));
}

TEST_CASE("a soft grid weighs density times cell volume at each particle") {
  ModelBuilder b;
  b.add_soft_grid({.dim_x = 2,
                   .dim_y = 2,
                   .dim_z = 2,
                   .cell_x = 0.1,
                   .cell_y = 0.1,
                   .cell_z = 0.1,
                   .density = 0.2 / 27 / (0.1 * 0.1 * 0.1)});
  const auto m = b.finalize();
  CHECK(m->particle_count == 27);
  CHECK(m->tet_count == 40);
  CHECK(m->tri_count == 48);
  CHECK(m->edge_count == 72);
  CHECK(m->particle_inv_mass.read<float>()[13] == doctest::Approx(135));
  b.add_soft_grid({.add_surface_mesh_edges = false});
  CHECK(b.edge_count() == 72);
}

TEST_CASE("a closed surface turns outwards") {
  ModelBuilder b;
  b.add_soft_grid({.pos = {1, 2, 3}, .dim_x = 3, .dim_y = 2, .dim_z = 2});
  const auto m = b.finalize();
  const auto q = m->particle_q.read<Vec3f>();
  const auto t = m->tri_indices.read<std::int32_t>();
  double volume = 0;
  for (std::size_t i = 0; i < t.size(); i += 3) {
    const auto corner = [&](std::size_t k) { return q[static_cast<std::size_t>(t[i + k])]; };
    volume += static_cast<double>(dot(corner(0), cross(corner(1), corner(2)))) / 6;
  }
  CHECK(volume == doctest::Approx(12));
}

TEST_CASE("cloth may carry springs along, beside and across its edges") {
  ModelBuilder b;
  b.add_cloth_grid({.add_springs = true, .spring_ke = 5.0});
  CHECK(b.tri_count() == 2);
  CHECK(b.edge_count() == 5);
  CHECK(b.spring_indices == std::vector<std::int32_t>{0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3});
  CHECK(b.spring_stiffness[0] == 5);
}

TEST_CASE("fixed sides of cloth are inactive and weigh nothing") {
  ModelBuilder b;
  b.add_cloth_grid({.dim_x = 2, .mass = 0.5, .fix_left = true});
  CHECK(b.particle_mass == std::vector<float>{0, 0.5f, 0.5f, 0, 0.5f, 0.5f});
  CHECK(b.particle_flags == std::vector<std::int32_t>{0, 1, 1, 0, 1, 1});
}

TEST_CASE("jitter and random radii are the same every run and stay within their bounds") {
  const auto grid = [] {
    ModelBuilder b;
    b.add_particle_grid({.dim_x = 5,
                         .dim_y = 5,
                         .dim_z = 5,
                         .jitter = 0.2,
                         .radius_mean = 0.5,
                         .radius_std = 0.01,
                         .flags = 0});
    return b;
  };
  const ModelBuilder b = grid(), again = grid();
  CHECK(b.particle_q == again.particle_q);
  CHECK(b.particle_radius == again.particle_radius);
  CHECK(b.particle_flags[7] == 0);
  float moved = 0;
  for (const float x : b.particle_q) {
    const float offset = std::abs(x - std::round(x));
    CHECK(offset <= 0.1f);
    moved = std::max(moved, offset);
  }
  CHECK(moved > 0.09f);
  CHECK(b.particle_radius[0] != b.particle_radius[1]);
}

TEST_CASE("grids that cannot be are refused and leave nothing behind") {
  ModelBuilder b;
  CHECK_FAILS(b.add_soft_grid({.dim_y = 0}), value, "add_soft_grid: dim_y is 0: want at least 1");
  CHECK_FAILS(b.add_soft_grid({.cell_x = 0}), value,
              "add_soft_grid: cell_x is 0: want a finite number above 0");
  CHECK_FAILS(b.add_soft_grid({.density = -1}), value,
              "add_soft_grid: density is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_soft_grid({.k_mu = kNan}), value, "add_soft_grid: k_mu is nan: want a finite number");
  CHECK_FAILS(b.add_soft_grid({.particle_radius = -1.0}), value,
              "add_soft_grid: particle_radius is -1: want a finite number of at least 0");
  CHECK_FAILS(b.add_soft_grid({.rot = {0, 0, 0, 2}}), value,
              "add_soft_grid: rot is the quaternion (0, 0, 0, 2) of length 2: want x, y, z, w of length 1");
  CHECK_FAILS(b.add_soft_grid({.pos = {1e6f, 0, 0}, .cell_x = 1e-3, .cell_y = 1e-3, .cell_z = 1e-3}),
              degenerate_element,
              "add_soft_grid: tetrahedron 0 (1, 5, 3, 0) has volume 0 m^3 and a longest side of 0.00141421 m: "
              "want particles that do not lie in a plane");
  CHECK_FAILS(b.add_cloth_grid({.dim_x = -3}), value, "add_cloth_grid: dim_x is -3: want at least 1");
  CHECK_FAILS(b.add_cloth_grid({.mass = kNan}), value,
              "add_cloth_grid: mass is nan: want a finite number of at least 0");
  CHECK_FAILS(b.add_particle_grid({.cell_z = -1}), value,
              "add_particle_grid: cell_z is -1: want a finite number above 0");
  CHECK_FAILS(b.add_particle_grid({.jitter = -1}), value,
              "add_particle_grid: jitter is -1: want a finite number of at least 0");
  CHECK(b.particle_count() == 0);
  CHECK(b.tet_count() == 0);
  CHECK(b.particle_q.empty());
}

}  // namespace novaphy
