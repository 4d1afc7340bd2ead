// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's particles, springs, triangles, edges, tetrahedra and grids.
#include "builder_rows.hpp"

namespace novaphy::python {
namespace {

int add_particle(ModelBuilder& self, const py::object& pos, const py::object& vel, double mass, Number radius,
                 int flags) {
  return self.add_particle(vec3_argument(pos, "add_particle: pos"), vec3_argument(vel, "add_particle: vel"),
                           mass, radius, flags);
}

void add_particles(ModelBuilder& self, const py::object& pos, const py::object& vel, const py::object& mass,
                   const py::object& radius, const py::object& flags) {
  self.add_particles(vec3_rows(pos, "add_particles: pos"), vec3_rows(vel, "add_particles: vel"),
                     doubles(mass, "add_particles: mass"), doubles(radius, "add_particles: radius"),
                     integers(flags, "add_particles: flags"));
}

void add_particle_grid(ModelBuilder& self, const py::object& pos, const py::object& rot,
                       const py::object& vel, int dim_x, int dim_y, int dim_z, double cell_x, double cell_y,
                       double cell_z, double mass, double jitter, Number radius_mean, double radius_std,
                       std::optional<int> flags) {
  ParticleGrid grid;
  place(grid, "add_particle_grid", pos, rot, vel);
  grid.dim_x = dim_x, grid.dim_y = dim_y, grid.dim_z = dim_z;
  grid.cell_x = cell_x, grid.cell_y = cell_y, grid.cell_z = cell_z;
  grid.mass = mass, grid.jitter = jitter;
  grid.radius_mean = radius_mean, grid.radius_std = radius_std, grid.flags = flags;
  self.add_particle_grid(grid);
}

void add_soft_grid(ModelBuilder& self, const py::object& pos, const py::object& rot, const py::object& vel,
                   int dim_x, int dim_y, int dim_z, double cell_x, double cell_y, double cell_z,
                   double density, double k_mu, double k_lambda, double k_damp, bool fix_left, bool fix_right,
                   bool fix_top, bool fix_bottom, double tri_ke, double tri_ka, double tri_kd,
                   double tri_drag, double tri_lift, bool add_surface_mesh_edges, double edge_ke,
                   double edge_kd, Number particle_radius) {
  SoftGrid grid;
  place(grid, "add_soft_grid", pos, rot, vel);
  grid.dim_x = dim_x, grid.dim_y = dim_y, grid.dim_z = dim_z;
  grid.cell_x = cell_x, grid.cell_y = cell_y, grid.cell_z = cell_z;
  grid.density = density, grid.k_mu = k_mu, grid.k_lambda = k_lambda, grid.k_damp = k_damp;
  grid.fix_left = fix_left, grid.fix_right = fix_right, grid.fix_top = fix_top, grid.fix_bottom = fix_bottom;
  grid.tri_ke = tri_ke, grid.tri_ka = tri_ka, grid.tri_kd = tri_kd, grid.tri_drag = tri_drag,
  grid.tri_lift = tri_lift;
  grid.add_surface_mesh_edges = add_surface_mesh_edges;
  grid.edge_ke = edge_ke, grid.edge_kd = edge_kd;
  grid.particle_radius = particle_radius;
  self.add_soft_grid(grid);
}

void add_cloth_grid(ModelBuilder& self, const py::object& pos, const py::object& rot, const py::object& vel,
                    int dim_x, int dim_y, double cell_x, double cell_y, double mass, bool reverse_winding,
                    bool fix_left, bool fix_right, bool fix_top, bool fix_bottom, Number tri_ke,
                    Number tri_ka, Number tri_kd, Number tri_drag, Number tri_lift, Number edge_ke,
                    Number edge_kd, bool add_springs, Number spring_ke, Number spring_kd,
                    Number particle_radius) {
  ClothGrid grid;
  place(grid, "add_cloth_grid", pos, rot, vel);
  grid.dim_x = dim_x, grid.dim_y = dim_y, grid.cell_x = cell_x, grid.cell_y = cell_y;
  grid.mass = mass, grid.reverse_winding = reverse_winding;
  grid.fix_left = fix_left, grid.fix_right = fix_right, grid.fix_top = fix_top, grid.fix_bottom = fix_bottom;
  grid.tri = {tri_ke, tri_ka, tri_kd, tri_drag, tri_lift};
  grid.edge = {edge_ke, edge_kd};
  grid.add_springs = add_springs, grid.spring_ke = spring_ke, grid.spring_kd = spring_kd;
  grid.particle_radius = particle_radius;
  self.add_cloth_grid(grid);
}

void bind_elements(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def("add_spring", &ModelBuilder::add_spring, integer("i"), integer("j"), "ke"_a, "kd"_a, "control"_a,
          "A spring; its rest length is the distance now. Returns its index.")
      .def(
          "add_triangle",
          [](ModelBuilder& self, int i, int j, int k, Number ke, Number ka, Number kd, Number drag,
             Number lift) {
            return self.add_triangle(i, j, k, {ke, ka, kd, drag, lift});
          },
          integer("i"), integer("j"), integer("k"), py::kw_only(), "tri_ke"_a = none, "tri_ka"_a = none,
          "tri_kd"_a = none, "tri_drag"_a = none, "tri_lift"_a = none,
          "A membrane triangle. Returns its rest area, m^2.")
      .def(
          "add_triangles",
          [](ModelBuilder& self, const py::object& i, const py::object& j, const py::object& k, Number ke,
             Number ka, Number kd, Number drag, Number lift) {
            return self.add_triangles(integers(i, "add_triangles: i"), integers(j, "add_triangles: j"),
                                      integers(k, "add_triangles: k"), {ke, ka, kd, drag, lift});
          },
          "i"_a, "j"_a, "k"_a, py::kw_only(), "tri_ke"_a = none, "tri_ka"_a = none, "tri_kd"_a = none,
          "tri_drag"_a = none, "tri_lift"_a = none,
          "Triangles of one material. Returns their rest areas, m^2.")
      .def(
          "add_edge",
          [](ModelBuilder& self, int i, int j, int k, int l, Number rest, Number ke, Number kd) {
            return self.add_edge(i, j, k, l, rest, {ke, kd});
          },
          integer("i"), integer("j"), integer("k"), integer("l"), py::kw_only(), "rest"_a = none,
          "edge_ke"_a = none, "edge_kd"_a = none,
          "Bending about edge (k, l) of the triangles with tips i and j; -1 = none. rest is an angle in rad, "
          "None = the angle now.")
      .def("add_tetrahedron", &ModelBuilder::add_tetrahedron, integer("i"), integer("j"), integer("k"),
           integer("l"), "k_mu"_a = 1000.0, "k_lambda"_a = 1000.0, "k_damp"_a = 0.0,
           "A tetrahedron. Returns its rest volume, m^3.");
}

}  // namespace

void bind_builder_particles(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def("add_particle", &add_particle, "pos"_a, "vel"_a, "mass"_a, "radius"_a = none,
          integer("flags") = ParticleFlags::ACTIVE, "A particle: m, m/s, kg, m. Returns its index.")
      .def("add_particles", &add_particles, "pos"_a, "vel"_a, "mass"_a, "radius"_a = none, "flags"_a = none,
           "Particles from rows of numbers.")
      .def("add_particle_grid", &add_particle_grid, py::kw_only(), "pos"_a, "rot"_a, "vel"_a,
           integer("dim_x"), integer("dim_y"), integer("dim_z"), "cell_x"_a, "cell_y"_a, "cell_z"_a, "mass"_a,
           "jitter"_a, "radius_mean"_a = none, "radius_std"_a = 0.0, integer("flags") = none,
           "dim_x * dim_y * dim_z particles.")
      .def("add_soft_grid", &add_soft_grid, py::kw_only(), "pos"_a, "rot"_a, "vel"_a, integer("dim_x"),
           integer("dim_y"), integer("dim_z"), "cell_x"_a, "cell_y"_a, "cell_z"_a, "density"_a, "k_mu"_a,
           "k_lambda"_a, "k_damp"_a, "fix_left"_a = false, "fix_right"_a = false, "fix_top"_a = false,
           "fix_bottom"_a = false, "tri_ke"_a = 0.0, "tri_ka"_a = 0.0, "tri_kd"_a = 0.0, "tri_drag"_a = 0.0,
           "tri_lift"_a = 0.0, "add_surface_mesh_edges"_a = true, "edge_ke"_a = 0.0, "edge_kd"_a = 0.0,
           "particle_radius"_a = none,
           "A block of tetrahedra, five a cell, with its surface triangles and their edges.")
      .def("add_cloth_grid", &add_cloth_grid, py::kw_only(), "pos"_a, "rot"_a, "vel"_a, integer("dim_x"),
           integer("dim_y"), "cell_x"_a, "cell_y"_a, "mass"_a, "reverse_winding"_a = false,
           "fix_left"_a = false, "fix_right"_a = false, "fix_top"_a = false, "fix_bottom"_a = false,
           "tri_ke"_a = none, "tri_ka"_a = none, "tri_kd"_a = none, "tri_drag"_a = none, "tri_lift"_a = none,
           "edge_ke"_a = none, "edge_kd"_a = none, "add_springs"_a = false, "spring_ke"_a = none,
           "spring_kd"_a = none, "particle_radius"_a = none,
           "A sheet of triangles, two a cell, with bending edges.");
  bind_elements(cls);
  bind_builder_meshes(cls);
}

}  // namespace novaphy::python
