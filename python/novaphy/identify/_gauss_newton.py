# SPDX-License-Identifier: Apache-2.0
"""Gauss-Newton with forward sensitivities: for a few unknowns, a handful of iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

import numpy as np

from ._linear import joined, least_squares_step, prior_cost, prior_rows, triangle_of
from ._simulation import Diverged, Simulator
from ._windows import Window

#: The largest step in a unit of a space: factor e in "log".
_LONGEST_STEP = 1.0
#: A search ends when a step promises to lower the cost by less than this part of it, or of the noise's square: that is a
#: tenth of a standard error.
_SMALLEST_GAIN, _GAIN_IN_NOISE = 1e-6, 1e-2
#: Smaller steps end a search: less than float32 values resolve.
_SHORTEST_STEP = 3e-7


@dataclass
class Point:
    """Residuals and derivatives at some numbers: triangles of [J r] of each window, sum of squares, count."""

    numbers: list[float]
    triangles: list[np.ndarray]
    extra: list[np.ndarray]
    squares: float
    count: int
    by_time: dict[int, list[float]]

    @property
    def cost(self) -> float:
        """Squares of residuals and of what was believed before."""
        return self.squares + sum(float(rows[:, -1] @ rows[:, -1]) for rows in self.extra)

    @property
    def rms(self) -> float:
        return (self.squares / self.count) ** 0.5

    def triangle(self) -> np.ndarray:
        return joined([*self.triangles, *self.extra])


def squares_of(residual: np.ndarray) -> float:
    """The sum of squares of float32 numbers that may be tiny."""
    size = float(np.abs(residual).max(initial=0.0))
    if size == 0.0 or not np.isfinite(size):
        return size
    scaled = residual / np.float32(size)
    return float(scaled @ scaled) * size**2


def point_at(simulator: Simulator, numbers: Sequence[float], windows: Sequence[Window], noise: float | None) -> Point:
    """Simulates the windows with sensitivities. Diverged."""
    triangles, squares, count, by_time = [], 0.0, 0, {}
    scales = np.array(simulator.unknowns.scales(), np.float32)
    for window in windows:
        parts = []
        for index, residual, derivatives in simulator.sensitivities(numbers, [window]):
            parts.append(triangle_of(np.column_stack([derivatives * scales, residual])))
            part = squares_of(residual)
            squares, count = squares + part, count + residual.size
            by_time.setdefault(index, []).append((part / residual.size) ** 0.5)
        triangles.append(joined(parts))
    extra = prior_rows(simulator.unknowns, numbers, noise)
    for rows in extra:
        rows[:, :-1] *= scales
    return Point(list(numbers), triangles, extra, squares, count, by_time)


def cost_at(simulator: Simulator, numbers: Sequence[float], windows: Sequence[Window], noise: float | None) -> float:
    """The cost alone, which takes a fraction of the time; infinite where the simulation diverges or cannot stand."""
    if simulator.unknowns.collapses(numbers):
        return float("inf")
    try:
        cost = sum(squares_of(residual) for _, residual in simulator.residuals(numbers, windows))
    except Diverged:
        return float("inf")
    return cost + prior_cost(simulator.unknowns, numbers, noise)[0]


def gauss_newton(simulator: Simulator, numbers: list[float], windows: Sequence[Window], *, noise: float | None,
                 most: int, tolerance: float, told: Callable[[Point], None]) -> Point:
    """The point where the residuals of the windows are least, by at most `most` iterations; told(point) after each."""
    unknowns = simulator.unknowns
    scales, (low, high) = unknowns.scales(), unknowns.limits()
    resolution, smallest = max(noise or 0.0, simulator.observed.resolution()), _GAIN_IN_NOISE * (noise or 0.0) ** 2
    point = point_at(simulator, numbers, windows, noise)
    told(point)
    for _ in range(most):
        step, gain = _bounded_step(point, resolution, scales, low, high)
        size = max(map(abs, step))
        if size < max(tolerance, _SHORTEST_STEP) or gain < max(_SMALLEST_GAIN * point.cost, smallest):
            break
        share = min(1.0, _LONGEST_STEP / size)
        while share * size >= _SHORTEST_STEP:
            trial = [min(max(x + share * d * s, lo), hi) for x, d, s, lo, hi in zip(point.numbers, step, scales, low, high)]
            if cost_at(simulator, trial, windows, noise) < point.cost:
                break
            share /= 2
        else:
            break  # nothing is better within what float32 resolves
        point = point_at(simulator, trial, windows, noise)
        told(point)
    return point


def _bounded_step(point: Point, resolution: float, scales: list[float], low: list[float],
                  high: list[float]) -> tuple[list[float], float]:
    """The step, with numbers that stand at a bound and would leave it held there, and by how much the cost would fall."""
    free = [True] * len(scales)
    while True:
        moves, gain = least_squares_step(point.triangle(), resolution, free)
        step = moves.tolist()
        stuck = [k for k, d in enumerate(step) if free[k] and
                 ((d < 0 and point.numbers[k] <= low[k]) or (d > 0 and point.numbers[k] >= high[k]))]
        if not stuck:
            return step, gain
        for k in stuck:
            free[k] = False
