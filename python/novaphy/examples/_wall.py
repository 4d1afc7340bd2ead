# SPDX-License-Identifier: Apache-2.0
"""The place where the ball and the soft body bounce: a wall that stands on the ground."""

from __future__ import annotations

import novaphy

WALL, WALL_HALF_EXTENTS = (0.0, 2.0, 1.0), (1.0, 0.25, 1.0)  # centre and half edges, m


def finalize_with_wall(builder, device, *, ke, kd, kf, mu):
    """The model of `builder` with the wall and the ground. Both and the particles have the same contact numbers:
    ke [N/m], kd and kf [N s/m], mu."""
    cfg = novaphy.ModelBuilder.ShapeConfig(ke=ke, kd=kd, kf=kf, mu=mu)
    hx, hy, hz = WALL_HALF_EXTENTS
    builder.add_shape_box(body=-1, xform=(WALL, (0.0, 0.0, 0.0, 1.0)), hx=hx, hy=hy, hz=hz, cfg=cfg)
    builder.add_ground_plane(cfg=cfg)
    model = builder.finalize(device, requires_grad=True)
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_kf, model.soft_contact_mu = ke, kd, kf, mu
    model.soft_contact_restitution = 1.0
    return model
