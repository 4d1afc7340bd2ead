# SPDX-License-Identifier: Apache-2.0
"""nova.jax.function against JAX's own formulas, under jit, grad and vmap."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from novaphy import nova


@nova.kernel
def spring(x: nova.rows[nova.vec3], ij: nova.rows[nova.ivec2], ke: nova.rows[float]):
    i, j = ij
    length = nova.norm(x[i] - x[j])
    return 0.5 * ke * (length - 1) * (length - 1), length


def in_jax(x, ij, ke):
    length = jnp.linalg.norm(x[ij[:, 0]] - x[ij[:, 1]], axis=1)
    return 0.5 * ke * (length - 1) ** 2, length


ROWS = jax.ShapeDtypeStruct((12,), jnp.float32)


def net():
    rng = np.random.default_rng(0)
    ends = np.array([rng.choice(8, 2, replace=False) for _ in range(12)], np.int32)
    return jnp.float32(rng.normal(size=(8, 3))), jnp.asarray(ends), jnp.float32(rng.uniform(1, 2, 12))


def loss(function):
    def of(x, ij, ke):
        energy, length = function(x, ij, ke)
        return jnp.sum(energy) + jnp.sum(length ** 2)
    return of


@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_are_those_of_jaxs_own_formula(compiled):
    ours, theirs = nova.jax.function(spring, (ROWS, ROWS)), in_jax
    for function in (lambda f: f, lambda f: jax.grad(loss(f), (0, 2))):
        left, right = function(ours), function(theirs)
        if compiled:
            left = jax.jit(left)
        for a, b in zip(left(*net()), right(*net())):
            assert np.allclose(a, b, rtol=1e-4, atol=1e-5)


@nova.kernel
def square(x: nova.rows[float]):
    return x * x


def test_vmap_runs_one_after_the_other():
    function = nova.jax.function(square, jax.ShapeDtypeStruct((3,), jnp.float32))
    rows = jnp.arange(6.0).reshape(2, 3)
    assert np.array_equal(jax.vmap(function)(rows), rows ** 2)


def test_a_gradient_inside_a_larger_graph_is_that_of_the_chain_rule():
    function = nova.jax.function(square, jax.ShapeDtypeStruct((3,), jnp.float32))
    x = jnp.float32([0.5, 1, 2])
    assert np.allclose(jax.grad(lambda v: jnp.sum(jnp.sin(function(2 * v))))(x), 8 * x * np.cos(4 * x * x), rtol=1e-5)


def test_what_does_not_fit_is_told():
    function = nova.jax.function(square, jax.ShapeDtypeStruct((3,), jnp.float32))
    with pytest.raises(Exception, match=r"nova.jax.function: square gave shapes \[\(2,\)\], out_spec says \[\(3,\)\]"):
        function(jnp.ones(2))
    with pytest.raises(TypeError, match="^nova.jax.function: input 0 is uint8; it takes float32, or int32 for an index$"):
        function(jnp.ones(3, jnp.uint8))
    with pytest.raises(TypeError, match="^nova.jax.function: out_spec is float32, got int32$"):
        nova.jax.function(square, jax.ShapeDtypeStruct((3,), jnp.int32))


def test_jax_gets_a_copy_and_gives_only_copies():
    x = nova.tensor([1.0, 2.0])
    copy = nova.to_jax(x)
    x[0] = 5.0
    assert copy[0] == 1.0
    for take in (nova.as_tensor, nova.from_dlpack):
        with pytest.raises(ValueError, match=r"got float32 of shape \(3,\), which is read-only; nova.tensor copies it"):
            take(jax.numpy.ones(3))
    assert np.array_equal(nova.tensor(jax.numpy.ones(3)).numpy(), [1, 1, 1])
