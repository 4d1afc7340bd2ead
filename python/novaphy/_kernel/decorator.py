# SPDX-License-Identifier: Apache-2.0
"""The decorator: traces on the first call, and again when a number that was frozen has changed."""

from __future__ import annotations

import functools
import inspect
import threading
from typing import Any, Callable, Hashable, Mapping, Sequence, overload

from .. import _lazy
from .._core import DeviceArray, ShapeMismatchError, TraceError
from .._process_bound import ProcessBound
from .annotations import Parameter, parameters_of
from .captured import Captured
from .source import told


#: Traced forms that a kernel keeps: more only come about when a frozen number changes again and again.
_MOST_PROGRAMS = 64
#: Types of tensors beside int32 whose rows are read as integers.
_OTHER_INTEGERS = {"U8": "uint8", "uint8": "uint8", "U32": "uint32", "uint32": "uint32"}


class _Program:
    """One traced form of a kernel: what was recorded, and the names of its outputs."""

    def __init__(self, kernel: Kernel, numbers: frozenset[str], stored: Mapping[str, str]) -> None:
        function, name = kernel.__wrapped__, kernel.__name__
        with _lazy.extension("nova").Trace(name) as trace:
            arguments: dict[str, Any] = {}
            self.outputs: list[str] = []
            for parameter in kernel.parameters:
                if parameter.how == "scatter":
                    arguments[parameter.name] = trace.scatter(parameter.name, parameter.row)
                    self.outputs.append(parameter.name)
                else:
                    how = "number" if parameter.name in numbers else parameter.how
                    dtype = stored.get(parameter.name, "int32")
                    arguments[parameter.name] = trace.parameter(parameter.name, parameter.row, how, dtype)
            try:
                returned = function(**arguments)
                results = returned if isinstance(returned, tuple) else (returned,)
                for number, result in enumerate(() if returned is None else results):
                    self.outputs.append("result" if len(results) == 1 else f"result{number}")
                    trace.result(self.outputs[-1], result)
                if not self.outputs:
                    raise TraceError(
                        "it returns nothing and has no argument nova.scatter[T], so it has no effect"
                    )
                self.traced = trace.finish()
            except Exception as error:
                with_line = told(name, error)
                if with_line is None:
                    raise
                raise with_line.with_traceback(error.__traceback__) from None


class Kernel(ProcessBound):
    """A function over rows, made by `@nova.kernel`.

    A call takes the arguments of the function except its outputs (`nova.scatter`), launches it and records it
    on the open tape. It runs for every row of the arguments that are read at row e; all of them have the same number
    of rows. Returned values become new tensors of that many rows; `nova.sum(...)` one of one row. `out=` gives
    tensors to write into instead: one, a tuple in the order of outputs (`nova.scatter` arguments, then returned
    values), or a dict by name. `rows=` is needed where no argument and no output tells how many there are.
    """

    _instead = "have the module that defines it imported there"

    def __init__(self, function: Callable[..., Any], vjp: Callable[..., Any] | None = None) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        self.__name__: str = function.__name__
        self.vjp = vjp
        self.parameters: tuple[Parameter, ...] = parameters_of(function)
        self._inputs = [p for p in self.parameters if p.how != "scatter"]
        self._names = [p.name for p in self._inputs]
        defaults = {p.name: p.default for p in inspect.signature(function).parameters.values()}
        self._defaults = {n: defaults[n] for n in self._names if defaults[n] is not inspect.Parameter.empty}
        self._captured = Captured(function)
        self._programs: dict[Hashable, _Program] = {}
        self._lock = threading.RLock()

    def __call__(self, *args: Any, out: Any = None, rows: int | None = None, **kwargs: Any) -> Any:
        given = self._bind(args, kwargs)
        numbers = frozenset(
            p.name for p in self._inputs if p.how == "uniform" and p.width == 1 and _is_number(given[p.name])
        )
        operands = [given[p.name] if p.name in numbers else self._tensor(p, given[p.name]) for p in self._inputs]
        stored = {
            p.name: _OTHER_INTEGERS[operand.dtype.name]
            for p, operand in zip(self._inputs, operands)
            if p.is_integer and p.width == 1 and p.name not in numbers and operand.dtype.name in _OTHER_INTEGERS
        }
        program = self._program(numbers, stored)
        outputs = self._given_outputs(program, out)
        results = program.traced.launch(operands, outputs, rows, self.vjp, self._names)
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        return f"<nova.kernel {self.__name__}{inspect.signature(self.__wrapped__)}>"

    @property
    def traced(self) -> Kernel:
        """The same kernel with the derivative of what was traced, also where `vjp=` gave another."""
        return Kernel(self.__wrapped__)

    def text(self) -> str:
        """The program, one operation a line, with all uniforms as tensors."""
        return self._program(frozenset(), {}).traced.text()

    def _program(self, numbers: frozenset[str], stored: Mapping[str, str]) -> _Program:
        with self._lock:
            outside, sees_all = self._captured.key()
            if not sees_all:
                return _Program(self, numbers, stored)
            key = (numbers, frozenset(stored.items()), outside)
            program = self._programs.get(key)
            if program is None:
                program = _Program(self, numbers, stored)
                if len(self._programs) == _MOST_PROGRAMS:
                    del self._programs[next(iter(self._programs))]  # the oldest
                self._programs[key] = program
            return program

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) > len(self._names):
            names = ", ".join(self._names)
            advice = "; outputs are given with out=" if len(self._names) < len(self.parameters) else ""
            raise TypeError(
                f"{self.__name__} takes {len(self._names)} arguments ({names}), {len(args)} were given{advice}"
            )
        given = {**self._defaults, **dict(zip(self._names, args))}
        for name, value in kwargs.items():
            if name not in self._names:
                is_output = any(p.name == name for p in self.parameters)
                known = f"its arguments are {', '.join(self._names)}"
                advice = "it is an output, given with out=" if is_output else known
                raise TypeError(f"{self.__name__} has no argument '{name}'; {advice}")
            if name in self._names[: len(args)]:
                raise TypeError(f"{self.__name__}: argument '{name}' was given twice")
            given[name] = value
        missing = [name for name in self._names if name not in given]
        if missing:
            raise TypeError(f"{self.__name__}: arguments are missing: {', '.join(missing)}")
        return given

    def _tensor(self, parameter: Parameter, value: Any) -> Any:
        """A tensor as it is; anything array-like as a new one, through which no gradient flows."""
        extension = _lazy.extension("nova")
        if isinstance(value, (extension.Tensor, DeviceArray)):
            return value
        if isinstance(value, (extension.Float, extension.Int, extension.vec3)):
            raise TraceError(
                f"{self.__name__}: '{parameter.name}' is a traced value; inside a kernel call a plain Python "
                "function"
            )
        if _is_number(value) or isinstance(value, str):
            advice = "" if isinstance(value, str) else "; declare it nova.uniform[...] to give a number"
            raise TypeError(f"{self.__name__}: '{parameter.name}' wants a tensor, got {value!r}{advice}")
        import numpy as np

        if isinstance(value, (list, tuple)) and any(isinstance(entry, extension.Tensor) for entry in value):
            raise TypeError(
                f"{self.__name__}: '{parameter.name}' is a list of tensors, whose gradient would be lost; write each "
                "to its part of one tensor: out[i] = x"
            )
        array = np.asarray(value)
        if parameter.is_integer:
            if array.dtype.kind not in "iu":
                raise TypeError(f"{self.__name__}: '{parameter.name}' wants integers, got {array.dtype}")
            wrapped = array.astype(np.int32)
            if not (wrapped == array).all():
                at = int(np.flatnonzero((wrapped != array).ravel())[0])
                raise ValueError(
                    f"{self.__name__}: '{parameter.name}' wants int32, element {at} is {array.ravel()[at]}"
                )
            array = wrapped
        if parameter.how == "uniform" and array.ndim == 1 and parameter.width > 1:
            array = array[None]
        return extension.tensor(array)

    def _given_outputs(self, program: _Program, out: Any) -> list[Any]:
        names = program.outputs
        if out is None:
            return [None] * len(names)
        if isinstance(out, Mapping):
            unknown = [name for name in out if name not in names]
            if unknown:
                raise TypeError(f"{self.__name__}: out= names '{unknown[0]}'; its outputs are {', '.join(names)}")
            return [out.get(name) for name in names]
        if not isinstance(out, (tuple, list)):
            out = (out,)
        if len(out) != len(names):
            raise ShapeMismatchError(
                f"{self.__name__}: out= has {len(out)} tensors for the outputs {', '.join(names)}"
            )
        return list(out)


def _is_number(value: Any) -> bool:
    """A number of Python, or a scalar of NumPy."""
    return isinstance(value, (int, float)) or (type(value).__module__ == "numpy" and value.shape == ())


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(*, vjp: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Callable[..., Any] | None = None, /, *, vjp: Callable[..., Any] | None = None) -> Any:
    """Makes a kernel of a function over rows: `@nova.kernel`, or `@nova.kernel(vjp=adjoint)`.

    The function runs once, with traced values, and becomes a program; the program is launched over rows, on every
    tier and under every check of Nova, and differentiated by the tape. Annotations say how rows are reached.
    `vjp=adjoint` gives another derivative: backward calls `adjoint(*inputs, *cotangents of the outputs)` with
    tensors, and it returns the cotangents of the float inputs: a dict by name, a tuple in their order, or one
    tensor where there is one; None where no gradient flows.
    """
    if function is None:
        return functools.partial(Kernel, vjp=vjp)
    return Kernel(function, vjp)
