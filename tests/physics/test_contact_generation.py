# SPDX-License-Identifier: Apache-2.0
"""Soft contact generation against the NumPy law: the same records, in the same order, bit for bit."""
import numpy as np
import pytest

from compare import assert_same_bits
from scenes import random_scene, read_arrays, scene_of
from twin_shapes import generate
from variations import VARIATIONS


def assert_records(model, margin, pipeline=None):
    import novaphy
    pipeline = pipeline or novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=margin)
    contacts = pipeline.contacts()
    pipeline.collide(model.state(), contacts)
    arrays = read_arrays(model)
    particle, shape, point, normal = generate(arrays, arrays.particle_q, margin).flat()
    count = int(contacts.soft_contact_count.numpy()[0])
    assert count == len(particle)
    assert np.array_equal(contacts.soft_contact_particle.numpy()[:count], particle)
    assert np.array_equal(contacts.soft_contact_shape.numpy()[:count], shape)
    assert_same_bits(contacts.soft_contact_body_pos.numpy()[:count], point.astype(np.float32), "points")
    assert_same_bits(contacts.soft_contact_normal.numpy()[:count], normal.astype(np.float32), "normals")
    slots = np.full(len(arrays.shape_type) * arrays.particle_count, -1)
    slots[shape * arrays.particle_count + particle] = np.arange(count)
    assert np.array_equal(contacts.soft_contact_tids.numpy(), slots)
    return contacts


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.3, 10.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_scenes_give_the_same_records(seed, margin):
    assert_records(random_scene(seed).build(), margin)


@pytest.mark.parametrize("name", VARIATIONS)
def test_special_scenes_give_the_same_records(name):
    model = VARIATIONS[name]().build()
    for margin in (0.0, 0.02, 10.0):
        assert_records(model, margin)


def test_no_particles_give_no_records():
    contacts = assert_records(scene_of(np.zeros((0, 3)), (0, 0, 0), random_scene(1, particles=1).shapes).build(), 1.0)
    assert contacts.soft_contact_max == 0


def test_contacts_found_twice_are_the_same_and_replace_the_first():
    import novaphy
    model = random_scene(4, particles=200).build()
    pipeline = novaphy.CollisionPipeline(model, soft_contact_margin=10.0)
    contacts = pipeline.contacts()
    state = model.state()
    pipeline.collide(state, contacts)
    many = contacts.soft_contact_normal.numpy().copy()
    pipeline.collide(state, contacts)
    assert np.array_equal(contacts.soft_contact_normal.numpy(), many)
    state.particle_q = state.particle_q.numpy() + np.float32(100)
    few = novaphy.CollisionPipeline(model, soft_contact_margin=0.01)
    few.collide(state, contacts)
    used = int(contacts.soft_contact_count.numpy()[0])
    assert used == generate(read_arrays(model), state.particle_q.numpy(), 0.01).count
    assert (contacts.soft_contact_tids.numpy() >= 0).sum() == used


def test_an_overflow_is_flagged_and_keeps_the_first_records():
    import novaphy
    model = random_scene(5, particles=50).build()
    pipeline = novaphy.CollisionPipeline(model, soft_contact_margin=10.0, soft_contact_max=7)
    contacts = pipeline.contacts()
    pipeline.collide(model.state(), contacts)
    arrays = read_arrays(model)
    particle, *_ = generate(arrays, arrays.particle_q, 10.0).flat()
    assert contacts.soft_contact_overflow
    assert np.array_equal(contacts.soft_contact_particle.numpy(), particle[:7])
    assert contacts.soft_contact_tids.numpy().max() == 6
