# SPDX-License-Identifier: Apache-2.0
"""Plugin folders that installed packages name by entry points of group "novaphy.plugins"."""

import logging
import os
from importlib.metadata import entry_points

#: What was wrong with entry points when the plugins were planned, for novaphy.plugins.report().notes.
notes: list[str] = []

#: The entry point that is asked at this moment.
now = "none"


def plugin_folders() -> list[str]:
    """What the entry points, which are callables, return. A broken one is a note and a log line, never an error."""
    global now
    notes.clear()
    folders = []
    try:
        found = list(entry_points(group="novaphy.plugins"))
    except Exception as error:  # the metadata of some installed package cannot be read
        _note("entry points of installed packages cannot be read", error)
        return []
    for entry in found:
        now = f"{entry.name} = {entry.value}"
        try:
            folders.append(_folder(entry.load()()))
        except KeyboardInterrupt:  # of the user
            raise
        except BaseException as error:  # foreign code: whatever it raises must not take the others down
            _note(f"entry point {entry.name} = {entry.value} gave no plugin folder", error)
    return folders


def _folder(given: object) -> str:
    folder = os.fsdecode(os.fspath(given))  # type: ignore[call-overload]
    if "\0" in folder:
        raise ValueError(f"{folder!r} holds a NUL character, which no path has")
    folder.encode()  # what is no UTF-8 cannot be named in a report
    if not os.path.isabs(folder):
        raise ValueError(f"{folder!r} is relative: want the absolute path of a folder with plugins")
    return folder


def _note(what: str, error: BaseException) -> None:
    try:
        text = str(error)
    except KeyboardInterrupt:  # of the user
        raise
    except BaseException:  # foreign code too
        text = "its text cannot be read"
    notes.append(f"{what}: {type(error).__name__}: {text}")
    logging.getLogger("novaphy").warning("%s", notes[-1])
