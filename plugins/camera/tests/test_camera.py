# SPDX-License-Identifier: Apache-2.0
"""Soft pictures and their gradients against the same law in float64, singular points, limits, errors."""
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from twin_camera import Twin

import novaphy
from novaphy import nova
from novaphy.camera import Camera

HERE = Path(__file__).resolve().parent


def scene(seed, points=12, triangles=9):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-0.6, 0.6, (points, 3)).astype(np.float32)
    return q, rng.integers(0, points, (triangles, 3)).astype(np.int32), rng.uniform(-1, 1, (24, 30)).astype(np.float32)


def camera_of(seed=0):
    return Camera(width=30, height=24, fov=40, position=(1.5, -2.5, 0.3 * seed), target=(0, 0, 0))


def picture_and_gradient(draw, q, weights):
    x = nova.tensor(q, requires_grad=True)
    with nova.Tape() as tape:
        image = draw(x)
        loss = nova.sum((image * nova.tensor(weights)).reshape((-1,)))
    tape.backward(loss)
    return image.numpy().copy(), np.zeros_like(q) if x.grad is None else x.grad.numpy().copy()


def differences(twin, q, weights, step=1e-6):
    out = np.zeros(q.shape)
    for at in np.ndindex(*q.shape):
        move = np.zeros(q.shape)
        move[at] = step
        out[at] = (weights * (twin(q + move) - twin(q - move))).sum() / (2 * step)
    return out


DRAWN = {
    "silhouette": (lambda c, x, t, s: c.silhouette(x, t, s), lambda w, q, t, s: w.silhouette(q, s, triangles=t)),
    "depth": (lambda c, x, t, s: c.depth(x, t, s, 7.0), lambda w, q, t, s: w.depth(q, s, 7.0, triangles=t)),
    "particle_silhouette": (lambda c, x, t, s: c.particle_silhouette(x, 0.15, s), lambda w, q, t, s: w.silhouette(q, s, radius=0.15)),
    "particle_depth": (lambda c, x, t, s: c.particle_depth(x, 0.15, s, 7.0), lambda w, q, t, s: w.depth(q, s, 7.0, radius=0.15)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_and_gradients_are_those_of_the_float64_twin(name):
    draw, law = DRAWN[name]
    for seed in range(6):
        camera, (q, triangles, weights), sigma = camera_of(seed), scene(seed), (0.3, 1.0, 3.0)[seed % 3]
        twin = Twin(camera)
        image, gradient = picture_and_gradient(lambda x: draw(camera, x, triangles, sigma), q, weights)
        assert image.dtype == np.float32 and image.shape == (24, 30)
        wanted = law(twin, q, triangles, sigma)
        assert wanted.std() > 0.1 and np.abs(image - wanted).max() < 2e-5
        slopes = differences(lambda p: law(twin, p, triangles, sigma), q, weights)
        assert np.abs(slopes).max() > 1 and np.abs(gradient - slopes).max() < 3e-5 * np.abs(slopes).max()


@pytest.mark.parametrize("name", DRAWN)
def test_forward_mode_agrees_with_reverse_mode(name):
    camera, (q, triangles, weights) = camera_of(), scene(3)
    draw = lambda x: DRAWN[name][0](camera, x, triangles, 1.0)
    move = np.random.default_rng(9).uniform(-1, 1, q.shape).astype(np.float32)
    _, along = nova.jvp(draw, [nova.tensor(q)], [nova.tensor(move)])
    along = along[0] if isinstance(along, (tuple, list)) else along
    _, gradient = picture_and_gradient(draw, q, weights)
    assert np.vdot(along.numpy(), weights) == pytest.approx(np.vdot(gradient, move), rel=1e-4)


def test_second_derivatives_are_refused_by_name():
    camera, (q, triangles, _) = camera_of(), scene(3)
    x = nova.tensor(q, requires_grad=True)
    with nova.Tape() as tape:
        loss = nova.sum(camera.silhouette(x, triangles).reshape((-1,)))
    with pytest.raises(novaphy.UnsupportedFeatureError, match="soft_silhouette"):
        nova.hvp(loss, x, nova.tensor(q), tape)


def test_the_first_row_is_the_top_and_x_runs_to_the_right():
    camera = Camera(width=40, height=20, fov=60, position=(0, -2, 0))
    for point, row, column in (((0, 0, 0.5), 5, 20), ((0, 0, -0.5), 15, 20), ((0.5, 0, 0), 10, 24)):
        image = camera.particle_silhouette(nova.tensor(np.float32([point])), 0.05).numpy()
        weight = image / image.sum()
        rows, columns = np.mgrid[0:20, 0:40] + 0.5
        scale = 10 / np.tan(np.radians(30)) / 2
        assert (weight * rows).sum() == pytest.approx(10 - scale * point[2], abs=0.05), (row, column)
        assert (weight * columns).sum() == pytest.approx(20 + scale * point[0], abs=0.05)


def test_a_camera_that_looks_straight_down_has_plus_y_at_the_top():
    camera = Camera(width=20, height=20, position=(0, 0, 2), target=(0, 0, 0))
    image = camera.particle_silhouette(nova.tensor(np.float32([[0, 0.5, 0]])), 0.1).numpy()
    assert image[:10].sum() > 100 * image[10:].sum()
    image = camera.particle_silhouette(nova.tensor(np.float32([[0.5, 0, 0]])), 0.1).numpy()
    assert image[:, 10:].sum() > 100 * image[:, :10].sum()


def test_a_sharp_silhouette_has_the_area_of_the_triangle_and_both_sides_are_seen():
    q = np.float32([[-0.5, 0, -0.4], [0.6, 0, -0.3], [0.1, 0, 0.5]])
    camera = Camera(width=200, height=200, position=(0, -2, 0))
    area = 0.5 * abs(np.linalg.det(q[1:, ::2] - q[0, ::2])) * (100 / np.tan(np.radians(22.5)) / 2) ** 2
    for order in ([0, 1, 2], [0, 2, 1]):
        assert camera.silhouette(nova.tensor(q), [order], 0.01).numpy().sum() == pytest.approx(area, rel=5e-3)


def test_depth_inside_a_slanted_triangle_is_that_of_its_plane():
    q = np.float32([[-2, 0.5, -2], [2, 0.5, -2], [0, 1.5, 3]])
    camera = Camera(width=64, height=64, position=(0, -2, 0))
    image = camera.depth(nova.tensor(q), [[0, 1, 2]], 0.01).numpy()
    # the plane y = 0.5 + 0.2 (z + 2), met by the ray (0, 1, slope) from (0, -2, 0)
    slope = (32 - 20.5) / (32 / np.tan(np.radians(22.5)))
    assert image[20, 32] == pytest.approx((2.5 + 0.4) / (1 - 0.2 * slope), rel=1e-4)


def test_the_nearer_of_two_spheres_hides_the_farther_and_the_front_is_seen():
    camera = Camera(width=41, height=41, position=(0, -2, 0))
    q = nova.tensor(np.float32([[0, 1, 0], [0, 0, 0]]))
    image = camera.particle_depth(q, [0.4, 0.2], 0.1, 9.0).numpy()
    assert image[20, 20] == pytest.approx(2.0 - 0.2, rel=1e-4) and image[0, 0] == 9.0


SINGULAR = {
    "edge_on": [[0, 0, 0], [0, 1, 0], [0, 2, 0]],
    "edge_on_seen_along_a_plane": [[0, 0, -0.3], [0, 1, 0.3], [0, 2, -0.2]],
    "one_point": [[0.1, 0, 0.1]] * 3,
    "two_equal_corners": [[0.1, 0, 0.1], [0.1, 0, 0.1], [-0.3, 0, 0.2]],
    "three_on_a_line": [[-0.3, 0, 0], [0, 0, 0], [0.3, 0, 0]],
    "nearly_nothing": [[0, 0, 0], [1e-7, 0, 0], [0, 0, 1e-7]],
}


@pytest.mark.parametrize("name", SINGULAR)
def test_a_triangle_without_inside_covers_at_most_a_half_and_has_finite_gradients(name):
    camera = Camera(width=21, height=21, position=(0, -3, 0))
    q, weights = np.float32(SINGULAR[name]), np.ones((21, 21), np.float32)
    image, gradient = picture_and_gradient(lambda x: camera.silhouette(x, [[0, 1, 2]]), q, weights)
    assert 0.2 < image.max() <= 0.5 and np.isfinite(gradient).all()
    assert np.abs(image - Twin(camera).silhouette(q, triangles=[[0, 1, 2]])).max() < 2e-5
    image, gradient = picture_and_gradient(lambda x: camera.depth(x, [[0, 1, 2]]), q, weights)
    assert np.isfinite(image).all() and np.isfinite(gradient).all()


def test_the_centre_of_a_sphere_has_a_finite_gradient_without_a_side():
    camera = Camera(width=21, height=21, position=(0, -3, 0))
    weights = np.zeros((21, 21), np.float32)
    weights[10, 10] = 1
    for draw in (camera.particle_silhouette, camera.particle_depth):
        image, gradient = picture_and_gradient(lambda x: draw(x, 0.05), np.zeros((1, 3), np.float32), weights)
        assert image[10, 10] > 0.5 and np.isfinite(gradient).all()
        assert np.abs(gradient[0, [0, 2]]).max() == 0 and abs(gradient[0, 1]) > 0


@pytest.mark.parametrize("y", [-3.0, -2.995, -5.0, -3.0 + 0.0099])
def test_what_reaches_closer_than_near_or_lies_behind_is_left_out(y):
    camera, weights = Camera(width=21, height=21, position=(0, -3, 0)), np.ones((21, 21), np.float32)
    q = np.float32([[-0.3, 0, 0], [0.3, 0, 0], [0, y, 0.4]])
    for draw, empty in ((lambda x: camera.silhouette(x, [[0, 1, 2]]), 0), (lambda x: camera.depth(x, [[0, 1, 2]], 1.0, 4.0), 4)):
        image, gradient = picture_and_gradient(draw, q, weights)
        assert (image == empty).all() and (gradient == 0).all()
    image, gradient = picture_and_gradient(lambda x: camera.particle_silhouette(x, 0.02), q[2:] - np.float32([0, 0, 0.4]), weights)
    assert (image == 0).all() and (gradient == 0).all()


def test_a_triangle_just_beyond_the_near_plane_is_drawn_with_finite_gradients():
    camera, weights = Camera(width=21, height=21, position=(0, -3, 0)), np.ones((21, 21), np.float32)
    q = np.float32([[-0.3, 0, 0], [0.3, 0, 0], [0, -2.9898, 0.001]])
    image, gradient = picture_and_gradient(lambda x: camera.silhouette(x, [[0, 1, 2]]), q, weights)
    assert image.max() > 0.4 and np.isfinite(gradient).all() and np.abs(gradient).max() > 0


def test_a_corner_imaged_a_million_pixels_away_leaves_its_triangle_out():
    camera, weights = Camera(width=21, height=21, position=(0, -3, 0)), np.ones((21, 21), np.float32)
    for far in (1e6, 1e30):
        image, gradient = picture_and_gradient(lambda x: camera.silhouette(x, [[0, 1, 2]]), np.float32([[0, 0, 0], [1, 0, 0], [0, 0, far]]), weights)
        assert (image == 0).all() and (gradient == 0).all()


def test_what_lies_a_billion_metres_away_is_left_out():
    camera, weights = Camera(width=21, height=21, position=(0, -3, 0)), np.ones((21, 21), np.float32)
    far = np.float32([[-1e8, 2e9, 0], [1e8, 2e9, 0], [0, 2e9, 1e8]])
    for q in (far, far * np.float32(1e20)):
        image, gradient = picture_and_gradient(lambda x: camera.silhouette(x, [[0, 1, 2]]), q, weights)
        assert (image == 0).all() and (gradient == 0).all()
    image, gradient = picture_and_gradient(lambda x: camera.depth(x, [[0, 1, 2]]), far * np.float32(0.4), weights)
    assert image.max() > 1e8 and np.isfinite(gradient).all()


@pytest.mark.parametrize("sigma", [1e-6, 1e6])
def test_the_hardest_and_the_softest_edges_have_finite_gradients(sigma):
    camera, (q, triangles, weights) = camera_of(), scene(4)
    for name in DRAWN:
        image, gradient = picture_and_gradient(lambda x: DRAWN[name][0](camera, x, triangles, sigma), q, weights)
        assert np.isfinite(image).all() and np.isfinite(gradient).all(), name


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_position_that_is_not_finite_makes_picture_and_gradient_nan(value):
    camera, (q, triangles, weights) = camera_of(), scene(1)
    q[triangles[0, 0], 1] = value
    image, gradient = picture_and_gradient(lambda x: camera.silhouette(x, triangles), q, weights)
    assert np.isnan(image).all() and np.isnan(gradient[np.unique(triangles)]).all()


def test_covers_below_the_threshold_are_left_out():
    camera = Camera(width=60, height=9, fov=20, position=(0, -3, 0))
    q = np.float32([[0, 0, -1], [0, 0, 1], [-5, 0, 0]])
    row = camera.silhouette(nova.tensor(q), [[0, 1, 2]], 4.0).numpy()[4]
    beyond = np.arange(60) + 0.5 - 30  # px outside the upright edge
    assert (row[beyond > 7.45] == 0).all() and (row[(beyond > 0) & (beyond < 7.4)] > 2.0**-20 * 0.9).all()
    assert row[32] == pytest.approx(1 / (1 + np.exp(2.5**2 / 4)), rel=1e-4)


def test_a_model_stands_for_its_triangles():
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(
        pos=(-0.2, -0.1, -0.1), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=3, dim_y=2, dim_z=2, cell_x=0.1, cell_y=0.1, cell_z=0.1,
        density=10.0, k_mu=1e3, k_lambda=1e3, k_damp=0.0)
    model = builder.finalize()
    state, camera = model.state(), camera_of()
    of_model = camera.silhouette(state.particle_q, model).numpy()
    assert of_model.max() > 0.9
    assert (of_model == camera.silhouette(state.particle_q, model.tri_indices).numpy()).all()


def test_nothing_to_draw_is_an_empty_picture():
    camera, q = camera_of(), nova.tensor(np.zeros((0, 3), np.float32))
    assert (camera.silhouette(q, []).numpy() == 0).all()
    assert (camera.depth(q, [], 1.0, 3.0).numpy() == 3).all()
    assert (camera.particle_silhouette(q, 0.1).numpy() == 0).all()


HASHES = """
import hashlib, numpy as np
from novaphy import nova
from novaphy.camera import Camera
rng = np.random.default_rng(2)
x = nova.tensor(rng.uniform(-0.6, 0.6, (60, 3)).astype(np.float32), requires_grad=True)
triangles, camera = rng.integers(0, 60, (80, 3)), Camera(width=50, height=50)
with nova.Tape() as tape:
    images = [camera.silhouette(x, triangles), camera.depth(x, triangles), camera.particle_depth(x, 0.1)]
    loss = nova.sum(images[0].reshape((-1,))) + nova.sum(images[1].reshape((-1,))) + nova.sum(images[2].reshape((-1,)))
tape.backward(loss)
print(hashlib.sha256(b"".join(image.numpy().tobytes() for image in images) + x.grad.numpy().tobytes()).hexdigest())
"""


def test_the_bits_do_not_depend_on_the_number_of_threads():
    answers = {
        subprocess.run([sys.executable, "-c", HASHES], env={**os.environ, "NOVAPHY_NUM_THREADS": str(count)}, capture_output=True,
                       text=True, check=True, timeout=120).stdout
        for count in (1, 2, 5)
    }
    assert len(answers) == 1 and len(answers.pop()) == 65


POINTS = np.zeros((2, 3), np.float32)
REFUSED = [
    (lambda c: Camera(width=0), ValueError, "Camera: the picture is 0 x 128 px; give a width and a height from 1 to 16384"),
    (lambda c: Camera(fov=180), ValueError, "Camera: fov is 180 degrees; give a vertical field of view between 0 and 180"),
    (lambda c: Camera(near=0), ValueError, "Camera: near is 0 m; give a positive distance"),
    (lambda c: Camera(sigma=-1), ValueError, "Camera: sigma is -1 px^2; give a number from 1e-06 to 1e+06"),
    (lambda c: Camera(target=(0, 0, np.nan)), ValueError, "Camera: position is (0, -3, 1) and target (0, 0, nan); give finite numbers"),
    (lambda c: Camera(position=(1, 2, 3), target=(1, 2, 3)), ValueError,
     "Camera: position and target are both (1, 2, 3); give a target that lies before the camera"),
    (lambda c: c.silhouette(nova.tensor(POINTS), [[0, 1, 2]]), IndexError,
     "Camera.silhouette: triangle 0 names particle 2; particle_q has 2 rows"),
    (lambda c: c.depth(nova.tensor(POINTS), [[0, 1, -1]]), IndexError, "Camera.depth: triangle 0 names particle -1; particle_q has 2 rows"),
    (lambda c: c.silhouette(nova.tensor(POINTS), [[0, 1]]), novaphy.ShapeMismatchError,
     "Camera.silhouette: triangles wants int32 of shape (n, 3), got int64 of shape (1, 2)"),
    (lambda c: c.silhouette(nova.tensor(POINTS), [[0, 1, 1]], 0), ValueError, "Camera.silhouette: sigma is 0 px^2; give a number from 1e-06 to 1e+06"),
    (lambda c: c.depth(nova.tensor(POINTS), [[0, 1, 1]], 1, np.inf), ValueError, "Camera.depth: background is inf m; give a finite depth"),
    (lambda c: c.silhouette(nova.tensor(np.zeros(3, np.float32)), [[0, 0, 0]]), novaphy.ShapeMismatchError,
     "Camera.silhouette: particle_q has shape (3), (n, 3) is wanted"),
    (lambda c: c.silhouette(nova.tensor(np.zeros((2, 3), np.int32)), [[0, 0, 0]]), TypeError,
     "Camera.silhouette: particle_q is int32, float32 is wanted"),
    (lambda c: c.particle_silhouette(nova.tensor(POINTS), [0.1, 0.1, 0.1]), novaphy.ShapeMismatchError,
     "Camera.particle_silhouette: there are 3 radii for 2 particles; give one for all or one for each"),
    (lambda c: c.particle_depth(nova.tensor(POINTS), [0.1, 0]), ValueError, "Camera.particle_depth: radius 1 is 0 m; give a positive one"),
    (lambda c: c.silhouette(nova.tensor(POINTS), novaphy.ModelBuilder().finalize()), ValueError,
     "Camera.silhouette: the model has no triangles; give an array of indices (n, 3), or draw particles with particle_silhouette or "
     "particle_depth"),
]


@pytest.mark.parametrize("call, kind, said", REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_a_picture_that_cannot_be_drawn_is_refused_in_one_sentence(call, kind, said):
    with pytest.raises(kind) as caught:
        call(camera_of())
    assert str(caught.value) == said


def test_a_camera_says_what_it_is():
    camera = Camera(width=30, height=24, fov=40, position=(1, -2, 3), target=(0, 0, 1), near=0.5, sigma=2)
    assert repr(camera) == "Camera(width=30, height=24, fov=40, position=(1, -2, 3), target=(0, 0, 1), near=0.5, sigma=2)"
    assert (camera.width, camera.height, camera.fov, camera.position, camera.target, camera.near) == (30, 24, 40, (1, -2, 3), (0, 0, 1), 0.5)
    assert camera.sigma == 2
    for same in (Camera(**json.loads(json.dumps(camera.parameters))), pickle.loads(pickle.dumps(camera))):
        assert same.parameters == camera.parameters and repr(same) == repr(camera)
    q = nova.tensor(scene(0)[0])
    assert (camera.silhouette(q, [[0, 1, 2]]).numpy() == camera.silhouette(q, [[0, 1, 2]], sigma=2).numpy()).all()
    assert (camera.silhouette(q, [[0, 1, 2]]).numpy() != camera.silhouette(q, [[0, 1, 2]], sigma=1).numpy()).any()


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text(), re.S)[1]
    exec(compile(code, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.split()[0]) > 500 and (tmp_path / "triangle.png").exists()
