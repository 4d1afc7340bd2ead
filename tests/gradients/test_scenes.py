# SPDX-License-Identifier: Apache-2.0
"""Gradients of random and special scenes against the twin's adjoint, in every input that the engine differentiates."""
from dataclasses import replace

import numpy as np
import pytest

from checks import TOLERANCE, check_scene, particles_unlike_free_twin, random_weights
from compare import assert_close_to_largest
from engine import gradient, recorded
from scenes import mixed_scene, random_scene, read_arrays
from twin_contact import adjoint, rollout
from variations import VARIATIONS

MARGINS = {False: 10.0, True: 0.02}
COLLIDED = pytest.mark.parametrize("every_step", [False, True], ids=["once", "every step"])


def check_random(seed, every_step, capsys):
    scene = random_scene(seed, margin=MARGINS[every_step])
    checked = check_scene(scene, seed, every_step)
    unlike, text = particles_unlike_free_twin(checked, scene, every_step, seed=seed)
    if len(unlike):
        with capsys.disabled():
            print(f"\nseed {seed}: {len(unlike)} of {len(scene.q)} particles unlike the free float64 twin\n{text}")
    assert len(unlike) <= 0.005 * len(scene.q), text


@COLLIDED
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_2000_random_particles_among_12_shapes(seed, every_step, capsys):
    check_random(seed, every_step, capsys)


@pytest.mark.slow
@COLLIDED
@pytest.mark.parametrize("seed", range(4, 24))
def test_2000_random_particles_among_12_shapes_more_seeds(seed, every_step, capsys):
    check_random(seed, every_step, capsys)


@COLLIDED
@pytest.mark.parametrize("name", VARIATIONS)
def test_special_scenes(name, every_step):
    scene = VARIATIONS[name]()
    check_scene(replace(scene, margin=MARGINS[True]) if every_step else scene, 5, every_step)


@COLLIDED
def test_external_forces(every_step):
    scene = random_scene(31, particles=300, steps=60, margin=MARGINS[every_step])
    external = np.random.default_rng(2).normal(0, 20, scene.q.shape).astype(np.float32)
    checked = check_scene(scene, 6, every_step, external)
    got = sum(gradient(state.particle_f).astype(np.float64) for state in checked.run.states[:-1])
    assert_close_to_largest(got, checked.gradients.external, TOLERANCE, "external force of all steps")


def test_losses_on_velocities_and_on_states_in_between_add_up():
    scene = random_scene(33, particles=300, steps=60)
    weights = [random_weights(scene, k) for k in range(3)]
    run, tape = recorded(scene, weights[0])
    tape.backward(view_of("qd", run.states[-1]), grad=seed_of(weights[1]))
    tape.backward(view_of("q", run.states[20]), grad=seed_of(weights[2]))
    law = rollout(read_arrays(run.model), scene.steps, scene.dt, scene.margin)
    first = rollout(read_arrays(run.model), 20, scene.dt, scene.margin)
    whole, part = adjoint(law, weights[0], weights[1]), adjoint(first, weights[2])
    for name in ("particle_q", "particle_qd"):
        want = getattr(whole, name) + getattr(part, name)
        assert_close_to_largest(gradient(getattr(run.states[0], name)), want, TOLERANCE, name)
    want = whole.particle_inv_mass + part.particle_inv_mass
    assert_close_to_largest(gradient(run.model.particle_inv_mass), want, TOLERANCE, "particle_inv_mass")


def view_of(name, state):
    import novaphy.diff as ndiff
    return getattr(ndiff, f"state_particle_{name}_tensor")(state)


def seed_of(weights):
    from novaphy import nova
    return nova.tensor(weights)


@pytest.mark.parametrize("particles", [1, 15, 16, 17, 257])
def test_every_particle_count(particles):
    check_scene(random_scene(particles, particles=particles, steps=30), 7)


@pytest.mark.parametrize("shapes", [0, 1, 7, 8, 9, 40])
def test_every_shape_count(shapes):
    check_scene(random_scene(shapes + 50, particles=64, shapes=shapes, steps=30), 8)


@COLLIDED
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 80))])
def test_everything_at_once(seed, every_step):
    scene = mixed_scene(seed)
    external = np.random.default_rng(seed).normal(0, 10, scene.q.shape).astype(np.float32) if seed % 2 else None
    check_scene(scene, seed, every_step, external)
