# SPDX-License-Identifier: Apache-2.0
"""Pictures of a block in motion, observed and simulated: frames side by side, an animation, the falling loss."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import numpy as np

from .._figures import ACCENT, INK, SOLID, new_figure, save_figure

_WHO = "material_identification"
COLOURS = {"observed": SOLID, "first guess": "#3d7ea6", "found": ACCENT}


def _side(axes: Any, motions: dict[str, Any], frame: int, limits: tuple[float, float, float]) -> None:
    """Particles from the side, x and z in mm."""
    for name, motion in motions.items():
        q = 1e3 * motion["particle_q"][frame]
        size = 14 if name == "observed" else 4
        axes.scatter(q[:, 0], q[:, 2], s=size, color=COLOURS[name], linewidths=0, label=name, zorder=2 if name == "observed" else 3)
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xlim(limits[0], limits[1])
    axes.set_ylim(-8, limits[2])
    axes.set_aspect("equal")
    axes.set_title(f"{1e3 * motions['observed']['times'][frame]:.1f} ms", fontsize=9, loc="left", color=INK)
    axes.tick_params(labelsize=7)


def _limits(motions: dict[str, Any], frames: list[int]) -> tuple[float, float, float]:
    """x from, x to, z to in mm, of what stays in sight: a motion that flies apart does not widen the picture."""
    q = 1e3 * motions["observed"]["particle_q"][frames]
    return float(q[..., 0].min()) - 25, float(q[..., 0].max()) + 25, float(q[..., 2].max()) + 25


def draw_frames(path: str | os.PathLike[str], motions: dict[str, Any], provenance: dict[str, Any]) -> None:
    """Four frames from first to last, as a PNG that carries `provenance` as text."""
    count = len(motions["observed"]["times"])
    frames = sorted(set(np.linspace(0, count - 1, min(count, 4)).astype(np.int32).tolist()))
    figure = new_figure(_WHO, 9, 2.3 * len(frames))
    for axes, frame in zip(np.atleast_1d(figure.subplots(len(frames), 1)), frames):
        _side(axes, motions, frame, _limits(motions, frames))
    figure.axes[0].legend(fontsize=7, frameon=False, loc="upper right", ncols=3)
    figure.axes[-1].set_xlabel("x, mm", fontsize=8)
    save_figure(figure, path, provenance, dpi=110)


def write_gif(path: str | os.PathLike[str], motions: dict[str, Any], provenance: dict[str, Any]) -> None:
    """The motion as an animation of at most 60 frames; its comment is `provenance`."""
    from PIL import Image

    count = len(motions["observed"]["times"])
    frames = sorted(set(np.linspace(0, count - 1, min(count, 60)).astype(np.int32).tolist()))
    limits, pictures = _limits(motions, frames), []
    for frame in frames:
        figure = new_figure(_WHO, 7, 3)
        axes = figure.subplots()
        _side(axes, motions, frame, limits)
        axes.legend(fontsize=7, frameon=False, loc="upper right", ncols=3)
        held = io.BytesIO()
        figure.savefig(held, format="png", dpi=80)
        pictures.append(Image.open(held).convert("RGB").quantize(64))
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=120, loop=0, comment=json.dumps(provenance).encode())


def draw_losses(path: str | os.PathLike[str], losses: list[float], provenance: dict[str, Any]) -> None:
    """The loss of a gradient descent, divided by its first value."""
    figure = new_figure(_WHO, 7, 4)
    axes = figure.subplots()
    axes.semilogy(np.array(losses) / losses[0], color=COLOURS["found"])
    axes.set_xlabel("iteration")
    axes.set_ylabel("loss / first loss")
    save_figure(figure, path, provenance)
