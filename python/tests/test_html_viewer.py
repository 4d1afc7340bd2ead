# SPDX-License-Identifier: Apache-2.0
"""ViewerHTML: what its page holds, what it refuses, and (slow) what a browser draws of it."""

import base64
import gzip
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import novaphy
from novaphy._shape_meshes import shape_mesh, tetrahedra_surface
from novaphy.viewer import ViewerHTML


def soft_model():
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(
        pos=(0.0, 0.0, 0.5), rot=(0.0, 0.0, 0.0, 1.0), vel=(0.0, 0.0, 0.0), dim_x=3, dim_y=2, dim_z=1, cell_x=0.1,
        cell_y=0.1, cell_z=0.1, density=10.0, k_mu=1e3, k_lambda=1e3, k_damp=0.0,
    )
    builder.add_ground_plane()
    builder.add_shape_box(-1, xform=((0.0, 1.0, 0.5), (0.0, 0.0, 0.0, 1.0)), hx=0.2, hy=0.1, hz=0.5)
    return builder.finalize()


def record(path, frames=5, **options):
    model = soft_model()
    state = model.state()
    shown = []
    with ViewerHTML(path, **options) as viewer:
        viewer.set_model(model)
        for frame in range(frames):
            state.particle_q = state.particle_q.numpy() + np.float32([0.0, 0.1, 0.0])
            shown.append(state.particle_q.numpy().copy())
            viewer.begin_frame(frame / 60)
            viewer.log_state(state)
            viewer.log_points("target", [[0.0, 0.0, 2.0]], radii=0.1, colors=(1.0, 0.0, 0.0))
            viewer.log_scalar("loss", 1.0 / (frame + 1))
            viewer.end_frame()
    return shown


def parts(path):
    """The page's scene and its numbers."""
    page = path.read_text(encoding="utf-8")
    scene = json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.S)[1])
    packed = re.search(r'<script type="application/octet-stream" id="data">(.*?)</script>', page, re.S)[1]
    data = gzip.decompress(base64.b64decode(packed))
    lengths = scene["lengths"]
    floats = np.frombuffer(data, "<f4", lengths["floats"])
    indices = np.frombuffer(data, "<u4", lengths["indices"], 4 * lengths["floats"])
    points = np.frombuffer(data, "<u2", lengths["points"], 4 * (lengths["floats"] + lengths["indices"]))
    return page, scene, {"floats": floats, "indices": indices, "points": points}


def cut(numbers, place):
    return numbers[place[0] : place[0] + place[1]]


def test_the_page_holds_each_frame_within_the_stated_error(tmp_path):
    shown = record(tmp_path / "soft.html", fps=30.0, title="soft <body>")
    page, scene, numbers = parts(tmp_path / "soft.html")
    assert scene["fps"] == 30.0 and "<title>soft &lt;body></title>" in page
    assert scene["times"] == pytest.approx([0.0, 1 / 60, 2 / 60, 3 / 60, 4 / 60])
    low, edge = np.array(scene["bounds"]["low"]), np.array(scene["bounds"]["edge"])
    body = next(entry for entry in scene["objects"] if entry["name"] == "tetrahedra")
    for frame, q in enumerate(shown):
        stored = cut(numbers["points"], body["frames"][frame]["points"]).reshape(-1, 3) / 65535.0 * edge + low
        assert (np.abs(stored - q) <= edge / 131070 * 1.01 + 1e-7).all()
    solids = {entry["name"]: entry for entry in scene["objects"] if entry["kind"] == "solid"}
    assert sorted(solids) == ["shape 0", "shape 1"] and solids["shape 0"]["plane"]
    assert cut(numbers["floats"], solids["shape 1"]["poses"][0]) == pytest.approx([0, 1, 0.5, 0, 0, 0, 1])
    assert scene["scalars"]["loss"] == [[k, 1.0 / (k + 1)] for k in range(5)]


def test_the_page_says_where_it_comes_from_and_needs_no_network(tmp_path):
    record(tmp_path / "soft.html")
    page, scene, _ = parts(tmp_path / "soft.html")
    assert scene["provenance"]["version"] == novaphy.__version__ and scene["provenance"]["scene_hash"]
    assert not re.search(r"https?://|src=|href=|@[A-Z]+@", page)


def test_what_does_not_change_is_stored_once(tmp_path):
    record(tmp_path / "soft.html", frames=20)
    _, scene, numbers = parts(tmp_path / "soft.html")
    body = next(entry for entry in scene["objects"] if entry["name"] == "tetrahedra")
    assert len({tuple(row["indices"]) for row in body["frames"]}) == 1
    target = next(entry for entry in scene["objects"] if entry["name"] == "target")
    assert len({tuple(row["points"]) for row in target["frames"]}) == 1


def test_names_of_a_user_cannot_end_the_script(tmp_path):
    with ViewerHTML(tmp_path / "page.html") as viewer:
        viewer.begin_frame(0.0)
        viewer.log_points("</script><b>", [[0.0, 0.0, 0.0]])
        viewer.end_frame()
    _, scene, _ = parts(tmp_path / "page.html")
    assert scene["objects"][0]["name"] == "</script><b>"


def test_the_surface_of_tetrahedra_is_closed_and_points_outwards():
    model = soft_model()
    surface = tetrahedra_surface(model.tet_indices.numpy().reshape(-1, 4))
    q = model.state().particle_q.numpy().astype(np.float64)
    a, b, c = (q[surface[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a) * 0.5).sum(axis=0) == pytest.approx([0, 0, 0], abs=1e-9)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(3 * 2 * 1 * 1e-3, rel=1e-5)


@pytest.mark.parametrize(
    ("kind", "scale", "volume"),
    [
        ("BOX", (1, 2, 3), 48.0), ("SPHERE", (2, 0, 0), 4 / 3 * np.pi * 8), ("ELLIPSOID", (1, 2, 3), 8 * np.pi),
        ("CAPSULE", (1, 2, 0), np.pi * 4 + 4 / 3 * np.pi), ("CYLINDER", (1, 2, 0), 4 * np.pi),
        ("CONE", (1, 2, 0), np.pi * 4 / 3),
    ],
)
def test_meshes_of_shapes_enclose_the_shapes_volume(kind, scale, volume):
    vertices, indices = shape_mesh(getattr(novaphy.GeoType, kind), np.float32(scale))
    a, b, c = (vertices[indices[:, k]].astype(np.float64) for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=0.03)


def test_what_cannot_be_drawn_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"^ViewerHTML: fps is 0; give a positive number of frames a second$"):
        ViewerHTML(tmp_path / "a.html", fps=0)
    with pytest.raises(FileNotFoundError):
        ViewerHTML(tmp_path / "nowhere" / "a.html")
    viewer = ViewerHTML(tmp_path / "a.html")
    model = soft_model()
    with pytest.raises(ValueError, match=r"^ViewerHTML.log_state: no frame is begun; call begin_frame\(time\) first$"):
        viewer.log_state(model.state())
    viewer.begin_frame(0.0)
    with pytest.raises(ValueError, match=r"^ViewerHTML.log_state: there is no model yet; call set_model\(model\) first$"):
        viewer.log_state(model.state())
    viewer.set_model(model)
    other = novaphy.ModelBuilder()
    other.add_particle((0, 0, 0), (0, 0, 0), 1.0)
    with pytest.raises(ValueError, match=r"the state has 1 particles, the model of set_model\(\) has 24$"):
        viewer.log_state(other.finalize().state())
    with pytest.raises(ValueError, match=r"^ViewerHTML: 'nan' row 1 is \[nan, 0.0, 0.0\] at time 0.0 s$"):
        viewer.log_points("nan", [[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(ValueError, match=r"^ViewerHTML.log_points: points has shape \(3,\); want \(N, 3\) in m$"):
        viewer.log_points("flat", [0, 0, 0])
    viewer.log_points("thing", [[0, 0, 0]])
    with pytest.raises(ValueError, match=r"^ViewerHTML: 'thing' was points before, is lines now; give it another name$"):
        viewer.log_trajectory("thing", [[0, 0, 0], [1, 0, 0]])
    viewer.close()
    viewer.close()


@pytest.mark.slow
def test_a_browser_draws_the_frame_that_the_address_names(tmp_path):
    """Chromium without a window and without a GPU; the picture is judged by the colours where things are."""
    image_module = pytest.importorskip("PIL.Image")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium in PATH; install the package 'chromium'")
    record(tmp_path / "soft.html")
    command = [
        chromium, "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=900,600", "--virtual-time-budget=5000",
    ]
    page = f"file://{tmp_path / 'soft.html'}#frame=3"
    drawn = subprocess.run([*command, "--dump-dom", page], capture_output=True, text=True, timeout=120).stdout
    assert 'data-drawn="3"' in drawn and 'id="message" role="alert" hidden' in drawn
    assert "frame 3 of 4" in drawn
    subprocess.run([*command, f"--screenshot={tmp_path / 'page.png'}", page], capture_output=True, timeout=120)
    picture = np.asarray(image_module.open(tmp_path / "page.png").convert("RGB")).astype(int)
    blue = (picture[..., 2] > picture[..., 0] + 40) & (picture[..., 2] > 80)
    red = (picture[..., 0] > 110) & (picture[..., 1] < 70) & (picture[..., 2] < 70)
    assert blue.sum() > 200 and red.sum() > 30
    assert np.argwhere(red)[:, 0].mean() < np.argwhere(blue)[:, 0].mean()  # the target lies above the body
