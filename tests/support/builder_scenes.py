# SPDX-License-Identifier: Apache-2.0
"""Small scenes written as a Newton user writes them: the same lines build them with Newton and with NovaPhy.

Each takes a builder and `api`, the names that the two spell differently: ModelBuilder, Axis, JointTargetMode, vec3, mat33
and pose((x, y, z), (qx, qy, qz, qw)).
"""
TURN = (0.18257418274879456, 0.36514836549758911, 0.54772257804870605, 0.73029673099517822)  # (1, 2, 3, 4) / sqrt(30)
IDENTITY = (0.0, 0.0, 0.0, 1.0)
UNLIMITED = float("inf")


def soft_grid(b, api):
    b.add_soft_grid(pos=api.vec3(0.3, -0.5, 1.0), rot=api.quat(TURN), vel=api.vec3(0.1, 0.2, -0.3), dim_x=3, dim_y=2, dim_z=2,
                    cell_x=0.1, cell_y=0.12, cell_z=0.09, density=500.0, k_mu=5769.2, k_lambda=8653.8, k_damp=0.5,
                    fix_left=True, tri_ke=1.0, tri_ka=2.0, tri_kd=3.0, tri_drag=4.0, tri_lift=5.0, edge_ke=6.0,
                    edge_kd=7.0, particle_radius=0.01)


def cloth_grid(b, api):
    b.add_cloth_grid(pos=api.vec3(0.3, -0.5, 1.0), rot=api.quat(TURN), vel=api.vec3(0.1, 0.2, -0.3), dim_x=4, dim_y=3, cell_x=0.1,
                     cell_y=0.12, mass=0.05, fix_top=True, tri_ke=1e3, edge_ke=10.0, particle_radius=0.02)
    b.add_cloth_grid(pos=api.vec3(2.0, 0.0, 1.0), rot=api.quat(IDENTITY), vel=api.vec3(0.0, 0.0, 0.0), dim_x=2, dim_y=2, cell_x=0.25,
                     cell_y=0.25, mass=0.1, reverse_winding=True)


def particle_grid(b, api):
    b.default_particle_radius = 0.03
    b.add_particle_grid(pos=api.vec3(0.25, -0.5, 1.0), rot=api.quat(TURN), vel=api.vec3(0.5, 0.0, -1.0), dim_x=3, dim_y=2, dim_z=4,
                        cell_x=0.1, cell_y=0.12, cell_z=0.09, mass=0.2, jitter=0.0)


def elements(b, api):
    for p in ((0, 0, 0), (1, 0, 0), (0.1, 1.2, 0), (0.2, 0.3, 0.9), (1, 1, 1)):
        b.add_particle(api.vec3(*p), api.vec3(0, 0, 0), 0.3)
    b.add_spring(0, 3, 100.0, 1.0, 0.5)
    b.add_triangle(0, 1, 2)
    b.add_triangle(1, 4, 2, tri_ke=5.0)
    b.add_edge(0, 4, 1, 2)
    b.add_edge(-1, 3, 0, 1, rest=0.25, edge_ke=3.0, edge_kd=4.0)
    b.add_tetrahedron(0, 1, 2, 3, 100.0, 200.0, 3.0)


MESH_VERTICES = ((0.0, 0.0, 0.0), (1.0, 0.1, 0.0), (0.2, 0.9, 0.1), (0.1, 0.2, 1.1), (1.0, 0.9, 1.2))
MESH_TETRAHEDRA = (0, 1, 2, 3, 1, 2, 3, 4)
MESH_TRIANGLES = (0, 1, 2, 1, 4, 2, 0, 2, 3)


def soft_mesh(b, api):
    b.add_soft_mesh(pos=api.vec3(0.3, -0.5, 1.0), rot=api.quat(TURN), scale=0.25, vel=api.vec3(0.1, 0.2, -0.3),
                    vertices=[api.vec3(*v) for v in MESH_VERTICES], indices=list(MESH_TETRAHEDRA), density=300.0, k_mu=100.0,
                    k_lambda=200.0, k_damp=0.5, tri_ke=1.0, tri_ka=2.0, edge_ke=3.0, particle_radius=0.02)
    b.add_soft_mesh(pos=api.vec3(0.0, 0.0, 3.0), rot=api.quat(IDENTITY), scale=1.0, vel=api.vec3(0.0, 0.0, 0.0),
                    vertices=[api.vec3(*v) for v in MESH_VERTICES], indices=list(MESH_TETRAHEDRA), add_surface_mesh_edges=False)


def cloth_mesh(b, api):
    b.add_cloth_mesh(pos=api.vec3(0.3, -0.5, 1.0), rot=api.quat(TURN), scale=0.5, vel=api.vec3(0.1, 0.2, -0.3),
                     vertices=[api.vec3(*v) for v in MESH_VERTICES], indices=list(MESH_TRIANGLES), density=0.4, tri_ke=1e3,
                     edge_ke=10.0, particle_radius=0.02)


def add_primitives(b, api, body, cfg=None):
    b.add_shape_box(body, xform=api.pose((0.1, 0.2, 0.3), TURN), hx=0.1, hy=0.2, hz=0.3, cfg=cfg)
    b.add_shape_sphere(body, xform=api.pose((-0.4, 0.1, 0.0), TURN), radius=0.15, cfg=cfg)
    b.add_shape_capsule(body, xform=api.pose((0.0, 0.5, 0.1), TURN), radius=0.12, half_height=0.3, cfg=cfg)
    b.add_shape_cylinder(body, xform=api.pose((0.0, -0.5, 0.2), TURN), radius=0.11, half_height=0.25, cfg=cfg)
    b.add_shape_cone(body, xform=api.pose((0.3, 0.3, -0.2), TURN), radius=0.13, half_height=0.35, cfg=cfg)
    b.add_shape_ellipsoid(body, xform=api.pose((-0.2, -0.3, 0.4), TURN), rx=0.3, ry=0.2, rz=0.14, cfg=cfg)


def shapes(b, api):
    together = b.add_body(xform=api.pose((0.0, 0.0, 2.0), TURN), mass=4.0)
    add_primitives(b, api, together)
    hollow = b.add_body(xform=api.pose((3.0, 0.0, 2.0), TURN))
    add_primitives(b, api, hollow, api.ModelBuilder.ShapeConfig(is_solid=False, margin=0.02, density=700.0, gap=0.05))
    locked = b.add_body(mass=2.0, com=api.vec3(0.1, 0.0, 0.0), inertia=api.mat33(1, 0, 0, 0, 2, 0, 0, 0, 2.5), lock_inertia=True)
    b.add_shape_box(locked)
    still = b.add_body(is_kinematic=True)
    b.add_shape_sphere(still, radius=0.5)
    b.add_shape_plane((1.0, 2.0, 2.0, -3.0), width=2.0, length=3.0)
    b.add_shape_plane(xform=api.pose((0.0, 0.0, 1.0), TURN))
    b.add_ground_plane(height=-0.5)
    b.add_site(together, xform=api.pose((0.1, 0.0, 0.0), TURN))
    b.add_shape_box(together, as_site=True)


def ground_y(b, api):
    b.add_ground_plane(height=0.25)
    b.add_body(xform=api.pose((0.0, 1.0, 0.0), TURN))


def add_arm(b, api):
    Dof = api.ModelBuilder.JointDofConfig
    links = [b.add_link(xform=api.pose((0.1 * i, 0.0, 1.0), TURN), mass=1.0, label=f"link{i}") for i in range(7)]
    for link in links:
        b.add_shape_capsule(link, radius=0.05, half_height=0.1)
    joints = [
        b.add_joint_revolute(-1, links[0],
                             parent_xform=api.pose((0.0, 0.0, 1.0), TURN), child_xform=api.pose((0.0, 0.0, -0.1), TURN), axis=(1.0, 2.0, 0.0),
                             target_q=0.5, target_ke=10.0, target_kd=1.0, limit_lower=-1.0, limit_upper=2.0, armature=0.01),
        b.add_joint_prismatic(links[0], links[1], axis=Dof(axis=api.Axis.Y, target_q=5.0, limit_lower=-1.0, limit_upper=2.0,
                                                           damping=0.3, stiffness=2.0, rest_q=0.1, friction=0.2,
                                                           effort_limit=50.0, velocity_limit=3.0, target_kd=4.0)),
        b.add_joint_fixed(links[1], links[2], parent_xform=api.pose((0.0, 0.1, 0.0), TURN)),
        b.add_joint_ball(links[2], links[3], armature=0.02, friction=0.1),
        b.add_joint_d6(links[3], links[4], linear_axes=[Dof(axis=api.Axis.Z, limit_lower=-UNLIMITED)],
                       angular_axes=[Dof(axis=api.Axis.X, target_q=0.2), Dof(axis=api.Axis.Y, actuator_mode=api.JointTargetMode.EFFORT)]),
        b.add_joint_distance(links[4], links[5], min_distance=0.1, max_distance=0.4),
        b.add_joint_free(links[6], parent=links[5], parent_xform=api.pose((0.0, 0.2, 0.0), TURN), child_xform=api.pose((0.1, 0.0, 0.0), TURN),
                         enabled=False),
    ]
    b.add_articulation(joints, label="arm")


def joints(b, api):
    add_arm(b, api)
    b.add_joint_revolute(-1, b.add_link())


def collisions(b, api):
    b.add_ground_plane()
    for group in (1, 1, 2, -1, -1, -2, 0):
        body = b.add_body()
        b.add_shape_sphere(body, cfg=api.ModelBuilder.ShapeConfig(collision_group=group))
        b.add_shape_box(body, cfg=api.ModelBuilder.ShapeConfig(collision_group=group))
    b.add_shape_box(-1)
    b.add_shape_sphere(0, cfg=api.ModelBuilder.ShapeConfig(has_shape_collision=False))
    b.add_shape_collision_filter_pair(1, 3)
    b.add_shape_collision_filter_pair(4, 2)


def worlds(b, api):
    part = api.ModelBuilder()
    add_arm(part, api)
    part.add_body(xform=api.pose((0.0, 0.0, 3.0), TURN))
    part.add_shape_box(part.body_count - 1)
    part.add_particle(api.vec3(1.0, 0.0, 0.0), api.vec3(0.0, 0.0, 0.0), 1.0)
    part.add_particle(api.vec3(0.0, 1.0, 0.0), api.vec3(0.0, 0.0, 0.0), 1.0)
    part.add_spring(0, 1, 1.0, 2.0, 0.0)
    part.add_shape_box(-1, xform=api.pose((0.0, 3.0, 0.0), TURN))
    part.add_joint_revolute(-1, part.add_link(), parent_xform=api.pose((0.1, 0.0, 0.0), TURN))
    b.add_ground_plane()
    b.replicate(part, 5, spacing=(2.0, 3.0, 0.0))
    b.begin_world(gravity=(0.0, 0.0, -1.62))
    b.add_body()
    b.add_shape_sphere(b.body_count - 1)
    b.end_world()
    b.add_shape_sphere(-1)


def added(b, api):
    part = api.ModelBuilder(gravity=(0.0, 0.0, -3.7))
    add_arm(part, api)
    part.add_body(xform=api.pose((0.0, 0.0, 3.0), TURN))
    part.add_shape_box(part.body_count - 1)
    part.add_shape_box(-1, xform=api.pose((0.0, 3.0, 0.0), TURN))
    b.add_body()
    b.add_builder(part, xform=api.pose((1.0, 2.0, 3.0), TURN), label_prefix="left")
    b.add_builder(part)


def up_axis(name):
    """The builder of a scene is made with this axis up."""
    return "Y" if name == "ground_y" else "Z"


SCENES = {f.__name__: f
          for f in (soft_grid, cloth_grid, particle_grid, elements, soft_mesh, cloth_mesh, shapes, ground_y, joints, collisions, worlds, added)}
