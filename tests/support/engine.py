# SPDX-License-Identifier: Apache-2.0
"""Runs a Scene through the engine's Python API, step by step as a user writes it, and finds the host executable."""
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PARAMETERS = ("particle_inv_mass", "particle_radius", "soft_contact_material", "shape_material_ke", "shape_material_kd",
              "shape_material_kf", "shape_material_mu", "gravity")


@dataclass
class EngineRun:
    """States 0..N of one rollout as arrays, the states themselves, and the number of contacts of each step."""
    model: object
    states: list
    contacts: object
    contact_counts: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    f: np.ndarray


def step_all(solver, model, scene, every_step=False, external=None, states=None, pipeline=None):
    """The ordinary Python loop over one state a step. Records are constants, as the twin takes them: they are collided
    outside the recording."""
    import novaphy
    from novaphy import nova
    states = states or [model.state() for _ in range(scene.steps + 1)]
    control = model.control()
    pipeline = pipeline or novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=scene.margin)
    contacts = pipeline.contacts()
    counts = []

    def collide(state):
        with nova.no_grad():
            pipeline.collide(state, contacts)

    if not every_step:
        collide(states[0])
    for now, then in zip(states, states[1:]):
        now.clear_forces()
        if external is not None:
            now.particle_f = external
        if every_step:
            collide(now)
        counts.append(int(contacts.soft_contact_count.numpy()[0]))
        solver.step(now, then, control, contacts, scene.dt)
    stack = lambda name: np.stack([getattr(s, name).numpy() for s in states])
    return EngineRun(model, states, contacts, np.array(counts), stack("particle_q"), stack("particle_qd"),
                     stack("particle_f"))


def forward(scene, every_step=False, external=None, model=None):
    """The scene through SolverSemiImplicit."""
    from novaphy.solvers import SolverSemiImplicit
    model = model or scene.build(requires_grad=False)
    return step_all(SolverSemiImplicit(model), model, scene, every_step, external)


def recorded(scene, seed_q, every_step=False, external=None, model=None, solver=None):
    """(run, tape) of the scene through DiffSemiImplicitSolver with the loss sum(seed_q * last positions) differentiated.
    Gradients stay in the first state's arrays and in the model's."""
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    model = model or scene.build()
    solver = solver or DiffSemiImplicitSolver(model)
    states = [model.state() for _ in range(scene.steps + 1)]
    ndiff.state_particle_q_tensor(states[0], requires_grad=True)
    ndiff.state_particle_qd_tensor(states[0], requires_grad=True)
    with nova.Tape() as tape:
        run = step_all(solver, model, scene, every_step, external, states)
    tape.backward(ndiff.state_particle_q_tensor(states[-1]), grad=nova.tensor(np.asarray(seed_q, np.float32)))
    return run, tape


def gradient(array):
    """A copy of an engine array's gradient as a NumPy array, or None."""
    grad = array.grad
    return None if grad is None else np.array(grad.numpy())


def host_executable():
    """novaphy-host: from NOVAPHY_HOST, the installed package, the build folder of the package, or beside Python."""
    named = os.environ.get("NOVAPHY_HOST")
    if named:
        return Path(named)
    import novaphy
    packages = [Path(folder) for folder in novaphy.__path__]  # not resolved: a build tree links its files to the source
    places = [p / "bin" for p in packages] + [p.parents[1] / "bin" for p in packages] + [Path(sys.executable).parent]
    for place in places:
        if (place / "novaphy-host").is_file():
            return place / "novaphy-host"
    found = shutil.which("novaphy-host")
    assert found, f"novaphy-host is in none of {', '.join(map(str, places))}; set NOVAPHY_HOST"
    return Path(found)
