# SPDX-License-Identifier: Apache-2.0
"""Meshes as the builder takes them, and their files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ._core import ParseError

#: What trimesh reads; everything else is meshio's.
_SURFACE_FILES = {".stl", ".obj", ".ply", ".off", ".glb", ".gltf"}


def _vertices(who: str, given: Any) -> np.ndarray:
    rows = np.ascontiguousarray(given, np.float32)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(f"{who}: vertices has shape {rows.shape}; give a row (x, y, z) for each vertex")
    if not np.isfinite(rows).all():
        bad = int(np.argwhere(~np.isfinite(rows))[0, 0])
        raise ValueError(f"{who}: vertex {bad} is {tuple(map(float, rows[bad]))}; give finite numbers")
    return rows


def _indices(who: str, name: str, given: Any, corners: int, count: int) -> np.ndarray:
    flat = np.asarray(given)
    if flat.size and flat.dtype.kind not in "iu":
        raise TypeError(f"{who}: {name} has numbers of type {flat.dtype}; give integers")
    flat = flat.reshape(-1).astype(np.int64)
    if flat.size == 0 or flat.size % corners:
        raise ValueError(f"{who}: {name} has {flat.size} entries; give {corners} for each element")
    outside = (flat < 0) | (flat >= count)
    if outside.any():
        bad = int(np.argmax(outside))
        raise ValueError(
            f"{who}: {name}[{bad}], of element {bad // corners}, is {flat[bad]}; the mesh has {count} vertices, give an "
            f"index from 0 to {count - 1}"
        )
    return flat.astype(np.int32)


class Mesh:
    """A surface of triangles: `vertices` (V, 3) float32 in m, `indices` (3 T) int32, counter-clockwise seen from outside.

    ValueError for an index without a vertex.
    """

    def __init__(self, vertices: Any, indices: Any) -> None:
        self.vertices = _vertices("Mesh", vertices)
        self.indices = _indices("Mesh", "indices", indices, 3, len(self.vertices))

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.indices) // 3} triangles)"


class TetMesh:
    """A body of tetrahedra: `vertices` (V, 3) float32 in m, `tet_indices` (4 T) int32 with (x1 - x0) x (x2 - x0) . (x3 - x0)
    above 0, and what ModelBuilder.add_soft_mesh takes from it: `density` [kg/m^3], `k_mu`, `k_lambda` [Pa], `k_damp`, each one
    number, one for each tetrahedron (not density), or None.

    ValueError for an index without a vertex.
    """

    def __init__(
        self,
        vertices: Any,
        tet_indices: Any,
        *,
        k_mu: Any = None,
        k_lambda: Any = None,
        k_damp: Any = None,
        density: float | None = None,
    ) -> None:
        self.vertices = _vertices("TetMesh", vertices)
        self.tet_indices = _indices("TetMesh", "tet_indices", tet_indices, 4, len(self.vertices))
        self.k_mu, self.k_lambda, self.k_damp, self.density = k_mu, k_lambda, k_damp, density
        #: How many tetrahedra load_mesh() found inverted in the file and turned.
        self.reoriented = 0

    def volumes(self) -> np.ndarray:
        """Signed volumes (T) float32, m^3."""
        corner = self.vertices[self.tet_indices.reshape(-1, 4)]
        edges = corner[:, 1:] - corner[:, :1]
        return np.linalg.det(edges) / np.float32(6.0)

    def __repr__(self) -> str:
        return f"TetMesh({len(self.vertices)} vertices, {len(self.tet_indices) // 4} tetrahedra)"


def load_mesh(path: str | os.PathLike[str]) -> Mesh | TetMesh:
    """The mesh of a file: a TetMesh where it holds tetrahedra, else a Mesh.

    meshio reads .msh, .vtk, .vtu, .mesh and its other formats, trimesh .stl, .obj, .ply, .off, .glb and .gltf; both come with
    `pip install novaphy[mesh]`. Inverted tetrahedra are turned (mesh.reoriented counts them), vertices that no element has
    are left out. Lengths are taken as m: add_soft_mesh(scale=0.001) for a file in mm. FileNotFoundError, ImportError
    naming the extra, ParseError for a file that cannot be read or holds neither tetrahedra nor triangles.
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"load_mesh: there is no file {file}")
    return _surface(file) if file.suffix.lower() in _SURFACE_FILES else _cells(file)


def _reader(name: str, file: Path) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"load_mesh: reading {file.name} needs {name}, which cannot be imported ({error}); pip install novaphy[mesh]"
        ) from None


def _surface(file: Path) -> Mesh:
    trimesh = _reader("trimesh", file)
    try:  # corners of an STL are three to a face and have to be merged; other files keep their order
        loaded = trimesh.load(str(file), force="mesh", process=file.suffix.lower() == ".stl")
        vertices, faces = loaded.vertices, loaded.faces
    except Exception as error:  # each format has its own
        raise ParseError(f"load_mesh: {file} cannot be read: {error}") from None
    if len(faces) == 0:
        raise ParseError(f"load_mesh: {file} holds no triangles; give a mesh of triangles or tetrahedra")
    return Mesh(*_used(file, np.asarray(vertices), np.asarray(faces)))


def _cells(file: Path) -> Mesh | TetMesh:
    meshio = _reader("meshio", file)
    try:
        loaded = meshio.read(str(file))
    except (Exception, SystemExit) as error:  # each format has its own, and an unknown one ends the program
        raise ParseError(f"load_mesh: {file} cannot be read: {error}") from None
    cells = loaded.cells_dict
    points = np.asarray(loaded.points, np.float32)
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points), np.float32)])
    if "tetra" in cells:
        mesh = TetMesh(*_used(file, points, cells["tetra"]))
        inverted = mesh.volumes() < 0.0
        rows = mesh.tet_indices.reshape(-1, 4)
        rows[inverted] = rows[inverted][:, [0, 1, 3, 2]]
        mesh.reoriented = int(inverted.sum())
        return mesh
    if "triangle" in cells:
        return Mesh(*_used(file, points, cells["triangle"]))
    kinds = ", ".join(sorted(cells)) or "no cells"
    raise ParseError(f"load_mesh: {file} holds {kinds}; give a mesh of tetrahedra or triangles, of first order")


def _used(file: Path, vertices: np.ndarray, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vertices that elements have, in their order, and the elements by them."""
    outside = (elements < 0) | (elements >= len(vertices))
    if outside.any():
        element, corner = np.argwhere(outside)[0]
        raise ParseError(
            f"load_mesh: {file}: element {element} has vertex {elements[element, corner]} counted from 0; the file holds "
            f"{len(vertices)} vertices"
        )
    used, place = np.unique(elements, return_inverse=True)
    return vertices[used], place.reshape(elements.shape)
