# SPDX-License-Identifier: Apache-2.0
"""What a kernel takes from outside its arguments: numbers are frozen into the program, so a call looks whether
they are still the same, and traces again when they are not, or when it cannot tell."""

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
_IS_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_WITHOUT_NUMBERS = {"novaphy", "_novaphy_nova", "builtins", "math", "cmath", "operator", "numpy"}


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


def _home(value: Any) -> str:
    """The package that defines a function, a class or a module."""
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return home.partition(".")[0] if isinstance(home, str) else ""


def _has_no_numbers(value: Any) -> bool:
    """Functions, classes and modules of this package and of those that hold no numbers of the user."""
    if type(value).__module__ == "numpy" and not hasattr(value, "tobytes"):  # a function over arrays
        return True
    is_definition = isinstance(value, (type, ModuleType, FunctionType, BuiltinFunctionType))
    return is_definition and _home(value) in _WITHOUT_NUMBERS


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """Where numbers may lie inside a value; None where that cannot be seen."""
    if isinstance(value, MethodType):
        return [(".__func__", value.__func__), (".__self__", value.__self__)]
    if isinstance(value, BuiltinFunctionType):  # such as the `get` of a dictionary
        return None if isinstance(value.__self__, (ModuleType, type(None))) else [(".__self__", value.__self__)]
    if isinstance(value, (staticmethod, classmethod)):
        return [(".__func__", value.__func__)]
    if isinstance(value, property):
        return [(".fget", value.fget)]
    if isinstance(value, partial):
        return [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
    if isinstance(value, type):
        kinds = (int, float, FunctionType, staticmethod, classmethod, property)
        return [
            (f".{key}", entry)
            for base in value.__mro__ if base.__flags__ & _IS_MADE_IN_PYTHON
            for key, entry in vars(base).items() if isinstance(entry, kinds)
        ]  # fmt: skip
    out: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        out = [(f"[{key!r}]", entry) for key, entry in value.items()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        out = [(f"[{place}]", entry) for place, entry in enumerate(value)]
    if type(value) in (dict, list, tuple, set, frozenset):
        return out
    bases = [base for base in type(value).__mro__ if base not in (object, dict, list, tuple, set, frozenset)]
    if isinstance(value, ModuleType) or any(_hides_numbers(base) for base in bases):
        return None
    out += [(f".{key}", entry) for key, entry in getattr(value, "__dict__", {}).items()]
    slots = [key for base in bases for key in _slots(base) if hasattr(value, key)]
    return out + [(f".{key}", getattr(value, key)) for key in slots] + [(".__class__", type(value))]


def _hides_numbers(base: type) -> bool:
    """A class that is not written in Python keeps what its objects hold to itself."""
    return not base.__flags__ & _IS_MADE_IN_PYTHON or _home(base) in ("novaphy", "_novaphy_nova")


def _slots(base: type) -> list[str]:
    slots = vars(base).get("__slots__", ())
    return [slots] if isinstance(slots, str) else list(slots)


def _is_seen(code: CodeType) -> bool:
    """Whether everything outside is read by its name: what a function imports is not."""
    imports = (i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME")
    return all(name.partition(".")[0] in _WITHOUT_NUMBERS for name in imports)


class Captured:
    """The outside values of one function and of the functions that it calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__name__
        self._function = function  # alive, so that nothing else gets its id
        self._places = _places(function)
        self._reads_all = all(_is_seen(code) for code in _codes(function.__code__))
        self._functions: dict[int, Captured | None] = {id(function): None}
        self._met: set[int] = set()  # of them, what the present key has met

    def key(self) -> tuple[Hashable, bool]:
        """A key that is equal as long as every number that was frozen is still the same, and whether all of them
        were seen; where not, only another trace can tell. TraceError for a captured tensor."""
        self._met.clear()
        self._met.add(id(self._function))
        found = self._key()
        for gone in self._functions.keys() - self._met:  # helpers that are made anew for each call
            del self._functions[gone]
        return found

    def _key(self) -> tuple[Hashable, bool]:
        self._sees_all = self._reads_all
        key = tuple(self._fingerprint(*_look(place), 0) for place in self._places)
        return key, self._sees_all

    def _fingerprint(self, name: str, value: Any, depth: int) -> Hashable:
        if value is None or isinstance(value, (int, float, complex, str, bytes)):
            return type(value), repr(value)  # of floats too: 0.0 is not -0.0, and NaN is NaN
        if isinstance(value, DeviceArray) or type(value).__name__ == "Tensor":
            raise TraceError(
                f"{self.name}: '{name}' is a tensor from outside of the kernel, and its values would be frozen; "
                "make it an argument"
            )
        if _has_no_numbers(value):
            return id(value)
        if isinstance(value, FunctionType):
            defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
            return self._of_function(value), tuple(self._fingerprint(name, entry, depth + 1) for entry in defaults)
        if type(value).__module__ == "numpy" and not value.dtype.hasobject:
            return str(value.dtype), getattr(value, "shape", ()), value.tobytes()
        parts = _parts(value) if depth < _DEEPEST else None
        if parts is None:
            self._sees_all = False
            return (type(value),)
        return type(value), tuple(
            (repr(key), self._fingerprint(f"{name}{key}", entry, depth + 1)) for key, entry in parts
        )

    def _of_function(self, function: FunctionType) -> Hashable:
        key, code = id(function), function.__code__  # the code says what it does, whoever holds it
        self._met.add(key)
        if key not in self._functions:
            self._functions[key] = None  # while it is looked at: functions may call each other
            inner = Captured(function)
            inner.name, inner._functions, inner._met = self.name, self._functions, self._met
            self._functions[key] = inner
        known, self._functions[key] = self._functions[key], None
        if known is None:
            return code
        try:
            inner_key, sees_all = known._key()
            self._sees_all = self._sees_all and sees_all
            return code, inner_key
        finally:
            self._functions[key] = known
