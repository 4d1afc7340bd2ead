# SPDX-License-Identifier: Apache-2.0
"""nova.torch.function against torch's own formulas."""
import numpy as np
import pytest
import torch

import novaphy
from novaphy import nova


@nova.kernel
def spring(x: nova.rows[nova.vec3], ij: nova.rows[nova.ivec2], ke: nova.rows[float], f: nova.scatter[nova.vec3]):
    i, j = ij
    d = x[i] - x[j]
    length = nova.norm(d)
    force = d / length * (ke * (length - 1))
    f[i] -= force
    f[j] += force
    return 0.5 * ke * (length - 1) * (length - 1)


def springs(x, ij, ke):
    return spring(x, ij, ke, out=(nova.zeros_like(x), None))


def springs_in_torch(x, ij, ke):
    i, j = ij.long().T
    d = x[i] - x[j]
    length = d.norm(dim=1)
    force = d / length[:, None] * (ke * (length - 1))[:, None]
    return torch.zeros_like(x).index_add(0, i, -force).index_add(0, j, force), 0.5 * ke * (length - 1) ** 2


def net():
    torch.manual_seed(0)
    x, ke = torch.randn(8, 3, requires_grad=True), torch.rand(12).add(1).requires_grad_()
    return x, torch.stack([torch.randperm(8)[:2] for _ in range(12)]).int(), ke


def gradients(function, x, ij, ke):
    f, energy = function(x, ij, ke)
    weights = torch.arange(24.0).reshape(8, 3)
    return [f, energy, *torch.autograd.grad((f * weights).sum() + (energy ** 2).sum(), (x, ke))]


def test_values_and_gradients_are_those_of_torchs_own_formula():
    for ours, theirs in zip(gradients(nova.torch.function(springs), *net()), gradients(springs_in_torch, *net())):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4), (ours - theirs).abs().max()


@nova.kernel
def double(x: nova.rows[float]):
    return 2 * x


def test_memory_is_shared_both_ways():
    seen = []

    def keep(x):
        seen.extend([x, double(x)])
        return seen[1]

    x = torch.ones(3)
    y = nova.torch.function(keep)(x)
    assert seen[0].ptr == x.data_ptr() and seen[1].ptr == y.data_ptr()


def test_backward_twice_gives_the_same_and_grads_add_in_torch():
    x = torch.ones(3, requires_grad=True)
    y = nova.torch.function(double)(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_the_same_tensor_given_twice_gets_the_whole_gradient():
    @nova.kernel
    def product(a: nova.rows[float], b: nova.rows[float]):
        return a * b

    x = torch.tensor([3.0], requires_grad=True)
    nova.torch.function(product)(x, x).backward()
    assert x.grad.item() == 6


def test_an_input_that_is_returned_passes_its_gradient():
    x = torch.ones(2, requires_grad=True)
    a, b = nova.torch.function(lambda v: (v, double(v)))(x)
    (3 * a + b).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_what_torch_wrote_after_the_forward_pass_is_refused():
    x = torch.ones(2, requires_grad=True)
    z = x * 1
    y = nova.torch.function(double)(z)
    z.mul_(5)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("before", [lambda x: x, lambda x: x * x])
def test_a_second_derivative_is_refused(before):
    x = torch.ones(2, requires_grad=True)
    (first,) = torch.autograd.grad(nova.torch.function(double)(before(x)).sum(), x, create_graph=True)
    assert first.requires_grad
    with pytest.raises(novaphy.UnsupportedFeatureError) as raised:
        first.sum().backward()
    assert str(raised.value) == (
        "nova.torch.function: it is differentiable once, and a second derivative was asked for; record the function on "
        "a nova.Tape and use nova.hvp for products with its Hessian")


def test_packed_float32_on_the_cpu_is_wanted():
    with pytest.raises(TypeError) as raised:
        nova.torch.function(double)(torch.ones(2).double())
    assert str(raised.value) == ("nova.torch.function: input 0 is torch.float64; convert it with .float(), or .int() for an "
                                 "index")
    with pytest.raises(TypeError, match="^nova.torch.function: input 0 is a float, not a torch.Tensor$"):
        nova.torch.function(double)(1.0)
    with pytest.raises(TypeError, match="^nova.torch.function: <lambda> gave a int; it returns a nova.Tensor or a tuple of them$"):
        nova.torch.function(lambda x: 1)(torch.ones(2))
    assert nova.torch.function(double)(torch.ones(4)[::2]).tolist() == [2, 2], "a stride is copied"


def test_a_step_of_an_optimiser_of_torch_lowers_a_loss_of_nova():
    x, ij, ke = net()
    optimiser = torch.optim.SGD([x], lr=0.02)
    losses = []
    for _ in range(100):
        optimiser.zero_grad()
        _, energy = nova.torch.function(springs)(x, ij, ke)
        loss = energy.sum()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_torch_shares_memory_and_is_watched():
    x = nova.tensor([1.0, 2.0], requires_grad=True)
    shared = nova.to_torch(x)
    with nova.Tape() as tape:
        loss = nova.sum(x * x)
    shared[0] = 5.0
    assert x.numpy()[0] == 5.0
    with pytest.raises(novaphy.StaleRecordError):
        tape.backward(loss)
    back = nova.as_tensor(torch.arange(3, dtype=torch.float32))
    assert np.array_equal(back.numpy(), [0, 1, 2])
