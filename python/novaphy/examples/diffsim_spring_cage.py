# SPDX-License-Identifier: Apache-2.0
"""Eight springs learn their rest lengths, so that the particle between them ends at a target.

The scene is Newton's diffsim_spring_cage: a free particle of 1 kg hangs in springs to eight fixed corners.
One rollout is 30 steps of 1/30 s; the gradient flows through all of them to the rest lengths.
"""

from __future__ import annotations

import sys

import numpy as np

import novaphy
from novaphy import nova
import novaphy.diff as ndiff

from . import _trained_scene

CORNERS = (
    (0.2, -0.7, 0.8), (1.1, 0.0, 0.2), (-1.2, 0.1, 0.1), (0.4, 0.6, 0.4),
    (-0.2, 0.7, -0.9), (0.1, -0.8, -0.8), (-0.8, -0.9, 0.2), (-0.1, 1.0, 0.4),
)
STIFFNESS, DAMPING = 100.0, 10.0  # N/m, N s/m


class Example(_trained_scene.TrainedScene):
    name = "diffsim_spring_cage"
    fps, frame_count, substep_count = 30, 30, 1
    iterations = 100
    target = (0.375, 0.125, 0.25)
    learning_rate = 0.5
    check_eps, check_tolerance = 1e-2, 2e-3

    def build_model(self, device):
        builder = novaphy.ModelBuilder()
        builder.add_particle(pos=(0.0, 0.0, 0.0), vel=(0.0, 0.0, 0.0), mass=1.0)
        for corner in CORNERS:
            builder.add_particle(pos=corner, vel=(0.0, 0.0, 0.0), mass=0.0)
        for i in range(1, 1 + len(CORNERS)):
            builder.add_spring(0, i, STIFFNESS, DAMPING, 0.0)
        return builder.finalize(device, requires_grad=True)

    def make_parameter(self):
        return nova.as_tensor(self.model.spring_rest_length, requires_grad=True)

    def disturb(self, random):
        drawn = random.normal(scale=0.05, size=self.parameter.shape).astype(np.float32)
        self.parameter.assign(self.parameter.numpy() + drawn)

    def describe(self):
        return "rest lengths " + " ".join(f"{length:.3f}" for length in self.parameter.numpy()) + " m"

    def loss(self):
        return ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(self.states[-1]), 0, *self.target)

    def path(self):
        return np.stack([state.particle_q.numpy()[0] for state in self.states])

    def target_radius(self):
        return 0.03


def main(argv=None):
    return _trained_scene.run(Example, argv)


if __name__ == "__main__":
    sys.exit(main())
