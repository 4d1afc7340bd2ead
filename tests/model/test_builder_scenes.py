# SPDX-License-Identifier: Apache-2.0
"""Scenes written for Newton, line by line the same, build the same arrays here."""
import json
from types import SimpleNamespace

import numpy as np
import pytest
from builder_scenes import SCENES, up_axis

import novaphy

OURS = SimpleNamespace(ModelBuilder=novaphy.ModelBuilder, Axis=novaphy.Axis, JointTargetMode=novaphy.JointTargetMode,
                       vec3=lambda *v: v, mat33=lambda *m: np.reshape(np.float32(m), (3, 3)), quat=tuple,
                       pose=lambda p, q: novaphy.Transform(p, q))


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_written_for_newton_builds_newtons_arrays(name, data):
    builder = novaphy.ModelBuilder(up_axis=novaphy.Axis.__members__[up_axis(name)])
    SCENES[name](builder, OURS)
    model = builder.finalize()
    reference = json.loads((data / "models" / f"{name}.json").read_text())
    for array, want in reference["arrays"].items():
        ours, theirs = getattr(model, array).numpy().ravel(), np.array(want["values"], want["dtype"])
        if array == "shape_contact_pairs":  # ours are sorted
            theirs = np.array(sorted(theirs.reshape(-1, 2).tolist()), np.int32).ravel()
        if array == "gravity":  # Newton adds a row for world -1
            theirs = theirs[:ours.size]
        # NumPy's arctan2 of float32, which Newton uses, is not the same on every processor
        allowed = 2e-7 if name.startswith("soft") and array == "edge_rest_angle" else 0
        # Newton measures a cloth mesh before it rounds the positions, we the rounded ones; volumes of a soft mesh are
        # LAPACK's determinants in float
        measured = "mass" in array or array == "particle_q" or array.startswith(("tri_", "edge_rest"))
        if (name == "cloth_mesh" and measured) or (name == "soft_mesh" and "mass" in array):
            allowed = 1e-6 * np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed, err_msg=f"{name}: {array}")
    assert list(model.body_label) == reference["labels"]["body"]
    assert list(model.joint_label) == reference["labels"]["joint"]
