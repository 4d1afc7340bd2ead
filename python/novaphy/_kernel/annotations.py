# SPDX-License-Identifier: Apache-2.0
"""How the rows of a kernel's arguments are reached: `x: nova.rows[nova.vec3]`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar, get_args, get_origin

from .. import _lazy
from .._core import TraceError

T = TypeVar("T")


if TYPE_CHECKING:

    class _Value(Any):
        """What type checkers know about an argument inside a kernel: it may stand for any value."""

else:

    class _Value:
        """An argument in an annotation."""


class rows(_Value, Generic[T]):
    """One row of the tensor for each row of the kernel. `x` is row e; `x[i]`, with i an integer argument or a
    component of one, is the row that it names."""


class static(_Value, Generic[T]):
    """As `rows`, for what changes only when you change it: rest lengths, materials."""


class scatter(_Value, Generic[T]):
    """An output that is added to: `f[i] += value`, `f[i] -= value` for the row that i names, `f += value` for
    row e. The tensor is given with `out=`."""


class table(_Value, Generic[T]):
    """A tensor of which every row of the kernel sees all rows, in `for s in nova.domain(t):` as `t[s]`."""


if TYPE_CHECKING:
    from ..nova import Tensor

    class uniform(_Value, Generic[T]):
        """One value for all rows: a tensor of one row, or a number given to the call. `nova.uniform(value)`
        makes such a tensor."""

        def __new__(cls, value: Any) -> Tensor: ...  # type: ignore[misc]

else:

    class uniform(_Value, Generic[T]):
        """One value for all rows: a tensor of one row, or a number given to the call. `nova.uniform(value)`
        makes such a tensor."""

        def __new__(cls, value):
            return _lazy.extension("nova").tensor([value])


#: The annotations and what the tracer calls them.
_WAYS: dict[Any, str] = {rows: "rows", static: "static", scatter: "scatter", table: "table", uniform: "uniform"}
_TYPES = ("vec2", "vec3", "vec4", "quat", "transform", "spatial", "mat22", "mat33", "ivec2", "ivec3", "ivec4")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: `how` its rows are reached, and the class of a row."""

    name: str
    how: str
    row: type
    is_integer: bool
    width: int


def _row_class(name: str, parameter: str, given: Any) -> tuple[type, bool, int]:
    extension = _lazy.extension("nova")
    widths = dict(zip(_TYPES, (2, 3, 4, 4, 7, 6, 4, 9, 2, 3, 4)))
    if given is float or given is extension.Float:
        return extension.Float, False, 1
    if given is int or given is extension.Int:
        return extension.Int, True, 1
    for known in _TYPES:
        if given is getattr(extension, known):
            return given, known.startswith("i"), widths[known]
    raise TraceError(
        f"{name}: parameter '{parameter}' has rows of {_shown(given)}; known are float, int and nova."
        + ", nova.".join(_TYPES)
    )


def _shown(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)


def _annotation(function: Callable[..., Any], name: str) -> Any:
    given = function.__annotations__.get(name)
    if not isinstance(given, str):
        return given
    captured = inspect.getclosurevars(function)
    return eval(given, {**captured.builtins, **function.__globals__}, dict(captured.nonlocals))


#: Characters of the name of a kernel or a parameter.
LONGEST_NAME = 63


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """What a function's annotations say. TraceError where one says nothing, or something else."""
    name, out = function.__name__, []
    for text in (name, *inspect.signature(function).parameters):
        if len(text.encode()) > LONGEST_NAME:
            raise TraceError(f"{name}: the name '{text}' has more than {LONGEST_NAME} characters; use a shorter one")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TraceError(f"{name}: parameter '{parameter.name}' must have a name of its own, without *")
        try:
            given = _annotation(function, parameter.name)
        except Exception as error:
            text = function.__annotations__[parameter.name]
            raise TraceError(
                f"{name}: the annotation '{text}' of parameter '{parameter.name}': {error}"
            ) from error
        how = _WAYS.get(get_origin(given))
        if how is None or len(get_args(given)) != 1:
            said = "has no annotation" if given is None else f"is annotated {_shown(given)}"
            raise TraceError(
                f"{name}: parameter '{parameter.name}' {said}; write how its rows are reached, such as "
                "nova.rows[nova.vec3], nova.uniform[float], nova.scatter[nova.vec3] or nova.table[float]"
            )
        row, is_integer, width = _row_class(name, parameter.name, get_args(given)[0])
        out.append(Parameter(parameter.name, how, row, is_integer, width))
    return tuple(out)
