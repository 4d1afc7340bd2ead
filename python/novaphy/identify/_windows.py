# SPDX-License-Identifier: Apache-2.0
"""Windows: short stretches of the observed motion, each simulated from an observed state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from ._observed import Observed

#: Substeps of the first windows. Short ones have one minimum each; what they lack in precision longer ones add.
SHORTEST = 16
#: A window compares at most this many of the observed times in it, the last one among them.
MOST_STOPS = 8


@dataclass(frozen=True)
class Window:
    """From the observed time `start` (an index) over `substeps` steps; compared at `stops`, (index, substeps) each."""

    start: int
    stops: tuple[tuple[int, int], ...]

    @property
    def substeps(self) -> int:
        return self.stops[-1][1]


class Planner:
    """Finds windows of a wanted length in an observed motion."""

    def __init__(self, observed: Observed, dt: float, most: int) -> None:
        self.observed, self.dt, self.most = observed, dt, most
        steps = (observed.times - observed.times[0]) / dt
        self.steps = np.rint(steps).astype(np.int32)
        off = float(np.abs(steps - self.steps).max())
        if off > 0.05:
            worst = int(np.argmax(np.abs(steps - self.steps)))
            raise ValueError(
                f"fit: observed time {worst}, {observed.times[worst] - observed.times[0]:.9g} s after the first, is {steps[worst]:.3f} "
                f"steps of dt = {dt:g} s; choose dt so that observed times are whole steps"
            )
        if np.any(np.diff(self.steps) < 1):
            raise ValueError(f"fit: dt = {dt:g} s is longer than the time between two observed ones; choose a shorter dt")
        if len(observed.starts()) == 0:
            raise ValueError("fit: velocities were not observed and are estimated from the times before and after, "
                             "so at least 3 times are needed")

    def window(self, start: int, stop: int) -> Window:
        """The window between two observed times, given by their indices."""
        inside = np.arange(start + 1, stop + 1)
        if inside.size > MOST_STOPS:
            inside = inside[np.linspace(0, inside.size - 1, MOST_STOPS + 1).astype(np.int32)[1:]]
        return Window(start, tuple((int(j), int(self.steps[j] - self.steps[start])) for j in inside))

    def given(self, windows: Sequence[Any]) -> list[Window]:
        """Windows for pairs (index of start, index of stop)."""
        out = []
        for pair in windows:
            start, stop = (int(i) for i in pair)
            if start not in self.observed.starts() or not start < stop < len(self.steps):
                starts = self.observed.starts()
                raise ValueError(
                    f"fit: window ({start}, {stop}) is not between observed times; give a start from {starts[0]} to {starts[-1]} "
                    f"and a later stop up to {len(self.steps) - 1}"
                )
            out.append(self.window(start, stop))
        return out

    def of_length(self, substeps: int) -> list[Window]:
        """At most `most` windows of about so many substeps, evenly over the motion; as short as there are, if longer."""
        found = []
        for start in self.observed.starts():
            ahead = self.steps[start + 1 :] - self.steps[start]
            stop = start + max(int(np.searchsorted(ahead, substeps, side="right")), 1)
            found.append((start, stop, int(self.steps[stop] - self.steps[start])))
        # near the end of the motion, and between bursts of observed times, windows are shorter or longer than wanted
        off = [abs(np.log(length / substeps)) for _, _, length in found]
        best = [pair for pair, distance in zip(found, off) if distance <= min(off) + 0.2]
        chosen = sorted(set(np.linspace(0, len(best) - 1, min(self.most, len(best))).astype(np.int32).tolist()))
        return [self.window(best[i][0], best[i][1]) for i in chosen]

    def stages(self) -> list[list[Window]]:
        """Window sets of growing length, from SHORTEST substeps to the whole motion."""
        out: list[list[Window]] = []
        length = SHORTEST
        while length < 2 * int(self.steps[-1]):
            windows = self.of_length(length)
            if not out or windows[0].substeps > out[-1][0].substeps:
                out.append(windows)
            length *= 2
        return out or [self.of_length(SHORTEST)]
