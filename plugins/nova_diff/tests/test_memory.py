# SPDX-License-Identifier: Apache-2.0
"""Memory stays flat over many recordings and many models."""
import gc
import os

import numpy as np
import pytest

from novaphy import nova

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the resident memory of Linux")


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(action, warm_up, rounds):
    """How much `rounds` calls add to the resident memory after `warm_up` calls."""
    for _ in range(warm_up):
        action()
    gc.collect()
    before = resident_bytes()
    for _ in range(rounds):
        action()
    gc.collect()
    return resident_bytes() - before


def record_and_differentiate():
    """Slices, columns, operators, a matrix product and a saved copy: about 100 kB a round if anything were kept."""
    x = nova.tensor(np.ones((40, 8), np.float32), requires_grad=True)
    ring = nova.zeros((4, 40, 8))
    with nova.Tape(on_overwrite="save") as tape:
        ring[0] = x
        for t in range(3):
            ring[t + 1] = nova.tanh(ring[t] * 0.5 + ring[t])
        y = ring[3] @ nova.ones((8, 8))
        y[:, 0] = y[:, 1] * y[:, 2]
        loss = nova.sum(y * y)
        ring.zero_()
    tape.backward(loss)
    assert x.grad is not None


def model_and_step():
    import novaphy
    builder = novaphy.ModelBuilder()
    builder.add_particles(pos=np.zeros((100, 3)), vel=np.zeros((100, 3)), mass=np.ones(100))
    builder.add_ground_plane()
    model = builder.finalize(requires_grad=True)
    states = [model.state() for _ in range(3)]
    solver = novaphy.solvers.DiffSemiImplicitSolver(model)
    contacts = novaphy.collision.CollisionPipeline(model).contacts()
    with nova.Tape() as tape:
        for a, b in zip(states, states[1:]):
            solver.step(a, b, model.control(), contacts, 0.01)
        loss = nova.sum(nova.as_tensor(states[-1].particle_q))
    tape.backward(loss)


def test_recording_and_differentiating_again_and_again_keeps_nothing():
    assert growth(record_and_differentiate, 200, 1000) < 4e6


def test_making_models_again_and_again_keeps_nothing():
    assert growth(model_and_step, 30, 100) < 2e6


@pytest.mark.slow
def test_ten_thousand_recordings_and_a_thousand_models_keep_nothing():
    assert growth(record_and_differentiate, 500, 10_000) < 4e6
    assert growth(model_and_step, 100, 1000) < 4e6
