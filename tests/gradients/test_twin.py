# SPDX-License-Identifier: Apache-2.0
"""The tests' own float64 twin is right: its adjoint against its differences, and against the ball's reference."""
import numpy as np
import pytest

from compare import assert_close_to_largest
from scenes import ball_scene, random_scene
from twin_contact import adjoint, rollout
from twin_differences import Differences
from variations import VARIATIONS

STEP_SIZES = (1e-4, 1e-5, 1e-6)
PER_PARTICLE = [("particle_q", (0,)), ("particle_q", (1,)), ("particle_q", (2,)), ("particle_qd", (0,)),
                ("particle_qd", (1,)), ("particle_qd", (2,)), ("particle_inv_mass", ()), ("particle_radius", ())]
SHARED = [("soft_contact_material", (k,)) for k in range(4)] + [("gravity", (0, k)) for k in range(3)] + \
         [(f"shape_material_{m}", (s,)) for m in ("ke", "kd", "kf", "mu") for s in (0, 1, 2, 3)]
SCALE = {"particle_inv_mass": 0.1, "particle_radius": 0.1}


def prepared(scene, every_step, count=150):
    model = scene.arrays().astype(np.float64)
    run = rollout(model, scene.steps, scene.dt, scene.margin, every_step)
    weights = np.random.default_rng(3).normal(size=(model.particle_count, 3))
    touched = [p[b.rows] for r, bs in zip(run.records, run.branches) for (p, _, _), b in zip(r.by_shape, bs)]
    touched = np.unique(np.concatenate(touched)) if touched else np.zeros(0, int)
    return run, weights, touched[:count]


@pytest.mark.parametrize("every_step", [False, True], ids=["collided once", "collided every step"])
def test_the_adjoint_of_particle_values_is_the_limit_of_differences(every_step):
    scene = random_scene(1, particles=600, steps=120, margin=0.02 if every_step else 10.0)
    run, weights, chosen = prepared(scene, every_step)
    assert len(chosen) > 100
    gradients = adjoint(run, weights)
    differences = Differences(run, weights, chosen)
    for name, entry in PER_PARTICLE:
        want = getattr(gradients, name)[(chosen, *entry)]
        for eps in STEP_SIZES:
            got, same = differences.of(name, entry, eps * SCALE.get(name, 1.0))
            assert same.sum() > 0.6 * len(chosen), f"{name}{entry} at eps {eps}: only {same.sum()} kept their branches"
            assert_close_to_largest(got[same], want[same], max(1e-6, 5e3 * eps ** 2), f"{name}{entry} at eps {eps}")


def test_the_adjoint_of_shared_values_is_the_limit_of_differences():
    scene = random_scene(2, particles=400, shapes=8, steps=80)
    run, weights, chosen = prepared(scene, False, count=80)
    differences = Differences(run, weights, chosen)
    for name, entry in SHARED:
        size = max(abs(getattr(run.model, name)[entry]), 0.1)
        for eps in STEP_SIZES[1:]:
            got, same = differences.of(name, entry, eps * size)
            want = getattr(adjoint(differences.base, differences.weights * same[:, None]), name)[entry]
            assert same.sum() > 0.6 * len(chosen)
            assert abs(got[same].sum() - want) <= 1e-6 * max(np.abs(got[same]).sum(), 1e-9) + 1e-12, f"{name}{entry} at {eps}"


@pytest.mark.parametrize("name", ["speed_limit", "zero_mass", "two_worlds", "crowded", "without_stiffness"])
def test_the_adjoint_is_right_in_the_special_scenes(name):
    scene = VARIATIONS[name]()
    run, weights, _ = prepared(scene, False)
    chosen = np.arange(scene.arrays().particle_count)
    gradients = adjoint(run, weights)
    differences = Differences(run, weights, chosen)
    for field, entry in PER_PARTICLE[:7]:
        if name == "zero_mass" and field == "particle_inv_mass":
            continue  # a step from 0 turns gravity on
        got, same = differences.of(field, entry, 1e-6)
        assert same.sum() > 0.6 * len(chosen)
        want = getattr(gradients, field)[(chosen, *entry)]
        assert_close_to_largest(got[same], want[same], 5e-6, f"{name}: {field}{entry}")


def test_the_twin_is_the_stored_twin_of_the_ball(data):
    stored = np.load(data / "ball_twin.npz")
    run = rollout(ball_scene().arrays().astype(np.float64), 288, 1 / 60 / 8, 10.0)
    gradients = adjoint(run, 2 * (run.q[-1] - (0, -2, 1.5)))
    np.testing.assert_allclose(run.q[:, 0], stored["q"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(gradients.adjoint_q[:, 0], stored["adjoint_q"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients.adjoint_qd[:, 0], stored["adjoint_qd"], rtol=0, atol=1e-12)
