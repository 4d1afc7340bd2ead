// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: grids of particles, of tetrahedra and of cloth, in Newton's order.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include "model/builder_support.hpp"
#include "model/rest_shape.hpp"
#include "model/tetrahedron_surface.hpp"

namespace novaphy {
namespace {

/// Uniform and normal numbers that are the same on every machine.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }  // [0, 1)
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

/// matrix * v as a matrix product has it: a chain of fma.
Vec3f fused(const Mat33f& matrix, const Vec3f& v) {
  const auto component = [&](int i) {
    return fma(matrix.m[i][2], v.z, fma(matrix.m[i][1], v.y, matrix.m[i][0] * v.x));
  };
  return {component(0), component(1), component(2)};
}

/// Indices are int32, and a cell has up to five tetrahedra: a grid beyond this is a slip of the pen.
constexpr double kMaxCells = 1e8;

void check_size(const Arguments& check, int dim_x, int dim_y, int dim_z) {
  const double cells = 1.0 * dim_x * dim_y * dim_z;
  check.require(cells <= kMaxCells, ErrorKind::value, "dim_x, dim_y and dim_z make ", cells,
                " cells: want at most ", kMaxCells);
}

}  // namespace

/// One edge for every side of the triangles since `first_triangle`, in the order in which the sides are first
/// seen.
template <class T>
void ModelBuilder::append_edges_of_triangles(const Arguments& check, int first_triangle,
                                             const EdgeMaterial& material) {
  struct Side {
    int opposite, other_opposite, from, to;
  };
  std::vector<Side> sides;
  std::map<std::pair<int, int>, std::size_t> place;
  for (int t = first_triangle; t < tri_count(); ++t)
    for (int corner = 0; corner < 3; ++corner) {
      const auto vertex = [&](int k) {
        return tri_indices[static_cast<std::size_t>(3 * t + (corner + k) % 3)];
      };
      const auto [entry, is_new] = place.try_emplace(std::minmax(vertex(0), vertex(1)), sides.size());
      if (is_new)
        sides.push_back({vertex(2), -1, vertex(0), vertex(1)});
      else
        sides[entry->second].other_opposite = vertex(2);
    }
  for (const Side& side : sides) {
    const Vec3f from = row<Vec3f>(particle_q, side.from), to = row<Vec3f>(particle_q, side.to);
    const double angle = side.other_opposite < 0
                             ? 0.0
                             : dihedral_angle<T>(row<Vec3f>(particle_q, side.opposite),
                                                 row<Vec3f>(particle_q, side.other_opposite), from, to);
    append_edge(check, side.opposite, side.other_opposite, side.from, side.to, angle, distance<T>(to, from),
                material);
  }
}

template void ModelBuilder::append_edges_of_triangles<float>(const Arguments&, int, const EdgeMaterial&);
template void ModelBuilder::append_edges_of_triangles<double>(const Arguments&, int, const EdgeMaterial&);

void ModelBuilder::add_particle_grid(const ParticleGrid& grid) {
  const Arguments check("add_particle_grid");
  check.at_least("dim_x", grid.dim_x, 1);
  check.at_least("dim_y", grid.dim_y, 1);
  check.at_least("dim_z", grid.dim_z, 1);
  check_size(check, grid.dim_x, grid.dim_y, grid.dim_z);
  check.positive("cell_x", grid.cell_x);
  check.positive("cell_y", grid.cell_y);
  check.positive("cell_z", grid.cell_z);
  check.finite("pos", grid.pos);
  check.finite("vel", grid.vel);
  check.non_negative("mass", grid.mass);
  check.non_negative("jitter", grid.jitter);
  check.non_negative("radius_std", grid.radius_std);
  const double radius_mean = grid.radius_mean.value_or(default_particle_radius);
  check.non_negative("radius_mean", radius_mean);
  const Mat33f turn = rotation_matrix(check.rotation("rot", grid.rot));
  Jitter jitter(42 + static_cast<std::uint64_t>(particle_count()));
  const auto moved = [&](int axis, double x, double y, double z, float pos) {
    const double turned = x * turn.m[axis][0] + y * turn.m[axis][1] + z * turn.m[axis][2];
    const double at = turned + pos;
    return static_cast<float>(grid.jitter > 0 ? at + (jitter.uniform() - 0.5) * grid.jitter : at);
  };
  all_or_nothing([&] {
    for (int j = 0; j < grid.dim_y; ++j)
      for (int i = 0; i < grid.dim_x; ++i)
        for (int k = 0; k < grid.dim_z; ++k) {
          const double x = i * grid.cell_x, y = j * grid.cell_y, z = k * grid.cell_z;
          const Vec3f pos{moved(0, x, y, z, grid.pos.x), moved(1, x, y, z, grid.pos.y),
                          moved(2, x, y, z, grid.pos.z)};
          const double radius =
              grid.radius_std > 0 ? radius_mean + jitter.normal() * grid.radius_std : radius_mean;
          check.non_negative("a radius drawn with radius_std", radius);
          append_particle(pos, grid.vel, grid.mass, radius, grid.flags.value_or(ParticleFlags::ACTIVE));
        }
  });
}

void ModelBuilder::add_soft_grid(const SoftGrid& grid) {
  const Arguments check("add_soft_grid");
  check.at_least("dim_x", grid.dim_x, 1);
  check.at_least("dim_y", grid.dim_y, 1);
  check.at_least("dim_z", grid.dim_z, 1);
  check_size(check, grid.dim_x, grid.dim_y, grid.dim_z);
  check.positive("cell_x", grid.cell_x);
  check.positive("cell_y", grid.cell_y);
  check.positive("cell_z", grid.cell_z);
  check.finite("pos", grid.pos);
  check.finite("vel", grid.vel);
  check.non_negative("density", grid.density);
  const Quatf rot = check.rotation("rot", grid.rot);
  const double radius = grid.particle_radius.value_or(default_particle_radius);
  check.non_negative("particle_radius", radius);
  const double mass = grid.cell_x * grid.cell_y * grid.cell_z * grid.density;
  const int first_particle = particle_count(), first_triangle = tri_count();
  const auto particle = [&](int x, int y, int z) {
    return (grid.dim_x + 1) * (grid.dim_y + 1) * z + (grid.dim_x + 1) * y + x + first_particle;
  };
  TetrahedronSurface surface;
  const auto add_tet = [&](int i, int j, int k, int l) {
    append_tetrahedron(check, i, j, k, l, grid.k_mu, grid.k_lambda, grid.k_damp);
    surface.add_tetrahedron(i, j, k, l);
  };
  const auto add_cell = [&](int x, int y, int z) {
    const int v0 = particle(x, y, z), v1 = particle(x + 1, y, z), v2 = particle(x + 1, y, z + 1),
              v3 = particle(x, y, z + 1), v4 = particle(x, y + 1, z), v5 = particle(x + 1, y + 1, z),
              v6 = particle(x + 1, y + 1, z + 1), v7 = particle(x, y + 1, z + 1);
    if ((x + y + z) % 2 ==
        1) {  // neighbouring cells are mirror images, so that their faces have the same diagonals
      add_tet(v0, v1, v4, v3);
      add_tet(v2, v3, v6, v1);
      add_tet(v5, v4, v1, v6);
      add_tet(v7, v6, v3, v4);
      add_tet(v4, v1, v6, v3);
    } else {
      add_tet(v1, v2, v5, v0);
      add_tet(v3, v0, v7, v2);
      add_tet(v4, v7, v0, v5);
      add_tet(v6, v5, v2, v7);
      add_tet(v5, v2, v7, v0);
    }
  };
  all_or_nothing([&] {
    for (int z = 0; z <= grid.dim_z; ++z)
      for (int y = 0; y <= grid.dim_y; ++y)
        for (int x = 0; x <= grid.dim_x; ++x) {
          const bool fixed = (grid.fix_left && x == 0) || (grid.fix_right && x == grid.dim_x) ||
                             (grid.fix_top && y == grid.dim_y) || (grid.fix_bottom && y == 0);
          const Vec3f at{static_cast<float>(x * grid.cell_x), static_cast<float>(y * grid.cell_y),
                         static_cast<float>(z * grid.cell_z)};
          append_particle(rotate(rot, at) + grid.pos, grid.vel, fixed ? 0.0 : mass, radius,
                          ParticleFlags::ACTIVE);
        }
    for (int z = 0; z < grid.dim_z; ++z)
      for (int y = 0; y < grid.dim_y; ++y)
        for (int x = 0; x < grid.dim_x; ++x) add_cell(x, y, z);
    const TriMaterial skin{grid.tri_ke, grid.tri_ka, grid.tri_kd, grid.tri_drag, grid.tri_lift};
    for (const auto& face : surface.faces()) append_triangle<float>(check, face[0], face[1], face[2], skin);
    if (grid.add_surface_mesh_edges)
      append_edges_of_triangles<float>(check, first_triangle, {grid.edge_ke, grid.edge_kd});
  });
}

void ModelBuilder::add_cloth_grid(const ClothGrid& grid) {
  const Arguments check("add_cloth_grid");
  check.at_least("dim_x", grid.dim_x, 1);
  check.at_least("dim_y", grid.dim_y, 1);
  check_size(check, grid.dim_x, grid.dim_y, 1);
  check.positive("cell_x", grid.cell_x);
  check.positive("cell_y", grid.cell_y);
  check.finite("pos", grid.pos);
  check.finite("vel", grid.vel);
  check.non_negative("mass", grid.mass);
  const double radius = grid.particle_radius.value_or(default_particle_radius);
  check.non_negative("particle_radius", radius);
  const Mat33f turn = rotation_matrix(check.rotation("rot", grid.rot));
  const int first_particle = particle_count(), first_triangle = tri_count(), first_edge = edge_count();
  const auto particle = [&](int x, int y) { return first_particle + y * (grid.dim_x + 1) + x; };
  const auto add_cell = [&](int x, int y) {
    const int v0 = particle(x, y), v1 = particle(x + 1, y), v2 = particle(x + 1, y + 1),
              v3 = particle(x, y + 1);
    append_triangle<double>(check, v0, v1, grid.reverse_winding ? v2 : v3, grid.tri);
    append_triangle<double>(check, grid.reverse_winding ? v0 : v1, v2, v3, grid.tri);
  };
  all_or_nothing([&] {
    for (int y = 0; y <= grid.dim_y; ++y)
      for (int x = 0; x <= grid.dim_x; ++x) {
        const bool fixed = (grid.fix_left && x == 0) || (grid.fix_right && x == grid.dim_x) ||
                           (grid.fix_top && y == grid.dim_y) || (grid.fix_bottom && y == 0);
        const Vec3f at{static_cast<float>(x * grid.cell_x), static_cast<float>(y * grid.cell_y), 0.0f};
        append_particle(fused(turn, at) + grid.pos, grid.vel, fixed ? 0.0 : grid.mass, radius,
                        fixed ? 0 : ParticleFlags::ACTIVE);
      }
    for (int y = 0; y < grid.dim_y; ++y)
      for (int x = 0; x < grid.dim_x; ++x) add_cell(x, y);
    append_edges_of_triangles<double>(check, first_triangle, grid.edge);
    if (grid.add_springs)
      append_springs_of_edges(first_edge, grid.spring_ke.value_or(default_spring_ke),
                              grid.spring_kd.value_or(default_spring_kd));
  });
}

/// A spring along each edge, from its ends to the opposite particles, and across. Sorted by particles.
void ModelBuilder::append_springs_of_edges(int first_edge, double ke, double kd) {
  std::set<std::pair<int, int>> pairs;
  const auto link = [&](int a, int b) {
    if (a >= 0 && b >= 0) pairs.insert(std::minmax(a, b));
  };
  for (int e = first_edge; e < edge_count(); ++e) {
    const int* edge = edge_indices.data() + 4 * static_cast<std::size_t>(e);
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) link(edge[a], edge[b]);
  }
  for (const auto& [i, j] : pairs) add_spring(i, j, ke, kd, 0.0);
}

}  // namespace novaphy
