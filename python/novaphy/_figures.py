# SPDX-License-Identifier: Apache-2.0
"""What all pictures of the package share: colours, figures without a window, and files that say where they come from."""

from __future__ import annotations

import json
import os
from typing import Any

INK, PAPER, SOLID, ACCENT = "#1f2430", "#fbfaf7", "#8a93a3", "#d1495b"


def new_figure(who: str, width: float, height: float) -> Any:
    """A figure of `width` by `height` inches that needs no window. ImportError, which `who` begins, without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"{who}: needs matplotlib: pip install 'novaphy[plot]'") from error
    figure = Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, path: str | os.PathLike[str], provenance: dict[str, Any], dpi: int = 130) -> None:
    """Writes the picture in the format that the name ends in, PNG without one; a PNG carries `provenance` as text."""
    kind = os.path.splitext(os.fspath(path))[1].lower()
    figure.savefig(path, dpi=dpi, metadata={"Description": json.dumps(provenance)} if kind in ("", ".png") else None)
