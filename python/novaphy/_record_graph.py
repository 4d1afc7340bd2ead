# SPDX-License-Identifier: Apache-2.0
"""Draws a recording as a graph: a box for each launch, an ellipse for each array, arrows as values flow."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from ._figures import save_figure
from ._provenance import provenance

TEXT_ENDINGS = (".dot", ".gv")
PICTURE_ENDINGS = (".svg", ".png", ".pdf")


def save(report: Any, path: str | os.PathLike[str]) -> None:
    """Writes the graph of `report` to `path`, in the format of its ending."""
    path = os.fspath(path)
    ending = os.path.splitext(path)[1].lower()
    if ending in TEXT_ENDINGS:
        with open(path, "w", encoding="utf-8") as file:
            file.write(dot_text(report))
    elif ending not in PICTURE_ENDINGS:
        wanted = ", ".join(TEXT_ENDINGS + PICTURE_ENDINGS)
        raise ValueError(f"Tape.visualize: the path ends in '{ending}'; wants one of {wanted}")
    elif shutil.which("dot"):
        subprocess.run(["dot", f"-T{ending[1:]}", "-o", path], input=dot_text(report), text=True, check=True)
    else:
        draw(report, path)


def dot_text(report: Any) -> str:
    """The graph in Graphviz's language."""
    lines = ["digraph recording {", f"  comment={quoted(json.dumps(provenance()))};", "  node [fontname=\"sans-serif\"];"]
    arrays: dict[str, str] = {}

    def array_node(text: str) -> str:
        if text not in arrays:
            arrays[text] = f"a{len(arrays)}"
            lines.append(f"  {arrays[text]} [label={quoted(text)}];")
        return arrays[text]

    for number, record in enumerate(report.records):
        lines.append(f"  r{number} [shape=box, label={quoted(f'{number}: {record.name}')}];")
        for argument, array in record.inputs:
            if is_array(array):
                lines.append(f"  {array_node(array)} -> r{number} [label={quoted(argument)}];")
        for argument, array in record.outputs:
            if is_array(array):
                lines.append(f"  r{number} -> {array_node(array)} [label={quoted(argument)}];")
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """`text` as a string of Graphviz's language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_array(text: str) -> bool:
    """Whether an argument is an array, not a number or nothing."""
    return text.startswith(("'", "tensor #"))


def draw(report: Any, path: str) -> None:
    """The graph by Matplotlib: launches below each other, each array beside the launch that touches it first."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("Tape.visualize: a picture needs Graphviz (the program 'dot') or Matplotlib; install one, or "
                          "give a path that ends in .dot") from None
    places: dict[str, tuple[float, float]] = {}
    for number, record in enumerate(report.records):
        for side, arguments in ((-1.0, record.inputs), (1.0, record.outputs)):
            new = list(dict.fromkeys(a for _, a in arguments if is_array(a) and a not in places))
            for i, array in enumerate(new):
                places[array] = (side, -number + 0.8 * (i + 1) / (len(new) + 1) - 0.4)
    figure = Figure(figsize=(10, 1.5 + 0.8 * len(report.records)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-1.8, 1.8)
    axes.set_ylim(-len(report.records), 1)
    arrow = {"arrowstyle": "->", "color": "grey", "shrinkA": 2, "shrinkB": 2}
    for number, record in enumerate(report.records):
        axes.text(0, -number, f"{number}: {record.name}", ha="center", va="center", bbox={"boxstyle": "square", "fc": "white"})
        for _, array in record.inputs:
            if array in places:
                axes.annotate("", (0, -number), places[array], arrowprops=arrow)
        for _, array in record.outputs:
            if array in places:
                axes.annotate("", places[array], (0, -number), arrowprops=arrow)
    for array, (x, y) in places.items():
        axes.text(x, y, array, ha="right" if x < 0 else "left", va="center",
                  bbox={"boxstyle": "round", "fc": "whitesmoke"})
    save_figure(figure, path, provenance())
