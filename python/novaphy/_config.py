# SPDX-License-Identifier: Apache-2.0
"""Settings of the Python package: novaphy.config."""

from . import _core

_PROGRESS = ("auto", "bar", "off")


class Config:
    """verbose: log lines of level info too. progress: "auto" (bars in a terminal), "bar" or "off".

    Results never depend on the number of threads, so there is nothing to set for that: `deterministic` is
    True.
    """

    __slots__ = ("_verbose", "_progress")

    def __init__(self) -> None:
        self._verbose = False
        self._progress = "auto"

    @property
    def verbose(self) -> bool:
        return self._verbose

    @verbose.setter
    def verbose(self, value: bool) -> None:
        self._verbose = bool(value)
        _core.set_log_level("info" if self._verbose else "warn")

    @property
    def progress(self) -> str:
        return self._progress

    @progress.setter
    def progress(self, value: str) -> None:
        if value not in _PROGRESS:
            raise ValueError(f"config.progress is {value!r}: want one of {', '.join(_PROGRESS)}")
        self._progress = value

    @property
    def deterministic(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Config(verbose={self.verbose}, progress={self.progress!r})"


config = Config()
