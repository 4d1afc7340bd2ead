# SPDX-License-Identifier: Apache-2.0
"""A ball learns its throw: gradient descent on the start velocity, through a bounce off a wall.

The scene is Newton's diffsim_ball: a particle is thrown at a wall and has to come back to a target. One
rollout is 288 substeps; contacts are generated once, and the gradient of the squared distance at the end
flows back through all of them to the velocity at the start.
"""

from __future__ import annotations

import os
import sys

import numpy as np

import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver

from . import _command_line

START, VELOCITY = (0.0, -0.5, 1.0), (0.0, 5.0, -5.0)
WALL, WALL_HALF_EXTENTS = (0.0, 2.0, 1.0), (1.0, 0.25, 1.0)
TARGET = (0.0, -2.0, 1.5)
FPS, FRAMES, SUBSTEPS = 60, 36, 8
LEARNING_RATE = 0.02
ITERATIONS = 250
CHECK_EPS, CHECK_TOLERANCE = 1e-3, 2.5e-3


class Example:
    """The scene, its rollout and its training step."""

    def __init__(self, viewer=None, *, device=None, seed=None):
        self.viewer = viewer
        self.dt = 1.0 / (FPS * SUBSTEPS)
        self.model = self.build_model(device)
        self.solver = DiffSemiImplicitSolver(self.model)
        self.states = [self.model.state() for _ in range(FRAMES * SUBSTEPS + 1)]
        self.control = self.model.control()
        if seed is not None:
            disturbance = np.random.default_rng(seed).normal(scale=0.5, size=(1, 3)).astype(np.float32)
            self.states[0].particle_qd = self.states[0].particle_qd.numpy() + disturbance

        # walls do not move, so contacts are generated once, wide enough for the whole flight
        pipeline = novaphy.CollisionPipeline(self.model, broad_phase="explicit", soft_contact_margin=10.0)
        self.contacts = pipeline.contacts()
        pipeline.collide(self.states[0], self.contacts)

        self.velocity = ndiff.state_particle_qd_tensor(self.states[0], requires_grad=True)
        self.losses, self.trajectories = [], []
        if viewer is not None:
            viewer.set_model(self.model)

    @staticmethod
    def build_model(device=None):
        builder = novaphy.ModelBuilder()
        builder.add_particle(pos=START, vel=VELOCITY, mass=1.0)
        cfg = novaphy.ModelBuilder.ShapeConfig(ke=1.0e4, kf=0.0, kd=1.0e1, mu=0.2)
        hx, hy, hz = WALL_HALF_EXTENTS
        builder.add_shape_box(body=-1, xform=(WALL, (0.0, 0.0, 0.0, 1.0)), hx=hx, hy=hy, hz=hz, cfg=cfg)
        builder.add_ground_plane(cfg=cfg)
        model = builder.finalize(device, requires_grad=True)
        model.soft_contact_ke = 1.0e4
        model.soft_contact_kf = 0.0
        model.soft_contact_kd = 1.0e1
        model.soft_contact_mu = 0.2
        model.soft_contact_restitution = 1.0
        return model

    def forward(self):
        """Rolls out all substeps and returns the loss, a tensor of one number."""
        for now, after in zip(self.states, self.states[1:]):
            now.clear_forces()
            self.solver.step(now, after, self.control, self.contacts, self.dt)
        return ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(self.states[-1]), 0, *TARGET)

    def gradient(self):
        """The loss and its gradient with respect to the start velocity."""
        with nova.Tape() as tape:
            loss = self.forward()
        tape.backward(loss)
        gradient = self.velocity.grad.numpy().copy()
        self.velocity.zero_grad()
        return loss.item(), gradient

    def step(self):
        """One iteration of gradient descent. Returns the loss before it."""
        loss, gradient = self.gradient()
        self.losses.append(loss)
        self.trajectories.append(self.substeps())
        self.states[0].particle_qd = self.velocity.numpy() - np.float32(LEARNING_RATE) * gradient
        return loss

    def substeps(self):
        """Positions of the last rollout, (substeps + 1, particles, 3)."""
        return np.stack([state.particle_q.numpy() for state in self.states])

    def frames(self):
        """Positions of the last rollout, (frames + 1, particles, 3)."""
        return self.substeps()[::SUBSTEPS]

    def check_gradient(self):
        """Rows (component, gradient, central difference, relative error)."""
        _, gradient = self.gradient()
        start = self.velocity.numpy().copy()
        rows = []
        for axis in range(3):
            losses = []
            for sign in (1.0, -1.0):
                moved = start.copy()
                moved[0, axis] += np.float32(sign * CHECK_EPS)
                self.states[0].particle_qd = moved
                losses.append(self.forward().item())
            self.states[0].particle_qd = start
            difference = (losses[0] - losses[1]) / (2.0 * CHECK_EPS)
            scale = max(abs(difference), abs(float(gradient[0, axis])))
            error = abs(difference - float(gradient[0, axis])) / scale if scale > 0.0 else 0.0
            rows.append(("xyz"[axis], float(gradient[0, axis]), difference, error))
        return rows

    def render(self):
        """Plays the last rollout in the viewer."""
        for frame in range(FRAMES + 1):
            self.viewer.begin_frame(frame / FPS)
            self.viewer.log_state(self.states[frame * SUBSTEPS])
            self.viewer.log_points(
                "target", np.array([TARGET], dtype=np.float32), radii=0.1, colors=(0.9, 0.2, 0.2)
            )
            self.viewer.log_trajectory(f"iteration {len(self.losses)}", self.substeps()[:, 0], keep=True)
            self.viewer.log_scalar("loss", self.losses[-1] if self.losses else 0.0)
            self.viewer.end_frame()


def train(example, count):
    """Trains and prints about ten losses on the way."""
    every = max(1, count // 10)
    for i in _command_line.iterations(count, "training"):
        loss = example.step()
        if i % every == 0 or i == count - 1:
            vx, vy, vz = example.velocity.numpy()[0]
            _command_line.say(
                f"iteration {i:4d}   loss {loss:.6f}   next throw ({vx:.4f}, {vy:.4f}, {vz:.4f}) m/s"
            )
        if example.viewer is not None and i % 16 == 0:
            example.render()
            if not example.viewer.is_running():
                break


def print_check(example):
    """Prints the comparison with finite differences and returns whether it holds."""
    print(
        "gradient of the loss by the start velocity, against central differences "
        f"(float32, eps {CHECK_EPS:g})"
    )
    print(f"{'component':>10} {'gradient':>14} {'difference':>14} {'relative error':>16}")
    rows = example.check_gradient()
    for name, gradient, difference, error in rows:
        print(f"{name:>10} {gradient:14.6f} {difference:14.6f} {error:16.2e}")
    worst = max(row[3] for row in rows)
    good = worst <= CHECK_TOLERANCE
    print(f"largest relative error {worst:.2e}, allowed {CHECK_TOLERANCE:g}: {'good' if good else 'WRONG'}")
    return good


@_command_line.reporting
def main(argv=None):
    options = _command_line.parser("diffsim_ball", __doc__.partition("\n")[0]).parse_args(argv)
    nova.set_jit_enabled(not options.no_jit)
    example = Example(_command_line.open_viewer(options), device=options.device, seed=options.seed)
    if options.check_grad:
        good = print_check(example)
        if not good or options.headless is None:
            return 0 if good else 1

    count = ITERATIONS if options.headless is None else options.headless
    train(example, count)
    final = example.forward().item()
    print(f"loss after {count} iterations: {final:.6f}   ({nova.backend()})")
    if options.dump_states:
        novaphy.io.dump_states(
            options.dump_states,
            particle_q=example.frames(),
            particle_q_substeps=example.substeps(),
            meta=novaphy.provenance(example.model),
        )
        print(f"wrote {os.path.abspath(options.dump_states)}")

    picture = options.plot or ("diffsim_ball.png" if options.headless is None else None)
    if picture and not _command_line.can_draw():
        print("no picture: matplotlib is not installed; pip install 'novaphy[plot]'")
    elif picture:
        from ._ball_picture import draw

        draw(
            picture,
            [*example.trajectories, example.substeps()],
            [*example.losses, final],
            novaphy.provenance(example.model),
        )
        print(f"wrote {os.path.abspath(picture)}")
    if example.viewer is not None:
        example.viewer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
