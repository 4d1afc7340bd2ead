# SPDX-License-Identifier: Apache-2.0
"""Contact generation against Newton's soft body: all 371 records of its 960 substeps, bit for bit."""
import numpy as np

import novaphy


def scene(reference):
    """The soft body's particles with its wall and ground; no elements, since generation reads none."""
    builder = novaphy.ModelBuilder()
    for position, radius in zip(reference["model_particle_q"], reference["model_particle_radius"], strict=True):
        builder.add_particle(position.tolist(), (0, 0, 0), 1.0, radius=float(radius))
    wall = reference["model_shape_transform"][reference["model_shape_type"] == novaphy.GeoType.BOX][0].tolist()
    builder.add_shape_box(-1, xform=(wall[:3], wall[3:]), hx=1.0, hy=0.25, hz=1.0)
    builder.add_ground_plane()
    return builder.finalize()


def test_every_record_of_newtons_soft_body_has_its_bits_and_its_place(data):
    reference = dict(np.load(data / "newton_soft_body_anisotropic.npz"))
    model = scene(reference)
    for name in ("shape_transform", "shape_type", "shape_scale", "shape_margin", "shape_body", "particle_radius"):
        assert np.array_equal(getattr(model, name).numpy(), reference["model_" + name]), name
    pipeline = novaphy.CollisionPipeline(model, soft_contact_margin=0.001)
    contacts, state = pipeline.contacts(), model.state()
    compared = 0
    for substep, count in enumerate(reference["contact_count"]):
        state.particle_q.assign(reference["particle_q_substeps"][substep])
        pipeline.collide(state, contacts)
        assert contacts.soft_contact_count.numpy()[0] == count, substep
        for name in ("particle", "shape", "body_pos", "body_vel", "normal"):
            ours, newtons = getattr(contacts, "soft_contact_" + name).numpy()[:count], reference["contact_" + name][substep, :count]
            assert ours.tobytes() == newtons.tobytes(), (substep, name)
        compared += int(count)
    assert compared == 371
