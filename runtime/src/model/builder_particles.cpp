// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: particles, springs, triangles, edges, tetrahedra.
#include <cmath>

#include "model/builder_support.hpp"
#include "model/rest_shape.hpp"

namespace novaphy {
namespace {

// Below this share of the longest side squared (cubed) an element has no area (volume) that float positions
// could hold.
constexpr double kSmallestShare = 1e-7;

std::string indices(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += (out.empty() ? "(" : ", ") + std::to_string(value);
  return out + ")";
}

/// Beyond this the square of a side leaves float32.
constexpr double kLongestSide = 1e18;

/// `number` of the element that would be added.
void check_span(const Arguments& check, const char* element, int number, std::initializer_list<int> particles,
                double longest_side) {
  if (!(longest_side <= kLongestSide))
    check.refuse(ErrorKind::degenerate_element, element, " ", number, " ", indices(particles), " has a longest side of ",
                 longest_side, " m: want at most ", kLongestSide);
}

}  // namespace

int ModelBuilder::add_particle(const Vec3f& pos, const Vec3f& vel, double mass, std::optional<double> radius,
                               int flags) {
  const Arguments check("add_particle");
  check.finite("pos", pos);
  check.finite("vel", vel);
  check.non_negative("mass", mass);
  const double size = radius.value_or(default_particle_radius);
  check.non_negative("radius", size);
  append_particle(pos, vel, mass, size, flags);
  return particle_count() - 1;
}

void ModelBuilder::add_particles(std::span<const Vec3f> pos, std::span<const Vec3f> vel,
                                 std::span<const double> mass, std::span<const double> radius,
                                 std::span<const int> flags) {
  const Arguments check("add_particles");
  const auto same_length = [&](const char* name, std::size_t length, bool optional) {
    check.require(length == pos.size() || (optional && length == 0), ErrorKind::value, name, " has ", length,
                  " entries: want ", pos.size(), ", as many as pos");
  };
  same_length("vel", vel.size(), false);
  same_length("mass", mass.size(), false);
  same_length("radius", radius.size(), true);
  same_length("flags", flags.size(), true);
  all_or_nothing([&] {
    for (std::size_t i = 0; i < pos.size(); ++i) {
      const auto entry = static_cast<std::ptrdiff_t>(i);
      const double size = radius.empty() ? default_particle_radius : radius[i];
      check.finite({"pos", entry}, pos[i]);
      check.finite({"vel", entry}, vel[i]);
      check.non_negative({"mass", entry}, mass[i]);
      check.non_negative({"radius", entry}, size);
      append_particle(pos[i], vel[i], mass[i], size, flags.empty() ? ParticleFlags::ACTIVE : flags[i]);
    }
  });
}

void ModelBuilder::append_particle(const Vec3f& pos, const Vec3f& vel, double mass, double radius,
                                   int flags) {
  append(particle_q, pos);
  append(particle_qd, vel);
  append(particle_mass, mass);
  append(particle_radius, radius);
  append(particle_flags, flags);
  append(particle_world, current_world_);
}

int ModelBuilder::add_spring(int i, int j, double ke, double kd, double control) {
  const Arguments check("add_spring");
  check.index("i", i, particle_count(), "particle");
  check.index("j", j, particle_count(), "particle");
  check.require(i != j, ErrorKind::value, "i and j are both ", i, ": want two different particles");
  check.finite("ke", ke);
  check.finite("kd", kd);
  check.finite("control", control);
  append(spring_indices, {i, j});
  append(spring_rest_length, length(row<Vec3f>(particle_q, i) - row<Vec3f>(particle_q, j)));
  append(spring_stiffness, ke);
  append(spring_damping, kd);
  append(spring_control, control);
  return spring_count() - 1;
}

double ModelBuilder::add_triangle(int i, int j, int k, const TriMaterial& material) {
  return append_triangle<float>(Arguments("add_triangle"), i, j, k, material);
}

std::vector<double> ModelBuilder::add_triangles(std::span<const int> i, std::span<const int> j,
                                                std::span<const int> k, const TriMaterial& material) {
  const Arguments check("add_triangles");
  check.require(i.size() == j.size() && j.size() == k.size(), ErrorKind::value, "i, j and k have ", i.size(),
                ", ", j.size(), " and ", k.size(), " entries: want the same number");
  std::vector<double> areas;
  all_or_nothing([&] {
    for (std::size_t t = 0; t < i.size(); ++t)
      areas.push_back(append_triangle<float>(check, i[t], j[t], k[t], material));
  });
  return areas;
}

template <class T>
double ModelBuilder::append_triangle(const Arguments& check, int i, int j, int k,
                                     const TriMaterial& material) {
  check.index("i", i, particle_count(), "particle");
  check.index("j", j, particle_count(), "particle");
  check.index("k", k, particle_count(), "particle");
  const double ke = material.tri_ke.value_or(default_tri_ke), ka = material.tri_ka.value_or(default_tri_ka),
               kd = material.tri_kd.value_or(default_tri_kd),
               drag = material.tri_drag.value_or(default_tri_drag),
               lift = material.tri_lift.value_or(default_tri_lift);
  check.finite("tri_ke", ke);
  check.finite("tri_ka", ka);
  check.finite("tri_kd", kd);
  check.finite("tri_drag", drag);
  check.finite("tri_lift", lift);
  const TriangleRest rest =
      triangle_rest<T>(row<Vec3f>(particle_q, i), row<Vec3f>(particle_q, j), row<Vec3f>(particle_q, k));
  check_span(check, "triangle", tri_count(), {i, j, k}, rest.longest_side);
  if (rest.area <= kSmallestShare * rest.longest_side * rest.longest_side)
    check.refuse(ErrorKind::degenerate_element, "triangle ", tri_count(), " ", indices({i, j, k}), " has area ", rest.area,
                 " m^2 and a longest side of ", rest.longest_side,
                 " m: want particles that do not lie on a line");
  append(tri_indices, {i, j, k});
  append(tri_poses, rest.pose);
  append(particle_tri_activation, 0.0);
  append(particle_tri_material, {ke, ka, kd, drag, lift});
  append(tri_areas, rest.area);
  return rest.area;
}
template double ModelBuilder::append_triangle<float>(const Arguments&, int, int, int, const TriMaterial&);
template double ModelBuilder::append_triangle<double>(const Arguments&, int, int, int, const TriMaterial&);

int ModelBuilder::add_edge(int i, int j, int k, int l, std::optional<double> rest,
                           const EdgeMaterial& material) {
  const Arguments check("add_edge");
  check.index_or("none", "i", i, particle_count(), "particle");
  check.index_or("none", "j", j, particle_count(), "particle");
  check.index("k", k, particle_count(), "particle");
  check.index("l", l, particle_count(), "particle");
  if (rest) check.finite("rest", *rest);
  const float side = length(row<Vec3f>(particle_q, l) - row<Vec3f>(particle_q, k));
  if (side <= 0)
    check.refuse(ErrorKind::degenerate_element, "the edge of particles ", indices({k, l}),
                 " has length 0: want two particles at different places");
  const bool bends = i >= 0 && j >= 0;
  const double angle =
      rest.value_or(!bends ? 0.0
                           : dihedral_angle<float>(row<Vec3f>(particle_q, i), row<Vec3f>(particle_q, j),
                                                   row<Vec3f>(particle_q, k), row<Vec3f>(particle_q, l)));
  return append_edge(check, i, j, k, l, angle, side, material);
}

int ModelBuilder::append_edge(const Arguments& check, int i, int j, int k, int l, double rest, double length,
                              const EdgeMaterial& material) {
  const double ke = material.edge_ke.value_or(default_edge_ke),
               kd = material.edge_kd.value_or(default_edge_kd);
  check.finite("edge_ke", ke);
  check.finite("edge_kd", kd);
  append(edge_indices, {i, j, k, l});
  append(edge_rest_angle, rest);
  append(edge_rest_length, length);
  append(edge_bending_properties, {ke, kd});
  return edge_count() - 1;
}

double ModelBuilder::add_tetrahedron(int i, int j, int k, int l, double k_mu, double k_lambda,
                                     double k_damp) {
  return append_tetrahedron(Arguments("add_tetrahedron"), i, j, k, l, k_mu, k_lambda, k_damp);
}

double ModelBuilder::append_tetrahedron(const Arguments& check, int i, int j, int k, int l, double k_mu,
                                        double k_lambda, double k_damp) {
  check.index("i", i, particle_count(), "particle");
  check.index("j", j, particle_count(), "particle");
  check.index("k", k, particle_count(), "particle");
  check.index("l", l, particle_count(), "particle");
  check.finite("k_mu", k_mu);
  check.finite("k_lambda", k_lambda);
  check.finite("k_damp", k_damp);
  const TetrahedronRest rest = tetrahedron_rest(row<Vec3f>(particle_q, i), row<Vec3f>(particle_q, j),
                                                row<Vec3f>(particle_q, k), row<Vec3f>(particle_q, l));
  const double smallest = kSmallestShare * rest.longest_side * rest.longest_side * rest.longest_side;
  check_span(check, "tetrahedron", tet_count(), {i, j, k, l}, rest.longest_side);
  if (std::abs(rest.volume) <= smallest)
    check.refuse(ErrorKind::degenerate_element, "tetrahedron ", tet_count(), " ", indices({i, j, k, l}), " has volume ",
                 rest.volume, " m^3 and a longest side of ", rest.longest_side,
                 " m: want particles that do not lie in a plane");
  if (rest.volume < 0)
    check.refuse(ErrorKind::degenerate_element, "tetrahedron ", tet_count(), " ", indices({i, j, k, l}),
                 " is inverted, its signed volume is ", rest.volume, " m^3: swap two of its particles");
  append(tet_indices, {i, j, k, l});
  append(tet_poses, rest.pose);
  append(particle_tet_activation, 0.0);
  append(particle_tet_material, {k_mu, k_lambda, k_damp});
  return rest.volume;
}

}  // namespace novaphy
