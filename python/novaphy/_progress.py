# SPDX-License-Identifier: Apache-2.0
"""Progress bars: shown where they can be and where novaphy.config.progress does not say otherwise."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ._config import config


def new_bar(what: str, unit: str, total: int | None = None, delay: float = 0.0) -> Any:
    """A bar of tqdm that comes after `delay` s and goes when it is closed, or None where none can be shown."""
    if config.progress == "off" or (config.progress == "auto" and not sys.stderr.isatty()):
        return None
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:  # an extra: without it the work is done all the same
        return None
    return tqdm.tqdm(total=total, desc=what, unit=unit, leave=False, delay=delay)
