# SPDX-License-Identifier: Apache-2.0
"""What a kernel takes from outside its arguments: numbers are frozen into the program, so a call looks whether
they are still the same, and traces again when they are not."""

from __future__ import annotations

import dis
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Callable, Hashable, Iterator

from .._core import DeviceArray, TraceError

#: One thing that a function reads: the cell or dictionary it lies in, its name, and what follows the name.
_Place = tuple[Any, str, tuple[tuple[bool, Any], ...]]

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME"}
_CELLS = {"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}
_DEEPEST = 4


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _paths(code: CodeType) -> Iterator[tuple[bool, str, tuple[tuple[bool, Any], ...]]]:
    """(is a cell, name, what follows) of every outside name in a function's code: `a`, `a.b`, `a["c"].d`."""
    instructions = list(dis.get_instructions(code))
    for at, first in enumerate(instructions):
        if first.opname not in _GLOBALS and first.opname not in _CELLS:
            continue
        path: list[tuple[bool, Any]] = []
        rest = iter(instructions[at + 1 :])
        for step in rest:
            if step.opname in _ATTRIBUTES:
                path.append((False, step.argval))
            elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
                then = next(rest, None)
                if then is None or not (then.opname == "BINARY_SUBSCR" or then.argrepr == "[]"):
                    break
                path.append((True, step.argval))
            elif step.opname not in ("CACHE", "PUSH_NULL", "EXTENDED_ARG"):
                break
        yield first.opname in _CELLS, first.argval, tuple(path)


def _places(function: Callable[..., Any]) -> list[_Place]:
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    out: dict[Any, _Place] = {}
    for inner in _codes(code):
        for is_cell, name, path in _paths(inner):
            if is_cell and name not in cells:
                continue  # a local of the function itself
            holder = cells[name] if is_cell else function.__globals__
            out[id(holder), name, path] = holder, name, path
    return list(out.values())


def _look(place: _Place) -> tuple[str, Any]:
    """The name as written, and the value, as far along the path as it exists."""
    holder, name, path = place
    try:
        value = holder[name] if isinstance(holder, dict) else holder.cell_contents
    except (KeyError, ValueError):  # a builtin, or a cell that is still empty
        return name, None
    for is_entry, key in path:
        try:
            value = value[key] if is_entry else getattr(value, key)
        except Exception:
            break
        name += f"[{key!r}]" if is_entry else f".{key}"
    return name, value


def _is_ours(value: Any) -> bool:
    """What this package defines holds no numbers of the user."""
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] in ("novaphy", "_novaphy_nova")


def _parts(value: Any) -> list[tuple[str, Any]]:
    """Where numbers may lie inside a value."""
    if isinstance(value, dict):
        return [(f"[{key!r}]", entry) for key, entry in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(f"[{place}]", entry) for place, entry in enumerate(value)]
    if isinstance(value, MethodType):
        return [(".__func__", value.__func__), (".__self__", value.__self__)]
    if isinstance(value, partial):
        return [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
    if isinstance(value, type):
        return [(f".{key}", entry) for key, entry in vars(value).items() if isinstance(entry, (int, float))]
    out = [(f".{key}", entry) for key, entry in getattr(value, "__dict__", {}).items()]
    out += [(f".{key}", getattr(value, key, None)) for key in getattr(type(value), "__slots__", ())]
    return out + [(".__call__", entry) for entry in [vars(type(value)).get("__call__")] if entry is not None]


class Captured:
    """The outside values of one function and of the functions that it calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self._function = function  # alive, so that nothing else gets its id
        self._places = _places(function)
        self._functions: dict[int, Captured | None] = {id(function): None}

    def key(self) -> Hashable:
        """Equal as long as every number that was frozen is still the same. TraceError for a captured tensor."""
        return tuple(self._fingerprint(*_look(place), 0) for place in self._places)

    def _fingerprint(self, name: str, value: Any, depth: int) -> Hashable:
        if value is None or isinstance(value, (int, float, str, bytes)):
            return type(value), repr(value)  # of floats too: 0.0 is not -0.0, and NaN is NaN
        if isinstance(value, DeviceArray) or type(value).__name__ == "Tensor":
            raise TraceError(
                f"{self.name}: '{name}' is a tensor from outside of the kernel, and its values would be frozen; "
                "make it an argument"
            )
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, (ModuleType, BuiltinFunctionType)) or _is_ours(value) or depth == _DEEPEST:
            return id(value)
        if type(value).__module__ == "numpy" and hasattr(value, "tobytes"):
            return str(value.dtype), getattr(value, "shape", ()), value.tobytes()
        parts = [
            (repr(key), self._fingerprint(f"{name}{key}", entry, depth + 1)) for key, entry in _parts(value)
        ]
        return type(value), tuple(parts)

    def _of_function(self, function: FunctionType) -> Hashable:
        key = id(function)
        if _is_ours(function):
            return key
        if key not in self._functions:
            self._functions[key] = None  # while it is looked at: functions may call each other
            inner = Captured(function)
            inner.name, inner._functions = self.name, self._functions
            self._functions[key] = inner
        known, self._functions[key] = self._functions[key], None
        try:
            return key, None if known is None else known.key()
        finally:
            self._functions[key] = known
