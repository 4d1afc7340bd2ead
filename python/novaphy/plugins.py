# SPDX-License-Identifier: Apache-2.0
"""What is there, what is not, and why: the plugins of this process.

The first question plans: it reads every manifest and loads nothing that can wait. Settings come before that.
"""

from __future__ import annotations

import builtins as _builtins
import json as _json
import os as _os
from typing import Any, Iterable, NamedTuple

from . import _core
from ._core import PluginNotAvailableError  # what load() raises

_runtime = _core.runtime


class Row(NamedTuple):
    """One module of one plugin, or a manifest that could not be read."""

    plugin: str
    module: str
    version: str
    #: found, rejected, skipped, disabled, blocked, ready, loading, loaded, unavailable, failed or stopped
    state: str
    path: str  #: the manifest
    library: str
    reason: str  #: why it is neither ready nor loaded
    problems: _builtins.list[str]  #: the same with codes and places
    notes: _builtins.list[str]

    @property
    def usable(self) -> bool:
        return self.state in ("ready", "loading", "loaded")


class Report(_builtins.list):
    """Rows; printing it gives a table."""

    def __str__(self) -> str:
        rows = [
            ("plugin", "module", "version", "state", "reason"),
            *((row.plugin, row.module, row.version, row.state, row.reason) for row in self),
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join(
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip()
            for row in rows
        )

    __repr__ = __str__


def report() -> Report:
    """One row a module, by plugin and module. Loads nothing."""
    return Report(Row(**row) for row in _runtime.report())


def list() -> _builtins.list[str]:
    """Names of all plugins that were found."""
    return sorted({row.plugin for row in report() if row.plugin})


def loaded() -> _builtins.list[str]:
    """Names of the modules that are loaded."""
    return sorted(row.module for row in report() if row.state == "loaded")


def has(name: str) -> bool:
    """Whether a plugin or module is loaded or can load. Never raises, loads nothing."""
    try:
        return bool(_runtime.has(name))
    except Exception:  # a wrong host configuration: nothing can load
        return False


def info(name: str) -> dict[str, Any]:
    """Manifest, options and rows of a plugin, or of a module's plugin. PluginNotAvailableError for others."""
    rows = Report(Row(**row) for row in _runtime.info(name))
    if not rows:
        raise PluginNotAvailableError(_runtime.why_not(name))
    plugin = rows[0].plugin
    return {
        "name": plugin,
        "version": rows[0].version,
        "state": rows[0].state,
        "reason": rows[0].reason,
        "path": rows[0].path,
        "modules": rows,
        "manifest": _json.loads(_runtime.manifest_json(plugin) or "{}"),
        "config": _json.loads(_runtime.config_json(plugin) or "{}"),
        "why": _runtime.why(name),
    }


def load(name: str) -> None:
    """Loads a plugin or module and all that it requires. PluginNotAvailableError with the whole reason."""
    _runtime.load(name)


def _names(argument: str, given: Iterable[str]) -> _builtins.list[str]:
    """Several names; text alone would fall apart into letters."""
    names = [given] if isinstance(given, str) else _builtins.list(given)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"plugins.configure: {argument} wants names of plugins or modules, got {name!r}")
    return names


def _folders(argument: str, given: Iterable[str | _os.PathLike[str]] | str | _os.PathLike[str]) -> _builtins.list[str]:
    """Several folders as absolute paths, or one."""
    folders = [given] if isinstance(given, (str, _os.PathLike)) else _builtins.list(given)
    for folder in folders:
        if not isinstance(folder, (str, _os.PathLike)):
            raise TypeError(f"plugins.configure: {argument} wants folders, got {folder!r}")
    return [_os.path.abspath(folder) for folder in folders]


def add_search_path(folder: str | _os.PathLike[str]) -> None:
    """A further folder with plugins. Before the first use of any; NovaPhyError afterwards."""
    configure(paths=[folder])


def configure(
    *,
    paths: Iterable[str | _os.PathLike[str]] | str | _os.PathLike[str] = (),
    enable: Iterable[str] | str | None = None,
    disable: Iterable[str] | str = (),
    config: dict[str, dict[str, Any]] | str | _os.PathLike[str] | None = None,
    allow_writable: Iterable[str | _os.PathLike[str]] | str | _os.PathLike[str] = (),
) -> None:
    """Settings of the plugin system, before the first use of any plugin; NovaPhyError afterwards.

    paths: further folders. enable: exactly these plugins or modules and what they require. disable: these
    not. config: options by plugin, or the path of a host configuration file. allow_writable: folders whose
    files others may write. One name or folder may stand without a list around it.
    """
    is_file = config is not None and not isinstance(config, dict)
    if is_file and not isinstance(config, (str, _os.PathLike)):
        raise TypeError(f"plugins.configure: config wants a dict or the path of a file, got {config!r}")
    _runtime.configure(
        paths=_folders("paths", paths),
        enable=None if enable is None else _names("enable", enable),
        disable=_names("disable", disable),
        config_json=_json.dumps(config) if isinstance(config, dict) else "",
        config_file=_os.path.abspath(config) if is_file else "",
        allow_writable=_folders("allow_writable", allow_writable),
    )
