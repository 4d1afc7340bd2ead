# SPDX-License-Identifier: Apache-2.0
"""The picture of the learned throw: the flights from the first guess to the last, and the falling loss."""

from __future__ import annotations

import os

from .._figures import ACCENT, PAPER, SOLID, new_figure, save_figure
from ._training_picture import draw_losses, draw_paths, style


def _scene(axes):
    """Ground, wall and target in the y-z plane; all in m."""
    from matplotlib.patches import Circle, Rectangle

    from ._wall import WALL, WALL_HALF_EXTENTS
    from .diffsim_ball import Example

    target = Example.target
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
            Circle((target[1], target[2]), radius, fill=False, edgecolor=ACCENT, linewidth=1.6, zorder=5)
        )
    axes.plot(target[1], target[2], ".", color=ACCENT, markersize=4, zorder=5)
    axes.annotate("target", (target[1], target[2] + 0.2), color=ACCENT, ha="center", va="bottom", fontsize=11)
    axes.set_xlim(left, right)
    axes.set_ylim(-0.3, 2.75)
    axes.set_aspect("equal")


def draw(path: str | os.PathLike[str], paths, losses, provenance: dict) -> None:
    """Writes the picture; its PNG carries `provenance` as text."""
    with style():
        figure = new_figure("diffsim_ball", 10, 6.8)
        axes = figure.subplots()
        axes.set_facecolor(PAPER)
        _scene(axes)
        draw_paths(figure, axes, paths, (1, 2))
        draw_losses(axes.inset_axes((0.36, 0.735, 0.38, 0.235)), losses)
        axes.set_title(
            f"A ball learns its throw: {len(paths) - 1} steps of gradient descent through a bounce",
            fontsize=14,
            loc="left",
            pad=10,
        )
        axes.set_xlabel("y, m")
        axes.set_ylabel("z, m")
        for side in ("top", "right", "bottom", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        save_figure(figure, path, provenance, dpi=160)
