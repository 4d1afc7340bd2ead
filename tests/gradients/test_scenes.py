# SPDX-License-Identifier: Apache-2.0
"""Gradients of random and special scenes against the twin's adjoint, in every input that the engine differentiates."""
from dataclasses import replace

import numpy as np
import pytest

from checks import check_scene, particles_unlike_free_twin
from scenes import mixed_scene, random_scene
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
    assert checked.run.f[0].any()


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
