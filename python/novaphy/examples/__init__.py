# SPDX-License-Identifier: Apache-2.0
"""The demos' code: `python -m novaphy.examples` lists them, `python -m novaphy.examples NAME` runs one."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType


def names() -> list[str]:
    """Names of all examples."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def summary(name: str) -> str:
    """The first line of an example's description, without importing it."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def load(name: str) -> ModuleType:
    """The module of an example. ValueError with the nearest name for an unknown one."""
    if name not in names():
        import difflib

        near = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean '{near[0]}'? There are: " if near else "there are: "
        raise ValueError(f"no example '{name}'; {hint}{', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")
