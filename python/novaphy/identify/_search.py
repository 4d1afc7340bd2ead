# SPDX-License-Identifier: Apache-2.0
"""Search: the optimiser through windows of growing length, with progress, checkpoints and resumption."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Sequence

from .._progress import new_bar
from .._provenance import provenance
from ._gauss_newton import Point, gauss_newton, point_at, squares_of
from ._linear import Spread, spread_of
from ._quasi_newton import l_bfgs_b
from ._report import WELL_KNOWN, FitReport
from ._simulation import Diverged, Simulator
from ._windows import Window

#: Standard errors below this, in the numbers' spaces, need no longer windows.
_PRECISE = 1e-4
#: Longer windows are kept when the standard errors fall below this part of what they were.
_BETTER = 0.9
_MOST_HALVINGS = 20
#: A residual above this part of the motion says that a search ended in the wrong place.
POOR = 0.02
#: Two halves in a row that end above this part of the best residual: it is not the first guess that is wrong.
_LOWER = 0.9
#: Standard errors come from forward sensitivities of at most so many numbers.
MOST_SENSITIVITIES = 256


_WRITES = "fit(checkpoint=path) and FitReport.to_json(path) write such files"


def _read(path: Any) -> dict[str, Any]:
    """A file that an earlier fit wrote."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"fit: resume is a {type(path).__name__}; give a path or a FitReport")
    with open(path, encoding="utf-8") as file:
        try:
            held = json.load(file)
        except ValueError as error:
            raise ValueError(f"fit: resume: {os.fspath(path)} is no JSON file ({error}); {_WRITES}") from None
    if not isinstance(held, dict):
        raise ValueError(f"fit: resume: {os.fspath(path)} holds a {type(held).__name__}, no fit; {_WRITES}")
    return held


class Search:
    """Runs a fit. Afterwards `numbers`, `windows`, `point` (None where sensitivities would be too many), `path`."""

    def __init__(self, simulator: Simulator, stages: list[list[Window]], method: str, *, noise: float | None, most: int,
                 tolerance: float, progress: bool, checkpoint: Any, grows: bool) -> None:
        self.simulator, self.stages, self.method, self.noise = simulator, stages, method, noise
        self.most, self._tolerance, self._checkpoint, self._grows = most, tolerance, checkpoint, grows
        self.numbers = list(simulator.unknowns.initial)
        self.path: list[tuple[int, float, list[float]]] = []
        self.notes: list[str] = []
        self.seconds_before, self._stage, self._wasted = 0.0, 0, 0
        self.point: Point | None = None
        self.windows = stages[0]
        self._bar = new_bar("fit", "iteration") if progress else None

    def start_from(self, resume: Any) -> None:
        """Takes numbers, path and window length of an earlier fit of the same parameters."""
        if resume is None:
            return
        held = resume.to_dict() if isinstance(resume, FitReport) else _read(resume)
        names = self.simulator.unknowns.names()
        if held.get("names") != names:
            raise ValueError(f"fit: resume holds {held.get('names')}; this fit has {names}; give that of the same parameters")
        try:
            self.numbers = [float(x) for x in held["numbers"]]
            self.path = [(int(a), float(b), list(c)) for a, b, c in held["iterations"]]
            self.seconds_before = float(held["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"fit: resume was changed since it was written ({error!r}); {_WRITES}") from None
        if len(self.numbers) != len(names):
            raise ValueError(f"fit: resume holds {len(self.numbers)} numbers for {len(names)} names; {_WRITES}")
        length = self.path[-1][0] if self.path else 0
        lengths = [windows[0].substeps for windows in self.stages]
        self._stage = min(range(len(lengths)), key=lambda i: abs(lengths[i] - length))

    def run(self) -> None:
        """Searches in each stage from where the one before ended, while longer windows know more."""
        best: tuple[float, list[float], list[Window], Point | None] | None = None
        for stage in range(self._stage, len(self.stages)):
            self._stage = stage
            windows = self.stages[stage]
            try:
                point = self._first_stage(windows) if best is None else self._one_stage(windows)
            except Diverged:
                break
            error = self._error(point)
            if best is not None and not error < _BETTER * best[0] and best[0] < WELL_KNOWN:
                break
            if best is None or error <= best[0]:
                best = (error, self.numbers, windows, point)
            if not self._grows or error < _PRECISE or self.iterations >= self.most:
                break
        assert best is not None  # the first stage raises where nothing can be simulated
        _, self.numbers, self.windows, self.point = best
        if self._bar is not None:
            self._bar.close()

    @property
    def iterations(self) -> int:
        """Those since the first guess, or the half of it that was kept."""
        return len(self.path) - self._wasted

    def _one_stage(self, windows: list[Window]) -> Point | None:
        left = max(self.most - self.iterations, 1)
        if self.method == "gauss-newton":
            point = gauss_newton(self.simulator, self.numbers, windows, noise=self.noise, most=left, tolerance=self._tolerance,
                                 told=lambda p: self._told(windows, p.rms, p.numbers))
            self.numbers = point.numbers
            return point
        self.numbers = l_bfgs_b(self.simulator, self.numbers, windows, noise=self.noise, most=left, tolerance=self._tolerance,
                                told=lambda numbers, rms: self._told(windows, rms, numbers))
        if self.simulator.unknowns.count > MOST_SENSITIVITIES:
            return None
        return point_at(self.simulator, self.numbers, windows, self.noise)

    def _first_stage(self, windows: list[Window]) -> Point | None:
        """A stage from the first guess, or from its half, its quarter, ... where the first guess flies apart, or is so stiff
        that it leads to a motion unlike the one that was seen; then the best of them."""
        motion, best, worse = self.motion(windows), None, 0
        for halvings in range(_MOST_HALVINGS):
            guess, self._wasted = list(self.numbers), len(self.path)
            try:
                point = self._one_stage(windows)
                rms = self.path[-1][1]
                worse = 0 if best is None or rms < _LOWER * best[0] else worse + 1
                if best is None or rms < best[0]:
                    best = (rms, self.numbers, point, halvings)
                if rms < POOR * motion or motion == 0 or worse == 2:
                    break
            except Diverged:
                pass
            self.numbers = self.simulator.unknowns.halved(guess)
        if best is None:
            raise ValueError("fit: the simulation flies apart from the first guess on, and from its halves; choose a shorter dt "
                             "or another first guess")
        _, self.numbers, point, halvings = best
        if halvings:
            self.notes.append(f"the first guess flew apart or led astray, and was halved {halvings} times")
        return point

    def motion(self, windows: list[Window]) -> float:
        """How far what was seen moved in the windows, rms."""
        data = self.simulator.observed.data
        moved = [data[index] - data[window.start] for window in windows for index, _ in window.stops]
        return math.sqrt(sum(squares_of(m.ravel()) for m in moved) / sum(m.size for m in moved))

    def sigma(self, point: Point) -> float:
        """The standard deviation of one residual: the noise given, what is left over, and what float32 leaves open."""
        free = max(point.count - len(point.numbers), 1)
        return max(self.noise or 0.0, (point.squares / free) ** 0.5, self.simulator.observed.resolution())

    def spread(self, point: Point) -> Spread:
        return spread_of(point.triangle(), self.sigma(point), WELL_KNOWN)

    def _error(self, point: Point | None) -> float:
        """The root of the mean squared standard error, each counted as at most 1."""
        if point is None:
            return 0.0 if len(self.stages) == 1 else self.path[-1][1] if self.path else 0.0
        errors = [min(error, 1.0) for error in self.spread(point).stderr]
        return (sum(e * e for e in errors) / len(errors)) ** 0.5

    def _told(self, windows: list[Window], rms: float, numbers: Sequence[float]) -> None:
        self.path.append((windows[0].substeps, rms, list(numbers)))
        if self._bar is not None:
            self._bar.set_postfix_str(f"windows of {windows[0].substeps}, residual {rms:.3g}")
            self._bar.update(1)
        if self._checkpoint is not None:
            self._write_checkpoint()

    def _write_checkpoint(self) -> None:
        held = {"names": self.simulator.unknowns.names(), "numbers": self.path[-1][2], "iterations": self.path,
                "seconds": self.seconds_before, "provenance": provenance(self.simulator.unknowns.model)}
        beside = f"{os.fspath(self._checkpoint)}.new"
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(held, file)
        os.replace(beside, self._checkpoint)  # so that an interruption leaves the old or the new one
