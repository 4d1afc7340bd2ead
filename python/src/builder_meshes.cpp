// SPDX-License-Identifier: Apache-2.0
// ModelBuilder's meshes of tetrahedra and of cloth.
#include "builder_rows.hpp"

namespace novaphy::python {
namespace {

/// One number, or one for each element; None = the builder's default.
std::vector<double> constants(const py::object& value, const std::string& where) {
  if (const std::optional<double> number = number_of(value)) return {*number};
  return doubles(value, where);
}

/// Indices as a flat sequence, or as rows of `corners`.
std::vector<int> element_indices(const py::object& value, const std::string& where, int corners) {
  const py::object array = py::module_::import("numpy").attr("asarray")(value);
  if (array.attr("ndim").cast<int>() != 2) return integers(array, where);
  const py::array rows = convert_array(array, {where, DType::i32, {-1, corners}});
  const auto* begin = static_cast<const int*>(rows.data());
  return {begin, begin + rows.size()};
}

/// The argument, or the attribute of `mesh` where it is None.
py::object given(const py::object& argument, const py::object& mesh, const char* attribute) {
  return argument.is_none() && !mesh.is_none() ? mesh.attr(attribute) : argument;
}

void require_parts(const char* call, const char* kind, const py::object& mesh, const py::object& vertices,
                   const py::object& indices, const char* index_name) {
  NOVAPHY_REQUIRE(mesh.is_none() || (py::hasattr(mesh, "vertices") && py::hasattr(mesh, index_name)), ErrorKind::type,
                  call, ": mesh is a ", std::string(py::str(py::type::handle_of(mesh).attr("__name__"))), "; give a ",
                  kind, ", as novaphy.io.load_mesh returns it, or vertices and indices");
  NOVAPHY_REQUIRE(!mesh.is_none() || (!vertices.is_none() && !indices.is_none()), ErrorKind::value, call,
                  ": there is no mesh; give mesh=, or both vertices= and indices=");
}

void add_soft_mesh(ModelBuilder& self, const py::object& pos, const py::object& rot, double scale, const py::object& vel,
                   const py::object& mesh, const py::object& vertices, const py::object& indices,
                   const py::object& density, const py::object& k_mu, const py::object& k_lambda,
                   const py::object& k_damp, double tri_ke, double tri_ka, double tri_kd, double tri_drag,
                   double tri_lift, bool add_surface_mesh_edges, double edge_ke, double edge_kd, Number particle_radius) {
  require_parts("add_soft_mesh", "novaphy.TetMesh", mesh, vertices, indices, "tet_indices");
  const auto at = vec3_rows(given(vertices, mesh, "vertices"), "add_soft_mesh: vertices");
  const auto corners = element_indices(given(indices, mesh, "tet_indices"), "add_soft_mesh: indices", 4);
  const auto mu = constants(given(k_mu, mesh, "k_mu"), "add_soft_mesh: k_mu"),
             lambda = constants(given(k_lambda, mesh, "k_lambda"), "add_soft_mesh: k_lambda"),
             damp = constants(given(k_damp, mesh, "k_damp"), "add_soft_mesh: k_damp");
  SoftMesh soft;
  place(soft, "add_soft_mesh", pos, rot, vel);
  soft.scale = scale, soft.vertices = at, soft.indices = corners;
  soft.density = given(density, mesh, "density").cast<Number>();
  soft.k_mu = mu, soft.k_lambda = lambda, soft.k_damp = damp;
  soft.tri_ke = tri_ke, soft.tri_ka = tri_ka, soft.tri_kd = tri_kd, soft.tri_drag = tri_drag, soft.tri_lift = tri_lift;
  soft.add_surface_mesh_edges = add_surface_mesh_edges;
  soft.edge_ke = edge_ke, soft.edge_kd = edge_kd;
  soft.particle_radius = particle_radius;
  self.add_soft_mesh(soft);
}

void add_cloth_mesh(ModelBuilder& self, const py::object& pos, const py::object& rot, double scale,
                    const py::object& vel, const py::object& vertices, const py::object& indices, double density,
                    const py::object& mesh, Number tri_ke, Number tri_ka, Number tri_kd, Number tri_drag,
                    Number tri_lift, Number edge_ke, Number edge_kd, bool add_springs, Number spring_ke,
                    Number spring_kd, Number particle_radius) {
  require_parts("add_cloth_mesh", "novaphy.Mesh", mesh, vertices, indices, "indices");
  const auto at = vec3_rows(given(vertices, mesh, "vertices"), "add_cloth_mesh: vertices");
  const auto corners = element_indices(given(indices, mesh, "indices"), "add_cloth_mesh: indices", 3);
  ClothMesh cloth;
  place(cloth, "add_cloth_mesh", pos, rot, vel);
  cloth.scale = scale, cloth.vertices = at, cloth.indices = corners, cloth.density = density;
  cloth.tri = {tri_ke, tri_ka, tri_kd, tri_drag, tri_lift};
  cloth.edge = {edge_ke, edge_kd};
  cloth.add_springs = add_springs, cloth.spring_ke = spring_ke, cloth.spring_kd = spring_kd;
  cloth.particle_radius = particle_radius;
  self.add_cloth_mesh(cloth);
}

}  // namespace

void bind_builder_meshes(BuilderClass& cls) {
  using namespace py::literals;
  const py::none none;
  cls.def("add_soft_mesh", &add_soft_mesh, py::kw_only(), "pos"_a, "rot"_a, "scale"_a, "vel"_a, "mesh"_a = none,
          "vertices"_a = none, "indices"_a = none, "density"_a = none, "k_mu"_a = none, "k_lambda"_a = none,
          "k_damp"_a = none, "tri_ke"_a = 0.0, "tri_ka"_a = 0.0, "tri_kd"_a = 0.0, "tri_drag"_a = 0.0,
          "tri_lift"_a = 0.0, "add_surface_mesh_edges"_a = true, "edge_ke"_a = 0.0, "edge_kd"_a = 0.0,
          "particle_radius"_a = none,
          "A mesh of tetrahedra with its surface triangles and their edges: a TetMesh, or vertices (V, 3) [m] and "
          "indices, four a tetrahedron. What is given beside a mesh stands before what the mesh says. density is "
          "kg/m^3; k_mu, k_lambda [Pa] and k_damp are one number or one for each tetrahedron. Vertices are scaled, "
          "turned, then moved. DegenerateElementError names a flat or inverted tetrahedron.")
      .def("add_cloth_mesh", &add_cloth_mesh, py::kw_only(), "pos"_a, "rot"_a, "scale"_a, "vel"_a,
           "vertices"_a = none, "indices"_a = none, "density"_a, "mesh"_a = none, "tri_ke"_a = none,
           "tri_ka"_a = none, "tri_kd"_a = none, "tri_drag"_a = none, "tri_lift"_a = none, "edge_ke"_a = none,
           "edge_kd"_a = none, "add_springs"_a = false, "spring_ke"_a = none, "spring_kd"_a = none,
           "particle_radius"_a = none,
           "A sheet of triangles with bending edges: vertices (V, 3) [m] and indices, three a triangle, or a Mesh. "
           "density is kg/m^2. Vertices are scaled, turned, then moved. DegenerateElementError names a triangle "
           "without area.");
}

}  // namespace novaphy::python
