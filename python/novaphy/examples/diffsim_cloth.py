# SPDX-License-Identifier: Apache-2.0
"""A cloth learns its throw: the velocities of its 289 particles, through two seconds of drag and lift.

The scene is Newton's diffsim_cloth: a square of 16 by 16 cells, tilted, in still air. One rollout is 1,920
substeps; the gradient of the squared distance of the cloth's centre to the target flows to the velocity of
each particle at the start.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import novaphy
import novaphy.diff as ndiff

from . import _trained_scene

CELLS = 16
TILT = -0.75 * math.pi  # about y


class Example(_trained_scene.TrainedScene):
    name = "diffsim_cloth"
    fps, frame_count, substep_count = 60, 120, 16
    iterations = 64
    target = (0.0, 8.0, 0.0)
    learning_rate = 5.0
    check_eps, check_tolerance = 1e-1, 1e-2

    def build_model(self, device):
        builder = novaphy.ModelBuilder()
        builder.default_particle_radius = 0.01
        builder.add_cloth_grid(
            pos=(0.0, 0.0, 0.0),
            rot=(0.0, math.sin(TILT / 2), 0.0, math.cos(TILT / 2)),
            vel=(0.0, 0.1, 0.1),
            dim_x=CELLS,
            dim_y=CELLS,
            cell_x=1.0 / CELLS,
            cell_y=1.0 / CELLS,
            mass=1.0,
            tri_ke=1e4,
            tri_ka=1e4,
            tri_kd=1e2,
            tri_drag=5.0,
            tri_lift=10.0,
        )
        return builder.finalize(device, requires_grad=True)

    def make_parameter(self):
        return ndiff.state_particle_qd_tensor(self.states[0], requires_grad=True)

    def disturb(self, random):
        drawn = random.normal(scale=0.5, size=(1, 3)).astype(np.float32)
        self.parameter.assign(self.parameter.numpy() + drawn)

    def describe(self):
        vx, vy, vz = self.parameter.numpy().mean(axis=0)
        return f"mean velocity ({vx:.3f}, {vy:.3f}, {vz:.3f}) m/s"

    def target_radius(self):
        return 0.2


def main(argv=None):
    return _trained_scene.run(Example, argv)


if __name__ == "__main__":
    sys.exit(main())
