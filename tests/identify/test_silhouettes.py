# SPDX-License-Identifier: Apache-2.0
"""Constants from pictures alone, through any camera that gives a differentiable silhouette."""
import numpy as np
import pytest
from soft_motion import DT, K_LAMBDA, K_MU, record, soft_grid

from novaphy import nova
from novaphy.camera import Camera
from novaphy.identify import Parameter, fit, load_observed, save_observed

VIEW = {"width": 48, "height": 48, "fov": 30.0, "position": (0.02, -0.2, 0.02), "target": (0.02, 0.0, 0.02)}


@nova.kernel
def light_of(across: nova.rows[float], up: nova.rows[float], x: nova.table[nova.vec3], width: nova.uniform[float]):
    """Blobs about all particles, seen along y."""
    light = nova.total(0.0)
    for p in nova.domain(x):
        du, dv = across - x[p][0], up - x[p][2]
        light += nova.exp(-(du * du + dv * dv) / (width * width))
    return light


@nova.kernel
def covered(light: nova.rows[float]):
    return 1.0 - nova.exp(-0.5 * light)


class SideCamera:
    """Pixels of a square of the x-z plane that moves with the body's speed; a camera of one's own."""

    def __init__(self, size=24, low=(-0.02, -0.02), high=(0.08, 0.06), width=0.006):
        u, v = np.meshgrid(np.linspace(low[0], high[0], size), np.linspace(low[1], high[1], size), indexing="xy")
        self.across, self.up, self.shape, self.width = nova.tensor(u.ravel()), nova.tensor(v.ravel()), (size, size), width

    def silhouette(self, particle_q, model):
        return covered(light_of(self.across, self.up, particle_q, self.width)).reshape(self.shape)


@pytest.fixture(scope="module")
def pictures():
    motion, camera = record(soft_grid(), steps=256), SideCamera()
    return {"times": motion.times, "camera": camera,
            "silhouettes": np.stack([camera.silhouette(nova.tensor(q), None).numpy() for q in motion.q])}


def find(pictures, **options):
    wanted = [Parameter(K_MU, initial=1500.0), Parameter(K_LAMBDA, initial=1500.0)]
    return fit(soft_grid(), pictures, wanted, dt=DT, **options)


def test_constants_are_found_from_silhouettes(pictures):
    report = find(pictures)
    assert report[K_MU] == pytest.approx(3000, rel=0.05) and report[K_LAMBDA] == pytest.approx(1000, rel=0.05)
    assert report.unit == "grey level" and all(report.identifiable)


@pytest.fixture(scope="module")
def filmed():
    """The same by the library's camera, which stands still 0.2 m away."""
    camera, motion, model = Camera(**VIEW), record(soft_grid(), steps=256), soft_grid()
    return {"times": motion.times, "camera": camera, "sigma": 0.5,
            "silhouettes": np.stack([camera.silhouette(nova.tensor(q), model, sigma=0.5).numpy() for q in motion.q])}


def test_constants_are_found_through_the_librarys_camera(filmed, tmp_path):
    report = find(filmed)
    assert report[K_MU] == pytest.approx(3000, rel=0.05) and report[K_LAMBDA] == pytest.approx(1000, rel=0.05)
    save_observed(tmp_path / "film.npz", filmed)
    again = load_observed(tmp_path / "film.npz")
    assert again["camera"]["width"] == 48 and again["camera"]["position"] == pytest.approx(VIEW["position"]) and again["sigma"] == 0.5
    assert find(tmp_path / "film.npz")[K_MU] == pytest.approx(float(report[K_MU]), rel=1e-5)


def test_noise_of_the_pictures_widens_the_error_bars(pictures):
    noisy = pictures["silhouettes"] + np.random.default_rng(0).normal(scale=1e-3, size=pictures["silhouettes"].shape)
    report = find({**pictures, "silhouettes": noisy}, noise=1e-3)
    for value, error, true in zip(report.values, report.stderr, (3000, 1000)):
        assert abs(value - true) < 4 * error and error > 1e-4 * true


@pytest.mark.slow
def test_the_adjoint_goes_through_the_pictures_too(pictures):
    report = find(pictures, method="l-bfgs-b", windows=256, iterations=30)
    assert report[K_MU] == pytest.approx(3000, rel=0.05) and report[K_LAMBDA] == pytest.approx(1000, rel=0.05)


@pytest.mark.slow
@pytest.mark.slow
def test_the_adjoint_goes_through_the_librarys_camera_whose_softness_is_its_own(filmed, tmp_path):
    own = {**filmed, "camera": Camera(**VIEW, sigma=0.5)}
    save_observed(tmp_path / "film.npz", {name: value for name, value in own.items() if name != "sigma"})
    film = load_observed(tmp_path / "film.npz")
    assert film["camera"]["sigma"] == 0.5 and "sigma" not in film
    report = find(film, method="l-bfgs-b", windows=256, iterations=30)
    assert report[K_MU] == pytest.approx(3000, rel=0.05) and report[K_LAMBDA] == pytest.approx(1000, rel=0.05)
