# SPDX-License-Identifier: Apache-2.0
"""Fits from several first guesses, in threads on this machine or as tasks of a Ray cluster."""

from __future__ import annotations

import copy
import dataclasses
import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Sequence

from ._observed import load_observed
from ._parameters import Parameter
from ._report import FitReport


def fit_from_many(model: Any, observed: Any, parameters: list[Parameter], starts: Sequence[Sequence[float]],
                  options: dict[str, Any], workers: str) -> FitReport:
    """The report with the smallest residual; its `starts` tells of all. Each works on a copy of the model."""
    if workers not in ("threads", "ray"):
        raise ValueError(f"fit: workers is {workers!r}; give 'threads' or 'ray'")
    if hasattr(options["solver"], "step") and not isinstance(options["solver"], type):
        raise ValueError("fit: with starts each has its own model; give a function or class that makes the solver, not a solver")
    for name in ("contacts", "control"):
        if options[name] is not None and not isinstance(options[name], str):
            raise ValueError(f"fit: with starts each has its own model, so {name} cannot be given")
    if isinstance(observed, (str, os.PathLike)):
        observed = load_observed(observed)
    guesses = [_with_initial(parameters, start) for start in starts]
    if not guesses:
        raise ValueError("fit: starts is empty; give at least one first guess")
    run = _in_threads if workers == "threads" else _on_ray
    results = run(model, observed, guesses, {**options, "progress": False})
    reports = [result for result in results if isinstance(result, FitReport)]
    if not reports:
        raise ValueError(f"fit: no start could be fitted; the first says: {results[0]}")
    best = min(reports, key=lambda report: report.rms if math.isfinite(report.rms) else math.inf)
    best.starts = [_line(start, result) for start, result in zip(starts, results)]
    return best


def _with_initial(parameters: list[Parameter], start: Sequence[float]) -> list[Parameter]:
    if len(start) != len(parameters):
        raise ValueError(f"fit: a start has {len(start)} numbers for {len(parameters)} parameters; give one for each")
    return [dataclasses.replace(parameter, initial=value) for parameter, value in zip(parameters, start)]


def _line(start: Sequence[float], result: FitReport | str) -> str:
    guess = ", ".join(f"{float(x):g}" for x in start)
    if isinstance(result, str):
        return f"({guess}): {result}"
    found = ", ".join(f"{float(v):.6g}" if v.ndim == 0 else f"{v.size} numbers" for v in result.values)
    return f"({guess}) -> ({found}), residual {result.rms:.2g} {result.unit}"


def _one(model: Any, observed: Any, parameters: list[Parameter], options: dict[str, Any]) -> FitReport | str:
    """A report, or why there is none: another start may do better."""
    from ._fit import fit

    try:
        return fit(model, observed, parameters, **options)
    except ValueError as error:
        return str(error)


def _in_threads(model: Any, observed: Any, guesses: list[list[Parameter]], options: dict[str, Any]) -> list[FitReport | str]:
    with ThreadPoolExecutor(min(len(guesses), os.cpu_count() or 1)) as pool:
        tasks = [pool.submit(_one, copy.deepcopy(model), observed, guess, options) for guess in guesses]
        return [task.result() for task in tasks]


def _on_ray(model: Any, observed: Any, guesses: list[list[Parameter]], options: dict[str, Any]) -> list[FitReport | str]:
    try:
        import ray
    except ImportError as error:
        raise ImportError("fit: workers='ray' needs Ray: pip install 'novaphy[cluster]'; workers='threads' runs here") from error
    if not ray.is_initialized():
        ray.init(ignore_reinit_error=True, log_to_driver=False)

    def task(*given: Any) -> FitReport | str:
        result = _one(*given)
        if isinstance(result, FitReport):
            result._make_landscape()
            result._survey = None  # it holds the model of that machine
        return result

    remote = ray.remote(task)
    return ray.get([remote.remote(model, observed, guess, options) for guess in guesses])
