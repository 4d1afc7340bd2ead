# SPDX-License-Identifier: Apache-2.0
"""FitReport: the estimates of a fit, how well each is known, and what the motion does not tell."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

from ._moduli import Moduli
from ._windows import Window

#: A number is called identifiable when its standard error is below this part of it.
WELL_KNOWN = 0.25


@dataclass
class FitReport:
    """What a fit found. Arrays are float32.

    targets, values, stderr: for each parameter its target, estimate and standard error in the target's unit, of shape
    () for per="global", else one number a region or element. report["tet_materials[:,0]"] is the estimate of a target.
    identifiable: for each parameter whether the motion tells it, to better than a quarter of itself.
    names, correlation: a name for each number, and their correlation matrix in the spaces that they were moved in.
    open_directions: combinations of numbers that the motion does not tell, in words.
    residual_times [s], residuals: rms of predicted minus observed at the compared times (m, or grey level), sorted.
    rms: of all residuals; noise: as given; windows: the last ones, iterations: (windows' substeps, rms, numbers) each.
    moduli, moduli_stderr: true small-strain G, lame, K, E, nu of the tetrahedra, averaged, if they were fitted.
    notes: what a reader has to know: estimated velocities, residuals above the noise, starts that had to be moved.
    starts: for fit(starts=...) a line for each start.
    """

    targets: list[str]
    values: list[np.ndarray]
    stderr: list[np.ndarray]
    identifiable: list[bool]
    names: list[str]
    correlation: np.ndarray
    open_directions: list[str]
    residual_times: np.ndarray
    residuals: np.ndarray
    rms: float
    noise: float | None
    windows: list[Window]
    iterations: list[tuple[int, float, list[float]]]
    seconds: float
    method: str
    unit: str
    moduli: Moduli | None = None
    moduli_stderr: Moduli | None = None
    notes: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list, repr=False)
    provenance: dict[str, Any] = field(default_factory=dict, repr=False)
    landscape: dict[str, Any] | None = field(default=None, repr=False)
    fit_picture: dict[str, Any] | None = field(default=None, repr=False)
    _survey: Callable[[], dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, target: str) -> np.ndarray:
        if target not in self.targets:
            raise KeyError(f"FitReport: {target!r} was not fitted; there are {', '.join(self.targets)}")
        return self.values[self.targets.index(target)]

    def __str__(self) -> str:
        lines = [f"{self.method}: {len(self.iterations)} iterations, {self.seconds:.2g} s, residual {self.rms:.2g} {self.unit}"
                 f" over {len(self.windows)} windows of {max(w.substeps for w in self.windows)} substeps"]
        for target, value, error, known in zip(self.targets, self.values, self.stderr, self.identifiable):
            lines.append(f"  {target} = {_with_error(value, error)}" + ("" if known else "   NOT identifiable from this motion"))
        lines += [f"  open: {text}" for text in self.open_directions]
        if self.moduli is not None and self.moduli_stderr is not None:
            pairs = zip(Moduli._fields, self.moduli, self.moduli_stderr)
            lines.append("  true small-strain moduli: " + ", ".join(f"{n} = {_with_error(v, e)}" for n, v, e in pairs))
        lines += [f"  note: {text}" for text in self.notes]
        lines += [f"  start: {text}" for text in self.starts]
        return "\n".join(lines)

    def apply(self, model: Any) -> None:
        """Puts the estimates into a model like the fitted one."""
        from ._parameters import Parameter
        from ._unknowns import Unknowns

        parameters = [Parameter(**given) for given in self.provenance["parameters"]]
        Unknowns(model, parameters).write(self.numbers)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Writes everything as JSON; fit(resume=path) goes on from there, FitReport.from_json(path) reads it."""
        self._make_landscape()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, indent=1, allow_nan=True)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary of plain numbers, texts and lists."""
        out = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        for name in ("values", "stderr"):
            out[name] = [array.tolist() for array in out[name]]
        for name in ("correlation", "residual_times", "residuals"):
            out[name] = out[name].tolist()
        out["windows"] = [{"start": w.start, "stops": [list(stop) for stop in w.stops]} for w in self.windows]
        for name in ("moduli", "moduli_stderr"):
            out[name] = None if out[name] is None else {k: float(v) for k, v in out[name]._asdict().items()}
        return out

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> FitReport:
        """Reads what to_json wrote. ValueError for another file."""
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
        if not isinstance(held, dict) or "targets" not in held or "values" not in held:
            raise ValueError(f"FitReport.from_json: {os.fspath(path)} holds no report; FitReport.to_json writes one")
        for name in ("values", "stderr"):
            held[name] = [np.array(array, np.float32) for array in held[name]]
        for name in ("correlation", "residual_times", "residuals"):
            held[name] = np.array(held[name], np.float32)
        held["windows"] = [Window(w["start"], tuple((a, b) for a, b in w["stops"])) for w in held["windows"]]
        held["iterations"] = [tuple(entry) for entry in held["iterations"]]
        for name in ("moduli", "moduli_stderr"):
            held[name] = None if held[name] is None else Moduli(**held[name])
        return cls(**held)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draws the landscape of the residual about the estimate, the fit, and the residual over time. Needs
        matplotlib (extra `plot`)."""
        from ._pictures import draw

        self._make_landscape()
        draw(path, self)

    def _make_landscape(self) -> None:
        if self.landscape is None and self._survey is not None:
            self.landscape = self._survey()


def _with_error(value: Any, error: Any) -> str:
    value, error = np.asarray(value), np.asarray(error)
    if value.ndim:
        known = np.isfinite(error)
        worst = f"{float(error[known].max()):.2g}" if known.any() else "unknown"
        return (f"{value.size} numbers from {float(value.min()):.6g} to {float(value.max()):.6g}, standard errors up to {worst}"
                + (f", {int((~known).sum())} without" if not known.all() else ""))
    value, error = float(value), float(error)
    if not math.isfinite(error):
        return f"{value:.6g} +- {'unknown' if math.isnan(error) else 'anything'}"
    digits = 6
    if error > 0 and value != 0:
        digits = min(max(int(math.ceil(math.log10(abs(value) / error))) + 2, 2), 9)
    return f"{value:.{digits}g} +- {error:.2g}"
