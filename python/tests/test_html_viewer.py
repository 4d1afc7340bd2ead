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
    assert sorted(solids) == ["shape 0", "shape 1"] and solids["shape 0"]["opacity"] == 0.25
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


def seen_box(points, scene):
    """The positions that a record of the page stands for."""
    return points.reshape(-1, 3) / 65535.0 * np.array(scene["bounds"]["edge"]) + np.array(scene["bounds"]["low"])


def test_contacts_are_drawn_as_normals_from_their_points_on_static_and_moving_bodies(tmp_path):
    builder = novaphy.ModelBuilder()
    builder.add_particle((0.0, 0.0, 0.05), (0.0, 0.0, 0.0), 1.0, radius=0.1)
    builder.add_ground_plane()
    half = float(np.sqrt(0.5))
    body = builder.add_body(xform=((0.15, 0.0, 0.05), (0.0, 0.0, half, half)))  # a quarter turn about z
    builder.add_shape_box(body, hx=0.1, hy=0.08, hz=0.1)
    model = builder.finalize()
    state, contacts = model.state(), model.contacts()
    model.collide(state, contacts)
    with ViewerHTML(tmp_path / "page.html") as viewer:
        viewer.set_model(model)
        viewer.begin_frame(0.0)
        viewer.log_contacts(contacts, state)
        viewer.end_frame()
    _, scene, numbers = parts(tmp_path / "page.html")
    drawn = next(entry for entry in scene["objects"] if entry["name"] == "contacts")["frames"][0]
    points = seen_box(cut(numbers["points"], drawn["points"]), scene)
    lines = points[cut(numbers["indices"], drawn["indices"]).reshape(-1, 2)]
    assert lines[0].tolist() == pytest.approx(np.array([[0, 0, 0], [0, 0, 0.2]]), abs=1e-5)
    assert lines[1].tolist() == pytest.approx(np.array([[0.07, 0, 0.05], [-0.13, 0, 0.05]]), abs=1e-5)


def test_shapes_of_a_user_are_drawn_where_their_poses_say_and_keep_their_kind(tmp_path):
    poses = np.float32([[0, 0, 1, 0, 0, 0, 1], [3, 0, 1, 0, 0, 0, 1]])
    with ViewerHTML(tmp_path / "page.html") as viewer:
        viewer.begin_frame(0.0)
        viewer.log_shapes("post", novaphy.GeoType.SPHERE, 0.5, poses, colors=[[1, 0, 0], [0, 1, 0]])
        with pytest.raises(ValueError, match="^ViewerHTML.log_shapes: 'post' was another shape before; give this one"):
            viewer.log_shapes("post", novaphy.GeoType.BOX, (1, 1, 1), poses)
        with pytest.raises(ValueError, match=r"xforms of 'flat' has shape \(7,\); want finite rows \(N, 7\)$"):
            viewer.log_shapes("flat", novaphy.GeoType.BOX, (1, 1, 1), poses[0])
        with pytest.raises(ValueError, match="'hill' is a HFIELD, which has no mesh here; give its mesh to log_mesh$"):
            viewer.log_shapes("hill", novaphy.GeoType.HFIELD, (1, 1, 1), poses)
        viewer.end_frame()
    _, scene, numbers = parts(tmp_path / "page.html")
    assert [(entry["name"], entry["color"]) for entry in scene["objects"]] == [("post 0", "#ff0000"), ("post 1", "#00ff00")]
    assert cut(numbers["floats"], scene["objects"][1]["poses"][0]) == pytest.approx(poses[1])
    # without particles the first view still shows what is there
    assert scene["focus"]["low"] == pytest.approx([-0.5, -0.5, 0.5], abs=0.01)
    assert scene["focus"]["edge"] == pytest.approx([4.0, 1.0, 1.0], abs=0.02)


def test_a_scalar_that_is_not_finite_is_a_gap_and_not_a_lost_recording(tmp_path):
    with ViewerHTML(tmp_path / "page.html", title="@DATA@ of @SCENE@") as viewer:
        for frame, loss in enumerate((1.0, float("nan"), float("inf"), 0.5)):
            viewer.begin_frame(frame)
            viewer.log_scalar("loss", loss)
            viewer.end_frame()
    page, scene, _ = parts(tmp_path / "page.html")
    assert scene["scalars"]["loss"] == [[0, 1.0], [1, None], [2, None], [3, 0.5]]
    assert "<title>@DATA@ of @SCENE@</title>" in page  # a title is only text


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
    with pytest.raises(ValueError, match=r"^ViewerHTML.log_points: radii has shape \(2,\); want one or 3 numbers in m$"):
        viewer.log_points("round", np.zeros((3, 3)), radii=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"^ViewerHTML.log_mesh: 'sheet' has the index 3 and 3 vertices$"):
        viewer.log_mesh("sheet", np.eye(3), [[0, 1, 3]])
    with pytest.raises(ValueError, match=r"^ViewerHTML: the color 'red' is not '#rrggbb'; give that, or three numbers"):
        viewer.log_mesh("sheet", np.eye(3), [[0, 1, 2]], color="red")
    with pytest.raises(ValueError, match=r"^ViewerHTML.set_camera: pos \(0, 1\), pitch None, yaw None; want 3 finite"):
        viewer.set_camera((0, 1))
    with pytest.raises(ValueError, match=r"^ViewerHTML.begin_frame: time is nan; give a finite number of seconds$"):
        viewer.begin_frame(float("nan"))
    viewer.log_points("thing", [[0, 0, 0]])
    with pytest.raises(ValueError, match=r"^ViewerHTML: 'thing' was points before, is lines now; give it another name$"):
        viewer.log_trajectory("thing", [[0, 0, 0], [1, 0, 0]])
    viewer.close()
    viewer.close()


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def browse(tmp_path, page, *options):
    """What Chromium without a window and without a GPU says of a page."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=900,600", "--virtual-time-budget=5000", *options,
    ]
    return subprocess.run([*command, page], capture_output=True, text=True, timeout=120).stdout


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium in PATH; install the package 'chromium'")
def test_a_browser_draws_the_frame_that_the_address_names(tmp_path):
    """The picture is judged by the colours where things are."""
    image_module = pytest.importorskip("PIL.Image")
    record(tmp_path / "soft.html")
    page = f"file://{tmp_path / 'soft.html'}#frame=3"
    drawn = browse(tmp_path, page, "--dump-dom")
    assert 'data-drawn="3"' in drawn and 'id="message" role="alert" hidden' in drawn
    assert "frame 3 of 4" in drawn
    for scheme, bright in ((0, False), (1, True)):  # dark, light
        browse(tmp_path, page, f"--screenshot={tmp_path / 'page.png'}", f"--blink-settings=preferredColorScheme={scheme}")
        picture = np.asarray(image_module.open(tmp_path / "page.png").convert("RGB")).astype(int)
        assert (picture[2, 2] > 128).all() == bright
        blue = (picture[..., 2] > picture[..., 0] + 40) & (picture[..., 2] > 80)
        red = (picture[..., 0] > 110) & (picture[..., 1] < 70) & (picture[..., 2] < 70)
        assert blue.sum() > 200 and red.sum() > 30
        assert np.argwhere(red)[:, 0].mean() < np.argwhere(blue)[:, 0].mean()  # the target lies above the body


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium in PATH; install the package 'chromium'")
def test_a_browser_without_webgl_says_so(tmp_path):
    record(tmp_path / "soft.html")
    drawn = browse(tmp_path, f"file://{tmp_path / 'soft.html'}", "--disable-3d-apis", "--dump-dom")
    assert "This browser offers no WebGL 2, which drawing the rollout needs; another browser" in drawn
