# SPDX-License-Identifier: Apache-2.0
"""fit: finds constants of a model from an observed motion, by windows that grow while that tells more."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Any, Callable, Mapping, Sequence

from ._observed import Observed
from ._parameters import Parameter
from ._report import FitReport
from ._search import Search
from ._setup import check_read, check_stable, simulator_for
from ._starts import fit_from_many
from ._summary import report_of
from ._unknowns import Unknowns
from ._windows import Planner, Window

#: "auto" takes Gauss-Newton for up to so many numbers.
_FEW = 16
_METHODS = ("auto", "gauss-newton", "l-bfgs-b")


def fit(
    model: Any,
    observed: Mapping[str, Any] | str | os.PathLike[str],
    parameters: Parameter | Sequence[Parameter],
    *,
    dt: float,
    solver: Any = None,
    windows: str | int | Sequence[tuple[int, int]] = "auto",
    loss: str | None = None,
    method: str = "auto",
    bounds: Mapping[str, tuple[float, float]] | None = None,
    noise: float | None = None,
    progress: bool = True,
    contacts: Any = "auto",
    control: Any = None,
    before_step: Callable[..., Any] | None = None,
    window_count: int = 6,
    iterations: int = 60,
    tolerance: float = 1e-6,
    memory_budget: int | str | None = "1 GB",
    checkpoint: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | FitReport | None = None,
    starts: Sequence[Sequence[float]] | None = None,
    workers: str = "threads",
) -> FitReport:
    """The constants with which `model` moves as observed, their standard errors, and what the motion does not tell.

    observed: a mapping or an NPZ file with times (K) [s] and one of particle_q (K, P, 3) [m] (with indices (P) when not
    all particles are seen), centroid (K, 3) [m], silhouettes (K, H, W) in 0..1 with camera; and particle_qd (K, P, 3)
    [m/s] where velocities were measured, else they are estimated from neighbouring times, which notes say.
    Where all particles were seen, windows start from what was seen; else from the model's own state at the first time.
    parameters: what is wanted. model gets its own values back at the end; FitReport.apply(model) puts the estimates in.
    dt [s]: the solver's step; observed times must be whole steps. noise: standard deviation of one observed number, in
    m (silhouettes: grey level); standard errors use the larger of it and what the residuals show.
    solver: one for this model, or a function or class that makes one for a model; None: DiffSemiImplicitSolver.
    windows: "auto" starts with 16 substeps and doubles while that makes the estimate better; a number of substeps; or
    pairs (index of start, index of stop) of observed times. window_count: at most so many at once.
    loss: "particles", "centroid" or "silhouette", None: what was observed. method: "gauss-newton", with exact forward
    sensitivities, for a few numbers; "l-bfgs-b" (SciPy, extra `identify`), with the adjoint, for many.
    bounds: {target: (lowest, highest)}, in addition to those of the parameters. Beside them, tetrahedra must be able
    to stand (k_mu < 8 k_lambda), and a trial that flies apart is halved.
    contacts: "auto" collides before each step where the model has shapes; a CollisionPipeline; a Contacts; or None.
    control, before_step(step, state, control, contacts): as in novaphy.diff.Rollout; steps count from the first time.
    memory_budget: of the adjoint. checkpoint: a JSON file that is rewritten after each iteration; resume: such a file,
    that of FitReport.to_json, or a report to go on from.
    starts: several first guesses, each with one number for each parameter; the best fit is returned. They run in
    threads, or with workers="ray" on a Ray cluster (extra `cluster`).

    ValueError: a target that the model lacks or no solver reads, bounds that exclude the first guess, times that are no
    whole steps, and a scene that novaphy.diff.stability_report refuses, with its text, before the first step.
    """
    given = [parameters] if isinstance(parameters, Parameter) else list(parameters)
    given = [_bounded(parameter, bounds or {}) for parameter in given]
    if unknown := sorted(set(bounds or {}) - {p.target for p in given}):
        raise ValueError(f"fit: bounds are given for {unknown[0]!r}, which is no parameter")
    if method not in _METHODS:
        raise ValueError(f"fit: method is {method!r}; give {', '.join(map(repr, _METHODS))}")
    if not dt > 0:
        raise ValueError(f"fit: dt is {dt}; give a positive time in seconds")
    if noise is not None and not noise > 0:
        raise ValueError(f"fit: noise is {noise}; give a positive standard deviation, or None")
    for name, number in (("window_count", window_count), ("iterations", iterations)):
        if not hasattr(number, "__index__") or number < 1:
            raise ValueError(f"fit: {name} is {number!r}; give a whole number of at least 1")
    options = {"dt": dt, "solver": solver, "windows": windows, "loss": loss, "method": method, "noise": noise,
               "contacts": contacts, "control": control, "before_step": before_step, "window_count": window_count,
               "iterations": iterations, "tolerance": tolerance, "memory_budget": memory_budget}
    if starts is not None:
        return fit_from_many(model, observed, given, starts, options, workers)

    began = time.perf_counter()
    seen = Observed(observed, loss, model.particle_count)
    unknowns = Unknowns(model, given)
    planner = Planner(seen, dt, window_count)
    stages = _stages(planner, windows)
    try:
        unknowns.write(unknowns.initial)
        check_stable(model, dt, unknowns, solver)
        simulator = simulator_for(unknowns, seen, dt, solver, contacts, control, before_step, memory_budget)
        check_read(simulator, unknowns)
        chosen = method if method != "auto" else ("gauss-newton" if unknowns.count <= _FEW else "l-bfgs-b")
        search = Search(simulator, stages, chosen, noise=noise, most=iterations, tolerance=tolerance, progress=progress,
                        checkpoint=checkpoint, grows=isinstance(windows, str))
        search.start_from(resume)
        search.run()
        report = report_of(search, given, began)
    finally:
        unknowns.restore()
    return report


def _bounded(parameter: Parameter, bounds: Mapping[str, tuple[float, float]]) -> Parameter:
    if not isinstance(parameter, Parameter):
        raise TypeError(f"fit: a parameter is a {type(parameter).__name__}; give identify.Parameter")
    return dataclasses.replace(parameter, bounds=bounds[parameter.target]) if parameter.target in bounds else parameter


def _stages(planner: Planner, windows: Any) -> list[list[Window]]:
    if windows == "auto":
        return planner.stages()
    if isinstance(windows, str):
        raise ValueError(f"fit: windows is {windows!r}; give 'auto', a number of substeps, or pairs of indices")
    if hasattr(windows, "__index__"):
        if windows < 1:
            raise ValueError(f"fit: windows is {windows}; give at least 1 substep")
        return [planner.of_length(int(windows))]
    pairs = list(windows) if hasattr(windows, "__iter__") else []
    if not pairs or any(not hasattr(pair, "__len__") or len(pair) != 2 for pair in pairs):
        raise ValueError(f"fit: windows is {windows!r}; give 'auto', a number of substeps, or pairs of indices")
    return [planner.given(pairs)]
