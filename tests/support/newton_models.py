# SPDX-License-Identifier: Apache-2.0
"""Writes tests/data/models/*.json: the arrays that Newton's builder makes of the scenes in builder_scenes.py.

Needs Newton 1.8.0 with Warp 1.19.0, which the tests do not: `python tests/support/newton_models.py FOLDER`.
tests/model/builder_reference_test.cpp and test_builder_scenes.py build the same scenes and compare.
"""
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import newton
import numpy as np
import warp as wp
from builder_scenes import SCENES, up_axis

NEWTON = SimpleNamespace(ModelBuilder=newton.ModelBuilder, Axis=newton.Axis, JointTargetMode=newton.JointTargetMode, vec3=wp.vec3,
                         mat33=wp.mat33, quat=lambda q: wp.quat(*q), pose=lambda p, q: wp.transform(wp.vec3(*p), wp.quat(*q)))

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
        builder = newton.ModelBuilder(up_axis=newton.Axis[up_axis(name)])
        build(builder, NEWTON)
        model = builder.finalize(device="cpu")
        labels = {kind: list(getattr(model, f"{kind}_label")) for kind in ("body", "shape", "joint", "articulation")}
        record = {"origin": f"Newton {newton.__version__} with Warp {wp.__version__} on the CPU, tests/support/builder_scenes.py",
                  "licence": "Apache-2.0", "world_count": model.world_count, "labels": labels, "arrays": arrays_of(model)}
        lines = json.dumps(record).replace('}, "', '},\n"').replace('"arrays": {', '"arrays": {\n')
        (folder / f"{name}.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
