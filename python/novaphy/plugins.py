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

__all__ = [
    "PluginNotAvailableError",
    "Report",
    "Row",
    "add_search_path",
    "configure",
    "has",
    "info",
    "list",
    "load",
    "loaded",
    "report",
    "require",
]


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
    """Rows; printing it gives a table, and `notes` tells what discovery noticed outside of any plugin."""

    def __init__(self, rows: Iterable[Row] = (), notes: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.notes = _builtins.list(notes)

    def _cells(self) -> _builtins.list[tuple[str, ...]]:
        return [_COLUMNS, *((row.plugin, row.module, row.version, row.state, row.reason) for row in self)]

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[column]) for row in cells) for column in range(4)]
        lines = [
            "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        def line(row: tuple[str, ...], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in row)}</tr>"

        head, *rows = self._cells()
        notes = "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>{notes}"


_COLUMNS = ("plugin", "module", "version", "state", "reason")


def _name(function: str, name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"plugins.{function}: wants the name of a plugin or module, got {name!r}")
    return name


def report() -> Report:
    """One row a module, by plugin and module. Loads nothing."""
    from . import _entry_points

    rows = [Row(**row) for row in _runtime.report()]  # the first question asks the entry points
    return Report(rows, [*_runtime.notes(), *_entry_points.notes])


def list() -> _builtins.list[str]:
    """Names of all plugins that were found."""
    return sorted({row.plugin for row in report() if row.plugin})


def loaded() -> _builtins.list[str]:
    """Names of the modules that are loaded."""
    return sorted(row.module for row in report() if row.state == "loaded")


def has(name: str) -> bool:
    """Whether a plugin or module is loaded or can load. Never raises for a name; loads nothing."""
    name = _name("has", name)
    try:
        return bool(_runtime.has(name))
    except Exception:  # a wrong host configuration: nothing can load
        return False


def info(name: str) -> dict[str, Any]:
    """Manifest, options and rows of a plugin, or of a module's plugin. PluginNotAvailableError for others."""
    rows = Report(Row(**row) for row in _runtime.info(_name("info", name)))
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
    _runtime.load(_name("load", name))


def require(name: str, version: str = "*") -> None:
    """load(), where the plugin's version lies in `version`, such as ">=0.1 <0.2"; for the head of a program.

    PluginNotAvailableError with the whole reason, or with both versions.
    """
    if not isinstance(version, str):
        raise TypeError(f"plugins.require: version wants a range such as '>=0.1 <0.2', got {version!r}")
    _runtime.require(_name("require", name), version.replace(",", " "))


def _names(argument: str, given: Iterable[str]) -> _builtins.list[str]:
    """Several names; text alone would fall apart into letters."""
    names = [given] if isinstance(given, str) else _items(argument, given, "names of plugins or modules")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"plugins.configure: {argument} wants names of plugins or modules, got {name!r}")
    return names


def _folders(argument: str, given: Iterable[str | _os.PathLike[str]] | str | _os.PathLike[str]) -> _builtins.list[str]:
    """Several folders as absolute paths, or one."""
    folders = [given] if isinstance(given, (str, _os.PathLike)) else _items(argument, given, "folders")
    return [_path(argument, "folders", folder) for folder in folders]


def _items(argument: str, given: Any, wanted: str) -> _builtins.list[Any]:
    try:
        return _builtins.list(given)
    except TypeError:
        raise TypeError(f"plugins.configure: {argument} wants {wanted}, got {given!r}") from None


def _path(argument: str, wanted: str, given: object) -> str:
    if not isinstance(given, (str, _os.PathLike)) or not isinstance(_os.fspath(given), str):
        raise TypeError(f"plugins.configure: {argument} wants {wanted}, got {given!r}")
    path = _os.path.abspath(_os.fspath(given))
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"plugins.configure: {argument}: {path!r} is no UTF-8; rename the folder") from None
    return path


def _switch(argument: str, given: object) -> bool | None:
    if given is not None and not isinstance(given, bool):
        raise TypeError(f"plugins.configure: {argument} wants True, False or None, got {given!r}")
    return given


def _json_of(config: dict[str, dict[str, Any]]) -> str:
    for plugin, options in config.items():
        if not isinstance(plugin, str) or not isinstance(options, dict):
            raise TypeError(
                "plugins.configure: config wants {'plugin': {'option': value}}, "
                f"got {options!r} for {plugin!r}"
            )
        for option, value in options.items():
            try:
                if not isinstance(option, str):
                    raise TypeError
                _json.dumps(value, allow_nan=False)
            except (TypeError, ValueError):
                raise TypeError(
                    f"plugins.configure: config: option {option!r} of '{plugin}' wants what JSON knows (a finite "
                    f"number, text, True, False, None, lists and dicts of these), got {value!r}"
                ) from None
    return _json.dumps(config)


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
    safe: bool | None = None,
    probe: bool | None = None,
) -> None:
    """Settings of the plugin system, before the first use of any plugin; NovaPhyError afterwards.

    paths: further folders. enable: exactly these plugins or modules and what they require. disable: these
    not. config: options by plugin, or the path of a host configuration file. allow_writable: folders whose
    files others may write. safe: only plugins from the folder beside the runtime. probe: plugins from
    elsewhere load in a child process first, so that one that crashes, exits or hangs is a row of the report. One
    name or folder may stand without a list around it. What is not given stays as an earlier call has set it.
    """
    is_file = config is not None and not isinstance(config, dict)
    _runtime.configure(
        paths=_folders("paths", paths),
        enable=None if enable is None else _names("enable", enable),
        disable=_names("disable", disable),
        config_json=_json_of(config) if isinstance(config, dict) else "",
        config_file=_path("config", "a dict or the path of a file", config) if is_file else "",
        allow_writable=_folders("allow_writable", allow_writable),
        safe=_switch("safe", safe),
        probe=_switch("probe", probe),
    )


def __getattr__(name: str) -> Any:
    from ._lazy import no_attribute

    raise no_attribute(__name__, name, __all__)


def __dir__() -> _builtins.list[str]:
    return sorted(__all__)
