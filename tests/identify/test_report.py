# SPDX-License-Identifier: Apache-2.0
"""What a fit leaves behind: its report as text, JSON and picture; checkpoints, resumption, several starts."""
import json
import re

import numpy as np
import pytest
from soft_motion import DT, K_LAMBDA, K_MU, record, soft_grid

from novaphy import identify
from novaphy.identify import FitReport, Parameter, fit

OPTIONS = {"dt": DT}
PARAMETERS = [Parameter(K_MU, initial=1000.0), Parameter(K_LAMBDA, initial=1000.0)]


@pytest.fixture(scope="module")
def observed():
    return record(soft_grid(cells=(3, 2, 2)), steps=256).observed()


@pytest.fixture(scope="module")
def report(observed):
    return fit(soft_grid(cells=(3, 2, 2)), observed, PARAMETERS, noise=1e-7, **OPTIONS)


def test_the_text_tells_estimates_and_errors(report):
    text = str(report)
    for part in (r"gauss-newton: \d+ iterations, .* s, residual .* m over \d windows of 16 substeps", r"  tet_materials\[:,0\] = 3000.* \+- 0\.",
                 r"  tet_materials\[:,1\] = (999\.9|1000).* \+- 0\.", r"  true small-strain moduli: G = 22.*, nu = -0\.318.* \+- .*"):
        assert re.search(rf"^{part}", text, re.M), text


def test_a_note_says_what_the_errors_do_not_count(report, observed):
    assert any("not that of the states from which windows start" in note for note in report.notes)
    silent = fit(soft_grid(cells=(3, 2, 2)), observed, PARAMETERS, **OPTIONS)
    assert not any("windows start" in note for note in silent.notes)


def test_a_report_comes_back_from_json_and_has_provenance(report, tmp_path):
    path = tmp_path / "fit.json"
    report.to_json(path)
    held = json.loads(path.read_text())
    assert held["provenance"]["version"] and held["landscape"]["names"] == [K_MU, K_LAMBDA]
    again = FitReport.from_json(path)
    assert str(again) == str(report)
    assert again[K_MU] == report[K_MU] and again.values[0].dtype == np.float32
    assert again.windows == report.windows and again.moduli == report.moduli
    (tmp_path / "other.json").write_text("[1]")
    with pytest.raises(ValueError, match=r"^FitReport.from_json: .*other.json holds no report; FitReport.to_json writes one$"):
        FitReport.from_json(tmp_path / "other.json")


@pytest.mark.parametrize("name", ["fit.png", "fit.svg"])
def test_the_picture_has_four_parts(report, tmp_path, name):
    pytest.importorskip("matplotlib")
    report.plot(tmp_path / name)
    if name.endswith("png"):
        from PIL import Image

        picture = Image.open(tmp_path / name)
        assert picture.size[0] > 1000 and "version" in json.loads(picture.info["Description"])
        shades = np.asarray(picture.convert("L"))
        for part in (shades[:400, :600], shades[:400, 700:], shades[500:, :600], shades[500:, 700:]):
            assert part.std() > 10
    else:
        assert "landscape of the residual" in (tmp_path / name).read_text() or (tmp_path / name).stat().st_size > 20_000


def test_the_landscape_is_lowest_at_the_estimate(report):
    report._make_landscape()
    heights = np.array(report.landscape["rms"])
    assert heights.shape == (11, 11) and np.unravel_index(heights.argmin(), heights.shape) == (5, 5)


def test_residuals_over_time_are_those_of_the_windows(report):
    assert np.all(np.diff(report.residual_times) > 0) and len(report.residuals) == len(report.residual_times)
    assert report.residuals.max() < 1e-7 and report.rms == pytest.approx(np.sqrt(np.mean(report.residuals**2)), rel=1)


def test_an_interrupted_fit_goes_on_from_its_checkpoint(observed, tmp_path):
    path = tmp_path / "checkpoint.json"
    model = soft_grid(cells=(3, 2, 2))
    first = fit(model, observed, PARAMETERS, iterations=2, checkpoint=path, **OPTIONS)
    assert any("goes on" in note for note in first.notes) and abs(first[K_MU] / 3000 - 1) > 1e-3
    held = json.loads(path.read_text())
    assert held["names"] == [K_MU, K_LAMBDA] and held["numbers"] == pytest.approx(first.numbers) and held["provenance"]
    second = fit(model, observed, PARAMETERS, resume=path, **OPTIONS)
    assert abs(second[K_MU] / 3000 - 1) < 1e-4
    assert second.iterations[:2] == first.iterations[:2] and second.seconds > held["seconds"]
    third = fit(model, observed, PARAMETERS, resume=second, **OPTIONS)
    assert len(third.iterations) <= len(second.iterations) + 3
    with pytest.raises(ValueError, match=r"^fit: resume holds .*; this fit has \['tet_materials\[:,1\]'\]; give that"):
        fit(model, observed, PARAMETERS[1:], resume=path, **OPTIONS)


def test_several_starts_run_in_threads_and_the_best_is_returned(observed):
    model = soft_grid(cells=(3, 2, 2))
    found = fit(model, observed, PARAMETERS, starts=[(100, 100), (9000, 9000), (9000, 100)], **OPTIONS)
    assert found[K_MU] == pytest.approx(3000, rel=1e-4)
    assert len(found.starts) == 3 and found.starts[0].startswith("(100, 100) -> (3000")
    assert "without k_mu < 8 k_lambda its rest shape is not stable" in found.starts[2]
    alone = fit(model, observed, [Parameter(K_MU, initial=100.0), Parameter(K_LAMBDA, initial=100.0)], progress=False, **OPTIONS)
    assert any(line.startswith("(100, 100)") and f"{float(alone[K_MU]):.6g}" in line for line in found.starts)


def test_a_cluster_without_ray_is_told_in_one_sentence(observed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ImportError) as raised:
        fit(soft_grid(cells=(3, 2, 2)), observed, PARAMETERS, starts=[(100, 100)], workers="ray", **OPTIONS)
    assert str(raised.value) == ("fit: workers='ray' needs Ray: pip install 'novaphy[cluster]'; workers='threads' runs here")


@pytest.mark.slow
def test_several_starts_run_on_ray(observed):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found = fit(soft_grid(cells=(3, 2, 2)), observed, PARAMETERS, starts=[(100, 100), (9000, 9000)], workers="ray", **OPTIONS)
    finally:
        ray.shutdown()
    assert found[K_MU] == pytest.approx(3000, rel=1e-4) and len(found.starts) == 2 and found.landscape is not None


def test_many_unknowns_without_scipy_are_told_in_one_sentence(observed, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(ImportError) as raised:
        fit(soft_grid(cells=(3, 2, 2)), observed, [Parameter(K_MU, per="element")], **OPTIONS)
    assert str(raised.value) == "fit: many unknowns need SciPy: pip install 'novaphy[identify]'"


def test_a_saved_motion_is_fitted_by_its_path(observed, report, tmp_path):
    identify.save_observed(tmp_path / "motion.npz", observed)
    again = identify.load_observed(tmp_path / "motion.npz")
    assert again["meta"]["version"] and np.array_equal(again["particle_q"], observed["particle_q"])
    found = fit(soft_grid(cells=(3, 2, 2)), tmp_path / "motion.npz", PARAMETERS, noise=1e-7, **OPTIONS)
    assert found[K_MU] == pytest.approx(float(report[K_MU]), rel=1e-6)
