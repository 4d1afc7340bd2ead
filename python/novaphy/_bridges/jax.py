# SPDX-License-Identifier: Apache-2.0
"""nova.jax: a function of Nova tensors inside JAX's jit and grad."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .. import _lazy
from .results import results_of


def _import() -> Any:
    try:
        import jax  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "nova.jax.function needs jax, which is not installed: pip install 'novaphy[jax]'"
        ) from error
    return jax


def _results(fn: Callable[..., Any], tensors: list[Any], specs: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the function gives, checked against out_spec."""
    _, results = results_of("nova.jax.function", fn, tensors)
    shapes = [tuple(result.shape) for result in results]
    if shapes != [tuple(spec.shape) for spec in specs]:
        name = getattr(fn, "__name__", type(fn).__name__)
        raise ValueError(
            f"nova.jax.function: {name} gave shapes {shapes}, out_spec says "
            f"{[tuple(spec.shape) for spec in specs]}"
        )
    return results


def function(fn: Callable[..., Any], out_spec: Any) -> Callable[..., Any]:
    """A function of JAX arrays made of `fn`, a function of Nova tensors that returns one or a tuple of them.

    `out_spec` is a jax.ShapeDtypeStruct (or a tuple of them) of float32, which JAX must know before it runs.
    Works under jit and grad; vmap runs one after the other. The function must give the same for the same inputs:
    JAX calls it as often as it likes, and the backward pass calls it again on a tape. Inputs are float32, or int32
    without gradient; they are copied. Reverse mode only, once.
    """
    jax = _import()
    import numpy as np

    nova = _lazy.extension("nova")
    single = not isinstance(out_spec, (tuple, list))
    specs: tuple[Any, ...] = (out_spec,) if single else tuple(out_spec)
    for spec in specs:
        if spec.dtype != np.float32:
            raise TypeError(f"nova.jax.function: out_spec is float32, got {spec.dtype}")

    def forward_on_host(*arrays: Any) -> tuple[Any, ...]:
        tensors = [nova.tensor(np.asarray(array)) for array in arrays]
        return tuple(np.array(result.numpy()) for result in _results(fn, tensors, specs))

    def backward_on_host(arrays: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        tensors = [nova.tensor(np.asarray(array)) for array in arrays]
        leaves = [tensor for tensor in tensors if tensor.dtype == nova.DType.F32]
        for leaf in leaves:
            leaf.requires_grad = True
        with nova.Tape() as tape:
            results = _results(fn, tensors, specs)
        for result, cotangent in zip(results, cotangents):
            tape.backward(result, grad=nova.tensor(np.asarray(cotangent)))
        return tuple(
            np.zeros(tuple(leaf.shape), np.float32) if leaf.grad is None else np.array(leaf.grad.numpy())
            for leaf in leaves
        )

    def run(*inputs: Any) -> Any:
        out = jax.pure_callback(forward_on_host, specs, *inputs, vmap_method="sequential")
        return out[0] if single else tuple(out)

    @jax.custom_vjp
    def call(*inputs: Any) -> Any:
        return run(*inputs)

    def forward(*inputs: Any) -> Any:
        return run(*inputs), inputs

    def backward(inputs: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
        wanted = tuple(jax.ShapeDtypeStruct(i.shape, i.dtype) for i in inputs if i.dtype == np.float32)
        cotangents = (cotangent,) if single else tuple(cotangent)
        grads = iter(jax.pure_callback(backward_on_host, wanted, inputs, cotangents, vmap_method="sequential"))
        return tuple(next(grads) if i.dtype == np.float32 else None for i in inputs)

    call.defvjp(forward, backward)

    @functools.wraps(fn)
    def checked(*inputs: Any) -> Any:
        arrays = tuple(jax.numpy.asarray(given) for given in inputs)
        for place, array in enumerate(arrays):
            if array.dtype not in (np.float32, np.int32):
                raise TypeError(
                    f"nova.jax.function: input {place} is {array.dtype}; it takes float32, or int32 for an index"
                )
        return call(*arrays)

    return checked
