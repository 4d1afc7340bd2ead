# SPDX-License-Identifier: Apache-2.0
"""A soft block slides over the ground, and its constants are found from the motion alone.

The scene is that of a user of another engine who asked how to do this: a grid of 20 x 4 x 10 cells, start velocity
-2 m/s, k_damp 1, with k_mu = 3000 and k_lambda = 1000 to be found from 1000 and 1000. Frames of the "observed" motion
come from a simulation with the true constants; windows that start from observed frames are simulated again.

Gauss-Newton with exact sensitivities (novaphy.identify.fit) is the default. --learning-rate R descends along the
gradient instead, in the logarithms of the constants and with the loss divided by its first value.
"""

from __future__ import annotations

import argparse
import math
import os
import sys

import numpy as np

import novaphy
import novaphy.diff as ndiff
from novaphy import identify, nova
from novaphy.solvers import DiffSemiImplicitSolver

from . import _command_line

CELLS, CELL = (20, 4, 10), (0.01, 0.005, 0.01)
DENSITY, VELOCITY, RADIUS = 10.0, (-2.0, 0.0, 0.0), 0.001
CONTACT = {"ke": 20.0, "kd": 0.005, "kf": 0.01, "mu": 0.5}
TRUE = {"k_mu": 3000.0, "k_lambda": 1000.0, "k_damp": 1.0}
COLUMNS = {name: f"tet_materials[:,{column}]" for column, name in enumerate(TRUE)}
START = {"k_mu": 1000.0, "k_lambda": 1000.0, "k_damp": 0.5, "E": 2000.0, "nu": 0.1}
FRAMES, RATE, STEPS_PER_SECOND = 10, 60.0, 340 * 60
NOISE = 1e-6


@nova.kernel
def squared_distance(x: nova.rows[nova.vec3], y: nova.rows[nova.vec3]):
    d = x - y
    return nova.sum(nova.dot(d, d))


def build_model(constants=TRUE, device=None):
    """The block, its lowest particles touching the ground."""
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(
        pos=(0.0, 0.0, RADIUS), rot=(0.0, 0.0, 0.0, 1.0), vel=VELOCITY,
        dim_x=CELLS[0], dim_y=CELLS[1], dim_z=CELLS[2], cell_x=CELL[0], cell_y=CELL[1], cell_z=CELL[2],
        density=DENSITY, **constants, particle_radius=RADIUS, add_surface_mesh_edges=False,
    )
    builder.add_ground_plane(cfg=novaphy.ModelBuilder.ShapeConfig(**CONTACT))
    model = builder.finalize(device)
    for name, value in CONTACT.items():
        setattr(model, f"soft_contact_{name}", value)
    return model


def true_values():
    """Everything that may be asked for."""
    moduli = identify.true_moduli(TRUE["k_mu"], TRUE["k_lambda"])
    return {**TRUE, "E": moduli.E, "nu": moduli.nu}


class Example:
    """The observed motion, the wanted constants, and the two ways to find them."""

    def __init__(self, *, frames=FRAMES, rate=RATE, substeps=None, params=("k_mu", "k_lambda"), start=None, seed=None, device=None):
        self.frames, self.rate = frames, rate
        self.substeps = substeps or math.ceil(STEPS_PER_SECOND / rate)
        self.dt = 1.0 / (rate * self.substeps)
        self.params = list(params)
        self.start = [START[name] for name in self.params] if start is None else [float(x) for x in start]
        if seed is not None:
            self.start = (np.array(self.start) * np.exp(np.random.default_rng(seed).normal(scale=0.5, size=len(self.start)))).tolist()
        self.model = build_model(device=device)
        self.observed = self.record()
        self.losses = []

    def record(self, constants=None):
        """Frames of the motion with the true constants, or others: times, particle_q, particle_qd."""
        model = self.model if constants is None else build_model(constants)
        solver, pipeline = DiffSemiImplicitSolver(model), novaphy.CollisionPipeline(model)
        contacts, now, after = pipeline.contacts(), model.state(), model.state()
        q, qd = [now.particle_q.numpy().copy()], [now.particle_qd.numpy().copy()]
        for _ in _command_line.iterations(self.frames, "simulating"):
            for _ in range(self.substeps):
                now.clear_forces()
                pipeline.collide(now, contacts)
                solver.step(now, after, None, contacts, self.dt)
                now, after = after, now
            q.append(now.particle_q.numpy().copy()), qd.append(now.particle_qd.numpy().copy())
        return {"times": np.arange(self.frames + 1) / self.rate, "particle_q": np.array(q), "particle_qd": np.array(qd)}

    def parameters(self):
        return [identify.Parameter(COLUMNS.get(name, name), initial=value) for name, value in zip(self.params, self.start)]

    def fit(self, iterations, checkpoint=None):
        """The library's way."""
        return identify.fit(self.model, self.observed, self.parameters(), dt=self.dt, noise=NOISE, iterations=max(iterations, 1),
                            checkpoint=checkpoint)

    def loss_and_gradient(self, logarithms):
        """Squared distance of all particles at the end of windows of one frame, and its gradient by the logarithms."""
        values = self._write(logarithms)
        solver, pipeline = DiffSemiImplicitSolver(self.model), novaphy.CollisionPipeline(self.model)
        material = ndiff.model_tet_material_tensor(self.model, requires_grad=True)
        total, start = 0.0, self.model.state()
        for first in range(0, self.frames, max(1, self.frames // 3)):
            seen = nova.tensor(self.observed["particle_q"][first + 1])
            roll = ndiff.Rollout(
                solver, None, pipeline.contacts(), self.dt, self.substeps, memory_budget="256 MB",
                loss=lambda state, seen=seen: squared_distance(ndiff.state_particle_q_tensor(state), seen),
                before_step=lambda step, state, control, contacts: pipeline.collide(state, contacts),
            )
            start.particle_q = self.observed["particle_q"][first]
            start.particle_qd = self.observed["particle_qd"][first]
            total += roll(start).item()
            roll.backward()
        gradient = material.grad.numpy().sum(axis=0)
        material.zero_grad()
        return total, np.array([v * gradient[list(TRUE).index(name)] for v, name in zip(values, self.params)])

    def _write(self, logarithms):
        values = [math.exp(x) for x in logarithms]
        material = self.model.tet_materials.numpy().copy()
        for name, value in zip(self.params, values):
            material[:, list(TRUE).index(name)] = value
        self.model.tet_materials.assign(material)
        return values

    def descend(self, iterations, learning_rate):
        """Gradient descent in the logarithms, the loss divided by its first value. Returns the constants."""
        logarithms = [math.log(x) for x in self.start]
        for i in _command_line.iterations(iterations, "descending"):
            loss, gradient = self.loss_and_gradient(logarithms)
            self.losses.append(loss)
            _command_line.say(f"iteration {i:4d}   loss / first loss {loss / self.losses[0]:.6f}   "
                              + "   ".join(f"{n} {math.exp(x):.2f}" for n, x in zip(self.params, logarithms)))
            step = learning_rate * gradient / self.losses[0]
            logarithms = [x - float(np.clip(d, -0.5, 0.5)) for x, d in zip(logarithms, step)]
        self._write([math.log(TRUE[name]) for name in self.params])
        return [math.exp(x) for x in logarithms]

    def check_gradient(self):
        """Rows (constant, gradient by its logarithm, central difference, error relative to the largest gradient)."""
        logarithms, rows = [math.log(x) for x in self.start], []
        _, gradient = self.loss_and_gradient(logarithms)
        for k, name in enumerate(self.params):
            up, down = ([x + s * 1e-2 * (j == k) for j, x in enumerate(logarithms)] for s in (1, -1))
            difference = (self.loss_and_gradient(up)[0] - self.loss_and_gradient(down)[0]) / 2e-2
            rows.append((name, float(gradient[k]), difference, abs(difference - float(gradient[k])) / float(np.abs(gradient).max())))
        return rows


def _list(kind, wanted):
    def parse(text):
        try:
            return [kind(part) for part in text.split(",")]
        except ValueError:
            raise argparse.ArgumentTypeError(f"wants {wanted}, got {text!r}") from None
    return parse


def _name(text):
    if text.strip() not in START:
        raise ValueError(text)
    return text.strip()


def _positive(text):
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not number > 0:
        raise argparse.ArgumentTypeError(f"wants a positive number, got {text!r}")
    return number


def _whole(text):
    number = _command_line._count(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"wants a whole number of at least 1, got {text!r}")
    return number


def _options():
    out = _command_line.parser("material_identification", __doc__.partition("\n")[0])
    out.add_argument("--frames", type=_whole, default=FRAMES, metavar="N", help=f"observed frames (default {FRAMES})")
    out.add_argument("--rate", type=_positive, default=RATE, metavar="HZ", help=f"frames a second (default {RATE:g})")
    out.add_argument("--substeps", type=_whole, metavar="N", help="solver steps a frame (default: 340 at 60 Hz, which is stable)")
    out.add_argument("--iterations", type=_whole, default=60, metavar="N", help="at most so many (default 60)")
    out.add_argument("--learning-rate", type=_positive, metavar="R", help="gradient descent with this rate instead of Gauss-Newton")
    out.add_argument("--params", type=_list(_name, "some of k_mu,k_lambda,k_damp or E,nu"), default=["k_mu", "k_lambda"],
                     metavar="A,B", help="what to find: k_mu,k_lambda,k_damp or E,nu (default k_mu,k_lambda)")
    out.add_argument("--start", type=_list(float, "numbers with commas"), metavar="X,Y", help="first guess of each")
    out.add_argument("--log-dir", metavar="DIR", help="folder for report.json, fit.png, first.png, motion.gif")
    return out


def _print_found(example, values, errors=None):
    true = true_values()
    for i, (name, value) in enumerate(zip(example.params, values)):
        error = "" if errors is None else f" +- {float(errors[i]):.2g}"
        off = abs(value - true[name]) / abs(true[name])
        print(f"{name:>9} = {value:.6g}{error}   true {true[name]:.6g}, off by {100 * off:.2g} %")


@_command_line.reporting
def main(argv=None):
    parser = _options()
    options = parser.parse_args(argv)
    if options.start is not None and len(options.start) != len(options.params):
        parser.error(f"--start has {len(options.start)} numbers for {len(options.params)} of --params")
    by_gradient = options.learning_rate is not None or options.check_grad
    if by_gradient and not set(options.params) <= set(TRUE):
        parser.error("--learning-rate and --check-grad work on k_mu, k_lambda and k_damp")
    nova.set_jit_enabled(not options.no_jit)
    if options.log_dir:
        os.makedirs(options.log_dir, exist_ok=True)
    example = Example(frames=options.frames, rate=options.rate, substeps=options.substeps, params=options.params,
                      start=options.start, seed=options.seed, device=options.device)
    if options.dump_states:
        novaphy.io.dump_states(options.dump_states, particle_q=example.observed["particle_q"], meta=novaphy.provenance(example.model))
        print(f"wrote {os.path.abspath(options.dump_states)}")
    if options.check_grad:
        rows = example.check_gradient()
        for row in rows:
            print("{:>9}: gradient by its logarithm {:.6g}, central difference {:.6g}, error {:.2e} of the largest".format(*row))
        return 0 if max(row[3] for row in rows) < 1e-2 else 1
    count = options.iterations if options.headless is None else options.headless
    if count == 0:
        return 0

    report = None
    try:
        if options.learning_rate is not None:
            found = example.descend(count, options.learning_rate)
            _print_found(example, found)
        else:
            checkpoint = os.path.join(options.log_dir, "checkpoint.json") if options.log_dir else None
            report = example.fit(count, checkpoint)
            print(report)
            found = [float(value) for value in report.values]
            _print_found(example, found, report.stderr)
    except ValueError as error:  # such as a first guess that cannot stand
        print(error, file=sys.stderr)
        return 1
    _write_pictures(example, report, found, options)
    if options.html:
        _play(example, novaphy.viewer.ViewerHTML(options.html, fps=options.rate, title="material_identification"))
        print(f"wrote {os.path.abspath(options.html)}")
    viewer = _command_line.open_viewer(options)
    if viewer is not None:
        _play(example, viewer)
    return 0


def _write_pictures(example, report, found, options):
    from . import _material_pictures

    if (options.plot or options.log_dir) and not _command_line.can_draw():
        print("no pictures: matplotlib is not installed; pip install 'novaphy[plot]'")
        return
    provenance = novaphy.provenance(example.model)
    written = []
    if options.plot:
        written.append(options.plot)
        report.plot(options.plot) if report else _material_pictures.draw_losses(options.plot, example.losses, provenance)
    if options.log_dir:

        def inside(name):
            written.append(os.path.join(options.log_dir, name))
            return written[-1]

        if report is not None:
            report.plot(inside("fit.png"))
            report.to_json(inside("report.json"))
        else:
            _material_pictures.draw_losses(inside("losses.png"), example.losses, provenance)
        motions = {"observed": example.observed, "first guess": example.record(_constants(example, example.start)),
                   "found": example.record(_constants(example, found))}
        _material_pictures.draw_frames(inside("motion.png"), motions, provenance)
        _material_pictures.write_gif(inside("motion.gif"), motions, provenance)
    for path in written:
        print(f"wrote {os.path.abspath(path)}")


def _constants(example, values):
    """The block's constants with some replaced."""
    given = dict(zip(example.params, values))
    out = {name: given.get(name, value) for name, value in TRUE.items()}
    if {"E", "nu"} & set(given):
        pair = {**true_values(), **given}
        out["k_mu"], out["k_lambda"] = identify.tet_materials_of(pair["E"], pair["nu"])
    return out


def _play(example, viewer):
    viewer.set_model(example.model)
    state = example.model.state()
    for time, q in zip(example.observed["times"], example.observed["particle_q"]):
        state.particle_q = q
        viewer.begin_frame(float(time))
        viewer.log_state(state)
        viewer.end_frame()
    viewer.close()


if __name__ == "__main__":
    sys.exit(main())
