# SPDX-License-Identifier: Apache-2.0
"""nova.torch: a function of Nova tensors as a node of torch's graph."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Callable

from .. import _lazy
from .._core import UnsupportedFeatureError
from .results import results_of


class _Memory:
    """The memory of a torch tensor, for as_tensor; keeps the tensor alive."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "shape": tuple(tensor.shape),
            "typestr": "<f4",
            "data": (tensor.data_ptr(), False),
            "version": 3,
        }


def _import() -> Any:
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "nova.torch.function needs torch, which is not installed: pip install 'novaphy[torch]', or Debian's "
            "python3-torch"
        ) from error
    return torch


def _to_nova(torch: Any, given: Any, place: int) -> Any:
    """Over the same memory where it is packed float32; integers are copied."""
    nova = _lazy.extension("nova")
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"nova.torch.function: input {place} is a {type(given).__name__}, not a torch.Tensor")
    if given.device.type != "cpu":
        raise TypeError(f"nova.torch.function: input {place} lies on {given.device}; move it with .cpu()")
    if given.dtype == torch.int32:
        import numpy as np

        return nova.tensor(np.array(given.tolist(), np.int32).reshape(given.shape))
    if given.dtype != torch.float32:
        raise TypeError(
            f"nova.torch.function: input {place} is {given.dtype}; convert it with .float(), or .int() for an index"
        )
    return nova.as_tensor(_Memory(given.detach().contiguous()))


def _to_torch(torch: Any, tensor: Any) -> Any:
    """Over the same memory."""
    return torch.from_dlpack(tensor)


@functools.cache
def _node() -> Any:
    """The autograd.Function; made when torch is first needed."""
    torch = _import()
    nova = _lazy.extension("nova")

    function: Any = torch.autograd.Function

    class Recorded(function):
        @staticmethod
        def forward(ctx: Any, fn: Callable[..., Any], *inputs: Any) -> Any:
            leaves: list[Any] = []
            same: dict[Any, int] = {}  # one tensor for each memory: a tape tells arrays apart by it
            for place, given in enumerate(inputs):
                key = (given.data_ptr(), given.shape, given.dtype) if hasattr(given, "data_ptr") else place
                first = same.setdefault(key, place)
                leaves.append(leaves[first] if first != place else _to_nova(torch, given, place))
            needed_by_torch = ctx.needs_input_grad[1:]
            wanted = [needed and given.dtype == torch.float32 for needed, given in zip(needed_by_torch, inputs)]
            for leaf, needed in zip(leaves, wanted):
                if needed:
                    leaf.requires_grad = True
            ctx.tape = nova.Tape()
            with ctx.tape if any(wanted) else contextlib.nullcontext():
                single, ctx.results = results_of("nova.torch.function", fn, leaves)
            ctx.leaves = [leaf if needed else None for leaf, needed in zip(leaves, wanted)]
            outputs = tuple(_to_torch(torch, result) for result in ctx.results)
            ctx.save_for_backward(*inputs, *outputs)  # torch then refuses a backward after they were written
            ctx.set_materialize_grads(False)
            return outputs[0] if single else outputs

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            inputs = ctx.saved_tensors[: len(ctx.leaves)]
            return None, *Gradient.apply(ctx.tape, ctx.leaves, ctx.results, cotangents, *inputs, *cotangents)

    class Gradient(function):
        """The backward pass as a node of its own, so that a derivative of it is refused and not lost. The inputs
        and the cotangents stand among its arguments for that alone."""

        @staticmethod
        def forward(ctx: Any, tape: Any, leaves: Any, results: Any, cotangents: Any, *given: Any) -> Any:
            unique = {leaf.ptr: leaf for leaf in leaves if leaf is not None}
            for leaf in unique.values():
                leaf.zero_grad()
            for result, cotangent in zip(results, cotangents):
                if cotangent is not None:
                    tape.backward(result, grad=_to_nova(torch, cotangent, 0))
            out: list[Any] = []
            for leaf in leaves:
                # of two inputs over one memory, the first gets all
                own = None if leaf is None else unique.pop(leaf.ptr, None)
                out.append(None if own is None or own.grad is None else _to_torch(torch, own.grad.clone()))
            return tuple(out)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            raise UnsupportedFeatureError(
                "nova.torch.function: it is differentiable once, and a second derivative was asked for; record the "
                "function on a nova.Tape and use nova.hvp for products with its Hessian"
            )

    return Recorded


def function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of torch tensors made of `fn`, a function of Nova tensors that returns one or a tuple of them.

    The forward pass records `fn` on a tape of its own, torch's backward seeds it and hands the gradients of the
    inputs on. Inputs are packed float32 (or int32 for indices, without gradient) on the CPU; memory is shared,
    not copied. Once differentiable: a second derivative raises.
    """
    node = _node()

    @functools.wraps(fn)
    def call(*inputs: Any) -> Any:
        return node.apply(fn, *inputs)

    return call
