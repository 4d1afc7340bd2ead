# SPDX-License-Identifier: Apache-2.0
"""Modules whose names come from plugins' manifests: a name loads its plugin when it is first used."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import threading
from typing import Any, Callable, NoReturn

from . import _core
from ._core import NovaPhyError, PluginNotAvailableError

#: Names of parts with a plugin of their own: asking for one without its plugin says which is missing.
_HOMES = {
    "novaphy.solvers": {
        "SolverVBD": "vbd",
        "VBDConfig": "vbd",
        "VbdBackend": "vbd",
        "SolverFeatherstone": "featherstone",
        "PGSConfig": "featherstone",
        "SolverSemiImplicit": "semi_implicit",
        "DiffSemiImplicitSolver": "semi_implicit",
        "DiffSolverConfig": "semi_implicit",
    },
    "novaphy.viewer": {"ViewerGL": "viewer"},
}

_extensions: dict[str, Any] = {}
_ABSENT = object()

#: Held while an extension beside a plugin is imported, and over a fork, so that no child inherits half of one.
_importing = threading.RLock()
os.register_at_fork(
    before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release
)


def no_attribute(module: str, name: str, known: Any) -> AttributeError:
    """An AttributeError with the nearest name."""
    import difflib

    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}'{hint}", name=name)


def public_module_of(name: str) -> str | None:
    """The public module where a manifest puts this name."""
    try:
        return next(
            (entry["public_module"] for entry in _core.runtime.python_exports() if entry["name"] == name),
            None,
        )
    except Exception:  # a wrong host configuration: the question was only for a hint
        return None


def exports_of(module: str) -> dict[str, dict]:
    """What manifests promise for a public module, by name."""
    return {
        entry["name"]: entry for entry in _core.runtime.python_exports() if entry["public_module"] == module
    }


def extension(module: str) -> Any:
    """The Python extension of a plugin's module. PluginNotAvailableError when that cannot load."""
    if module not in _extensions:
        for entry in _core.runtime.python_exports():
            if entry["module"] == module:
                return _load_extension(entry)
        _core.runtime.load(module)  # raises with the whole reason when the module is absent
        raise PluginNotAvailableError(
            f"module '{module}' has no Python names: its manifest lists no python.exports"
        )
    return _extensions[module]


def _load_extension(entry: dict) -> Any:
    module = entry["module"]
    if module not in _extensions:
        _core.runtime.load(module)
        _extensions[module] = _import_extension(entry["extension"], entry["folder"])
    return _extensions[module]


def _import_extension(name: str, folder: str) -> Any:
    with _importing:  # else a second thread would find a module that is only half filled
        module = None if name in sys.modules else _import_file(name, folder)
    return module or _import_installed(name, folder)


def _import_file(name: str, folder: str) -> Any:
    """The extension beside the plugin's libraries, None where there is none."""
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = os.path.join(folder, name + suffix)
        if os.path.exists(path):
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None  # the suffix is that of an extension
            loaded = importlib.util.module_from_spec(spec)
            sys.modules[name] = loaded
            try:
                spec.loader.exec_module(loaded)
            except BaseException as error:
                sys.modules.pop(name, None)
                _not_imported(name, error)
            return loaded
    return None


def _import_installed(name: str, folder: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            _not_imported(name, error)
        raise PluginNotAvailableError(
            f"extension '{name}' was found neither in {folder} for this Python "
            f"({importlib.machinery.EXTENSION_SUFFIXES[0]}) nor among the installed modules; "
            "build the plugin for this interpreter"
        ) from error
    except BaseException as error:
        _not_imported(name, error)


def _not_imported(name: str, error: BaseException) -> NoReturn:
    """Raises what a caller sees when the code of an extension, which may be anybody's, has raised `error`."""
    if isinstance(error, (PluginNotAvailableError, KeyboardInterrupt)):
        raise error
    said = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
    if not said.startswith(name):  # else it is one of our own sentences about this extension
        said = f"extension '{name}' cannot be imported: {said}"
    raise PluginNotAvailableError(said) from error


def _resolve(module: str, name: str, entry: dict) -> Any:
    try:
        value = getattr(_load_extension(entry), name, _ABSENT)
    except PluginNotAvailableError as error:
        raise PluginNotAvailableError(f"{module}.{name}: {error}") from error.__cause__
    if value is _ABSENT:
        raise PluginNotAvailableError(
            f"{module}.{name}: the manifest of plugin '{entry['plugin']}' promises it, and extension "
            f"'{entry['extension']}' does not hold it; report this to the plugin's author"
        )
    if getattr(value, "__module__", None) == entry["extension"]:
        value.__module__ = module  # where users, pickles and documentation find it
    return value


def lazy_module(
    module: str, home: str | None = None, advice: str = "", python: dict[str, tuple[str, ...]] | None = None
) -> tuple[Callable, Callable]:
    """__getattr__ and __dir__ of a public module. `home` is the plugin without which none of its names exist;
    `advice` ends the message for a name that is not available. `python` gives names that Python files of this
    package define on top of the plugin, by file; they are there when the plugin's own names are."""
    namespace = sys.modules[module].__dict__
    written_in_python = {name: file for file, names in (python or {}).items() for name in names}

    def own_names() -> list[str]:
        return [name for name in namespace if not name.startswith("_") and name not in _IMPORTED]

    def available() -> list[str]:
        # names that cannot load are left out: hasattr() and tab completion would raise on them
        try:
            exported = {name for name, entry in exports_of(module).items() if entry["can_load"]}
        except NovaPhyError:  # a wrong host configuration; asking for a name says what is wrong with it
            exported = set()
        return sorted({*own_names(), *exported, *(written_in_python if exported else ())})

    def missing(plugin: str, name: str) -> PluginNotAvailableError:
        return PluginNotAvailableError(f"{module}.{name}: {_core.runtime.why_not(plugin)}{advice}")

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return available()
        if name.startswith("_"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'", name=name)
        exports = exports_of(module)
        if name in exports:
            value = _resolve(module, name, exports[name])
            namespace[name] = value
            return value
        for plugin in (_HOMES.get(module, {}).get(name), home):
            if plugin is not None and not _core.runtime.info(plugin):
                raise missing(plugin, name)
        if name in written_in_python:
            _resolve(module, next(iter(exports)), next(iter(exports.values())))  # what it stands on, or the reason
            value = getattr(importlib.import_module(f"novaphy.{written_in_python[name]}"), name)
            if hasattr(value, "__module__"):
                value.__module__ = module
            namespace[name] = value
            return value
        raise no_attribute(module, name, [*own_names(), *written_in_python, *exports])

    return __getattr__, available


#: What the lazy modules import for themselves.
_IMPORTED = frozenset({"annotations", "lazy_module", "Any"})
