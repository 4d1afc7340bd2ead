# SPDX-License-Identifier: Apache-2.0
"""What the trained examples share: a rollout recorded whole, gradient descent on a parameter of it, the
comparison with difference quotients, and the command line."""

from __future__ import annotations

import os
import sys

import numpy as np

import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver

from . import _command_line


class TrainedScene:
    """A scene whose `parameter`, a tensor, is trained so that the body's centre ends at `target`.

    A subclass says what the scene is (build_model), what is trained (make_parameter) and how (update).
    """

    name = ""
    fps, frame_count, substep_count = 60, 36, 8
    iterations = 100
    target = (0.0, 0.0, 0.0)
    learning_rate = 1.0
    check_eps, check_tolerance = 1e-3, 2.5e-3
    whose_gradient = "the recorded steps of DiffSemiImplicitSolver"

    def __init__(self, viewer=None, *, device=None, seed=None):
        self.viewer = viewer
        self.dt = 1.0 / (self.fps * self.substep_count)
        self.model = self.build_model(device)
        self.solver = DiffSemiImplicitSolver(self.model)
        self.states = [self.model.state() for _ in range(self.frame_count * self.substep_count + 1)]
        self.control = self.model.control()
        self.make_contacts()
        self.parameter = self.make_parameter()
        if seed is not None:
            self.disturb(np.random.default_rng(seed))
        self.losses, self.paths = [], []
        if viewer is not None:
            viewer.set_model(self.model)

    @classmethod
    def add_options(cls, parser):
        """Adds options that this example alone has."""

    @classmethod
    def of_options(cls, viewer, given):
        """The scene that a command line asks for."""
        return cls(viewer, device=given.device, seed=given.seed)

    def build_model(self, device):
        raise NotImplementedError

    def make_contacts(self):
        """Contacts that hold for the whole rollout; none by default."""
        self.contacts = None

    def make_parameter(self):
        raise NotImplementedError

    def disturb(self, random):
        """Moves the start of the training at random, for --seed."""
        raise NotImplementedError

    def write_parameter(self):
        """Recorded operations that bring the parameter into the model, where it does not lie there already."""

    def before_step(self, state):
        """What a substep needs before it, such as fresh contacts."""

    def update(self, gradient):
        """One step of gradient descent."""
        self.parameter.assign(self.parameter.numpy() - np.float32(self.learning_rate) * gradient)

    def describe(self):
        """What the parameter is now, for a line of the training."""
        return ""

    def loss(self):
        """The squared distance of the centre to the target, in m^2, at the end."""
        centre = ndiff.particle_centroid_generated(ndiff.state_particle_q_tensor(self.states[-1]))
        return ndiff.vec3_point_loss_generated(centre, *self.target)

    def forward(self):
        """Rolls out all substeps and returns the loss, a tensor of one number."""
        self.write_parameter()
        for now, after in zip(self.states, self.states[1:]):
            now.clear_forces()
            self.before_step(now)
            self.solver.step(now, after, self.control, self.contacts, self.dt)
        return self.loss()

    def gradient(self):
        """The loss and its gradient with respect to the parameter."""
        with nova.Tape() as tape:
            loss = self.forward()
        tape.backward(loss)
        gradient = self.parameter.grad.numpy().copy()
        self.parameter.zero_grad()
        return loss.item(), gradient

    def step(self):
        """One iteration of gradient descent. Returns the loss before it."""
        loss, gradient = self.gradient()
        self.losses.append(loss)
        self.paths.append(self.path())
        self.update(gradient)
        return loss

    def substeps(self):
        """Positions of the last rollout, (substeps + 1, particles, 3)."""
        return np.stack([state.particle_q.numpy() for state in self.states])

    def frames(self):
        """Positions of the last rollout, (frames + 1, particles, 3)."""
        return np.stack([state.particle_q.numpy() for state in self.states[:: self.substep_count]])

    def path(self):
        """The centre in the last rollout, (substeps + 1, 3)."""
        return np.stack([state.particle_q.numpy().mean(axis=0) for state in self.states])

    def check_directions(self):
        """(name, direction) of the comparison with difference quotients: each number of a small parameter, else the
        gradient's direction and two drawn ones of its signs, along which the loss changes enough to be measured."""
        shape = self.parameter.shape
        size = int(np.prod(shape))
        if size <= 8:
            return [(f"[{k}]", row.reshape(shape)) for k, row in enumerate(np.eye(size, dtype=np.float32))]
        steepest = self.gradient()[1]
        draw = np.random.default_rng(0).uniform(size=(2, *shape)).astype(np.float32) * np.sign(steepest)
        named = [("steepest", steepest), ("drawn 1", draw[0]), ("drawn 2", draw[1])]
        return [(name, direction / np.linalg.norm(direction)) for name, direction in named]

    def check_gradient(self):
        """Rows (direction, gradient along it, central difference, relative error)."""
        _, gradient = self.gradient()
        start = self.parameter.numpy().copy()
        rows = []
        for name, direction in self.check_directions():
            losses = []
            for sign in (1.0, -1.0):
                self.parameter.assign(start + np.float32(sign * self.check_eps) * direction)
                losses.append(self.forward().item())
            difference = (losses[0] - losses[1]) / (2.0 * self.check_eps)
            along = float(np.vdot(gradient, direction))
            scale = max(abs(difference), abs(along))
            rows.append((name, along, difference, abs(difference - along) / scale if scale > 0.0 else 0.0))
        self.parameter.assign(start)
        return rows

    def render(self):
        """Plays the last rollout in the viewer."""
        path = self.path()
        for frame in range(self.frame_count + 1):
            self.viewer.begin_frame(frame / self.fps)
            self.viewer.log_state(self.states[frame * self.substep_count])
            self.viewer.log_points(
                "target", np.array([self.target], dtype=np.float32), radii=self.target_radius(),
                colors=(0.82, 0.29, 0.36),
            )
            self.viewer.log_trajectory(f"iteration {len(self.losses)}", path, keep=True)
            self.viewer.log_scalar("loss", self.losses[-1] if self.losses else 0.0)
            self.viewer.end_frame()

    def target_radius(self):
        return 0.1

    def draw(self, picture, losses):
        """Writes the picture of the training: `losses` holds one more than self.losses, that of the end."""
        from ._training_picture import draw

        draw(picture, self, [*self.paths, self.path()], losses, novaphy.provenance(self.model))


def train(scene, count):
    """Trains and prints about ten losses on the way."""
    every = max(1, count // 10)
    for i in _command_line.iterations(count, "training"):
        loss = scene.step()
        if i % every == 0 or i == count - 1:
            _command_line.say(f"iteration {i:4d}   loss {loss:.7g}   {scene.describe()}")
        if scene.viewer is not None and i % 16 == 0:
            scene.render()
            if not scene.viewer.is_running():
                break


def print_check(scene):
    """Prints the comparison with finite differences and returns whether it holds."""
    print(
        f"gradient of the loss ({scene.whose_gradient}) along directions of the parameter, against central "
        f"differences (float32, eps {scene.check_eps:g})"
    )
    print(f"{'direction':>10} {'gradient':>14} {'difference':>14} {'relative error':>16}")
    rows = scene.check_gradient()
    for name, gradient, difference, error in rows:
        print(f"{name:>10} {gradient:14.6g} {difference:14.6g} {error:16.2e}")
    worst = max(row[3] for row in rows)
    good = worst <= scene.check_tolerance
    print(f"largest relative error {worst:.2e}, allowed {scene.check_tolerance:g}: {'good' if good else 'WRONG'}")
    return good


@_command_line.reporting
def run(scene_class, argv=None):
    """The command line of an example."""
    description = sys.modules[scene_class.__module__].__doc__.partition("\n")[0]
    parser = _command_line.parser(scene_class.name, description)
    scene_class.add_options(parser)
    given = parser.parse_args(argv)
    nova.set_jit_enabled(not given.no_jit)
    scene = scene_class.of_options(_command_line.open_viewer(given), given)
    if given.check_grad:
        good = print_check(scene)
        if not good or given.headless is None:
            return 0 if good else 1

    count = scene.iterations if given.headless is None else given.headless
    train(scene, count)
    final = scene.forward().item()
    print(f"loss after {count} iterations: {final:.7g}   ({nova.backend()}; gradient of {scene.whose_gradient})")
    _write_files(scene, given, final)
    if scene.viewer is not None:
        scene.viewer.close()
    return 0


def _write_files(scene, given, final):
    if given.dump_states:
        novaphy.io.dump_states(
            given.dump_states, particle_q=scene.frames(), particle_q_substeps=scene.substeps(),
            meta=novaphy.provenance(scene.model),
        )
        print(f"wrote {os.path.abspath(given.dump_states)}")
    if given.html:
        with novaphy.viewer.ViewerHTML(given.html, fps=scene.fps, title=scene.name) as page:
            page.set_model(scene.model)
            shown, scene.viewer = scene.viewer, page
            scene.losses.append(final)
            scene.render()
            scene.losses.pop()
            scene.viewer = shown
        print(f"wrote {os.path.abspath(given.html)}")
    picture = given.plot or (f"{scene.name}.png" if given.headless is None else None)
    if picture and not _command_line.can_draw():
        print("no picture: matplotlib is not installed; pip install 'novaphy[plot]'")
    elif picture:
        scene.draw(picture, [*scene.losses, final])
        print(f"wrote {os.path.abspath(picture)}")
