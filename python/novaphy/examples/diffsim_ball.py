# SPDX-License-Identifier: Apache-2.0
"""A ball learns its throw: gradient descent on the start velocity, through a bounce off a wall.

The scene is Newton's diffsim_ball: a particle is thrown at a wall and has to come back to a target. One
rollout is 288 substeps; contacts are generated once, and the gradient of the squared distance at the end
flows back through all of them to the velocity at the start.
"""

from __future__ import annotations

import sys

import numpy as np

import novaphy
import novaphy.diff as ndiff

from . import _trained_scene
from ._wall import finalize_with_wall

START, VELOCITY = (0.0, -0.5, 1.0), (0.0, 5.0, -5.0)


class Example(_trained_scene.TrainedScene):
    name = "diffsim_ball"
    fps, frame_count, substep_count = 60, 36, 8
    iterations = 250
    target = (0.0, -2.0, 1.5)
    learning_rate = 0.02

    def build_model(self, device):
        builder = novaphy.ModelBuilder()
        builder.add_particle(pos=START, vel=VELOCITY, mass=1.0)
        return finalize_with_wall(builder, device, ke=1.0e4, kd=1.0e1, kf=0.0, mu=0.2)

    def make_contacts(self):
        # walls do not move, so contacts are generated once, wide enough for the whole flight
        pipeline = novaphy.CollisionPipeline(self.model, broad_phase="explicit", soft_contact_margin=10.0)
        self.contacts = pipeline.contacts()
        pipeline.collide(self.states[0], self.contacts)

    def make_parameter(self):
        return ndiff.state_particle_qd_tensor(self.states[0], requires_grad=True)

    def disturb(self, random):
        drawn = random.normal(scale=0.5, size=(1, 3)).astype(np.float32)
        self.parameter.assign(self.parameter.numpy() + drawn)

    def describe(self):
        vx, vy, vz = self.parameter.numpy()[0]
        return f"next throw ({vx:.4f}, {vy:.4f}, {vz:.4f}) m/s"

    def loss(self):
        return ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(self.states[-1]), 0, *self.target)

    def check_directions(self):
        return [(axis, row[None]) for axis, row in zip("xyz", np.eye(3, dtype=np.float32))]

    def draw(self, picture, losses):
        from ._ball_picture import draw

        draw(picture, [*self.paths, self.path()], losses, novaphy.provenance(self.model))


def main(argv=None):
    return _trained_scene.run(Example, argv)


if __name__ == "__main__":
    sys.exit(main())
