# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes of collision shapes, for drawing: vertices (V, 3) float32 in m in the shape's frame and
indices (T, 3) int32, counter-clockwise seen from outside."""

from __future__ import annotations

import numpy as np

from ._core import GeoType

Mesh = "tuple[np.ndarray, np.ndarray]"
_AROUND = 32  # corners of a drawn circle


def shape_mesh(kind: int, scale: np.ndarray, infinite: float = 10.0) -> Mesh | None:
    """The mesh of a shape; None for kinds that hold no closed form (meshes, height fields).

    `scale` (3) is the shape's row of Model.shape_scale. An infinite plane is drawn `infinite` m wide.
    """
    x, y, z = (float(value) for value in scale)
    if kind == GeoType.PLANE:
        return _sheet(x if x > 0.0 else infinite, y if y > 0.0 else infinite)
    if kind == GeoType.BOX:
        return _box(x, y, z)
    if kind == GeoType.SPHERE:
        return _turned(*_arc(x, 0.0, 0.0))
    if kind == GeoType.ELLIPSOID:
        vertices, indices = _turned(*_arc(1.0, 0.0, 0.0))
        return vertices * np.array([x, y, z], np.float32), indices
    if kind == GeoType.CAPSULE:
        return _turned(*_arc(x, -y, y))
    if kind == GeoType.CYLINDER:
        return _turned(np.array([0.0, x, x, x, x, 0.0]), np.array([-y, -y, -y, y, y, y]))
    if kind == GeoType.CONE:
        return _turned(np.array([0.0, x, x, 0.0]), np.array([-y, -y, -y, y]))
    return None


def tetrahedra_surface(tets: np.ndarray) -> np.ndarray:
    """The faces (T, 3) that one tetrahedron alone has, each seen counter-clockwise from outside.

    tets: (N, 4) vertices i, j, k, l of positive volume, (x_j - x_i) . ((x_k - x_i) x (x_l - x_i)) > 0.
    """
    faces = np.concatenate([tets[:, [0, 2, 1]], tets[:, [1, 2, 3]], tets[:, [0, 1, 3]], tets[:, [0, 3, 2]]])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]


def _sheet(width: float, length: float) -> Mesh:
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    return corners * np.array([width / 2, length / 2, 0], np.float32), np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def _box(hx: float, hy: float, hz: float) -> Mesh:
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], np.float32)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    indices = [[a, b, c] for a, b, c, d in quads] + [[a, c, d] for a, b, c, d in quads]
    return corners * np.array([hx, hy, hz], np.float32), np.array(indices, np.int32)


def _arc(radius: float, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Radius and height of a half circle's points from its south to its north, parted at the equator."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, _AROUND // 2 + 1)
    middle = len(angle) // 2
    parts = [(angle[: middle + 1], low), (angle[middle:], high)] if high > low else [(angle, low)]
    return (
        np.concatenate([radius * np.cos(part) for part, _ in parts]),
        np.concatenate([radius * np.sin(part) + at for part, at in parts]),
    )


def _turned(radius: np.ndarray, height: np.ndarray) -> Mesh:
    """A profile turned around z."""
    turn = np.arange(_AROUND) * (2 * np.pi / _AROUND)
    rings = [np.stack([r * np.cos(turn), r * np.sin(turn), np.full(_AROUND, h)], 1) for r, h in zip(radius, height)]
    here = np.arange(_AROUND)
    beside = (here + 1) % _AROUND
    indices = []
    for ring in range(len(rings) - 1):
        a, b = ring * _AROUND, (ring + 1) * _AROUND
        indices += [np.stack([a + here, a + beside, b + beside], 1), np.stack([a + here, b + beside, b + here], 1)]
    return np.concatenate(rings).astype(np.float32), np.concatenate(indices).astype(np.int32)
