# SPDX-License-Identifier: Apache-2.0
"""Plugin folders that installed packages name: entry points of group "novaphy.plugins", callables that return a folder."""
import logging
import os
from importlib.metadata import entry_points


def plugin_folders() -> list[str]:
    """Called once, when plugins are planned. A broken entry point is a log line, never an error."""
    folders = []
    for entry in entry_points(group="novaphy.plugins"):
        try:
            folders.append(os.fspath(entry.load()()))
        except Exception as error:  # foreign code: whatever it raises must not take the others down
            logging.getLogger("novaphy").warning("entry point %s = %s gave no plugin folder: %s: %s", entry.name,
                                                 entry.value, type(error).__name__, error)
    return folders
