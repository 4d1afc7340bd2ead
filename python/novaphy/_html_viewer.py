# SPDX-License-Identifier: Apache-2.0
"""ViewerHTML: a rollout as one HTML file that plays in any browser, without a network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import re
from importlib import resources
from typing import Any

import numpy as np

from ._core import GeoType
from ._provenance import provenance
from ._shape_meshes import shape_mesh, tetrahedra_surface
from .viewer import ViewerBase

BODY, CLOTH, SHAPE, PARTICLE, LINE, CONTACT = "#4f86c6", "#4f86c6", "#9aa5b1", "#e8a33d", "#d1495b", "#3aa17e"
_RIGID_NORMAL = 0.1  # length in m of a drawn normal between shapes, which have no radius to go by


class ViewerHTML(ViewerBase):
    """Records what it is shown and writes one self-contained HTML file when it closes.

    path: the file. fps: frames a second of the player; the label shows the times given to begin_frame().
    The file holds triangles, surfaces of tetrahedra, springs, lone particles, collision shapes, and what the
    log_ methods were given, with novaphy.provenance(). Positions are stored in 16 bits an axis over the box
    that they fill: off by at most its edge / 131,070. Scalars that are not finite are gaps in their plot.

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
        self._logged_solids: dict[str, dict[str, Any]] = {}
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
                "body": int(model.shape_body.numpy()[s]), "xform": model.shape_transform.numpy()[s], "color": SHAPE,
            })

    def begin_frame(self, time: float) -> None:
        if not math.isfinite(time):
            raise ValueError(f"ViewerHTML.begin_frame: time is {time}; give a finite number of seconds")
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

    def log_contacts(self, contacts: Any, state: Any) -> None:
        """The points of contact with their normals: two radii of the particle long, 0.1 m between shapes."""
        self._require_frame("log_contacts")
        if self.model is None:
            raise ValueError("ViewerHTML.log_contacts: there is no model yet; call set_model(model) first")
        for name, kind, shape, point in (
            ("contacts", "soft", contacts.soft_contact_shape, contacts.soft_contact_body_pos),
            ("contacts of shapes", "rigid", contacts.rigid_contact_shape0, contacts.rigid_contact_point0),
        ):
            count = min(int(getattr(contacts, f"{kind}_contact_count").numpy()[0]), shape.shape[0])
            if not count:
                continue
            points = self._in_world(point.numpy()[:count], shape.numpy()[:count], state)
            lengths: Any = _RIGID_NORMAL
            if kind == "soft":
                lengths = 2.0 * self._radius[contacts.soft_contact_particle.numpy()[:count], None]
            normals = getattr(contacts, f"{kind}_contact_normal").numpy()[:count]
            self.log_lines(name, points, points + np.float32(lengths) * normals, colors=CONTACT)

    def _in_world(self, points: np.ndarray, shapes: np.ndarray, state: Any) -> np.ndarray:
        """Points given in the frames of the shapes' bodies, in the world's; a static shape's are there already."""
        out = np.array(points, np.float32)
        owners = self.model.shape_body.numpy()[shapes]
        poses = state.body_q.numpy().reshape(-1, 7) if (owners >= 0).any() else None
        for row in np.flatnonzero(owners >= 0):
            out[row] = _moved(poses[owners[row]], out[row])
        return out

    def log_shapes(self, name: str, geo_type: Any, geo_scale: Any, xforms: Any, colors: Any = None) -> None:
        """Copies of one shape: geo_scale (3) as a row of Model.shape_scale, xforms (N, 7) poses p, q xyzw."""
        self._require_frame("log_shapes")
        poses = np.array(xforms.numpy() if hasattr(xforms, "numpy") else xforms, np.float32)
        if poses.ndim != 2 or poses.shape[1] != 7 or not np.isfinite(poses).all():
            raise ValueError(
                f"ViewerHTML.log_shapes: xforms of '{name}' has shape {poses.shape}; want finite rows (N, 7)"
            )
        scale = np.zeros(3, np.float32)
        given = np.ravel(np.asarray(geo_scale, np.float32))[:3]
        scale[: len(given)] = given
        if shape_mesh(int(geo_type), scale) is None:
            kind = GeoType(int(geo_type)).name
            raise ValueError(
                f"ViewerHTML.log_shapes: '{name}' is a {kind}, which has no mesh here; give its mesh to log_mesh"
            )
        one = colors is None or isinstance(colors, str)
        colors = [colors] if one else np.asarray(colors, np.float32).reshape(-1, 3)
        for i, pose in enumerate(poses):
            color = _color(colors[min(i, len(colors) - 1)], SHAPE)
            new = {"kind": int(geo_type), "scale": scale, "name": f"{name} {i}", "body": 0, "color": color}
            solid = self._logged_solids.setdefault(new["name"], new)
            if solid["kind"] != new["kind"] or (solid["scale"] != scale).any():
                raise ValueError(
                    f"ViewerHTML.log_shapes: '{name}' was another shape before; give this one another name"
                )
            solid.setdefault("poses", {})[len(self._times) - 1] = pose

    def log_points(self, name: str, points: Any, radii: Any = None, colors: Any = None) -> None:
        points = _rows("log_points", "points", points)
        radii = radii.numpy() if hasattr(radii, "numpy") else radii
        given = np.asarray(0.02 if radii is None else radii, np.float32)
        if given.shape not in ((), (1,), (len(points),)):
            raise ValueError(
                f"ViewerHTML.log_points: radii has shape {given.shape}; want one or {len(points)} numbers in m"
            )
        radii = np.broadcast_to(given, (len(points),))
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
        given = indices.numpy() if hasattr(indices, "numpy") else indices
        triangles, vertices = np.asarray(given, np.int32).reshape(-1, 3), _rows("log_mesh", "vertices", vertices)
        outside = triangles[(triangles < 0) | (triangles >= len(vertices))]
        if len(outside):
            raise ValueError(
                f"ViewerHTML.log_mesh: '{name}' has the index {outside[0]} and {len(vertices)} vertices"
            )
        self._add("mesh", name, vertices, _color(color, CLOTH), indices=triangles)

    def log_trajectory(self, name: str, points: Any, color: Any = None, keep: bool = True) -> None:
        """A line through `points` (N, 3); with keep=True earlier ones of this name stay in sight, fainter."""
        points = _rows("log_trajectory", "points", points)
        ends = np.arange(max(len(points), 1), dtype=np.int32)
        self._add("lines", name, points, _color(color, LINE), indices=np.stack([ends[:-1], ends[1:]], 1), keep=keep)

    def log_scalar(self, name: str, value: float) -> None:
        self._require_frame("log_scalar")
        self._scalars.setdefault(name, []).append((len(self._times) - 1, float(value)))

    def set_camera(self, pos: Any, pitch: float | None = None, yaw: float | None = None) -> None:
        """The first view: `pos` (3) in m; pitch and yaw in degrees, yaw 0 looks along +x, pitch up."""
        if len(pos) != 3 or not all(math.isfinite(v) for v in (*pos, pitch or 0.0, yaw or 0.0)):
            raise ValueError(
                f"ViewerHTML.set_camera: pos {pos}, pitch {pitch}, yaw {yaw}; want 3 finite numbers and degrees"
            )
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
        solids = [*self._solids, *self._logged_solids.values()]
        low, edge = self._bounds()
        buffers = _Buffers(low, edge)
        focus = _focus(self._clouds(), solids)
        objects = [buffers.of_object(name, entry, len(self._times)) for name, entry in self._objects.items()]
        drawn = (buffers.of_solid(solid, len(self._times), float(focus[1].max())) for solid in solids)
        objects += [solid for solid in drawn if solid is not None]
        scalars = {
            name: [(frame, value if math.isfinite(value) else None) for frame, value in rows]
            for name, rows in self._scalars.items()
        }
        scene = {
            "title": self._title, "fps": self._fps, "times": self._times, "objects": objects, "scalars": scalars,
            "bounds": {"low": low.tolist(), "edge": edge.tolist()},
            "focus": {"low": focus[0].tolist(), "edge": focus[1].tolist()},
            "camera": self._camera, "provenance": provenance(self.model), "lengths": buffers.lengths(),
        }
        files = resources.files(__package__) / "_player"
        parts = {
            "TITLE": self._title.replace("&", "&amp;").replace("<", "&lt;"),
            "STYLE": (files / "player.css").read_text(encoding="utf-8"),
            "SCENE": json.dumps(scene, allow_nan=False).replace("<", "\\u003c"),
            "DATA": base64.b64encode(gzip.compress(buffers.bytes(), 6, mtime=0)).decode(),
            "PROGRAM": (files / "player.js").read_text(encoding="utf-8"),
        }
        page = (files / "player.html").read_text(encoding="utf-8")
        return re.sub(f"@({'|'.join(parts)})@", lambda mark: parts[mark[1]], page)

    def _clouds(self) -> list[np.ndarray]:
        return [frame[0] for entry in self._objects.values() for frame in entry["frames"].values() if len(frame[0])]

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Corner and edges of the box of all logged positions, over which they are stored."""
        return _box_of(self._clouds() or [np.zeros((1, 3)), np.ones((1, 3))])


def _box_of(clouds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    low = np.min([cloud.min(axis=0) for cloud in clouds], axis=0)
    high = np.max([cloud.max(axis=0) for cloud in clouds], axis=0)
    return low.astype(np.float32), np.maximum(high - low, 1e-6).astype(np.float32)


def _focus(clouds: list[np.ndarray], solids: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Corner and edges of the box that the first view shows: all positions and all shapes that may move; where
    there are none, shapes that stand still. Infinite planes do not count."""
    seen = [[*clouds], []]
    for solid in solids:
        if solid["kind"] == GeoType.PLANE or not solid.get("poses"):
            continue
        mesh = shape_mesh(solid["kind"], solid["scale"])
        if mesh is not None:
            seen[solid["body"] < 0].extend(_moved(pose, mesh[0]) for pose in solid["poses"].values())
    return _box_of(seen[0] or seen[1] or [np.zeros((1, 3)), np.ones((1, 3))])


class _Buffers:
    """The file's numbers: positions in 16 bits, indices, and float32 for radii, poses and shapes."""

    def __init__(self, low: np.ndarray, edge: np.ndarray) -> None:
        self._low, self._edge = low, edge
        self._parts: dict[str, list[np.ndarray]] = {"points": [], "indices": [], "floats": []}
        self._sizes = dict.fromkeys(self._parts, 0)
        self._known: dict[tuple[str, bytes], list[int]] = {}  # by digest

    def _store(self, kind: str, rows: np.ndarray) -> list[int]:
        """[start, count] in numbers; what is there already, such as a mesh's indices, is kept once."""
        key = (kind, hashlib.blake2b(np.ascontiguousarray(rows)).digest())
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

    def of_solid(self, solid: dict[str, Any], frames: int, size: float) -> dict[str, Any] | None:
        mesh = shape_mesh(solid["kind"], solid["scale"], infinite=4.0 * size)
        if mesh is None or not solid.get("poses"):
            return None
        vertices, indices = mesh
        rows: list[Any] = [None] * frames
        for frame, pose in solid["poses"].items():
            rows[frame] = self._store("floats", np.asarray(pose, "<f4"))
        return {
            "name": solid["name"], "kind": "solid", "color": solid["color"], "poses": rows, "opacity": _opacity(solid),
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
        if not re.fullmatch("#[0-9a-fA-F]{6}", given):
            raise ValueError(f"ViewerHTML: the color {given!r} is not '#rrggbb'; give that, or three numbers in [0, 1]")
        return given
    rgb = np.clip(np.asarray(given, np.float32).reshape(-1, 3)[0], 0, 1)
    return "#" + "".join(f"{int(round(float(value) * 255)):02x}" for value in rgb)


def _opacity(solid: dict[str, Any]) -> float:
    """What stands still is seen through, so that it hides nothing that moves behind it."""
    return 0.25 if solid["kind"] == GeoType.PLANE else 0.55 if solid["body"] < 0 else 1.0


def _moved(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (..., 3), given in the frame of `pose` (p, q xyzw), in the frame that holds it."""
    x, w = pose[3:6], pose[6]
    return pose[:3] + points + 2 * np.cross(x, np.cross(x, points) + w * points)


def _compose(parent: np.ndarray, child: np.ndarray) -> np.ndarray:
    """The transform (p, q xyzw) of `child`, given in the frame of `parent`."""
    a, b = parent[3:], child[3:]
    product = np.concatenate([a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), [a[3] * b[3] - a[:3] @ b[:3]]])
    return np.concatenate([_moved(parent, child[:3]), product]).astype(np.float32)
