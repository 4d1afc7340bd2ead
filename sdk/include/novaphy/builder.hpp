// SPDX-License-Identifier: Apache-2.0
// Builds a Model: particles, springs, triangles, edges, tetrahedra, bodies, shapes, joints, articulations,
// worlds.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "novaphy/builder_arguments.hpp"
#include "novaphy/model.hpp"

namespace novaphy {

class Arguments;

/// Collects a scene and turns it into a Model.
///
/// Names, parameters and defaults are Newton's. SI units; quaternions x, y, z, w; body -1 and parent -1 are
/// the world. Scalars arrive as double and are rounded once, where they are stored; an empty optional means
/// the builder's default. A call that throws leaves the builder as it was. Quaternions and axes need not have
/// length 1 to the last bit: they are normalised, but a quaternion whose length is off by more than 1e-3 is
/// refused.
///
/// Errors of every call: Error(index) for an index out of range, with the index and the count; Error(value)
/// for a number that is not finite, a negative mass, radius, half extent or density, a zero axis;
/// Error(degenerate_element) for a triangle without area and a tetrahedron without volume or inverted. Not
/// thread-safe.
class NOVAPHY_API ModelBuilder {
 public:
  using ShapeConfig = novaphy::ShapeConfig;
  using JointDofConfig = novaphy::JointDofConfig;

  /// `gravity_vector` empty = 9.81 m/s^2 against `up_axis`.
  explicit ModelBuilder(Axis up_axis = Axis::Z, const std::optional<Vec3f>& gravity_vector = {});
  ~ModelBuilder();
  ModelBuilder(const ModelBuilder&);
  ModelBuilder(ModelBuilder&&) noexcept;
  ModelBuilder& operator=(const ModelBuilder&);
  ModelBuilder& operator=(ModelBuilder&&) noexcept;

  Axis up_axis() const { return up_axis_; }
  Vec3f up_vector() const;

  // Defaults of the calls that follow.
  ShapeConfig default_shape_cfg;
  JointDofConfig default_joint_cfg;
  double default_particle_radius = 0.1;  ///< m
  double default_tri_ke = 100, default_tri_ka = 100, default_tri_kd = 10, default_tri_drag = 0,
         default_tri_lift = 0;
  double default_edge_ke = 100, default_edge_kd = 0;
  double default_spring_ke = 100, default_spring_kd = 0;
  double default_tet_density = 1, default_tet_k_mu = 1000, default_tet_k_lambda = 1000,
         default_tet_k_damp = 0;
  double rigid_gap = 0.1;               ///< m, gap of shapes whose configuration has none
  double particle_max_velocity = 1e5;   ///< m/s
  Vec3f default_gravity{0, 0, -9.81f};  ///< m/s^2, of worlds that do not name their own

  // Particles and their elements.
  int add_particle(const Vec3f& pos, const Vec3f& vel, double mass, std::optional<double> radius = {},
                   int flags = ParticleFlags::ACTIVE);
  /// Empty `radius` and `flags` = default_particle_radius and ACTIVE.
  void add_particles(std::span<const Vec3f> pos, std::span<const Vec3f> vel, std::span<const double> mass,
                     std::span<const double> radius = {}, std::span<const int> flags = {});
  void add_particle_grid(const ParticleGrid& grid);
  /// Rest length = the distance now. `control` is an activation.
  int add_spring(int i, int j, double ke, double kd, double control);
  /// Returns the area, m^2.
  double add_triangle(int i, int j, int k, const TriMaterial& material = {});
  /// Returns the areas. The same material for all.
  std::vector<double> add_triangles(std::span<const int> i, std::span<const int> j, std::span<const int> k,
                                    const TriMaterial& material = {});
  /// Bending between the triangles at both sides of edge (k, l); i and j are the opposite particles, -1 =
  /// none. `rest` empty = the angle now, rad.
  int add_edge(int i, int j, int k, int l, std::optional<double> rest = {},
               const EdgeMaterial& material = {});
  /// Returns the volume, m^3. Faces must turn so that (x1-x0) x (x2-x0) . (x3-x0) > 0.
  double add_tetrahedron(int i, int j, int k, int l, double k_mu = 1000.0, double k_lambda = 1000.0,
                         double k_damp = 0.0);
  void add_soft_grid(const SoftGrid& grid);
  void add_cloth_grid(const ClothGrid& grid);
  /// Throws Error(index) for an index without a vertex, Error(degenerate_element) for a flat or inverted element, with
  /// its number. Vertices that no element has get no mass and stay where they are; a line of the log says so.
  void add_soft_mesh(const SoftMesh& mesh);
  void add_cloth_mesh(const ClothMesh& mesh);

  // Bodies and shapes. All return the index of what they add.
  /// A body that floats: add_link, a free joint to the world and an articulation of that joint.
  int add_body(const BodyArgs& args = {});
  /// A body alone, for joints and add_articulation to follow.
  int add_link(const BodyArgs& args = {});
  /// Adds the mass of the shape to its body unless `is_static`, its density is 0 or the body's inertia is
  /// locked. Throws Error(unsupported_feature) for MESH, CONVEX_MESH and HFIELD.
  int add_shape(int body, GeoType type, const Vec3f& scale, const ShapeArgs& args = {},
                bool is_static = false);
  /// a x + b y + c z + d = 0, not used when args.xform is set (the plane's normal is local +Z). 0 = infinite.
  int add_shape_plane(const std::array<double, 4>& plane = {0, 0, 1, 0}, double width = 10.0,
                      double length = 10.0, int body = -1, const ShapeArgs& args = {});
  int add_ground_plane(double height = 0.0, std::optional<ShapeConfig> cfg = {},
                       const std::string& label = "ground_plane");
  int add_shape_box(int body, double hx = 0.5, double hy = 0.5, double hz = 0.5, const ShapeArgs& args = {});
  int add_shape_sphere(int body, double radius = 1.0, const ShapeArgs& args = {});
  int add_shape_ellipsoid(int body, double rx = 1.0, double ry = 0.75, double rz = 0.5,
                          const ShapeArgs& args = {});
  /// Axis = local Z; `half_height` of the straight part.
  int add_shape_capsule(int body, double radius = 1.0, double half_height = 0.5, const ShapeArgs& args = {});
  int add_shape_cylinder(int body, double radius = 1.0, double half_height = 0.5, const ShapeArgs& args = {});
  /// Base at -half_height, tip at +half_height.
  int add_shape_cone(int body, double radius = 1.0, double half_height = 0.5, const ShapeArgs& args = {});
  /// A frame that collides with nothing and weighs nothing.
  int add_site(int body, const std::optional<Transformf>& xform = {}, GeoType type = GeoType::SPHERE,
               const Vec3f& scale = {0.01f, 0.01f, 0.01f}, const std::string& label = {},
               bool visible = false);
  /// These two shapes never collide.
  void add_shape_collision_filter_pair(int shape_a, int shape_b);

  // Joints. All return the index of the joint.
  int add_joint(JointType type, int parent, int child, std::span<const JointDofConfig> linear_axes,
                std::span<const JointDofConfig> angular_axes, const JointArgs& args = {});
  /// `axis` empty = default_joint_cfg.
  int add_joint_revolute(int parent, int child, const std::optional<JointDofConfig>& axis = {},
                         const JointArgs& args = {});
  int add_joint_prismatic(int parent, int child, const std::optional<JointDofConfig>& axis = {},
                          const JointArgs& args = {});
  int add_joint_fixed(int parent, int child, const JointArgs& args = {});
  /// Coordinates start so that the child is where its body_q says.
  int add_joint_free(int child, const JointArgs& args = {}, int parent = -1);
  /// Of `axis` only armature, friction, damping, stiffness and actuator_mode are used; empty =
  /// default_joint_cfg.
  int add_joint_ball(int parent, int child, const std::optional<JointDofConfig>& axis = {},
                     const JointArgs& args = {});
  int add_joint_d6(int parent, int child, std::span<const JointDofConfig> linear_axes,
                   std::span<const JointDofConfig> angular_axes, const JointArgs& args = {});
  /// A negative distance is no limit.
  int add_joint_distance(int parent, int child, double min_distance = -1.0, double max_distance = 1.0,
                         const JointArgs& args = {});
  /// Joints in increasing order without gaps.
  int add_articulation(std::span<const int> joints, const std::string& label = {});
  int add_articulation(std::initializer_list<int> joints, const std::string& label = {}) {
    return add_articulation(std::span(joints.begin(), joints.size()), label);
  }

  // Worlds and copies.
  /// What is added until end_world() belongs to a new world. Returns its number.
  int begin_world(const std::string& label = {}, const std::optional<Vec3f>& gravity_vector = {});
  void end_world();
  int current_world() const { return current_world_; }
  /// Copies everything of `builder` into the current world, moved by `xform`. Throws Error(value) when
  /// up_axis differs.
  void add_builder(const ModelBuilder& builder, const std::optional<Transformf>& xform = {},
                   const std::string& label_prefix = {});
  /// begin_world, add_builder, end_world. Returns the number of the world.
  int add_world(const ModelBuilder& builder, const std::optional<Transformf>& xform = {},
                const std::string& label_prefix = {});
  /// `copy_count` worlds, spread over a grid by `spacing` [m].
  void replicate(const ModelBuilder& builder, int copy_count, const Vec3f& spacing = {0, 0, 0});

  /// An array that the model, or every state, control or contacts of it, carries beside ours. Throws
  /// Error(value) when the name exists.
  void add_custom_array(const CustomArray& spec);

  int particle_count() const { return static_cast<int>(particle_mass.size()); }
  int spring_count() const { return static_cast<int>(spring_rest_length.size()); }
  int tri_count() const { return static_cast<int>(tri_areas.size()); }
  int edge_count() const { return static_cast<int>(edge_rest_length.size()); }
  int tet_count() const { return static_cast<int>(particle_tet_activation.size()); }
  int body_count() const { return static_cast<int>(body_mass.size()); }
  int shape_count() const { return static_cast<int>(shape_type.size()); }
  int joint_count() const { return static_cast<int>(joint_type.size()); }
  int joint_coord_count() const { return static_cast<int>(joint_q.size()); }
  int joint_dof_count() const { return static_cast<int>(joint_qd.size()); }
  int articulation_count() const { return static_cast<int>(articulation_start.size()); }
  /// Worlds begun so far; the model has at least one.
  int world_count() const { return static_cast<int>(gravity.size() / 3); }

  /// Checks the whole and makes the model. The builder stays as it is and may go on. `requires_grad`:
  /// parameters and states keep their gradients after backward. Throws Error(value) for a loop of joints, a
  /// body in two articulations, a joint between bodies that is in no articulation;
  /// Error(plugin_not_available) for a device without backend.
  std::shared_ptr<Model> finalize(Device device = {}, bool requires_grad = false) const;

  /// What has been added, one flat row-major column an array of Model: `builder.joint_q[3] = 0.5f` changes a
  /// start value. Only numbers may be changed; finalize() checks the lengths. It also makes what is not here
  /// yet: the inverses of masses and inertias, the contact pairs, the materials of the model and the last
  /// entry of the *_start columns. `gravity` has a row for each world begun.
#define X(name, dtype, frequency, width, doc) std::vector<element_of<DType::dtype>> name;
#include "novaphy/model_arrays.inc"
  std::vector<std::string> body_label, shape_label, joint_label, articulation_label, world_label;

 private:
  template <class Add>
  void all_or_nothing(Add add);
  void append_particle(const Vec3f& pos, const Vec3f& vel, double mass, double radius, int flags);
  template <class T>
  double append_triangle(const Arguments& check, int i, int j, int k, const TriMaterial& material);
  int append_edge(const Arguments& check, int i, int j, int k, int l, double rest, double length,
                  const EdgeMaterial& material);
  double append_tetrahedron(const Arguments& check, int i, int j, int k, int l, double k_mu, double k_lambda,
                            double k_damp);
  template <class T>
  void append_edges_of_triangles(const Arguments& check, int first_triangle, const EdgeMaterial& material);
  void append_springs_of_edges(int first_edge, double ke, double kd);
  void append_vertices(const Arguments& check, std::span<const Vec3f> at, const Vec3f& vel, double radius);
  int append_shape(const Arguments& check, int body, GeoType type, const std::array<double, 3>& scale,
                   const ShapeArgs& args, bool is_static);
  void add_mass(int body, GeoType type, const ShapeConfig& cfg, const Vec3f& scale, const Transformf& pose);
  std::vector<int>& shapes_of(int body) {
    return body < 0 ? world_shapes_ : body_shapes_[static_cast<std::size_t>(body)];
  }
  void filter_across_joint(int joint);
  void filter_across_joints(int shape);
  int append_joint(const Arguments& check, JointType type, int parent, int child,
                   std::span<const JointDofConfig> linear_axes, std::span<const JointDofConfig> angular_axes,
                   const JointArgs& args);
  void append_dof(const JointDofConfig& dof);
  void append_coords(JointType type, const std::vector<JointDofConfig>& dofs, int linear);
  void append_rows_of(const ModelBuilder& other, const std::string& label_prefix);
  void move_rows_of(const ModelBuilder& other, const Transformf& pose);
  void append_ends();
  void derive();
  void check_labels() const;
  void check_references() const;
  void check_joints() const;

  friend struct BuilderPickle;  // Python's pickle reads and writes the fields below

  Axis up_axis_ = Axis::Z;
  int current_world_ = -1;
  std::vector<double> exact_body_mass_;  // sums of shapes' masses before rounding
  std::vector<std::uint8_t> body_lock_inertia_;
  std::vector<std::vector<int>> body_shapes_;  // of each body
  std::vector<int> world_shapes_;              // of body -1
  std::vector<std::uint8_t> joint_filters_parent_;
  std::set<std::pair<int, int>> shape_filter_pairs_;  // (smaller, larger)
  std::vector<CustomArray> custom_arrays_;
};

}  // namespace novaphy
