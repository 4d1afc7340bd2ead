# SPDX-License-Identifier: Apache-2.0
"""ViewerHTML: a rollout as one HTML file that plays in any browser, without a network."""

from __future__ import annotations

import base64
import gzip
import json
import os
from importlib import resources
from typing import Any

import numpy as np

from ._core import GeoType
from ._provenance import provenance
from ._shape_meshes import shape_mesh, tetrahedra_surface
from .viewer import ViewerBase

BODY, CLOTH, SHAPE, PARTICLE, LINE = "#4f86c6", "#4f86c6", "#9aa5b1", "#e8a33d", "#d1495b"


class ViewerHTML(ViewerBase):
    """Records what it is shown and writes one self-contained HTML file when it closes.

    path: the file. fps: frames a second of the player; the label shows the times given to begin_frame().
    The file holds triangles, surfaces of tetrahedra, springs, lone particles, collision shapes, and what the
    log_ methods were given, with novaphy.provenance(). Positions are stored in 16 bits an axis over the box
    that the scene fills: off by at most its edge / 131,070.

    Errors: OSError where the file cannot be written; ValueError for a state of another model, arrays of a
    wrong shape, positions that are not finite, or a frame that is not begun.
    """

    def __init__(
        self, path: str | os.PathLike[str], fps: float = 60.0, *, title: str = "NovaPhy",
        num_frames: int | None = None,
    ) -> None:
        super().__init__(num_frames)
        if not fps > 0:
            raise ValueError(f"ViewerHTML: fps is {fps}; give a positive number of frames a second")
        self.path = os.fspath(path)
        with open(self.path, "ab"):  # a file that cannot be written is refused before the rollout
            pass
        self._fps, self._title = float(fps), title
        self._times: list[float] = []
        self._objects: dict[str, dict[str, Any]] = {}
        self._scalars: dict[str, list[tuple[int, float]]] = {}
        self._camera: dict[str, Any] | None = None
        self._open = False
        self._solids: list[dict[str, Any]] = []
        self.model: Any = None

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        triangles = model.tri_indices.numpy().reshape(-1, 3)
        tets = model.tet_indices.numpy().reshape(-1, 4)
        surface = tetrahedra_surface(tets) if len(tets) else triangles[:0]
        known = {tuple(row) for row in np.sort(surface, axis=1).tolist()}
        sheets = np.array([row for row in triangles.tolist() if tuple(sorted(row)) not in known], np.int32)
        springs = model.spring_indices.numpy().reshape(-1, 2)
        used = np.concatenate([surface.ravel(), sheets.ravel(), springs.ravel()]).astype(np.int64)
        self._radius = model.particle_radius.numpy()
        lone = np.setdiff1d(np.arange(model.particle_count), used)
        self._drawn = []
        if len(surface):
            self._drawn.append(("mesh", "tetrahedra", surface, BODY))
        if len(sheets):
            self._drawn.append(("mesh", "triangles", sheets, CLOTH))
        if len(springs):
            self._drawn.append(("lines", "springs", springs, LINE))
            lone = np.union1d(lone, springs.ravel())
        if len(lone):
            self._drawn.append(("points", "particles", lone, PARTICLE))
        self._set_shapes(model)

    def _set_shapes(self, model: Any) -> None:
        kinds, scales = model.shape_type.numpy(), model.shape_scale.numpy().reshape(-1, 3)
        self._solids = []
        for s, kind in enumerate(kinds):
            visible = int(model.shape_flags.numpy()[s]) & 1
            if not visible:
                continue
            self._solids.append({
                "kind": int(kind), "scale": scales[s], "name": f"shape {s}",
                "body": int(model.shape_body.numpy()[s]), "xform": model.shape_transform.numpy()[s],
            })

    def begin_frame(self, time: float) -> None:
        super().begin_frame(time)
        self._times.append(float(time))
        self._open = True

    def log_state(self, state: Any) -> None:
        self._require_frame("log_state")
        if self.model is None:
            raise ValueError("ViewerHTML.log_state: there is no model yet; call set_model(model) first")
        if state.particle_q.shape[0] != self.model.particle_count:
            raise ValueError(
                f"ViewerHTML.log_state: the state has {state.particle_q.shape[0]} particles, the model of "
                f"set_model() has {self.model.particle_count}"
            )
        q = state.particle_q.numpy().copy()
        for kind, name, indices, color in self._drawn:
            if kind == "points":
                self._add(kind, name, q[indices], color, radii=self._radius[indices])
            else:
                self._add(kind, name, q, color, indices=indices)
        bodies = state.body_q.numpy().reshape(-1, 7) if self.model.body_count else None
        for solid in self._solids:
            solid.setdefault("poses", {})[len(self._times) - 1] = (
                solid["xform"] if solid["body"] < 0 else _compose(bodies[solid["body"]], solid["xform"])
            )

    def log_points(self, name: str, points: Any, radii: Any = None, colors: Any = None) -> None:
        points = _rows("log_points", "points", points)
        radii = np.broadcast_to(np.float32(0.02 if radii is None else radii), (len(points),))
        self._add("points", name, points, _color(colors, PARTICLE), radii=radii)

    def log_lines(
        self, name: str, starts: Any, ends: Any, colors: Any = None, width: float = 0.01, hidden: bool = False
    ) -> None:
        if hidden:
            return
        starts, ends = _rows("log_lines", "starts", starts), _rows("log_lines", "ends", ends)
        if len(starts) != len(ends):
            raise ValueError(f"ViewerHTML.log_lines: {len(starts)} starts and {len(ends)} ends; want as many")
        indices = np.arange(2 * len(starts), dtype=np.int32).reshape(2, -1).T
        self._add("lines", name, np.concatenate([starts, ends]), _color(colors, LINE), indices=indices)

    def log_mesh(self, name: str, vertices: Any, indices: Any, color: Any = None) -> None:
        triangles = np.asarray(indices, np.int32).reshape(-1, 3)
        self._add("mesh", name, _rows("log_mesh", "vertices", vertices), _color(color, CLOTH), indices=triangles)

    def log_trajectory(self, name: str, points: Any, color: Any = None, keep: bool = True) -> None:
        points = _rows("log_trajectory", "points", points)
        ends = np.arange(max(len(points), 1), dtype=np.int32)
        self._add("lines", name, points, _color(color, LINE), indices=np.stack([ends[:-1], ends[1:]], 1), keep=keep)

    def log_scalar(self, name: str, value: float) -> None:
        self._require_frame("log_scalar")
        self._scalars.setdefault(name, []).append((len(self._times) - 1, float(value)))

    def set_camera(self, pos: Any, pitch: float | None = None, yaw: float | None = None) -> None:
        """The first view: `pos` (3) in m; pitch and yaw in degrees, yaw 0 looks along +x, pitch up."""
        self._camera = {"pos": [float(v) for v in pos], "pitch": pitch, "yaw": yaw}

    def end_frame(self) -> None:
        self._require_frame("end_frame")
        self._open = False
        super().end_frame()

    def close(self) -> None:
        if self._closed:
            return
        super().close()
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(self._page())

    def _require_frame(self, method: str) -> None:
        if not self._open:
            raise ValueError(f"ViewerHTML.{method}: no frame is begun; call begin_frame(time) first")

    def _add(
        self, kind: str, name: str, points: np.ndarray, color: str, *, indices: Any = None, radii: Any = None,
        keep: bool = False,
    ) -> None:
        self._require_frame(f"log of '{name}'")
        if not np.isfinite(points).all():
            row = int(np.argmin(np.isfinite(points).all(axis=1)))
            raise ValueError(f"ViewerHTML: '{name}' row {row} is {points[row].tolist()} at time {self.time} s")
        entry = self._objects.setdefault(name, {"kind": kind, "frames": {}, "keep": keep})
        if entry["kind"] != kind:
            raise ValueError(f"ViewerHTML: '{name}' was {entry['kind']} before, is {kind} now; give it another name")
        entry["frames"][len(self._times) - 1] = (points, indices, radii, color)

    def _page(self) -> str:
        buffers = _Buffers(self._bounds())
        last = len(self._times)
        objects = [buffers.of_object(name, entry, last) for name, entry in self._objects.items()]
        for solid in self._solids:
            drawn = buffers.of_solid(solid, last)
            if drawn is not None:
                objects.append(drawn)
        scene = {
            "title": self._title, "fps": self._fps, "times": self._times, "objects": objects,
            "scalars": {name: rows for name, rows in self._scalars.items()},
            "bounds": buffers.bounds, "camera": self._camera, "provenance": provenance(self.model),
            "lengths": buffers.lengths(),
        }
        text = json.dumps(scene, allow_nan=False).replace("<", "\\u003c")
        files = resources.files(__package__) / "_player"
        page = (files / "player.html").read_text(encoding="utf-8")
        title = self._title.replace("&", "&amp;").replace("<", "&lt;")
        for mark, part in (
            ("TITLE", title),
            ("STYLE", (files / "player.css").read_text(encoding="utf-8")),
            ("SCENE", text),
            ("DATA", base64.b64encode(gzip.compress(buffers.bytes(), 6, mtime=0)).decode()),
            ("PROGRAM", (files / "player.js").read_text(encoding="utf-8")),
        ):
            page = page.replace(f"@{mark}@", part, 1)
        return page

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        clouds = [frame[0] for entry in self._objects.values() for frame in entry["frames"].values() if len(frame[0])]
        if not clouds:
            return np.zeros(3, np.float32), np.ones(3, np.float32)
        low = np.min([cloud.min(axis=0) for cloud in clouds], axis=0)
        high = np.max([cloud.max(axis=0) for cloud in clouds], axis=0)
        return low.astype(np.float32), np.maximum(high - low, 1e-6).astype(np.float32)


class _Buffers:
    """The file's numbers: positions in 16 bits, indices, and float32 for radii, poses and shapes."""

    def __init__(self, bounds: tuple[np.ndarray, np.ndarray]) -> None:
        self._low, self._edge = bounds
        self.bounds = {"low": self._low.tolist(), "edge": self._edge.tolist()}
        self._parts: dict[str, list[np.ndarray]] = {"points": [], "indices": [], "floats": []}
        self._sizes = dict.fromkeys(self._parts, 0)
        self._known: dict[tuple[str, bytes], list[int]] = {}

    def _store(self, kind: str, rows: np.ndarray) -> list[int]:
        """[start, count] in numbers; what is there already, such as a mesh's indices, is kept once."""
        key = (kind, rows.tobytes())
        if key not in self._known:
            self._known[key] = [self._sizes[kind], rows.size]
            self._parts[kind].append(rows.ravel())
            self._sizes[kind] += rows.size
        return self._known[key]

    def _points(self, rows: np.ndarray) -> list[int]:
        scaled = np.rint((rows - self._low) / self._edge * np.float32(65535))
        return self._store("points", np.clip(scaled, 0, 65535).astype("<u2"))

    def of_object(self, name: str, entry: dict[str, Any], frames: int) -> dict[str, Any]:
        rows: list[Any] = [None] * frames
        for frame, (points, indices, radii, color) in entry["frames"].items():
            row: dict[str, Any] = {"points": self._points(points), "color": color}
            if indices is not None:
                row["indices"] = self._store("indices", np.asarray(indices, "<u4"))
            if radii is not None:
                row["radii"] = self._store("floats", np.asarray(radii, "<f4"))
            rows[frame] = row
        return {"name": name, "kind": entry["kind"], "keep": entry["keep"], "frames": rows}

    def of_solid(self, solid: dict[str, Any], frames: int) -> dict[str, Any] | None:
        mesh = shape_mesh(solid["kind"], solid["scale"], infinite=4.0 * float(self._edge.max()))
        if mesh is None or not solid.get("poses"):
            return None
        vertices, indices = mesh
        rows: list[Any] = [None] * frames
        for frame, pose in solid["poses"].items():
            rows[frame] = self._store("floats", np.asarray(pose, "<f4"))
        return {
            "name": solid["name"], "kind": "solid", "color": SHAPE, "poses": rows, "plane": solid["kind"] == GeoType.PLANE,
            "vertices": self._store("floats", vertices.astype("<f4")),
            "indices": self._store("indices", indices.astype("<u4")),
        }

    def lengths(self) -> dict[str, int]:
        return dict(self._sizes)

    def bytes(self) -> bytes:
        order = (("floats", "<f4"), ("indices", "<u4"), ("points", "<u2"))
        return b"".join(part.astype(kind).tobytes() for name, kind in order for part in self._parts[name])


def _rows(method: str, name: str, value: Any) -> np.ndarray:
    array = np.array(value.numpy() if hasattr(value, "numpy") else value, np.float32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"ViewerHTML.{method}: {name} has shape {array.shape}; want (N, 3) in m")
    return array


def _color(given: Any, usual: str) -> str:
    """A colour of a whole object as #rrggbb: a row of three numbers in [0, 1], the first of several rows."""
    if given is None:
        return usual
    if isinstance(given, str):
        return given
    rgb = np.clip(np.asarray(given, np.float32).reshape(-1, 3)[0], 0, 1)
    return "#" + "".join(f"{int(round(float(value) * 255)):02x}" for value in rgb)


def _compose(parent: np.ndarray, child: np.ndarray) -> np.ndarray:
    """The transform (p, q xyzw) of `child`, given in the frame of `parent`."""
    p, q = parent[:3], parent[3:]
    x, y = q[:3], child[:3]
    turned = y + 2 * np.cross(x, np.cross(x, y) + q[3] * y)
    a, b = q, child[3:]
    product = np.concatenate([a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), [a[3] * b[3] - a[:3] @ b[:3]]])
    return np.concatenate([p + turned, product]).astype(np.float32)
