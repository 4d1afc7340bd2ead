# SPDX-License-Identifier: Apache-2.0
"""How good the elements of a mesh are: thin, flat, inverted and doubled ones, by number."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ._figures import new_figure, save_figure
from ._provenance import provenance

#: As a share of the longest side to the power of the dimension: what ModelBuilder refuses as flat.
_FLAT = 1e-7


@dataclass(frozen=True)
class ElementQuality:
    """Numbers of the elements of one kind, an entry each."""

    kind: str
    #: Signed volumes of tetrahedra, m^3; areas of triangles, m^2.
    size: np.ndarray
    #: Degrees: the smallest angle between two faces of a tetrahedron (70.5 is the best), or two sides of a triangle (60).
    smallest_angle: np.ndarray
    #: Longest side over shortest height, 1 for a regular element.
    aspect_ratio: np.ndarray
    degenerate: list[int]
    inverted: list[int]
    #: (first, again): elements that have the same corners.
    duplicates: list[tuple[int, int]]

    @property
    def worst(self) -> int:
        """The element with the largest aspect ratio."""
        return int(np.argmax(self.aspect_ratio))

    def lines(self) -> list[str]:
        """Three rows of the table, and a line for each fault."""
        unit = "m^3" if self.kind == "tetrahedron" else "m^2"
        rows = [("size in " + unit, self.size), ("smallest angle", self.smallest_angle), ("aspect ratio", self.aspect_ratio)]
        out = [f"{len(self.size)} elements, each a {self.kind}{'':<8}{'least':>12}{'median':>12}{'most':>12}"]
        out += [
            f"  {name:<32}{values.min():>12.4g}{np.median(values):>12.4g}{values.max():>12.4g}" for name, values in rows
        ]
        out.append(f"  worst: {self.kind} {self.worst} with aspect ratio {self.aspect_ratio[self.worst]:.4g}")
        if self.degenerate:
            first = self.degenerate[0]
            out.append(f"  degenerate: {_listed(self.degenerate)}; {self.kind} {first} has size {self.size[first]:.4g} {unit}")
        if self.inverted:
            first = self.inverted[0]
            out.append(f"  inverted: {_listed(self.inverted)}; {self.kind} {first} has size {self.size[first]:.4g} {unit}")
        if self.duplicates:
            out.append("  doubled: " + ", ".join(f"{b} is {a} again" for a, b in self.duplicates[:5]))
        return out


@dataclass(frozen=True)
class MeshQuality:
    """What mesh_quality() found; print() shows a table."""

    tetrahedra: ElementQuality | None
    triangles: ElementQuality | None
    #: (first, again): vertices at the same place.
    duplicate_vertices: list[tuple[int, int]]
    #: Vertices that no element has.
    unused_vertices: list[int]
    #: No element is degenerate, inverted or doubled.
    ok: bool = field(init=False)

    def __post_init__(self) -> None:
        faults = [part.degenerate or part.inverted or part.duplicates for part in self._parts()]
        object.__setattr__(self, "ok", not any(faults))

    def _parts(self) -> list[ElementQuality]:
        return [part for part in (self.tetrahedra, self.triangles) if part is not None]

    @property
    def text(self) -> str:
        """A table of both kinds of elements, then what is wrong."""
        lines = [line for part in self._parts() for line in part.lines()] or ["no tetrahedra and no triangles"]
        if self.duplicate_vertices:
            pairs = ", ".join(f"{a} and {b}" for a, b in self.duplicate_vertices[:5])
            lines.append(f"{len(self.duplicate_vertices)} vertices lie where another one does: {pairs}")
        if self.unused_vertices:
            lines.append(f"no element has vertices {_listed(self.unused_vertices)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Writes a picture, a PNG by default, with histograms of angles and aspect ratios. ImportError without matplotlib."""
        parts = self._parts()
        figure = new_figure("MeshQuality.plot", 9.0, 3.0 * max(1, len(parts)))
        axes = figure.subplots(max(1, len(parts)), 2, squeeze=False)
        for (left, right), part in zip(axes, parts):
            left.hist(part.smallest_angle, bins=40)
            left.set(xlabel="smallest angle in degrees", ylabel=f"elements ({part.kind})")
            right.hist(part.aspect_ratio[np.isfinite(part.aspect_ratio)], bins=40)
            right.set(xlabel="aspect ratio, 1 is regular")
        save_figure(figure, path, provenance(), dpi=100)


def mesh_quality(mesh: Any) -> MeshQuality:
    """The quality of a Model's elements in its start positions, or of a Mesh or TetMesh before it is added."""
    if hasattr(mesh, "tet_poses"):  # a Model
        x = mesh.particle_q.numpy()
        tets, tris = mesh.tet_indices.numpy().reshape(-1, 4), mesh.tri_indices.numpy().reshape(-1, 3)
        others = [mesh.spring_indices.numpy().ravel()]
    elif hasattr(mesh, "vertices") and (hasattr(mesh, "tet_indices") or hasattr(mesh, "indices")):
        x = np.asarray(mesh.vertices, np.float32)
        tets = np.asarray(getattr(mesh, "tet_indices", []), np.int64).reshape(-1, 4)
        tris = np.asarray(getattr(mesh, "indices", []), np.int64).reshape(-1, 3)
        others = []
    else:
        raise TypeError(f"mesh_quality: a {type(mesh).__name__} has no elements; give a Model, a Mesh or a TetMesh")
    used = np.unique(np.concatenate([tets.ravel(), tris.ravel(), *others]))
    return MeshQuality(
        _tetrahedra(x[tets], tets) if len(tets) else None,
        _triangles(x[tris], tris) if len(tris) else None,
        _doubled(x),
        sorted(set(range(len(x))) - set(used.tolist())) if len(tets) or len(tris) else [],
    )


def _listed(numbers: list[int]) -> str:
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return ", ".join(map(str, numbers[:10])) + more


def _doubled(rows: np.ndarray) -> list[tuple[int, int]]:
    """(first, again) of equal rows."""
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    first_of = first[place.ravel()]
    return [(int(first_of[i]), int(i)) for i in np.flatnonzero(first_of != np.arange(len(rows)))]


def _longest_side(corner: np.ndarray) -> np.ndarray:
    sides = [np.linalg.norm(corner[:, a] - corner[:, b], axis=1) for a, b in combinations(range(corner.shape[1]), 2)]
    return np.max(sides, axis=0)


def _ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
    return np.divide(over, under, out=np.full_like(over, np.inf), where=under > 0.0)


def _summary(kind: str, size: np.ndarray, angle: np.ndarray, aspect: np.ndarray, flat: np.ndarray, indices: np.ndarray) -> ElementQuality:
    return ElementQuality(
        kind,
        size.astype(np.float32),
        np.degrees(angle).astype(np.float32),
        aspect.astype(np.float32),
        np.flatnonzero(flat).tolist(),
        np.flatnonzero(~flat & (size < 0.0)).tolist(),
        _doubled(np.sort(indices, axis=1)),
    )


def _tetrahedra(corner: np.ndarray, indices: np.ndarray) -> ElementQuality:
    volume = np.linalg.det(corner[:, 1:] - corner[:, :1]) / 6.0
    longest = _longest_side(corner)
    inward = []  # of the face opposite each corner, with twice its area as length
    for k in range(4):
        a, b, c = (corner[:, j] for j in range(4) if j != k)
        normal = np.cross(b - a, c - a)
        side = np.sign(np.einsum("ij,ij->i", normal, corner[:, k] - a))
        inward.append(normal * np.where(side == 0.0, 1.0, side)[:, None])
    areas = np.linalg.norm(inward, axis=2) / 2.0
    height = _ratio(3.0 * np.abs(volume), areas.max(axis=0))
    height[~np.isfinite(height)] = 0.0
    cosines = [
        -_ratio(np.einsum("ij,ij->i", inward[a], inward[b]), 4.0 * areas[a] * areas[b]) for a, b in combinations(range(4), 2)
    ]
    angles = np.arccos(np.clip(cosines, -1.0, 1.0))
    flat = np.abs(volume) <= _FLAT * longest**3
    angle = np.where(flat, 0.0, angles.min(axis=0))
    return _summary("tetrahedron", volume, angle, _ratio(longest, height) * np.sqrt(2.0 / 3.0), flat, indices)


def _triangles(corner: np.ndarray, indices: np.ndarray) -> ElementQuality:
    area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1) / 2.0
    longest = _longest_side(corner)
    cosines = []
    for k in range(3):
        a, b = corner[:, (k + 1) % 3] - corner[:, k], corner[:, (k + 2) % 3] - corner[:, k]
        cosines.append(_ratio(np.einsum("ij,ij->i", a, b), np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)))
    angles = np.arccos(np.clip(cosines, -1.0, 1.0))
    aspect = _ratio(longest**2, 2.0 * area) * np.sqrt(3.0) / 2.0
    return _summary("triangle", area, angles.min(axis=0), aspect, area <= _FLAT * longest**2, indices)
