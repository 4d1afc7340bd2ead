# SPDX-License-Identifier: Apache-2.0
"""Derivatives of functions of tensors: tangents, Jacobians, products with Hessians, and a check by differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Sequence

import math
import numpy as np

from . import _lazy

if TYPE_CHECKING:
    from .nova import Tape, Tensor

#: check_grad tries every element of an input up to this many, and as many evenly spread ones of a larger input.
MOST_DIFFERENCES = 256


def _nova() -> Any:
    return _lazy.extension("nova")


def _tensors(values: Any, what: str) -> tuple[list[Tensor], bool]:
    """The tensors of an argument that is one or a sequence of them, and whether it is one."""
    if isinstance(values, _nova().Tensor):
        return [values], True
    if not isinstance(values, Sequence) or not all(isinstance(v, _nova().Tensor) for v in values):
        raise TypeError(f"{what} must be a nova.Tensor or a sequence of them, not {_kind(values)}")
    return list(values), False


def _kind(values: Any) -> str:
    if isinstance(values, (list, tuple)):
        return f"a {type(values).__name__} of {', '.join(sorted({type(v).__name__ for v in values})) or 'nothing'}"
    return type(values).__name__


def _outputs(result: Any, what: str) -> list[Tensor]:
    return _tensors(result, f"{what}: what the function returns")[0]


def jvp(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    tangents: Tensor | Sequence[Tensor],
) -> tuple[Any, Any]:
    """The value of fn(*inputs) and its tangent: how it changes when the inputs change along `tangents`.

    `inputs` is a float32 tensor or a sequence of them, `tangents` as many of the same shapes; fn returns a tensor or
    a sequence of them. Returns (value, tangent), both as fn returns its value. Exact, by forward mode, and gradients
    are untouched. ShapeMismatchError for a tangent unlike its input, ValueError for an input that fn does not read.
    """
    given, _ = _tensors(inputs, "nova.jvp: inputs")
    along, _ = _tensors(tangents, "nova.jvp: tangents")
    with _nova().Tape(keep_values=True) as tape:
        value = fn(*given)
    results = _nova()._jvp(tape, given, along, _outputs(value, "nova.jvp"))
    return value, results[0] if isinstance(value, _nova().Tensor) else type(value)(results)


def jacobian(fn: Callable[[Tensor], Tensor], input: Tensor) -> np.ndarray:
    """The dense Jacobian of fn at a float32 tensor: a float32 array of shape fn(input).shape + input.shape.

    Exact. Columns come from forward mode or rows from reverse mode, whichever are fewer; gradients are untouched.
    """
    (given,), _ = _tensors(input, "nova.jacobian: input")
    x = _nova().tensor(given.numpy(), requires_grad=True)
    with _nova().Tape() as tape:
        output = fn(x.clone())  # which fn may change and return
    if not isinstance(output, _nova().Tensor):
        raise TypeError(f"nova.jacobian: the function must return one nova.Tensor, not {_kind(output)}")
    out = np.zeros((output.size, x.size), np.float32)
    if x.size <= output.size:
        for j, direction in enumerate(_unit_vectors(x)):
            out[:, j] = _nova()._jvp(tape, [x], [direction], [output])[0].numpy().ravel()
    else:
        for i, seed in enumerate(_unit_vectors(output)):
            out[i] = _nova()._vjp(tape, output, seed, [x])[0].numpy().ravel()
    return out.reshape(*output.shape, *x.shape)


def _unit_vectors(like: Tensor):
    for k in range(like.size):
        unit = np.zeros(like.size, np.float32)
        unit[k] = 1.0
        yield _nova().tensor(unit.reshape(like.shape))


def hvp(
    loss: Tensor,
    params: Tensor | Sequence[Tensor],
    direction: Tensor | Sequence[Tensor],
    tape: Tape,
) -> Any:
    """The product of the Hessian of `loss` by `params` with `direction`: how the gradients of the parameters change
    when all of them change along it.

    `loss` is one number, recorded on `tape`; `params` are leaves of that recording with requires_grad, `direction`
    tensors of their shapes. Returns a tensor, or a list for a sequence. Exact: forward mode through the recording
    and its backward; gradients are untouched. ShapeMismatchError for a direction unlike its parameter.
    """
    wanted, is_one = _tensors(params, "nova.hvp: params")
    along, _ = _tensors(direction, "nova.hvp: direction")
    results = _nova()._hvp(tape, loss, wanted, along)
    return results[0] if is_one else results


@dataclass(frozen=True)
class GradReport:
    """What check_grad found. `max_abs` and `max_rel` are the largest differences between gradient and differences,
    absolute and relative to the larger of both; `per_input` gives (max_abs, max_rel) of each input; `ok` says whether
    every element is within the tolerance."""

    max_rel: float
    max_abs: float
    per_input: tuple[tuple[float, float], ...]
    ok: bool

    def __repr__(self) -> str:
        parts = ", ".join(f"input {i}: {a:.3g} ({r:.3g})" for i, (a, r) in enumerate(self.per_input))
        verdict = "agrees with" if self.ok else "DIFFERS from"
        return (
            f"GradReport(gradient {verdict} differences; largest difference {self.max_abs:.3g}, "
            f"relative {self.max_rel:.3g}; {parts})"
        )


def check_grad(
    fn: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    *,
    eps: float = 1e-3,
    rtol: float = 5e-2,
    atol: float = 1e-4,
) -> GradReport:
    """Compares the gradient of fn at `inputs` with central differences, custom derivatives included.

    fn returns a tensor or a sequence of them; the gradient is that of a sum with fixed random weights. Every element
    of an input is moved by eps times the larger of 1 and its size (of inputs with more than 256 elements, 256 evenly
    spread ones). An element agrees when both differ by at most atol + rtol * the larger of both + what float32
    rounding of fn can do to the difference. fn must not change anything but what it returns.
    """
    given, _ = _tensors(inputs, "nova.check_grad: inputs")
    points = [_nova().tensor(x.numpy(), requires_grad=True) for x in given]
    if not eps > 0:
        raise ValueError(f"nova.check_grad: eps is {eps}; give a positive step")
    with _nova().Tape() as tape:
        outputs = _outputs(fn(*(x.clone() for x in points)), "nova.check_grad")
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 1.5, y.shape).astype(np.float32) for y in outputs]
    gradients = [np.zeros(x.shape, np.float32) for x in points]
    for y, w in zip(outputs, weights):
        for total, part in zip(gradients, _nova()._vjp(tape, y, _nova().tensor(w), points)):
            total += part.numpy()

    def weighted_sum(values: list[np.ndarray]) -> tuple[float, float]:
        """The sum, and the size of what rounding can change in it."""
        moved = _outputs(fn(*(_nova().tensor(v) for v in values)), "nova.check_grad")
        terms = [a * b for w, y in zip(weights, moved) for a, b in zip(w.ravel().tolist(), y.numpy().ravel().tolist())]
        return math.fsum(terms), math.fsum(map(abs, terms)) * 2.0**-23

    values = [x.numpy().copy() for x in points]
    per_input, ok = [], True
    for value, gradient in zip(values, gradients):
        max_abs = max_rel = 0.0
        count = min(value.size, MOST_DIFFERENCES)
        for k in np.linspace(0, value.size - 1, count).astype(int):
            at = np.unravel_index(k, value.shape)
            middle = float(value[at])
            step = eps * max(1.0, abs(middle))
            value[at] = middle + step
            above, (up, noise) = float(value[at]), weighted_sum(values)
            value[at] = middle - step
            below, (down, _) = float(value[at]), weighted_sum(values)
            value[at] = middle
            difference, exact = (up - down) / (above - below), float(gradient[at])
            error, size = abs(difference - exact), max(abs(difference), abs(exact))
            max_abs = max(max_abs, error)
            max_rel = max(max_rel, error / size if size > 0 else 0.0)
            if not error <= atol + rtol * size + 2 * noise / (above - below):  # NaN never agrees
                ok = False
        per_input.append((max_abs, max_rel))
    return GradReport(
        max_rel=max((r for _, r in per_input), default=0.0),
        max_abs=max((a for a, _ in per_input), default=0.0),
        per_input=tuple(per_input),
        ok=ok,
    )
