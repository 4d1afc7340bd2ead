// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: meshes of tetrahedra and of cloth, in Newton's order.
#include <algorithm>

#include "model/builder_support.hpp"
#include "model/tetrahedron_surface.hpp"
#include "novaphy/log.hpp"

namespace novaphy {
namespace {

/// What both kinds of mesh check before anything is added.
template <class Mesh>
void check_mesh(const Arguments& check, const Mesh& mesh, std::size_t corners, const char* element) {
  check.finite("pos", mesh.pos);
  check.finite("vel", mesh.vel);
  check.positive("scale", mesh.scale);
  check.require(!mesh.vertices.empty(), ErrorKind::value, "vertices are empty: want a row (x, y, z) for each particle");
  check.require(!mesh.indices.empty() && mesh.indices.size() % corners == 0, ErrorKind::value, "indices has ",
                mesh.indices.size(), " entries: want ", corners, " for each ", element);
  const auto count = static_cast<int>(mesh.vertices.size());
  for (std::size_t k = 0; k < mesh.indices.size(); ++k)
    check.require(mesh.indices[k] >= 0 && mesh.indices[k] < count, ErrorKind::index, "indices[", k, "], of ", element,
                  " ", k / corners, ", is ", mesh.indices[k], ": the mesh has ", count,
                  " vertices, want an index from 0 to ", count - 1);
  for (std::size_t k = 0; k < mesh.vertices.size(); ++k)
    check.finite({"vertices", static_cast<std::ptrdiff_t>(k)}, mesh.vertices[k]);
}

/// A constant of tetrahedron `row`: its own, the one of all, or the default.
double constant_of(std::span<const double> given, std::size_t row, double otherwise) {
  if (given.empty()) return otherwise;
  return given.size() == 1 ? given[0] : given[row];
}

void check_constants(const Arguments& check, const char* name, std::span<const double> given, std::size_t rows) {
  check.require(given.size() <= 1 || given.size() == rows, ErrorKind::value, name, " has ", given.size(),
                " entries: want one number, or one for each of the ", rows, " tetrahedra");
}

void tell_of_unused(const char* call, std::span<const int> indices, std::size_t vertices, const char* element) {
  std::vector<bool> used(vertices);
  for (const int index : indices) used[static_cast<std::size_t>(index)] = true;
  const auto unused = std::ranges::count(used, false);
  if (unused == 0) return;
  log(LogLevel::warn, text(call, ": ", unused, " of ", vertices, " vertices belong to no ", element, ", the first is ",
                           std::ranges::find(used, false) - used.begin(),
                           "; their particles have no mass and stay where they are"));
}

}  // namespace

void ModelBuilder::append_vertices(const Arguments& check, std::span<const Vec3f> at, const Vec3f& vel, double radius) {
  for (std::size_t k = 0; k < at.size(); ++k) {
    check.finite({"a vertex after scale, rot and pos,", static_cast<std::ptrdiff_t>(k)}, at[k]);
    append_particle(at[k], vel, 0.0, radius, ParticleFlags::ACTIVE);
  }
}

void ModelBuilder::add_soft_mesh(const SoftMesh& mesh) {
  const Arguments check("add_soft_mesh");
  check_mesh(check, mesh, 4, "tetrahedron");
  const Quatf rot = check.rotation("rot", mesh.rot);
  const double radius = mesh.particle_radius.value_or(default_particle_radius);
  check.non_negative("particle_radius", radius);
  const double density = mesh.density.value_or(default_tet_density);
  check.non_negative("density", density);
  const std::size_t tets = mesh.indices.size() / 4;
  check_constants(check, "k_mu", mesh.k_mu, tets);
  check_constants(check, "k_lambda", mesh.k_lambda, tets);
  check_constants(check, "k_damp", mesh.k_damp, tets);
  const int first_particle = particle_count(), first_triangle = tri_count();
  std::vector<Vec3f> at;
  for (const Vec3f& vertex : mesh.vertices) at.push_back(rotate(rot, vertex * static_cast<float>(mesh.scale)) + mesh.pos);
  std::vector<double> mass(at.size());
  TetrahedronSurface surface;
  all_or_nothing([&] {
    append_vertices(check, at, mesh.vel, radius);
    for (std::size_t t = 0; t < tets; ++t) {
      const auto corner = [&](std::size_t k) { return mesh.indices[4 * t + k] + first_particle; };
      const double volume = append_tetrahedron(check, corner(0), corner(1), corner(2), corner(3),
                                               constant_of(mesh.k_mu, t, default_tet_k_mu),
                                               constant_of(mesh.k_lambda, t, default_tet_k_lambda),
                                               constant_of(mesh.k_damp, t, default_tet_k_damp));
      surface.add_tetrahedron(corner(0), corner(1), corner(2), corner(3));
      for (std::size_t k = 0; k < 4; ++k) mass[static_cast<std::size_t>(mesh.indices[4 * t + k])] += density * volume / 4;
    }
    std::ranges::transform(mass, particle_mass.begin() + first_particle, [](double m) { return static_cast<float>(m); });
    const TriMaterial skin{mesh.tri_ke, mesh.tri_ka, mesh.tri_kd, mesh.tri_drag, mesh.tri_lift};
    for (const auto& face : surface.faces()) append_triangle<float>(check, face[0], face[1], face[2], skin);
    if (mesh.add_surface_mesh_edges)
      append_edges_of_triangles<float>(check, first_triangle, {mesh.edge_ke, mesh.edge_kd});
  });
  tell_of_unused("add_soft_mesh", mesh.indices, mesh.vertices.size(), "tetrahedron");
}

void ModelBuilder::add_cloth_mesh(const ClothMesh& mesh) {
  const Arguments check("add_cloth_mesh");
  check_mesh(check, mesh, 3, "triangle");
  check.non_negative("density", mesh.density);
  const double radius = mesh.particle_radius.value_or(default_particle_radius);
  check.non_negative("particle_radius", radius);
  const Mat33f turn = rotation_matrix(check.rotation("rot", mesh.rot));
  const int first_particle = particle_count(), first_triangle = tri_count(), first_edge = edge_count();
  std::vector<Vec3f> at;
  for (const Vec3f& vertex : mesh.vertices) {
    const double x = vertex.x * mesh.scale, y = vertex.y * mesh.scale, z = vertex.z * mesh.scale;
    const auto moved = [&](int axis, float pos) {
      return static_cast<float>(x * turn.m[axis][0] + y * turn.m[axis][1] + z * turn.m[axis][2] + pos);
    };
    at.push_back({moved(0, mesh.pos.x), moved(1, mesh.pos.y), moved(2, mesh.pos.z)});
  }
  std::vector<double> mass(at.size());
  all_or_nothing([&] {
    append_vertices(check, at, mesh.vel, radius);
    for (std::size_t t = 0; t < mesh.indices.size(); t += 3) {
      const double area = append_triangle<double>(check, mesh.indices[t] + first_particle,
                                                  mesh.indices[t + 1] + first_particle,
                                                  mesh.indices[t + 2] + first_particle, mesh.tri);
      for (std::size_t k = 0; k < 3; ++k) mass[static_cast<std::size_t>(mesh.indices[t + k])] += mesh.density * area / 3;
    }
    std::ranges::transform(mass, particle_mass.begin() + first_particle, [](double m) { return static_cast<float>(m); });
    append_edges_of_triangles<double>(check, first_triangle, mesh.edge);
    if (mesh.add_springs)
      append_springs_of_edges(first_edge, mesh.spring_ke.value_or(default_spring_ke),
                              mesh.spring_kd.value_or(default_spring_kd));
  });
  tell_of_unused("add_cloth_mesh", mesh.indices, mesh.vertices.size(), "triangle");
}

}  // namespace novaphy
