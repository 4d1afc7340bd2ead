# SPDX-License-Identifier: Apache-2.0
"""integrate_push_box_generated: its step and gradient against the same law in float64, its limits, its errors."""
import numpy as np
import pytest

import novaphy
from novaphy import nova
from novaphy import diff as ndiff

PUSH = dict(pusher_radius=0.05, box_half_extent=0.1, box_mass=0.5, ke=800.0, kd=4.0, mu=0.3, gravity=9.81, friction_smoothing=0.05, dt=0.01)


def twin(state, *, pusher_radius, box_half_extent, box_mass, ke, kd, mu, gravity, friction_smoothing, dt):
    """One step of one box in float64: (x, v)."""
    x, v, pusher, speed = state
    side = -1.0 if pusher < x else 1.0
    gap = side * (pusher - x) - box_half_extent - pusher_radius
    force = 0.0 if gap > 0 else side * (gap * ke + min(side * (speed - v), 0.0) * kd)
    pushed = v + force / box_mass * dt
    length = abs(pushed) if abs(pushed) >= friction_smoothing else 0.5 * (pushed**2 / friction_smoothing + friction_smoothing)
    after = pushed / (1.0 + mu * gravity * dt / length)
    return np.array([x + after * dt, after])


def random_states():
    rng = np.random.default_rng(4)
    side = rng.choice([-1.0, 1.0], 24)
    x = rng.uniform(-1, 1, 24)
    return np.stack([x, rng.uniform(-0.2, 0.2, 24), x + side * rng.uniform(0.1, 0.18, 24), rng.uniform(-0.5, 0.5, 24)]).astype(np.float32)


def test_a_step_and_its_gradient_are_those_of_the_twin_in_double():
    states = random_states()
    inputs = [nova.tensor(row, requires_grad=True) for row in states]
    weights = np.random.default_rng(5).uniform(-1, 1, (2, 24)).astype(np.float32)
    with nova.Tape() as tape:
        x, v = ndiff.integrate_push_box_generated(*inputs, **PUSH)
        loss = nova.sum(x * nova.tensor(weights[0])) + nova.sum(v * nova.tensor(weights[1]))
    tape.backward(loss)
    touched = 0
    for box in range(24):
        at = states[:, box].astype(np.float64)
        want = twin(at, **PUSH)
        assert np.allclose([x.numpy()[box], v.numpy()[box]], want, rtol=1e-5, atol=1e-6)
        touched += not np.isclose(want[1], twin(np.array([at[0], at[1], at[0] + 9, 0.0]), **PUSH)[1])
        for k, tensor in enumerate(inputs):
            step = np.zeros(4)
            step[k] = 1e-6
            quotient = weights[:, box] @ (twin(at + step, **PUSH) - twin(at - step, **PUSH)) / 2e-6
            assert abs(tensor.grad.numpy()[box] - quotient) <= 2e-4 * max(1.0, abs(quotient))
    assert 5 < touched < 24


def test_a_box_at_rest_stays_with_a_finite_gradient_and_friction_never_turns_it_round():
    zero = nova.tensor([0.0], requires_grad=True)
    with nova.Tape() as tape:
        x, v = ndiff.integrate_push_box_generated(zero, zero, nova.tensor([5.0]), nova.tensor([0.0]), **PUSH)
        loss = nova.sum(x) + nova.sum(v)
    tape.backward(loss)
    assert x.numpy()[0] == 0.0 and v.numpy()[0] == 0.0 and np.isfinite(zero.grad.numpy()).all()
    slow = dict(PUSH, friction_smoothing=1e-3, mu=5.0)
    for speed in (1e-4, 1e-2, 1.0):
        _, after = ndiff.integrate_push_box_generated(nova.tensor([0.0]), nova.tensor([speed]), nova.tensor([5.0]), nova.tensor([0.0]), **slow)
        assert 0.0 <= after.numpy()[0] < speed


def test_a_box_slides_as_far_as_coulomb_says_and_a_pusher_carries_it_along():
    x, v = nova.tensor([0.0]), nova.tensor([1.0])
    fine = dict(PUSH, friction_smoothing=1e-3, dt=1e-4)
    for _ in range(5000):
        x, v = ndiff.integrate_push_box_generated(x, v, nova.tensor([9.0]), nova.tensor([0.0]), **fine)
    assert x.numpy()[0] == pytest.approx(1.0 / (2 * 0.3 * 9.81), rel=5e-3)
    x, v = nova.tensor([0.0]), nova.tensor([0.0])
    for t in range(2000):
        x, v = ndiff.integrate_push_box_generated(x, v, nova.tensor([-0.15 + 0.2 * 1e-3 * t]), nova.tensor([0.2]), **dict(PUSH, dt=1e-3))
    assert v.numpy()[0] == pytest.approx(0.2, rel=1e-2)


@pytest.mark.parametrize("name, value, text", [
    ("box_mass", 0.0, "integrate_push_box_generated: box_mass is 0; give a positive number"),
    ("dt", -1.0, "integrate_push_box_generated: dt is -1; give a positive number"),
    ("ke", float("inf"), "integrate_push_box_generated: ke is inf; give a number of at least 0"),
])
def test_numbers_that_make_no_sense_are_refused(name, value, text):
    one = nova.tensor([0.0])
    with pytest.raises(ValueError) as raised:
        ndiff.integrate_push_box_generated(one, one, one, one, **dict(PUSH, **{name: value}))
    assert str(raised.value) == text


def test_tensors_of_other_lengths_are_named():
    one, two = nova.tensor([0.0]), nova.tensor([0.0, 1.0])
    with pytest.raises(novaphy.ShapeMismatchError) as raised:
        ndiff.integrate_push_box_generated(one, one, two, one, **PUSH)
    assert str(raised.value) == "integrate_push_box_generated: pusher_x has shape (2); give four tensors of one number a box, (n)"
