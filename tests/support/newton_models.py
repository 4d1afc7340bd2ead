# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/*.json: the arrays that Newton's builder makes of small scenes.

Needs Newton 1.8.0 with Warp 1.19.0, which the tests do not: `python tests/support/newton_models.py FOLDER`.
tests/model/builder_reference_test.cpp builds the same scenes and compares.
"""
import json
import sys
from pathlib import Path

import newton
import numpy as np
import warp as wp
from newton import Axis, GeoType, JointTargetMode, ModelBuilder

ShapeConfig, Dof = ModelBuilder.ShapeConfig, ModelBuilder.JointDofConfig
TURN = wp.quat(0.18257418274879456, 0.36514836549758911, 0.54772257804870605, 0.73029673099517822)  # (1, 2, 3, 4) / sqrt(30)
IDENTITY = wp.quat(0.0, 0.0, 0.0, 1.0)


def pose(x, y, z, q=TURN):
    return wp.transform(wp.vec3(x, y, z), q)


def soft_grid(b):
    b.add_soft_grid(pos=wp.vec3(0.3, -0.5, 1.0), rot=TURN, vel=wp.vec3(0.1, 0.2, -0.3), dim_x=3, dim_y=2, dim_z=2,
                    cell_x=0.1, cell_y=0.12, cell_z=0.09, density=500.0, k_mu=5769.2, k_lambda=8653.8, k_damp=0.5,
                    fix_left=True, tri_ke=1.0, tri_ka=2.0, tri_kd=3.0, tri_drag=4.0, tri_lift=5.0, edge_ke=6.0,
                    edge_kd=7.0, particle_radius=0.01)


def cloth_grid(b):
    b.add_cloth_grid(pos=wp.vec3(0.3, -0.5, 1.0), rot=TURN, vel=wp.vec3(0.1, 0.2, -0.3), dim_x=4, dim_y=3, cell_x=0.1,
                     cell_y=0.12, mass=0.05, fix_top=True, tri_ke=1e3, edge_ke=10.0, particle_radius=0.02)
    b.add_cloth_grid(pos=wp.vec3(2.0, 0.0, 1.0), rot=IDENTITY, vel=wp.vec3(0.0, 0.0, 0.0), dim_x=2, dim_y=2, cell_x=0.25,
                     cell_y=0.25, mass=0.1, reverse_winding=True)


def particle_grid(b):
    b.default_particle_radius = 0.03
    b.add_particle_grid(pos=wp.vec3(0.25, -0.5, 1.0), rot=TURN, vel=wp.vec3(0.5, 0.0, -1.0), dim_x=3, dim_y=2, dim_z=4,
                        cell_x=0.1, cell_y=0.12, cell_z=0.09, mass=0.2, jitter=0.0)


def elements(b):
    for p in ((0, 0, 0), (1, 0, 0), (0.1, 1.2, 0), (0.2, 0.3, 0.9), (1, 1, 1)):
        b.add_particle(wp.vec3(*p), wp.vec3(0, 0, 0), 0.3)
    b.add_spring(0, 3, 100.0, 1.0, 0.5)
    b.add_triangle(0, 1, 2)
    b.add_triangle(1, 4, 2, tri_ke=5.0)
    b.add_edge(0, 4, 1, 2)
    b.add_edge(-1, 3, 0, 1, rest=0.25, edge_ke=3.0, edge_kd=4.0)
    b.add_tetrahedron(0, 1, 2, 3, 100.0, 200.0, 3.0)


def add_primitives(b, body, cfg=None):
    b.add_shape_box(body, xform=pose(0.1, 0.2, 0.3), hx=0.1, hy=0.2, hz=0.3, cfg=cfg)
    b.add_shape_sphere(body, xform=pose(-0.4, 0.1, 0.0), radius=0.15, cfg=cfg)
    b.add_shape_capsule(body, xform=pose(0.0, 0.5, 0.1), radius=0.12, half_height=0.3, cfg=cfg)
    b.add_shape_cylinder(body, xform=pose(0.0, -0.5, 0.2), radius=0.11, half_height=0.25, cfg=cfg)
    b.add_shape_cone(body, xform=pose(0.3, 0.3, -0.2), radius=0.13, half_height=0.35, cfg=cfg)
    b.add_shape_ellipsoid(body, xform=pose(-0.2, -0.3, 0.4), rx=0.3, ry=0.2, rz=0.14, cfg=cfg)


def shapes(b):
    together = b.add_body(xform=pose(0.0, 0.0, 2.0), mass=4.0)
    add_primitives(b, together)
    hollow = b.add_body(xform=pose(3.0, 0.0, 2.0))
    add_primitives(b, hollow, ShapeConfig(is_solid=False, margin=0.02, density=700.0, gap=0.05))
    locked = b.add_body(mass=2.0, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.mat33(1, 0, 0, 0, 2, 0, 0, 0, 2.5), lock_inertia=True)
    b.add_shape_box(locked)
    still = b.add_body(is_kinematic=True)
    b.add_shape_sphere(still, radius=0.5)
    b.add_shape_plane((1.0, 2.0, 2.0, -3.0), width=2.0, length=3.0)
    b.add_shape_plane(xform=pose(0.0, 0.0, 1.0))
    b.add_ground_plane(height=-0.5)
    b.add_site(together, xform=pose(0.1, 0.0, 0.0))
    b.add_shape_box(together, as_site=True)


def ground_y(b):
    b.add_ground_plane(height=0.25)
    b.add_body(xform=pose(0.0, 1.0, 0.0))


def add_arm(b):
    links = [b.add_link(xform=pose(0.1 * i, 0.0, 1.0), mass=1.0, label=f"link{i}") for i in range(7)]
    for link in links:
        b.add_shape_capsule(link, radius=0.05, half_height=0.1)
    joints = [
        b.add_joint_revolute(-1, links[0], parent_xform=pose(0.0, 0.0, 1.0), child_xform=pose(0.0, 0.0, -0.1), axis=(1.0, 2.0, 0.0),
                             target_q=0.5, target_ke=10.0, target_kd=1.0, limit_lower=-1.0, limit_upper=2.0, armature=0.01),
        b.add_joint_prismatic(links[0], links[1], axis=Axis.Y, target_q=5.0, limit_lower=-1.0, limit_upper=2.0, damping=0.3,
                              stiffness=2.0, rest_q=0.1, friction=0.2, effort_limit=50.0, velocity_limit=3.0, target_kd=4.0),
        b.add_joint_fixed(links[1], links[2], parent_xform=pose(0.0, 0.1, 0.0)),
        b.add_joint_ball(links[2], links[3], armature=0.02, friction=0.1),
        b.add_joint_d6(links[3], links[4], linear_axes=[Dof(axis=Axis.Z, limit_lower=-np.inf)],
                       angular_axes=[Dof(axis=Axis.X, target_q=0.2), Dof(axis=Axis.Y, actuator_mode=JointTargetMode.EFFORT)]),
        b.add_joint_distance(links[4], links[5], min_distance=0.1, max_distance=0.4),
        b.add_joint_free(links[6], parent=links[5], parent_xform=pose(0.0, 0.2, 0.0), child_xform=pose(0.1, 0.0, 0.0),
                         enabled=False),
    ]
    b.add_articulation(joints, label="arm")


def joints(b):
    add_arm(b)
    b.add_joint_revolute(-1, b.add_link())


def collisions(b):
    b.add_ground_plane()
    for group in (1, 1, 2, -1, -1, -2, 0):
        body = b.add_body()
        b.add_shape_sphere(body, cfg=ShapeConfig(collision_group=group))
        b.add_shape_box(body, cfg=ShapeConfig(collision_group=group))
    b.add_shape_box(-1)
    b.add_shape_sphere(0, cfg=ShapeConfig(has_shape_collision=False))
    b.add_shape_collision_filter_pair(1, 3)
    b.add_shape_collision_filter_pair(4, 2)


def worlds(b):
    part = ModelBuilder()
    add_arm(part)
    part.add_body(xform=pose(0.0, 0.0, 3.0))
    part.add_shape_box(part.body_count - 1)
    part.add_particle(wp.vec3(1.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 0.0), 1.0)
    part.add_particle(wp.vec3(0.0, 1.0, 0.0), wp.vec3(0.0, 0.0, 0.0), 1.0)
    part.add_spring(0, 1, 1.0, 2.0, 0.0)
    part.add_shape_box(-1, xform=pose(0.0, 3.0, 0.0))
    part.add_joint_revolute(-1, part.add_link(), parent_xform=pose(0.1, 0.0, 0.0))
    b.add_ground_plane()
    b.replicate(part, 5, spacing=(2.0, 3.0, 0.0))
    b.begin_world(gravity=(0.0, 0.0, -1.62))
    b.add_body()
    b.add_shape_sphere(b.body_count - 1)
    b.end_world()
    b.add_shape_sphere(-1)


def added(b):
    part = ModelBuilder(gravity=(0.0, 0.0, -3.7))
    add_arm(part)
    part.add_body(xform=pose(0.0, 0.0, 3.0))
    part.add_shape_box(part.body_count - 1)
    part.add_shape_box(-1, xform=pose(0.0, 3.0, 0.0))
    b.add_body()
    b.add_builder(part, xform=pose(1.0, 2.0, 3.0), label_prefix="left")
    b.add_builder(part)


SCENES = {f.__name__: f for f in (soft_grid, cloth_grid, particle_grid, elements, shapes, ground_y, joints, collisions, worlds, added)}
OUR_NAMES = {"tri_materials": "particle_tri_material", "tri_activations": "particle_tri_activation",
             "tet_materials": "particle_tet_material", "tet_activations": "particle_tet_activation"}
ARRAYS = """particle_q particle_qd particle_mass particle_inv_mass particle_radius particle_flags particle_world spring_indices
spring_rest_length spring_stiffness spring_damping spring_control tri_indices tri_poses tri_activations tri_materials tri_areas
edge_indices edge_rest_angle edge_rest_length edge_bending_properties tet_indices tet_poses tet_activations tet_materials body_q
body_qd body_com body_mass body_inv_mass body_inertia body_inv_inertia body_flags body_world shape_body shape_type shape_transform
shape_scale shape_flags shape_margin shape_gap shape_collision_group shape_material_ke shape_material_kd shape_material_kf
shape_material_ka shape_material_mu shape_material_restitution shape_material_mu_torsional shape_material_mu_rolling shape_world
joint_type joint_enabled joint_parent joint_child joint_X_p joint_X_c joint_articulation joint_world joint_dof_dim joint_q_start
joint_qd_start joint_q joint_qd joint_axis joint_armature joint_friction joint_damping joint_stiffness joint_limit_lower
joint_limit_upper joint_limit_ke joint_limit_kd joint_target_mode joint_target_ke joint_target_kd joint_target_q joint_rest_q
joint_target_qd joint_effort_limit joint_velocity_limit articulation_start articulation_end gravity shape_contact_pairs""".split()


def arrays_of(model):
    out = {}
    for name in ARRAYS:
        array = getattr(model, name, None)
        if array is None:
            continue
        values = np.asarray(array.numpy())
        flat = values.ravel()
        kind = "float32" if values.dtype.kind == "f" else "int32"
        numbers = [float(f"{v:.9g}") for v in flat] if kind == "float32" else [int(v) for v in flat]
        if flat.size:
            out[OUR_NAMES.get(name, name)] = {"dtype": kind, "values": numbers}
    return out


def main():
    folder = Path(sys.argv[1])
    for name, build in SCENES.items():
        builder = ModelBuilder(up_axis=Axis.Y) if name == "ground_y" else ModelBuilder()
        build(builder)
        model = builder.finalize(device="cpu")
        labels = {kind: list(getattr(model, f"{kind}_label")) for kind in ("body", "shape", "joint", "articulation")}
        record = {"origin": f"Newton {newton.__version__} with Warp {wp.__version__} on the CPU, tests/support/newton_models.py",
                  "licence": "Apache-2.0", "world_count": model.world_count, "labels": labels, "arrays": arrays_of(model)}
        lines = json.dumps(record).replace('}, "', '},\n"').replace('"arrays": {', '"arrays": {\n')
        (folder / f"{name}.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
