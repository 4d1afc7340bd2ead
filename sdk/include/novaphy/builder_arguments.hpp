// SPDX-License-Identifier: Apache-2.0
// Arguments of ModelBuilder's calls: every member is one of Newton's keyword arguments, with its default.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "novaphy/export.hpp"
#include "novaphy/math.hpp"
#include "novaphy/types.hpp"

namespace novaphy {

/// How a shape collides and what it weighs.
struct NOVAPHY_API ShapeConfig {
  double density = 1000.0;  ///< kg/m^3; 0 = the shape adds no mass
  double ke = 2500.0;       ///< contact stiffness, N/m
  double kd = 100.0;        ///< contact damping, N s/m
  double kf = 1000.0;       ///< friction damping, N s/m
  double ka = 0.0;          ///< adhesion distance, m
  double mu = 1.0;          ///< friction coefficient
  double restitution = 0.0;
  double mu_torsional = 0.005;
  double mu_rolling = 1e-4;
  double margin = 0.0;          ///< outward offset of the surface, m; wall thickness of a hollow shape
  std::optional<double> gap{};  ///< extra distance within which contacts are generated, m; empty = rigid_gap
  bool is_solid = true;         ///< false: a shell of thickness `margin`
  int collision_group = 1;      ///< n > 0: with n and all below 0; n < 0: with all but n; 0: with no shape
  bool collision_filter_parent = true;  ///< no contacts with the body at the other end of a joint
  bool has_shape_collision = true, has_particle_collision = true, is_visible = true, is_site = false;

  /// A site collides with nothing and weighs nothing.
  void mark_as_site();
  /// ShapeFlags.
  int flags() const;
};

/// One axis of a joint.
struct NOVAPHY_API JointDofConfig {
  Vec3f axis{1, 0, 0};                             ///< in the parent anchor's frame
  double limit_lower = -1e10, limit_upper = 1e10;  ///< m or rad; +-infinity is stored as +-1e10
  double limit_ke = 1e4, limit_kd = 10.0;
  double target_q = 0.0;  ///< m or rad; outside the limits it becomes their midpoint
  double target_qd = 0.0;
  double target_ke = 0.0, target_kd = 0.0;
  double damping = 0.0, stiffness = 0.0;
  double rest_q = 0.0;  ///< where the passive spring is at rest, m or rad
  double armature = 0.0;
  double effort_limit = 1e6, velocity_limit = 1e6;
  double friction = 0.0;
  std::optional<JointTargetMode> actuator_mode{};  ///< empty = from the gains

  /// Without limits, drives and limit forces.
  static JointDofConfig create_unlimited(const Vec3f& axis);
};

struct TriMaterial {
  std::optional<double> tri_ke{}, tri_ka{}, tri_kd{}, tri_drag{}, tri_lift{};  ///< empty = default_tri_*
};
struct EdgeMaterial {
  std::optional<double> edge_ke{}, edge_kd{};  ///< empty = default_edge_*
};

/// dim_x * dim_y * dim_z particles. Order: y outermost, then x, then z. Jitter and random radii are a
/// sequence of our own, not NumPy's.
struct ParticleGrid {
  Vec3f pos{0, 0, 0};
  Quatf rot{0, 0, 0, 1};
  Vec3f vel{0, 0, 0};
  int dim_x = 1, dim_y = 1, dim_z = 1;
  double cell_x = 1, cell_y = 1, cell_z = 1;  ///< m
  double mass = 1;                            ///< kg each
  double jitter = 0;  ///< m; each coordinate moves by up to half of it, same every run
  std::optional<double> radius_mean{};
  double radius_std = 0;
  std::optional<int> flags{};
};

/// (dim_x + 1)(dim_y + 1)(dim_z + 1) particles, 5 tetrahedra a cell, the surface triangles and their edges.
struct SoftGrid {
  Vec3f pos{0, 0, 0};
  Quatf rot{0, 0, 0, 1};
  Vec3f vel{0, 0, 0};
  int dim_x = 1, dim_y = 1, dim_z = 1;
  double cell_x = 1, cell_y = 1, cell_z = 1;  ///< m
  double density = 1;                         ///< every particle weighs density * cell volume
  double k_mu = 1000, k_lambda = 1000, k_damp = 0;
  bool fix_left = false, fix_right = false, fix_top = false, fix_bottom = false;
  double tri_ke = 0, tri_ka = 0, tri_kd = 0, tri_drag = 0, tri_lift = 0;
  bool add_surface_mesh_edges = true;
  double edge_ke = 0, edge_kd = 0;
  std::optional<double> particle_radius{};
};

/// (dim_x + 1)(dim_y + 1) particles, two triangles a cell, an edge for every side of a triangle. Springs are
/// sorted by their particles.
struct ClothGrid {
  Vec3f pos{0, 0, 0};
  Quatf rot{0, 0, 0, 1};
  Vec3f vel{0, 0, 0};
  int dim_x = 1, dim_y = 1;
  double cell_x = 1, cell_y = 1;  ///< m
  double mass = 1;                ///< kg each
  bool reverse_winding = false;
  bool fix_left = false, fix_right = false, fix_top = false, fix_bottom = false;
  TriMaterial tri{};
  EdgeMaterial edge{};
  bool add_springs = false;
  std::optional<double> spring_ke{}, spring_kd{};  ///< empty = default_spring_*
  std::optional<double> particle_radius{};
};

/// A particle for each vertex, a tetrahedron for every four indices, the surface triangles and their edges. Each
/// tetrahedron gives a quarter of density * volume to each of its particles.
struct SoftMesh {
  Vec3f pos{0, 0, 0};
  Quatf rot{0, 0, 0, 1};
  double scale = 1;  ///< of the vertices, before they are turned and moved
  Vec3f vel{0, 0, 0};
  std::span<const Vec3f> vertices{};        ///< m, before `scale`
  std::span<const int> indices{};           ///< of vertices, four a tetrahedron, turning as in add_tetrahedron
  std::optional<double> density{};          ///< kg/m^3; empty = default_tet_density
  std::span<const double> k_mu{}, k_lambda{}, k_damp{};  ///< one, or one a tetrahedron; empty = default_tet_*
  double tri_ke = 0, tri_ka = 0, tri_kd = 0, tri_drag = 0, tri_lift = 0;
  bool add_surface_mesh_edges = true;
  double edge_ke = 0, edge_kd = 0;
  std::optional<double> particle_radius{};
};

/// A particle for each vertex, a triangle for every three indices, an edge for every side of a triangle. Each
/// triangle gives a third of density * area to each of its particles. Springs as in ClothGrid.
struct ClothMesh {
  Vec3f pos{0, 0, 0};
  Quatf rot{0, 0, 0, 1};
  double scale = 1;  ///< of the vertices, before they are turned and moved
  Vec3f vel{0, 0, 0};
  std::span<const Vec3f> vertices{};  ///< m, before `scale`
  std::span<const int> indices{};     ///< of vertices, three a triangle
  double density = 1;                 ///< kg/m^2
  TriMaterial tri{};
  EdgeMaterial edge{};
  bool add_springs = false;
  std::optional<double> spring_ke{}, spring_kd{};  ///< empty = default_spring_*
  std::optional<double> particle_radius{};
};

struct BodyArgs {
  std::optional<Transformf> xform{};  ///< pose in the world
  std::optional<Vec3f> com{};         ///< in the body frame, m
  std::optional<Mat33f> inertia{};    ///< about the centre of mass, kg m^2
  double mass = 0.0;                  ///< kg; shapes add theirs
  std::string label{};                ///< empty = "body_N"
  bool lock_inertia = false;          ///< shapes leave mass, centre of mass and inertia alone
  bool is_kinematic = false;          ///< moves as told, ignores forces
};

struct ShapeArgs {
  std::optional<Transformf> xform{};  ///< pose in the frame of the body (or the world)
  std::optional<ShapeConfig> cfg{};   ///< empty = default_shape_cfg
  bool as_site = false;
  std::string label{};  ///< empty = "shape_N"
};

struct JointArgs {
  std::optional<Transformf> parent_xform{}, child_xform{};  ///< anchors in the frames of the bodies
  std::optional<bool> collision_filter_parent{};  ///< empty = true, false for a movable joint to the world
  bool enabled = true;
  std::string label{};  ///< empty = "joint_N"
};

}  // namespace novaphy
