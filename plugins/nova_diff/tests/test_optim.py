# SPDX-License-Identifier: Apache-2.0
"""Parameter updates and optimisers from Python: results against the formulas in double, states, and mistakes."""
import numpy as np
import pytest

import novaphy
from novaphy import nova


def give_gradient(param, wanted):
    param.zero_grad()
    with nova.Tape() as tape:
        copy = param.clone()
    tape.backward(copy, grad=nova.tensor(np.asarray(wanted, np.float32)))


def adam_in_double(x, gradients, lr, betas, eps=1e-8):
    """torch.optim.Adam's documented algorithm."""
    b1, b2 = (float(np.float32(b)) for b in betas)
    x, m, v = np.asarray(x, float), 0.0, 0.0
    for t, g in enumerate(np.asarray(gradients, float), 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        x = x - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + eps)
    return x


def test_adam_equals_its_formula_over_a_hundred_steps():
    gradients = np.random.default_rng(1).normal(0, [1.0, 1e-3, 100.0], (100, 3))
    x = nova.tensor([1.0, 2.0, 3.0], requires_grad=True)
    adam = nova.optim.Adam([x], lr=0.05, betas=(0.8, 0.99))
    for g in gradients:
        give_gradient(x, g)
        adam.step()
    np.testing.assert_allclose(x.numpy(), adam_in_double([1, 2, 3], gradients, 0.05, (0.8, 0.99)), rtol=3e-6)


def test_sgd_with_momentum_equals_its_formula():
    gradients = np.random.default_rng(2).normal(size=(50, 4))
    x, want, velocity = nova.zeros(4, requires_grad=True), np.zeros(4), np.zeros(4)
    sgd = nova.optim.SGD([x], lr=0.1, momentum=0.9)
    for g in gradients:
        give_gradient(x, g)
        sgd.step()
        velocity = 0.9 * velocity + g
        want = want - 0.1 * velocity
    np.testing.assert_allclose(x.numpy(), want, rtol=1e-5, atol=1e-6)


def test_an_int_step_and_a_tensor_step_give_the_same_bits():
    runs = []
    for use_tensor in (False, True):
        x, m, v = nova.ones(5, requires_grad=True), nova.zeros(5), nova.zeros(5)
        step = nova.zeros(1, dtype=nova.DType.I32)
        for i in range(10):
            give_gradient(x, np.arange(5) - 2.5)
            nova.adam_update_f32(x, m, v, step if use_tensor else i, 0.01)
        runs.append(x.numpy().copy())
    assert runs[0].tobytes() == runs[1].tobytes()
    assert step.numpy()[0] == 10


@pytest.mark.parametrize("make", [lambda p: nova.optim.SGD(p, lr=0.1, momentum=0.5),
                                  lambda p: nova.optim.Adam(p, lr=0.1, bounds=(-5, 5))], ids=["SGD", "Adam"])
def test_a_run_goes_on_from_a_saved_state_with_the_same_bits(make):
    rng = np.random.default_rng(3)
    gradients = rng.normal(size=(10, 3))
    x = nova.zeros(3, requires_grad=True)
    optimiser = make([x])
    for g in gradients[:4]:
        give_gradient(x, g)
        optimiser.step()
    saved, values = optimiser.state_dict(), x.numpy().copy()
    y = nova.tensor(values, requires_grad=True)
    other = make([y])
    other.lr = 7.0
    other.load_state_dict(saved)
    assert other.lr == optimiser.lr
    for g in gradients[4:]:
        for param, each in ((x, optimiser), (y, other)):
            give_gradient(param, g)
            each.step()
    assert x.numpy().tobytes() == y.numpy().tobytes()
    assert str(saved) != str(optimiser.state_dict())  # copies: later steps did not reach them


def test_an_array_of_the_engine_is_a_parameter():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 1), vel=(3, 0, 0), mass=1.0)
    state = builder.finalize().state()
    give_gradient(nova.Tensor(state.particle_qd), np.zeros((1, 3)))  # not wanted yet: no gradient
    assert state.particle_qd.grad is None
    param = nova.Tensor(state.particle_qd)
    param.requires_grad = True
    give_gradient(param, [[0, 30, 40]])
    nova.sgd_update_vec3_clipped_f32(state.particle_qd, 1.0, 100.0, 5.0)
    np.testing.assert_allclose(state.particle_qd.numpy(), [[3, -3, -4]], rtol=1e-6)


def test_what_does_not_fit_is_refused_by_name():
    x = nova.zeros(3, requires_grad=True)
    sgd = nova.optim.SGD([x], lr=0.1, momentum=0.5)
    with pytest.raises(TypeError) as raised:
        nova.optim.Adam(x)
    assert str(raised.value) == "nova.optim.Adam: params is one tensor; give a list of tensors"
    state = sgd.state_dict()
    with pytest.raises(ValueError) as raised:
        nova.optim.SGD([x], lr=0.1, momentum=0.25).load_state_dict(state)
    assert str(raised.value) == "nova.optim.SGD.load_state_dict: momentum is 0.5, this optimiser has 0.25"
    with pytest.raises(ValueError) as raised:
        nova.optim.SGD([nova.zeros(4)], lr=0.1, momentum=0.5).load_state_dict(state)
    assert str(raised.value) == "nova.optim.SGD.load_state_dict: 'velocity' 0 has shape (3), parameter 0 needs (4)"
    del state["velocity"]
    with pytest.raises(ValueError) as raised:
        sgd.load_state_dict(state)
    assert str(raised.value) == "nova.optim.SGD.load_state_dict: 'velocity' is missing; give what state_dict() returned"
    with pytest.raises(ValueError) as raised:
        nova.adam_update_f32(x, x, x, -1, 0.1)
    assert str(raised.value) == "nova.adam_update_f32: step is -1; give the number of updates that were made before this one"


def test_what_is_no_tensor_is_no_parameter():
    with pytest.raises(TypeError) as raised:
        nova.optim.SGD([nova.ones(1, requires_grad=True), "a"], lr=0.1)
    assert str(raised.value) == "nova.optim.SGD: parameter 1 is a str, not a tensor"
