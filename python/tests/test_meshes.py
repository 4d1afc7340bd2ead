# SPDX-License-Identifier: Apache-2.0
"""Meshes: files, the builder's calls that take them, and their quality."""

import json
import sys

import numpy as np
import pytest

import novaphy

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
PLACE = {"pos": (0, 0, 1), "rot": (0, 0, 0, 1), "vel": (0, 0, 0)}


def write_tetrahedra(path, tets, points=CORNERS):
    meshio = pytest.importorskip("meshio")
    meshio.write(path, meshio.Mesh(points, [("tetra", np.array(tets))]))


def test_a_file_of_tetrahedra_becomes_a_soft_body(tmp_path):
    path = tmp_path / "two.vtk"
    write_tetrahedra(path, [[0, 1, 2, 3], [1, 2, 3, 4]], np.vstack([CORNERS, [[1, 1, 1]], [[9, 9, 9]]]))
    mesh = novaphy.io.load_mesh(path)
    assert repr(mesh) == "TetMesh(5 vertices, 2 tetrahedra)"  # the vertex that no element has is left out
    assert mesh.reoriented == 0 and mesh.volumes() == pytest.approx([1 / 6, 1 / 3], rel=1e-5)
    builder = novaphy.ModelBuilder()
    builder.add_soft_mesh(**PLACE, scale=0.5, mesh=mesh, density=8.0, k_mu=[1.0, 2.0])
    assert builder.tet_count == 2 and sum(builder.particle_mass) == pytest.approx(0.5, rel=1e-5)
    assert builder.finalize().particle_tet_material.numpy().tolist() == [[1, 1000, 0], [2, 1000, 0]]


def test_inverted_tetrahedra_of_a_file_are_turned_and_counted(tmp_path):
    path = tmp_path / "inverted.vtk"
    write_tetrahedra(path, [[0, 2, 1, 3]])
    mesh = novaphy.io.load_mesh(path)
    assert mesh.reoriented == 1 and mesh.volumes() == pytest.approx([1 / 6], rel=1e-5)
    novaphy.ModelBuilder().add_soft_mesh(**PLACE, scale=1.0, mesh=mesh)


@pytest.mark.parametrize("name", ["sheet.obj", "sheet.stl", "sheet.ply"])
def test_a_file_of_triangles_becomes_cloth(tmp_path, name):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / name
    trimesh.Trimesh(CORNERS, [[0, 1, 2], [0, 2, 3]], process=False).export(path)
    mesh = novaphy.io.load_mesh(path)
    assert repr(mesh) == "Mesh(4 vertices, 2 triangles)"
    builder = novaphy.ModelBuilder()
    builder.add_cloth_mesh(**PLACE, scale=1.0, mesh=mesh, density=0.3)
    assert builder.tri_count == 2 and builder.edge_count == 5
    assert sum(builder.particle_mass) == pytest.approx(0.3, rel=1e-5)


def test_a_file_that_holds_no_mesh_says_so(tmp_path):
    meshio = pytest.importorskip("meshio")
    with pytest.raises(FileNotFoundError, match="load_mesh: there is no file .*absent.vtk"):
        novaphy.io.load_mesh(tmp_path / "absent.vtk")
    for name in ("broken.vtk", "broken.obj", "broken.unknown"):
        (tmp_path / name).write_text("hello\n")
        with pytest.raises(novaphy.ParseError, match=f"load_mesh: .*{name} (cannot be read|holds no triangles)"):
            novaphy.io.load_mesh(tmp_path / name)
    meshio.write(tmp_path / "lines.vtk", meshio.Mesh(CORNERS, [("line", np.array([[0, 1]]))]))
    with pytest.raises(novaphy.ParseError, match="lines.vtk holds line; give a mesh of tetrahedra or triangles"):
        novaphy.io.load_mesh(tmp_path / "lines.vtk")


@pytest.mark.parametrize(("corner", "counted"), [(0, -1), (9, 8)])
def test_a_vertex_that_the_file_lacks_is_named(tmp_path, corner, counted):
    pytest.importorskip("meshio")
    path = tmp_path / "wrong.mesh"  # whose vertices are counted from 1
    path.write_text(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
        f"Tetrahedra\n1\n{corner} 2 3 4 0\nEnd\n"
    )
    with pytest.raises(novaphy.ParseError) as caught:
        novaphy.io.load_mesh(path)
    assert str(caught.value) == (
        f"load_mesh: {path}: element 0 has vertex {counted} counted from 0; the file holds 4 vertices"
    )


@pytest.mark.parametrize("name, package", [("a.stl", "trimesh"), ("a.msh", "meshio")])
def test_without_the_extra_the_sentence_names_it(tmp_path, monkeypatch, name, package):
    (tmp_path / name).write_text("")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"load_mesh: reading {name} needs {package}.*pip install novaphy\[mesh\]"):
        novaphy.io.load_mesh(tmp_path / name)


def test_indices_of_a_mesh_are_checked():
    with pytest.raises(ValueError, match=r"TetMesh: tet_indices\[3\], of element 0, is 4; the mesh has 4 vertices"):
        novaphy.TetMesh(CORNERS, [0, 1, 2, 4])
    with pytest.raises(ValueError, match="Mesh: indices has 4 entries; give 3 for each element"):
        novaphy.Mesh(CORNERS, [0, 1, 2, 3])
    with pytest.raises(TypeError, match="Mesh: indices has numbers of type float64; give integers"):
        novaphy.Mesh(CORNERS, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"Mesh: vertices has shape \(4, 2\)"):
        novaphy.Mesh(CORNERS[:, :2], [0, 1, 2])
    with pytest.raises(ValueError, match=r"Mesh: vertex 0 is \(nan, 0.0, 0.0\); give finite numbers"):
        novaphy.Mesh(np.where(np.eye(4, 3) == 1, np.nan, CORNERS), [0, 1, 2])


def test_the_builder_wants_a_mesh_or_its_parts():
    builder = novaphy.ModelBuilder()
    with pytest.raises(ValueError, match="add_soft_mesh: there is no mesh; give mesh=, or both vertices= and indices="):
        builder.add_soft_mesh(**PLACE, scale=1.0, vertices=CORNERS)
    with pytest.raises(TypeError, match="add_cloth_mesh: mesh is a TetMesh; give a novaphy.Mesh"):
        builder.add_cloth_mesh(**PLACE, scale=1.0, density=1.0, mesh=novaphy.TetMesh(CORNERS, [0, 1, 2, 3]))
    with pytest.raises(IndexError, match=r"add_soft_mesh: indices\[3\], of tetrahedron 0, is 4: the mesh has 4 vertices"):
        builder.add_soft_mesh(**PLACE, scale=1.0, vertices=CORNERS, indices=[[0, 1, 2, 4]])
    with pytest.raises(novaphy.DegenerateElementError, match=r"add_soft_mesh: tetrahedron 0 \(0, 2, 1, 3\) is inverted"):
        builder.add_soft_mesh(**PLACE, scale=1.0, vertices=CORNERS, indices=[[0, 2, 1, 3]])
    mesh = novaphy.TetMesh(CORNERS, [0, 1, 2, 3], k_mu=5.0, density=2.0)
    builder.add_soft_mesh(**PLACE, scale=1.0, mesh=mesh, density=6.0)  # the argument stands before the mesh's own
    assert list(builder.particle_mass) == [0.25] * 4 and builder.finalize().particle_tet_material.numpy()[0, 0] == 5.0


def test_regular_elements_are_the_best():
    regular = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], np.float32)
    quality = novaphy.mesh_quality(novaphy.TetMesh(regular, [0, 1, 2, 3])).tetrahedra
    assert quality.aspect_ratio == pytest.approx(1.0, rel=1e-5)
    assert quality.smallest_angle == pytest.approx(np.degrees(np.arccos(1 / 3)), rel=1e-5)
    triangle = novaphy.mesh_quality(novaphy.Mesh([[0, 0, 0], [1, 0, 0], [0.5, np.sqrt(0.75), 0]], [0, 1, 2])).triangles
    assert triangle.aspect_ratio == pytest.approx(1.0, rel=1e-5) and triangle.smallest_angle == pytest.approx(60.0, rel=1e-5)


def test_faults_of_a_mesh_are_named_by_number(tmp_path):
    points = np.vstack([CORNERS, [[1, 1, 0]], [[0, 0, 0]], [[5, 5, 5]]])
    mesh = novaphy.TetMesh(points, [0, 1, 2, 3, 0, 1, 2, 4, 0, 2, 1, 3, 3, 2, 1, 0])
    quality = novaphy.mesh_quality(mesh)
    assert not quality.ok and quality.tetrahedra.degenerate == [1] and quality.tetrahedra.inverted == [2]
    assert quality.tetrahedra.duplicates == [(0, 2), (0, 3)]
    assert quality.duplicate_vertices == [(0, 5)] and quality.unused_vertices == [5, 6]
    assert quality.tetrahedra.worst == 1 and quality.tetrahedra.smallest_angle[1] == 0.0
    said = str(quality)
    assert "degenerate: 1; tetrahedron 1 has size 0 m^3" in said
    assert "inverted: 2; tetrahedron 2 has size -0.1667 m^3" in said
    assert "doubled: 2 is 0 again, 3 is 0 again" in said
    assert "1 vertices lie where another one does: 0 and 5" in said and "no element has vertices 5, 6" in said


def test_a_models_elements_are_judged_where_they_start(tmp_path):
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(**PLACE, dim_x=2, dim_y=2, dim_z=2, cell_x=0.1, cell_y=0.1, cell_z=0.01, density=1.0, k_mu=1.0,
                          k_lambda=1.0, k_damp=0.0)
    quality = novaphy.mesh_quality(builder.finalize())
    assert quality.ok and len(quality.tetrahedra.size) == 40 and len(quality.triangles.size) == 48
    assert quality.tetrahedra.aspect_ratio.max() > 10 and quality.unused_vertices == []
    assert quality.tetrahedra.size.sum() == pytest.approx(8 * 0.1 * 0.1 * 0.01, rel=1e-5)
    assert "40 elements, each a tetrahedron" in quality.text and "48 elements, each a triangle" in quality.text
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    quality.plot(tmp_path / "quality.png")
    with image.open(tmp_path / "quality.png") as picture:
        assert picture.size[0] >= 600 and set(json.loads(picture.text["Description"])) >= {"version", "commit"}
    with pytest.raises(TypeError, match="mesh_quality: a int has no elements; give a Model, a Mesh or a TetMesh"):
        novaphy.mesh_quality(3)
