# SPDX-License-Identifier: Apache-2.0
"""save_png() and save_gif(): pictures as files that hold novaphy.provenance()."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable

import numpy as np

from ._provenance import provenance


def save_png(path: str | os.PathLike[str], image: Any, *, low: float = 0.0, high: float = 1.0) -> None:
    """Writes a picture (H, W) grey or (H, W, 3) coloured, row 0 at the top, 8 bits a channel.

    Values from `low` (black) to `high` (white); what lies beyond is drawn as the nearer of the two. The file's text
    "Description" is novaphy.provenance() as JSON. ImportError without Pillow, ValueError for another shape.
    """
    pillow = _pillow("save_png")
    from PIL.PngImagePlugin import PngInfo

    notes = PngInfo()
    notes.add_text("Description", json.dumps(provenance()))
    pillow.fromarray(_bytes("save_png", image, low, high)).save(path, format="PNG", pnginfo=notes)


def save_gif(
    path: str | os.PathLike[str], images: Iterable[Any], fps: float = 25.0, *, low: float = 0.0, high: float = 1.0
) -> None:
    """Writes pictures of one shape, as save_png() takes them, as an animation that repeats.

    fps: frames a second, at most 50, which is what players show; GIF counts in hundredths of a second. The file's comment
    is novaphy.provenance() as JSON. ImportError without Pillow; ValueError for fps outside, no image, or other shapes.
    """
    pillow = _pillow("save_gif")
    if not 0 < fps <= 50:
        raise ValueError(f"save_gif: fps is {fps}; give more than 0 and at most 50 frames a second")
    frames = [_bytes("save_gif", image, low, high) for image in images]
    if not frames:
        raise ValueError("save_gif: there are no images; give at least one")
    for i, frame in enumerate(frames):
        if frame.shape != frames[0].shape:
            raise ValueError(f"save_gif: image {i} has shape {frame.shape}, the first has {frames[0].shape}; want one shape")
    first, *rest = [pillow.fromarray(frame) for frame in frames]
    first.save(
        path, format="GIF", save_all=True, append_images=rest, duration=10 * round(100 / fps), loop=0,
        comment=json.dumps(provenance()).encode(),
    )


def _pillow(who: str) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"{who}: needs Pillow: pip install 'novaphy[plot]'") from error
    return Image


def _bytes(who: str, image: Any, low: float, high: float) -> np.ndarray:
    pixels = np.asarray(image, np.float32)
    if pixels.size == 0 or pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)):
        raise ValueError(f"{who}: the image has shape {pixels.shape}; (height, width) or (height, width, 3) is wanted")
    if not low < high:
        raise ValueError(f"{who}: low is {low} and high is {high}; give low < high")
    if not np.isfinite(pixels).all():
        where = np.argwhere(~np.isfinite(pixels))[0].tolist()
        raise ValueError(f"{who}: the image holds a value that is not finite, first at {where}")
    return np.rint(np.clip((pixels - np.float32(low)) / np.float32(high - low), 0, 1) * np.float32(255)).astype(np.uint8)
