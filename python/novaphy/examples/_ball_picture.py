# SPDX-License-Identifier: Apache-2.0
"""The picture of the learned throw: the flights from the first guess to the last, and the falling loss."""

from __future__ import annotations

import json
import os

INK, PAPER, SOLID, ACCENT = "#1f2430", "#fbfaf7", "#8a93a3", "#d1495b"


def _scene(axes):
    """Ground, wall and target in the y-z plane; all in m."""
    from matplotlib.patches import Circle, Rectangle

    from .diffsim_ball import TARGET, WALL, WALL_HALF_EXTENTS

    left, right = -2.75, 2.65
    axes.add_patch(Rectangle((left, -0.3), right - left, 0.3, facecolor=SOLID, alpha=0.35, edgecolor="none"))
    axes.plot([left, right], [0, 0], color=SOLID, linewidth=1.2)
    axes.add_patch(
        Rectangle(
            (WALL[1] - WALL_HALF_EXTENTS[1], 0),
            2 * WALL_HALF_EXTENTS[1],
            2 * WALL_HALF_EXTENTS[2],
            facecolor=SOLID,
            edgecolor="none",
            alpha=0.75,
        )
    )
    axes.text(WALL[1], 1.0, "wall", color=PAPER, ha="center", va="center", rotation=90, fontsize=11)
    for radius in (0.16, 0.09):
        axes.add_patch(
            Circle((TARGET[1], TARGET[2]), radius, fill=False, edgecolor=ACCENT, linewidth=1.6, zorder=5)
        )
    axes.plot(TARGET[1], TARGET[2], ".", color=ACCENT, markersize=4, zorder=5)
    axes.annotate("target", (TARGET[1], TARGET[2] + 0.2), color=ACCENT, ha="center", va="bottom", fontsize=11)
    axes.set_xlim(left, right)
    axes.set_ylim(-0.3, 2.75)
    axes.set_aspect("equal")


def _flights(figure, axes, trajectories):
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    last = max(len(trajectories) - 1, 1)
    shades = colormaps["viridis_r"]
    step = max(1, len(trajectories) // 40)  # more lines would run into one
    for i in sorted({*range(0, len(trajectories), step), len(trajectories) - 1}):
        y, z = trajectories[i][:, 0, 1], trajectories[i][:, 0, 2]
        final = i == len(trajectories) - 1
        axes.plot(
            y,
            z,
            color=shades(i / last),
            linewidth=2.6 if final else 1.0,
            alpha=1.0 if final else 0.65,
            zorder=4 if final else 3,
            solid_capstyle="round",
        )
        axes.plot(
            y[-1], z[-1], "o", color=shades(i / last), markersize=7 if final else 3, zorder=6 if final else 3
        )
    y, z = trajectories[-1][0, 0, 1:]
    axes.plot(y, z, "o", color=INK, markersize=7, zorder=6)
    axes.annotate("start", (y - 0.1, z), color=INK, ha="right", va="center", fontsize=11)
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, last), shades),
        ax=axes,
        orientation="horizontal",
        fraction=0.025,
        pad=0.02,
        aspect=45,
        shrink=0.5,
    )
    bar.set_label("iteration", color=INK)
    bar.outline.set_visible(False)


def _loss_inset(axes, losses):
    inset = axes.inset_axes((0.36, 0.735, 0.38, 0.235))
    inset.set_facecolor(PAPER)
    inset.plot(range(len(losses)), losses, color=ACCENT, linewidth=1.8)
    if max(losses) > 30 * min(losses):  # over more than a decade the fall shows on a logarithmic axis only
        inset.set_yscale("log")
        inset.yaxis.set_major_formatter("{x:g}")
    inset.set_title("loss: squared distance to the target, m$^2$", fontsize=9, color=INK, loc="left")
    inset.set_xlabel("iteration", fontsize=8, color=INK, labelpad=1)
    inset.tick_params(labelsize=8, colors=INK)
    for side in ("top", "right"):
        inset.spines[side].set_visible(False)


def draw(path: str | os.PathLike[str], trajectories, losses, provenance: dict) -> None:
    """Writes the picture; its PNG carries `provenance` as text."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(
        {
            "font.family": "DejaVu Sans",
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    ):
        figure, axes = plt.subplots(figsize=(10, 6.8), facecolor=PAPER, layout="constrained")
        axes.set_facecolor(PAPER)
        _scene(axes)
        _flights(figure, axes, trajectories)
        _loss_inset(axes, losses)
        axes.set_title(
            f"A ball learns its throw: {len(trajectories) - 1} steps of gradient descent through a bounce",
            fontsize=14,
            loc="left",
            pad=10,
        )
        axes.set_xlabel("y, m")
        axes.set_ylabel("z, m")
        for side in ("top", "right", "bottom", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        kind = os.path.splitext(os.fspath(path))[1].lower()
        metadata = {"Description": json.dumps(provenance)} if kind in ("", ".png") else None
        figure.savefig(path, dpi=160, metadata=metadata)
        plt.close(figure)
