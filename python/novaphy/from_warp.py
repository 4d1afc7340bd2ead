# SPDX-License-Identifier: Apache-2.0
"""What programs for Newton write as `wp.`, so that porting one begins with its imports.

    import novaphy as newton
    from novaphy import from_warp as wp

Vectors and quaternions outside of kernels are tuples of numbers, which every function of the engine takes.
`array` and `zeros` make tensors; all other names are those of novaphy.nova. Kernels are written anew, with
`nova.kernel`; many of them are operators of novaphy.diff already. python/docs/from_newton.md has the list.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import nova

pi = PI = math.pi
float32, int32 = np.float32, np.int32

#: How many numbers a row of an array of this type has.
_WIDTHS = {"vec2": 2, "vec3": 3, "vec4": 4, "quat": 4, "transform": 7}


def vec2(x: float = 0.0, y: float = 0.0) -> tuple:
    """(x, y)"""
    return (float(x), float(y))


def vec3(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> tuple:
    """(x, y, z)"""
    return (float(x), float(y), float(z))


def vec4(x: float = 0.0, y: float = 0.0, z: float = 0.0, w: float = 0.0) -> tuple:
    """(x, y, z, w)"""
    return (float(x), float(y), float(z), float(w))


def quat(x: float = 0.0, y: float = 0.0, z: float = 0.0, w: float = 0.0) -> tuple:
    """(x, y, z, w), w last."""
    return (float(x), float(y), float(z), float(w))


def quat_identity() -> tuple:
    """The rotation by nothing, (0, 0, 0, 1)."""
    return (0.0, 0.0, 0.0, 1.0)


def quat_from_axis_angle(axis: Any, angle: float) -> tuple:
    """The rotation by `angle` [rad] about `axis`, as (x, y, z, w). ValueError for an axis of length 0."""
    length = math.sqrt(sum(float(x) ** 2 for x in axis))
    if not length > 0.0:
        raise ValueError(f"from_warp.quat_from_axis_angle: axis is {tuple(axis)}; it needs a direction")
    sine = math.sin(0.5 * angle) / length
    return (*(float(x) * sine for x in axis), math.cos(0.5 * angle))


def transform(p: Any = (0.0, 0.0, 0.0), q: Any = (0.0, 0.0, 0.0, 1.0)) -> tuple:
    """(position, rotation), as the builders take it."""
    return (tuple(p), tuple(q))


def zeros(shape: Any, dtype: Any = float32, device: Any = None, requires_grad: bool = False) -> nova.Tensor:
    """A tensor of zeros; of vec3, vec4, quat or transform with a row of its numbers for each."""
    rows = (shape,) if isinstance(shape, int) else tuple(shape)
    numbers, width = _numbers(dtype, "zeros")
    shape = (*rows, *width)
    return nova.tensor(np.zeros(shape, numbers), device=device, requires_grad=requires_grad)


def array(data: Any, dtype: Any = float32, device: Any = None, requires_grad: bool = False) -> nova.Tensor:
    """A tensor with a copy of `data`. ValueError for data whose rows `dtype` does not fit."""
    numbers, width = _numbers(dtype, "array")
    values = np.array(data, numbers)
    if width and values.shape[-1:] != width:
        raise ValueError(
            f"from_warp.array: a row of {dtype.__name__} has {width[0]} numbers, the data's shape is {values.shape}"
        )
    return nova.tensor(values, device=device, requires_grad=requires_grad)


def _numbers(dtype: Any, who: str) -> tuple:
    """(NumPy's type, the shape of one row) of a type of arrays."""
    name = getattr(dtype, "__name__", str(dtype))
    if name in _WIDTHS:
        return np.float32, (_WIDTHS[name],)
    if dtype is float or name == "float32":
        return np.float32, ()
    if dtype is int or name == "int32":
        return np.int32, ()
    raise ValueError(f"from_warp.{who}: dtype is {name}; there are float32, int32, {', '.join(_WIDTHS)}")


class _OwnGradients:
    """step(grads) as in warp.optim, for the gradients that the parameters hold."""

    def __init__(self, params: Any, lr: float = 0.001, *arguments: Any, nesterov: bool = False, **options: Any):
        if nesterov:
            raise ValueError(f"from_warp.optim.{type(self).__name__}: nesterov=True is not there; leave it out")
        super().__init__(params, lr, *arguments, **options)
        self._params = list(params)

    def step(self, grads: Any = None) -> None:
        """Updates every parameter by its .grad; `grads`, where given, must be those gradients."""
        own = [parameter.grad for parameter in self._params]
        if grads is not None and [g is not None and g.ptr for g in grads] != [g is not None and g.ptr for g in own]:
            raise ValueError(
                f"from_warp.optim.{type(self).__name__}.step: grads are not the gradients of the parameters; "
                "give [p.grad for p in params] or nothing"
            )
        super().step()


class optim:
    """warp.optim's names."""

    class SGD(_OwnGradients, nova.optim.SGD):
        """nova.optim.SGD, whose step also takes the list of gradients."""

    class Adam(_OwnGradients, nova.optim.Adam):
        """nova.optim.Adam, whose step also takes the list of gradients."""


_REWRITTEN = {
    "launch": "call the kernel as a function",
    "tid": "annotations say how rows are reached",
    "array2d": "columns of a matrix are nova.rows of a vector type",
    "atomic_add": "an output nova.scatter is added to, nova.sum returns a sum",
}


def __getattr__(name: str) -> Any:
    if name in _REWRITTEN:
        raise AttributeError(
            f"from_warp.{name}: kernels are written with nova.kernel, where {_REWRITTEN[name]}; see the page "
            f"'Write your own differentiable kernel'",
            name=name,
        )
    return getattr(nova, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(nova)})
