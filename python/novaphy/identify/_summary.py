# SPDX-License-Identifier: Apache-2.0
"""From the end of a search to its report: errors in the parameters' units, open directions in words, notes."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Callable, Sequence

import numpy as np

from .._provenance import provenance
from ._gauss_newton import Point, cost_at
from ._linear import jackknife
from ._moduli import Moduli, true_moduli
from ._parameters import Parameter
from ._pictures import survey
from ._report import WELL_KNOWN, FitReport
from ._search import MOST_SENSITIVITIES, POOR, Search

_LANDSCAPE_WINDOWS = 3


def report_of(search: Search, parameters: Sequence[Parameter], began: float) -> FitReport:
    """The report of a finished search, whose model still holds the numbers that were tried last."""
    simulator, unknowns, numbers = search.simulator, search.simulator.unknowns, search.numbers
    scales, point = unknowns.scales(), search.point
    unknowns.write(numbers)
    errors, correlation, open_directions = _errors(search, scales)
    slopes = [p.slope(x) * s for p, x, s in zip(unknowns.parameter_of(), numbers, scales)]
    flat = [abs(slope) * error for slope, error in zip(slopes, errors)]
    values = unknowns.values(numbers)
    stderr = [np.array(flat[a:b] if p.per != "global" else flat[a], np.float32)
              for p, a, b in zip(parameters, unknowns.offsets, unknowns.offsets[1:])]
    times, rms = _over_time(search, point)
    moduli, moduli_stderr = _moduli(unknowns, numbers, errors, correlation, scales)
    return FitReport(
        targets=[p.target for p in parameters], values=values, stderr=stderr,
        identifiable=[bool(np.all(e <= WELL_KNOWN * np.abs(v))) for v, e in zip(values, stderr)],
        names=unknowns.names(), correlation=correlation, open_directions=open_directions, residual_times=times,
        residuals=rms, rms=search.path[-1][1] if point is None else point.rms, noise=search.noise, windows=search.windows,
        iterations=search.path, seconds=search.seconds_before + time.perf_counter() - began, method=search.method,
        unit="grey level" if simulator.observed.kind == "silhouette" else "m", moduli=moduli, moduli_stderr=moduli_stderr,
        notes=[*search.notes, *_notes(search, point, errors)], numbers=list(numbers),
        provenance={**provenance(unknowns.model), "dt": simulator.dt, "parameters": [_plain(p) for p in parameters]},
        fit_picture=_picture(search),
        _survey=_survey_of(search, errors) if unknowns.count <= 16 else None,
    )


def _plain(parameter: Parameter) -> dict[str, Any]:
    """A parameter as JSON holds it."""
    out = dataclasses.asdict(parameter)
    for name in ("initial", "regions", "bounds"):
        if out[name] is not None:
            out[name] = np.asarray(out[name]).tolist()
    return out


def _errors(search: Search, scales: list[float]) -> tuple[list[float], np.ndarray, list[str]]:
    """Standard errors in the scaled spaces, correlation, open directions in words."""
    count, point = search.simulator.unknowns.count, search.point
    if point is None:
        return [math.nan] * count, np.full((count, count), np.nan, np.float32), []
    spread = search.spread(point)
    errors = list(spread.stderr)
    resolution = max(search.noise or 0.0, search.simulator.observed.resolution())
    for k, error in enumerate(jackknife(point.triangles, point.extra, resolution)):
        errors[k] = max(errors[k], error)
    return errors, spread.correlation, [_in_words(row, search.simulator.unknowns) for row in spread.open_directions]


def _in_words(row: np.ndarray, unknowns: Any) -> str:
    """A direction as the product or sum that may change without being seen."""
    row = row / np.abs(row).max()
    parts = [(float(x), name) for x, name in zip(row, unknowns.names()) if abs(x) > 0.1]
    if len(parts) == 1:
        return f"{parts[0][1]} may change without being seen"
    if len(parts) > 6:
        return f"a combination of {len(parts)} numbers may change without being seen"
    sign = 1 if parts[0][0] > 0 else -1
    return ("these may change together without being seen, in the proportions of their logarithms: "
            if all(p.space == "log" for p in unknowns.parameters) else "these may change together without being seen: "
            ) + ", ".join(f"{name} by {sign * x:+.2g}" for x, name in parts)


def _over_time(search: Search, point: Point | None) -> tuple[np.ndarray, np.ndarray]:
    observed = search.simulator.observed
    if point is not None:
        by_time = point.by_time
    else:
        by_time = {}
        for index, residual in search.simulator.residuals(search.numbers, search.windows):
            by_time.setdefault(index, []).append(float(np.sqrt(np.mean(residual**2))))
    indices = sorted(by_time)
    rms = [math.sqrt(sum(x * x for x in by_time[i]) / len(by_time[i])) for i in indices]
    return observed.times[indices].astype(np.float32), np.array(rms, np.float32)


def _moduli(unknowns: Any, numbers: list[float], errors: list[float], correlation: np.ndarray,
            scales: list[float]) -> tuple[Moduli | None, Moduli | None]:
    """True moduli from the mean constants of the tetrahedra, and their errors by the chain rule."""
    if not unknowns.moves_tets:
        return None, None

    def mean_moduli(at: Sequence[float]) -> np.ndarray:
        material = unknowns.arrays(at)["tet_materials"]
        mu, lam = (float(np.mean(material[:, c])) for c in (0, 1))
        return np.array(true_moduli(mu, lam))

    here = Moduli(*mean_moduli(numbers).tolist())
    if unknowns.count > MOST_SENSITIVITIES or not all(math.isfinite(e) for e in errors):
        return here, Moduli(*[math.inf if unknowns.count <= MOST_SENSITIVITIES else math.nan] * 5)
    rows = []
    for k, scale in enumerate(scales):
        step = 1e-2 * scale
        up, down = ([x + (s * step if j == k else 0.0) for j, x in enumerate(numbers)] for s in (1, -1))
        rows.append((mean_moduli(up) - mean_moduli(down)) / 2e-2)
    change = np.array(rows) * np.array(errors)[:, None]
    return here, Moduli(*np.sqrt(np.maximum(np.einsum("km,kl,lm->m", change, correlation, change), 0)).tolist())


def _notes(search: Search, point: Point | None, errors: list[float]) -> list[str]:
    observed, out = search.simulator.observed, []
    if observed.has_states and observed.qd is None:
        known = [e for i in observed.starts() if math.isfinite(e := observed.velocity_error(i))]
        out.append("velocities were not observed: windows start with estimates from neighbouring times"
                   + (f", wrong by about {np.median(known):.2g} m/s" if known else ""))
    if observed.has_states and search.noise is not None and point is not None:
        out.append("the standard errors count the noise of the compared positions, not that of the states from which windows "
                   "start, which moves a whole window; they may be too small by up to about 3 times")
    if not observed.has_states:
        out.append("not all particles were observed: windows start from the model's own state at the first time")
    if point is None:
        out.append(f"no standard errors: {search.simulator.unknowns.count} numbers, more than {MOST_SENSITIVITIES}")
    elif search.noise is not None and point.rms > 2 * search.noise:
        out.append(f"the residual is {point.rms / search.noise:.3g} times the noise: the model does not move quite as observed (mesh, "
                   "contact, start velocities), and the estimates are those of the nearest model, not more certain than that")
    low, high = search.simulator.unknowns.limits()
    for name, x, lo, hi in zip(search.simulator.unknowns.names(), search.numbers, low, high):
        if x in (lo, hi):
            out.append(f"{name} stands at its bound: the motion asks for a value beyond it")
    rms, moved = search.path[-1][1] if point is None else point.rms, search.motion(search.windows)
    if rms > POOR * moved:
        out.append(f"the residual is {100 * rms / moved:.2g} % of how far the body moved: these are not its constants; try other "
                   "first guesses, fit(starts=...)")
    if search.iterations >= search.most:
        out.append(f"stopped after {search.iterations} iterations; fit(resume=...) goes on")
    return out


def _picture(search: Search) -> dict[str, Any] | None:
    """Observed and predicted at the end of the last window."""
    simulator, window = search.simulator, search.windows[-1]
    observed = simulator.observed
    index = window.stops[-1][0]
    residual = [r for i, r in simulator.residuals(search.numbers, [window]) if i == index][-1]
    seen = observed.data[index]
    predicted = seen + residual.reshape(seen.shape)
    if observed.kind != "silhouette":
        seen, predicted = (a.reshape(-1, 3)[:: max(a.size // 6000, 1)] for a in (seen, predicted))
    return {"kind": observed.kind, "time": float(observed.times[index]), "observed": seen.tolist(), "predicted": predicted.tolist()}


def _survey_of(search: Search, errors: list[float]) -> Callable[[], dict[str, Any]]:
    simulator, unknowns = search.simulator, search.simulator.unknowns
    windows = search.windows[:: max(len(search.windows) // _LANDSCAPE_WINDOWS, 1)][:_LANDSCAPE_WINDOWS]
    count = sum(len(w.stops) for w in windows) * int(np.prod(simulator.observed.data.shape[1:]))

    def rms(numbers: list[float]) -> float:
        return math.sqrt(cost_at(simulator, numbers, windows, None) / count)

    def make() -> dict[str, Any]:
        try:
            return survey(rms, search.numbers, errors, unknowns.names(), [numbers for _, _, numbers in search.path])
        finally:
            unknowns.restore()

    return make
