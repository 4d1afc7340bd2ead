# SPDX-License-Identifier: Apache-2.0
"""fit() finds the constants that a motion was made with, says how sure it is, and what the motion does not tell."""
import numpy as np
import pytest
from soft_motion import DT, K_DAMP, K_LAMBDA, K_MU, StepOfOperators, record, soft_grid

from novaphy.identify import Parameter, fit, tet_materials_of, true_moduli

TRUE = {K_MU: 3000.0, K_LAMBDA: 1000.0, K_DAMP: 1.0}


@pytest.fixture(scope="module")
def motion():
    return record(soft_grid())


def first_guess(k_mu=1000.0, k_lambda=1000.0, **more):
    return [Parameter(K_MU, initial=k_mu, **more), Parameter(K_LAMBDA, initial=k_lambda, **more)]


def find(observed, parameters, model=None, **options):
    return fit(model or soft_grid(), observed, parameters, **{"dt": DT} | options)


def errors(report, true=TRUE):
    return [float(np.max(np.abs(report[target] / true[target] - 1))) for target in report.targets]


@pytest.mark.parametrize("start", [(1000, 1000), (100, 100), (9000, 9000), (300, 6000)])
def test_both_constants_are_found_from_far_starts(motion, start):
    report = find(motion.observed(), first_guess(*start))
    assert max(errors(report)) < 2e-5
    assert report.identifiable == [True, True] and not report.open_directions
    assert len(report.iterations) <= 12


def test_a_solver_written_in_python_is_fitted_too(motion):
    model = soft_grid()
    for solver in (StepOfOperators, StepOfOperators(model)):
        assert max(errors(find(motion.observed(), first_guess(), model, solver=solver))) < 2e-5


def test_the_model_holds_its_own_values_afterwards_and_the_estimates_when_they_are_applied(motion):
    model = soft_grid(1234.0, 5678.0, 0.5)
    before = model.tet_materials.numpy().copy()
    report = find(motion.observed(), [*first_guess(), Parameter(K_DAMP, initial=0.3)], model)
    assert np.array_equal(model.tet_materials.numpy(), before)
    report.apply(model)
    assert np.allclose(model.tet_materials.numpy(), [3000, 1000, 1], rtol=2e-4)
    assert np.array_equal(model.tet_materials.numpy()[0], [report[K_MU], report[K_LAMBDA], report[K_DAMP]])


def test_noise_gives_standard_errors_that_cover_what_it_does(motion):
    off = []
    for seed in range(3):
        report = find(motion.observed(noise=1e-6, seed=seed), first_guess(), noise=1e-6, window_count=6)
        assert max(errors(report)) < 1e-2
        off += [(float(report[t]) - TRUE[t]) / float(e) for t, e in zip(report.targets, report.stderr)]
        assert 0.5e-6 < report.rms < 2e-6
    assert max(map(abs, off)) < 4 and max(map(abs, off)) > 0.2


def test_damping_is_found_too(motion):
    report = find(motion.observed(), [*first_guess(), Parameter(K_DAMP, initial=0.2)])
    assert max(errors(report)) < 2e-4 and all(report.identifiable)


def test_velocities_that_were_not_seen_are_estimated_and_said_so():
    seen = record(soft_grid(), every=4).observed(velocities=False)
    report = find(seen, first_guess())
    assert max(errors(report)) < 1e-2
    assert any("velocities were not observed" in note for note in report.notes)


def test_the_centroid_of_a_body_in_flight_tells_nothing_and_the_report_says_so(motion):
    report = find({"times": motion.times, "centroid": motion.q.mean(axis=1)}, first_guess())
    assert report.identifiable == [False, False]
    assert len(report.open_directions) == 2
    assert "NOT identifiable" in str(report)
    assert all(float(e) > float(v) for v, e in zip(report.values, report.stderr))


def test_a_part_that_is_told_is_found_beside_one_that_is_not(motion):
    report = find(motion.observed(), [*first_guess(), Parameter(K_DAMP, initial=0.5), Parameter("particle_mass", initial=4e-6)],
                  windows=32)
    assert not any(report.identifiable)  # forces and masses scale together
    (direction,) = report.open_directions
    assert all(text in direction for text in ("together", K_MU, K_LAMBDA, K_DAMP, "particle_mass"))
    assert np.allclose(report.correlation, 1, atol=1e-3)
    assert report[K_MU] / report[K_LAMBDA] == pytest.approx(3, rel=1e-3)


def test_some_particles_are_enough_when_the_start_is_known(motion):
    chosen = np.arange(0, motion.q.shape[1], 7)
    report = find({"times": motion.times, "particle_q": motion.q[:, chosen], "indices": chosen}, first_guess())
    assert max(errors(report)) < 1e-4
    assert any("not all particles" in note for note in report.notes)


def test_youngs_modulus_and_poissons_ratio_are_the_true_ones_of_the_law(motion):
    report = find(motion.observed(), [Parameter("E", initial=2000.0), Parameter("nu", initial=0.0)])
    true = true_moduli(3000.0, 1000.0)
    assert report["E"] == pytest.approx(true.E, rel=1e-4) and report["nu"] == pytest.approx(true.nu, abs=1e-4)
    assert true.G == 2250.0 and true.lame == -875.0 and true.K == pytest.approx(625.0)
    assert report.moduli.G == pytest.approx(2250, rel=1e-4) and report.moduli_stderr.G < 1
    assert tet_materials_of(true.E, true.nu) == pytest.approx((3000, 1000))


def test_one_of_a_pair_keeps_the_other_as_the_model_has_it(motion):
    true = true_moduli(3000.0, 1000.0)
    report = find(motion.observed(), [Parameter("E", initial=1000.0)])
    assert report["E"] == pytest.approx(true.E, rel=1e-4)


def test_each_region_has_its_own_constant():
    model = soft_grid()
    x = model.particle_q.numpy()[model.tet_indices.numpy().reshape(-1, 4)].mean(axis=1)[:, 0]
    region = (x > 0.03).astype(np.int32)
    material = model.tet_materials.numpy().copy()
    material[:, 0] = np.where(region, 1500, 3000)
    model.tet_materials.assign(material)
    report = find(record(model).observed(), [Parameter(K_MU, initial=1000.0, per="region", regions=region)])
    assert report[K_MU].shape == (2,) and report[K_MU] == pytest.approx([3000, 1500], rel=1e-4)
    assert report.names == [f"{K_MU} region 0", f"{K_MU} region 1"]


def test_each_element_has_its_own_constant_by_the_adjoint():
    model = soft_grid(2000.0, 1500.0, cells=(3, 2, 2))
    material = model.tet_materials.numpy().copy()
    material[:, 0] *= np.random.default_rng(1).uniform(0.7, 1.3, model.tet_count)
    model.tet_materials.assign(material)
    seen = record(model, steps=192, every=16).observed()
    model.tet_materials.assign(np.tile([2000, 1500, 1], (model.tet_count, 1)).astype(np.float32))
    parameter = Parameter(K_MU, per="element", prior=0.3)
    report = find(seen, [parameter], model, windows=32, window_count=2, noise=1e-8, iterations=60)
    assert report.method == "l-bfgs-b" and report[K_MU].shape == (model.tet_count,)
    off = np.abs(report[K_MU] / material[:, 0] - 1)
    assert np.sqrt(np.mean(off**2)) < 0.05  # the scatter is 0.17
    assert np.mean(off < 4 * report.stderr[0] / report[K_MU] + 2e-3) > 0.8


def test_rows_outside_all_regions_keep_their_constants():
    model = soft_grid()
    region = np.where(np.arange(model.tet_count) < 100, 0, -1)
    material = model.tet_materials.numpy().copy()
    material[:, 0] = np.where(region == 0, 2000, 4000)
    model.tet_materials.assign(material)
    report = find(record(model).observed(), [Parameter(K_MU, initial=1000.0, per="region", regions=region)], model)
    assert report[K_MU] == pytest.approx([2000], rel=1e-4)


@pytest.mark.parametrize("space", ["log", "linear"])
def test_a_bound_holds_and_is_told(motion, space):
    report = find(motion.observed(), first_guess(space=space), bounds={K_MU: (500, 2500)}, windows=16)
    assert report[K_MU] == 2500 and any(f"{K_MU} stands at its bound" in note for note in report.notes)


@pytest.mark.parametrize("space, bounds", [("linear", None), ("bounded", (200, 20_000))])
def test_other_spaces_find_the_same(motion, space, bounds):
    report = find(motion.observed(), first_guess(2000, 2000, space=space, bounds=bounds))
    assert max(errors(report)) < 2e-5


@pytest.mark.slow
def test_neighbours_that_resemble_each_other_smooth_an_estimate():
    model = soft_grid(2000.0, 1500.0, cells=(3, 2, 2))
    seen = record(model, steps=96).observed(noise=1e-6)
    rough, smooth = (find(seen, [Parameter(K_MU, initial=1800.0, per="element", prior=0.3, **more)], model, windows=32,
                          window_count=2, noise=1e-6, iterations=25)[K_MU] for more in ({}, {"smooth": 0.01}))
    assert np.std(smooth) < 0.5 * np.std(rough) and abs(np.mean(smooth) / 2000 - 1) < 0.05


def test_mass_is_found_by_its_own_name(motion):
    report = find(motion.observed(), [Parameter("particle_mass", initial=1e-5)])
    assert report["particle_mass"] == pytest.approx(5e-6, rel=1e-4)


def test_a_model_of_another_mesh_is_told_by_its_residual():
    fine = record(soft_grid(cells=(4, 2, 2), refined=2), steps=2048, every=128, dt=DT / 8)  # damping needs shorter steps there
    coarse = soft_grid(cells=(4, 2, 2))
    nodes = [(2 * x) + 9 * ((2 * y) + 5 * (2 * z)) for z in range(3) for y in range(3) for x in range(5)]
    assert np.allclose(fine.q[0][nodes], coarse.particle_q.numpy(), atol=1e-6)
    seen = {"times": fine.times, "particle_q": fine.q[:, nodes], "particle_qd": fine.qd[:, nodes]}
    report = find(seen, first_guess(2000, 2000), coarse, noise=1e-6)
    assert any("times the noise" in note for note in report.notes)
    assert all(float(e) > 1e-3 * float(v) for v, e in zip(report.values, report.stderr))
