# SPDX-License-Identifier: Apache-2.0
"""Trajectories of random and special scenes: both solvers and the float32 law of the tests agree bit for bit."""
from dataclasses import replace

import numpy as np
import pytest

from checks import check_forward
from compare import assert_same_bits
from engine import forward, step_all
from scenes import random_scene, read_arrays, scene_of
from twin_contact import rollout
from variations import VARIATIONS


def check(scene, every_step, external=None):
    from novaphy.solvers import DiffSemiImplicitSolver
    model = scene.build()
    run = step_all(DiffSemiImplicitSolver(model), model, scene, every_step, external)
    law = rollout(read_arrays(model), scene.steps, scene.dt, scene.margin, every_step, external=external)
    check_forward(scene, run, law, every_step, external)
    return law


@pytest.mark.parametrize("name", VARIATIONS)
@pytest.mark.parametrize("every_step", [False, True], ids=["once", "every step"])
def test_special_scenes_move_as_the_law_says(name, every_step):
    scene = VARIATIONS[name]()
    check(replace(scene, margin=0.02) if every_step else scene, every_step)


@pytest.mark.parametrize("every_step", [False, True], ids=["once", "every step"])
def test_external_forces_add_before_the_contacts(every_step):
    scene = random_scene(21, particles=300, steps=60, margin=0.05 if every_step else 10.0)
    external = np.random.default_rng(2).normal(0, 20, scene.q.shape).astype(np.float32)
    check(scene, every_step, external)


@pytest.mark.parametrize("particles", [1, 15, 16, 17, 255, 256, 257])
def test_every_particle_count_moves_as_the_law_says(particles):
    check(random_scene(particles, particles=particles, steps=20), False)


@pytest.mark.parametrize("shapes", [0, 1, 2, 7, 8, 9, 40])
def test_every_shape_count_moves_as_the_law_says(shapes):
    check(random_scene(shapes + 50, particles=64, shapes=shapes, steps=30), False)


def test_no_particles_step_without_error():
    from novaphy.solvers import DiffSemiImplicitSolver
    scene = scene_of(np.zeros((0, 3)), (0, 0, 0), random_scene(1, particles=1).shapes, steps=3)
    assert forward(scene).q.shape == (4, 0, 3)
    model = scene.build()
    assert step_all(DiffSemiImplicitSolver(model), model, scene).q.shape == (4, 0, 3)


def test_a_step_without_contacts_and_control_is_free_flight():
    from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit
    scene = random_scene(6, particles=50, shapes=0)
    law = rollout(scene.arrays(), 1, scene.dt, 1.0)
    for solver_class in (DiffSemiImplicitSolver, SolverSemiImplicit):
        model = scene.build()
        before, after = model.state(), model.state()
        solver_class(model).step(before, after, None, None, scene.dt)
        assert_same_bits(after.particle_q.numpy(), law.q[1], solver_class.__name__)
        assert_same_bits(after.particle_qd.numpy(), law.qd[1], solver_class.__name__)


def test_the_model_holds_what_the_scene_says():
    scene = random_scene(7, particles=100)
    want, got = scene.arrays(), read_arrays(scene.build())
    for name in want.__dataclass_fields__:
        a, b = np.asarray(getattr(want, name)), np.asarray(getattr(got, name))
        if name == "shape_flags":
            a, b = a & 4, b & 4
        assert a.shape == b.shape and a.dtype == b.dtype, f"{name}: {b.shape} {b.dtype}, want {a.shape} {a.dtype}"
        np.testing.assert_allclose(b, a, rtol=0, atol=1.2e-7 if name == "shape_transform" else 0, err_msg=name)
