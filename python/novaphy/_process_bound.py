# SPDX-License-Identifier: Apache-2.0
"""Objects that cannot be copied or sent to another process, and say so."""

from __future__ import annotations

from typing import Any, NoReturn


class ProcessBound:
    """Base class: pickle, copy.copy and copy.deepcopy raise a TypeError with the class and what to do instead."""

    _instead = "make a new one there"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"cannot pickle '{type(self).__name__}': it belongs to its process; {self._instead}")
