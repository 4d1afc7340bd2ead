# SPDX-License-Identifier: Apache-2.0
"""The picture of a training: where the centre went from the first rollout to the last, and the falling loss."""

from __future__ import annotations

import numpy as np

from .._figures import ACCENT, INK, PAPER, new_figure, save_figure


def plane_of(paths, target):
    """The two axes, as numbers, in which the paths are widest; z is drawn upwards where it is one of them."""
    points = np.concatenate([*paths, np.asarray([target], np.float32)])
    widest = np.argsort(np.ptp(points, axis=0))[1:]
    return tuple(sorted(int(axis) for axis in widest))


def draw_paths(figure, axes, paths, plane):
    """`paths`, each (steps, 3), from light to dark; the last one is wide."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    last = max(len(paths) - 1, 1)
    shades = colormaps["viridis_r"]
    step = max(1, len(paths) // 40)  # more lines would run into one
    for i in sorted({*range(0, len(paths), step), len(paths) - 1}):
        across, up = paths[i][:, plane[0]], paths[i][:, plane[1]]
        final = i == len(paths) - 1
        axes.plot(
            across, up, color=shades(i / last), linewidth=2.6 if final else 1.0, alpha=1.0 if final else 0.65,
            zorder=4 if final else 3, solid_capstyle="round",
        )
        axes.plot(across[-1], up[-1], "o", color=shades(i / last), markersize=7 if final else 3, zorder=6 if final else 3)
    across, up = paths[-1][0, plane[0]], paths[-1][0, plane[1]]
    axes.plot(across, up, "o", color=INK, markersize=7, zorder=6)
    axes.annotate("start", (across, up), (-8, 0), textcoords="offset points", color=INK, ha="right", va="center", fontsize=11)
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, last), shades), ax=axes, orientation="horizontal", fraction=0.025, pad=0.02,
        aspect=45, shrink=0.5,
    )
    bar.set_label("iteration", color=INK)
    bar.outline.set_visible(False)


def draw_losses(axes, losses):
    axes.set_facecolor(PAPER)
    axes.plot(range(len(losses)), losses, color=ACCENT, linewidth=1.8)
    if max(losses) > 30 * min(losses):  # over more than a decade the fall shows on a logarithmic axis only
        axes.set_yscale("log")
        if min(losses) > 1e-3:
            axes.yaxis.set_major_formatter("{x:g}")
    axes.set_title("loss: squared distance to the target, m$^2$", fontsize=9, color=INK, loc="left")
    axes.set_xlabel("iteration", fontsize=8, color=INK, labelpad=1)
    axes.tick_params(labelsize=8, colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def style():
    """The style in which all pictures are drawn, for `with`."""
    import matplotlib

    return matplotlib.rc_context(
        {"font.family": "DejaVu Sans", "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK}
    )


def draw(path, scene, paths, losses, provenance):
    """Two panels: the centre's paths to the target, and the losses."""
    with style():
        figure = new_figure(scene.name, 11, 5.2)
        left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
        plane = plane_of(paths, scene.target)
        left.set_facecolor(PAPER)
        draw_paths(figure, left, paths, plane)
        at = [scene.target[axis] for axis in plane]
        left.plot(*at, "o", markersize=15, markerfacecolor="none", markeredgecolor=ACCENT, markeredgewidth=1.6, zorder=5)
        left.plot(*at, ".", color=ACCENT, markersize=5, zorder=5)
        left.annotate("target", at, (0, 12), textcoords="offset points", color=ACCENT, ha="center", fontsize=11)
        left.set_aspect("equal", adjustable="datalim")
        left.margins(0.08)
        left.set_xlabel(f"{'xyz'[plane[0]]}, m")
        left.set_ylabel(f"{'xyz'[plane[1]]}, m")
        for side in ("top", "right", "bottom", "left"):
            left.spines[side].set_visible(False)
        left.tick_params(length=0)
        draw_losses(right, losses)
        steps = len(paths) - 1
        figure.suptitle(
            f"{scene.name}: {steps} step{'' if steps == 1 else 's'} of gradient descent through "
            f"{len(paths[0]) - 1:,} substeps",
            fontsize=14, x=0.01, ha="left",
        )
        save_figure(figure, path, provenance, dpi=160)
