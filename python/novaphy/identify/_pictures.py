# SPDX-License-Identifier: Apache-2.0
"""The picture of a fit: landscape, path and fit of the numbers, residual over time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._figures import ACCENT, INK, PAPER, SOLID, new_figure, save_figure


def survey(cost: Any, report_numbers: list[float], errors: list[float], names: list[str], path: list[list[float]]) -> dict[str, Any]:
    """The root of the mean squared residual about an estimate: over a plane for two numbers, else along each of at most
    four. `cost(numbers)` may be infinite. Covers what the search crossed and at least a factor 1.5 each way."""
    count = len(report_numbers)
    spans = []
    for k in range(count):
        crossed = [abs(numbers[k] - report_numbers[k]) for numbers in path]
        error = errors[k] if np.isfinite(errors[k]) else 1.0
        spans.append(min(max(1.1 * max(crossed, default=0.0), 3 * error, 0.4), 2.5))
    if count == 2:
        lines = [_closer_together(span, 11) for span in spans]
        grid = [[cost([report_numbers[0] + a, report_numbers[1] + b]) for a in lines[0]] for b in lines[1]]
        return {"names": names, "offsets": lines, "rms": grid, "numbers": report_numbers}
    lines, rows = [], []
    for k in range(min(count, 4)):
        line = _closer_together(spans[k], 15)
        lines.append(line)
        rows.append([cost([x + (d if j == k else 0.0) for j, x in enumerate(report_numbers)]) for d in line])
    return {"names": names[:4], "offsets": lines, "rms": rows, "numbers": report_numbers[:4]}


def _closer_together(span: float, count: int) -> list[float]:
    """Offsets from -span to span, closer together about 0."""
    t = np.linspace(-1, 1, count)
    return (span * t * np.abs(t)).tolist()


def _landscape(axes: Any, report: Any, figure: Any) -> None:
    held = report.landscape
    if held is None:
        axes.text(0.5, 0.5, "no landscape: many unknowns", ha="center", va="center", transform=axes.transAxes, color=SOLID)
        axes.set_axis_off()
        return
    heights = np.array(held["rms"])
    heights = np.where(np.isfinite(heights), heights, np.nan)
    if len(held["names"]) == 2 and heights.ndim == 2 and heights.shape[0] == len(held["offsets"][1]):
        across, up = (np.array(o) + n for o, n in zip(held["offsets"], held["numbers"]))
        drawn = axes.contourf(across, up, np.log10(np.maximum(heights, 1e-12)), 14, cmap="viridis_r")
        bar = figure.colorbar(drawn, ax=axes, shrink=0.8)
        bar.set_label(f"log10 of the residual, {report.unit}", fontsize=8)
        crossed = np.array([numbers for _, _, numbers in report.iterations])
        axes.plot(crossed[:, 0], crossed[:, 1], ".-", color=PAPER, linewidth=1, markersize=4)
        axes.plot(held["numbers"][0], held["numbers"][1], "o", color=ACCENT)
        axes.set_xlabel(_axis(report, 0))
        axes.set_ylabel(_axis(report, 1))
    else:
        for name, offsets, row in zip(held["names"], held["offsets"], heights):
            axes.semilogy(offsets, np.maximum(row, 1e-12), ".-", label=name, markersize=3)
        axes.set_xlabel("distance from the estimate, in each one's space")
        axes.set_ylabel(f"residual, {report.unit}")
        axes.legend(fontsize=7, frameon=False)
    axes.set_title("landscape of the residual", fontsize=10, loc="left")


def _axis(report: Any, k: int) -> str:
    space = report.provenance["parameters"][k]["space"] if k < len(report.provenance["parameters"]) else ""
    return f"{'ln ' if space == 'log' else ''}{report.names[k]}"


def _fit(axes: Any, report: Any) -> None:
    held = report.fit_picture
    if held is None:
        axes.set_axis_off()
        return
    seen, simulated = np.array(held["observed"]), np.array(held["predicted"])
    if held["kind"] == "silhouette":
        axes.imshow(simulated - seen, cmap="coolwarm", vmin=-1, vmax=1)
        axes.set_title("silhouette: simulated minus observed", fontsize=10, loc="left")
        axes.set_axis_off()
        return
    axes.plot(seen[:, 0], seen[:, 2], "o", color=SOLID, markersize=3.5, label="observed")
    axes.plot(simulated[:, 0], simulated[:, 2], ".", color=ACCENT, markersize=2.5, label="simulated")
    axes.set_xlabel("x, m")
    axes.set_ylabel("z, m")
    axes.set_aspect("equal", adjustable="datalim")
    axes.locator_params(axis="x", nbins=5)
    axes.legend(fontsize=7, frameon=False)
    axes.set_title(f"the fit at {held['time']:.4g} s", fontsize=10, loc="left")


def _search(axes: Any, report: Any) -> None:
    rms = [entry[1] for entry in report.iterations]
    axes.semilogy(np.maximum(rms, 1e-12), ".-", color=ACCENT)
    lengths = [entry[0] for entry in report.iterations]
    for i in range(1, len(lengths)):
        if lengths[i] != lengths[i - 1]:
            axes.axvline(i - 0.5, color=SOLID, linewidth=0.7)
    axes.set_xlabel("iteration (a line: longer windows)")
    axes.set_ylabel(f"residual, {report.unit}")
    axes.set_title("the search", fontsize=10, loc="left")


def _over_time(axes: Any, report: Any) -> None:
    axes.semilogy(report.residual_times, np.maximum(report.residuals, 1e-12), "o", color=ACCENT, markersize=3)
    if report.noise:
        axes.axhline(report.noise, color=SOLID, linewidth=0.8)
        axes.annotate("noise", (report.residual_times[0], report.noise), fontsize=7, color=SOLID, va="bottom")
    axes.set_xlabel("time, s")
    axes.set_ylabel(f"residual, {report.unit}")
    axes.set_title("residual over time", fontsize=10, loc="left")


def draw(path: str | os.PathLike[str], report: Any) -> None:
    """Writes the picture; a PNG carries the report's provenance as text. ImportError without matplotlib."""
    figure = new_figure("FitReport.plot", 10, 7.5)
    axes = figure.subplots(2, 2)
    _landscape(axes[0, 0], report, figure)
    _fit(axes[0, 1], report)
    _search(axes[1, 0], report)
    _over_time(axes[1, 1], report)
    lines = [f"{target} = {np.array2string(value, precision=6, threshold=4)}" for target, value in zip(report.targets, report.values)]
    figure.suptitle("   ".join(lines), fontsize=10, color=INK)
    save_figure(figure, path, report.provenance)
