# SPDX-License-Identifier: Apache-2.0
"""L-BFGS-B of SciPy with gradients by the adjoint: for many unknowns, one backward each whatever their number."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from ._linear import prior_cost
from ._simulation import Diverged, Simulator
from ._windows import Window


def l_bfgs_b(simulator: Simulator, numbers: list[float], windows: Sequence[Window], *, noise: float | None, most: int,
             tolerance: float, told: Callable[[list[float], float], None]) -> list[float]:
    """The numbers where the residuals of the windows are least; told(numbers, rms of the residuals) after each iteration.

    A trial that diverges, or cannot stand, gets a cost that leads back to the best numbers so far, so that the line
    search halves its step. Costs are divided by that of the start.
    """
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise ImportError("fit: many unknowns need SciPy: pip install 'novaphy[identify]'") from error

    unknowns = simulator.unknowns
    scales, (low, high) = unknowns.scales(), unknowns.limits()
    start, count = list(numbers), _count(simulator, windows)
    best = {"cost": float("inf"), "numbers": start, "squares": 0.0}
    unit = {"cost": 0.0}

    def cost_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        trial = [a + s * b for a, s, b in zip(start, scales, x.tolist())]
        try:
            if unknowns.collapses(trial):
                raise Diverged(unknowns.collapses(trial))
            squares, gradient = simulator.gradient(trial, windows)
        except Diverged:
            if not unit["cost"]:
                raise  # the first guess itself
            away = np.array([(a - b) / s for a, b, s in zip(trial, best["numbers"], scales)])
            return 1e3 * (1.0 + float(away @ away)), 2e3 * away
        believed, slope = prior_cost(unknowns, trial, noise)
        cost, gradient = squares + believed, [a + b for a, b in zip(gradient, slope)]
        unit["cost"] = unit["cost"] or max(cost, 1e-30)
        if cost < best["cost"]:
            best.update(cost=cost, numbers=trial, squares=squares)
        return cost / unit["cost"], np.array([g * s / unit["cost"] for g, s in zip(gradient, scales)])

    def after(_: Any) -> None:
        told(best["numbers"], (best["squares"] / count) ** 0.5)

    bounds = [((lo - a) / s, (hi - a) / s) for a, s, lo, hi in zip(start, scales, low, high)]
    minimize(cost_and_gradient, np.zeros(len(start)), jac=True, method="L-BFGS-B", bounds=bounds, callback=after,
             options={"maxiter": most, "ftol": max(tolerance**2, 1e-12), "gtol": 1e-9})
    return best["numbers"]


def _count(simulator: Simulator, windows: Sequence[Window]) -> int:
    one = int(np.prod(simulator.observed.data.shape[1:]))
    return one * sum(len(window.stops) for window in windows)
