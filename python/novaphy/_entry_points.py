# SPDX-License-Identifier: Apache-2.0
"""Plugin folders that installed packages name by entry points of group "novaphy.plugins"."""

import logging
import os
from importlib.metadata import entry_points


def plugin_folders() -> list[str]:
    """What the entry points, which are callables, return. A broken one is a log line, never an error."""
    folders = []
    for entry in entry_points(group="novaphy.plugins"):
        try:
            folders.append(os.fspath(entry.load()()))
        except Exception as error:  # foreign code: whatever it raises must not take the others down
            logging.getLogger("novaphy").warning(
                "entry point %s = %s gave no plugin folder: %s: %s",
                entry.name,
                entry.value,
                type(error).__name__,
                error,
            )
    return folders
