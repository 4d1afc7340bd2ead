# SPDX-License-Identifier: Apache-2.0
"""The linear least squares behind a step and behind the error bars: triangles of [J r], steps, covariances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Sequence

import numpy as np

#: A direction of the unknowns whose standard error is above this many units of their spaces is not moved along.
_LOOSE = 3.0
#: What stands for infinity in such a direction: its correlations stay finite, its standard errors become infinite.
_UNKNOWN = 1e3


def triangle_of(rows: np.ndarray) -> np.ndarray:
    """The triangle R of rows = Q R: least squares with R and with all rows are the same."""
    return np.linalg.qr(rows, mode="r")


def joined(triangles: Iterable[np.ndarray]) -> np.ndarray:
    """One triangle of several."""
    return triangle_of(np.concatenate(list(triangles)))


def least_squares_step(triangle: np.ndarray, resolution: float, free: Sequence[bool]) -> tuple[np.ndarray, float]:
    """The step d that makes |J d + r| smallest, from the triangle of [J r], and by how much that square falls. The step
    is 0 where not free and along directions that change the residual by less than its resolution."""
    step = np.zeros(len(free), np.float32)
    columns = np.flatnonzero(free)
    if not columns.size:
        return step, 0.0
    u, s, vt = np.linalg.svd(triangle[:, columns], full_matrices=False)
    told = s > resolution / _LOOSE
    along = np.where(told, u.T @ triangle[:, -1], 0)
    step[columns] = vt.T @ (-along / np.where(told, s, 1))
    return step, float(along @ along)


@dataclass(frozen=True)
class Spread:
    """Standard errors and correlations of the numbers in their spaces, and the directions that stay open."""

    stderr: list[float]
    correlation: np.ndarray
    open_directions: list[np.ndarray]


def spread_of(triangle: np.ndarray, sigma: float, loose: float) -> Spread:
    """From the triangle of [J r] and the standard deviation of one residual. `loose`: standard errors above it, of
    combinations, are listed as open directions."""
    count = triangle.shape[1] - 1
    _, s, vt = np.linalg.svd(triangle[:, :count], full_matrices=False)
    s = np.concatenate([s, np.zeros(count - len(s), s.dtype)]) if len(s) < count else s
    errors = np.minimum(sigma / np.maximum(s, sigma / _UNKNOWN), _UNKNOWN)
    covariance = (vt.T * errors**2) @ vt
    size = np.sqrt(np.diag(covariance))
    hidden = [bool(np.any((errors >= _UNKNOWN) & (np.abs(vt[:, k]) > 1e-2))) for k in range(count)]
    stderr = [math.inf if hide else float(x) for hide, x in zip(hidden, size)]
    correlation = np.clip(covariance / np.outer(size, size), -1, 1).astype(np.float32)
    return Spread(stderr, correlation, [row for row, error in zip(vt, errors) if error > loose])


def jackknife(triangles: Sequence[np.ndarray], extra: Sequence[np.ndarray], resolution: float) -> list[float]:
    """Standard errors from how the estimate moves when one window is left out: they see what noise does and what a
    wrong model does differently in each window. Empty for fewer than 3 windows."""
    n = len(triangles)
    if n < 3:
        return []
    free = [True] * (triangles[0].shape[1] - 1)
    moves = np.array([least_squares_step(joined([*(t for j, t in enumerate(triangles) if j != i), *extra]), resolution, free)[0]
                      for i in range(n)])
    return np.sqrt((n - 1) / n * np.sum((moves - moves.mean(axis=0)) ** 2, axis=0)).tolist()


def _beliefs(unknowns: Any, numbers: Sequence[float], noise: float | None) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(a, b, r) of what is believed before, in the residual's unit, so that it weighs as much as residuals of size
    `noise`: r = weight (number a - first guess), with b = -1, or weight (number a - number b) of neighbours."""
    wanted = [p for p in unknowns.parameters if p.prior is not None or p.smooth is not None]
    if wanted and noise is None:
        raise ValueError(f"fit: {wanted[0].target!r} has a prior or smooth, whose weight needs fit(noise=...)")
    at, first = np.array(numbers), np.array(unknowns.initial)
    for which, parameter in enumerate(unknowns.parameters):
        offset, size = unknowns.offsets[which], unknowns.sizes[which]
        if parameter.prior is not None:
            a = np.arange(offset, offset + size)
            yield a, np.full(size, -1), (noise / parameter.prior) * (at - first)[a]
        if parameter.smooth is not None:
            a, b = offset + np.array(unknowns.neighbours()).reshape(-1, 2).T
            yield a, b, (noise / parameter.smooth) * (at[a] - at[b])


def _weights(unknowns: Any, noise: float | None) -> Iterator[float]:
    for parameter in unknowns.parameters:
        for width in (parameter.prior, parameter.smooth):
            if width is not None:
                yield noise / width


def prior_rows(unknowns: Any, numbers: Sequence[float], noise: float | None) -> list[np.ndarray]:
    """Rows [J r] of what is believed before."""
    out = []
    for (a, b, residual), weight in zip(_beliefs(unknowns, numbers, noise), _weights(unknowns, noise)):
        rows = np.zeros((a.size, unknowns.count + 1), np.float32)
        rows[np.arange(a.size), a], rows[:, -1] = weight, residual
        second = np.flatnonzero(b >= 0)
        rows[second, b[second]] = -weight
        out.append(rows)
    return out


def prior_cost(unknowns: Any, numbers: Sequence[float], noise: float | None) -> tuple[float, list[float]]:
    """The squares of what is believed before, and their gradient."""
    cost, gradient = 0.0, np.zeros(unknowns.count)
    for (a, b, residual), weight in zip(_beliefs(unknowns, numbers, noise), _weights(unknowns, noise)):
        cost += float(residual @ residual)
        np.add.at(gradient, a, 2 * weight * residual)
        np.add.at(gradient, b[b >= 0], -2 * weight * residual[b >= 0])
    return cost, gradient.tolist()
