# SPDX-License-Identifier: Apache-2.0
"""What fit() refuses, in one sentence each, before the first step."""
import json

import numpy as np
import pytest
from soft_motion import DT, K_LAMBDA, K_MU, StepOfOperators, record, soft_grid

from novaphy.identify import Parameter, fit

MU = Parameter(K_MU, initial=1000.0)


@pytest.fixture(scope="module")
def observed():
    return record(soft_grid(cells=(2, 2, 2)), steps=96).observed()


def refused(observed, parameters, kind=ValueError, model=None, **options):
    with pytest.raises(kind) as raised:
        fit(model or soft_grid(cells=(2, 2, 2)), observed, parameters,
            **{"dt": DT, "solver": StepOfOperators, "contacts": None} | options)
    return str(raised.value)


PARAMETERS = [
    (lambda: Parameter(K_MU, initial=1000.0, bounds=(2000, 5000)),
     "Parameter 'tet_materials[:,0]': bounds (2000, 5000) exclude initial = 1000; give a first guess between them"),
    (lambda: Parameter(K_MU, space="bounded", initial=2000.0, bounds=(2000, 5000)),
     "Parameter 'tet_materials[:,0]': bounds (2000, 5000) exclude initial = 2000; give a first guess strictly between them"),
    (lambda: Parameter(K_MU, initial=-1.0),
     "Parameter 'tet_materials[:,0]': initial is -1, and space 'log' holds positive numbers; give a positive one, or space='linear'"),
    (lambda: Parameter("tet_material[:,0]"), "Parameter 'tet_material[:,0]': the model has no array 'tet_material'; did you mean 'tet_materials'?"),
    (lambda: Parameter("tet_materials[:,3]"),
     "Parameter 'tet_materials[:,3]': tet_materials has shape (40, 3); give a column from 0 to 2, such as 'tet_materials[:,0]'"),
    (lambda: Parameter("tet_materials"),
     "Parameter 'tet_materials': tet_materials has shape (40, 3); give a column from 0 to 2, such as 'tet_materials[:,0]'"),
    (lambda: Parameter("particle_mass[:,0]"),
     "Parameter 'particle_mass[:,0]': particle_mass has shape (27,); its rows are single numbers, so give it without a column"),
    (lambda: Parameter("tet_poses"), "Parameter 'tet_poses': tet_poses has shape (40, 3, 3); columns of matrices cannot be parameters"),
    (lambda: Parameter("particle_flags"), "Parameter 'particle_flags': particle_flags holds int32; only float32 numbers can be found"),
    (lambda: Parameter("spring_stiffness"), "Parameter 'spring_stiffness': spring_stiffness of this model has no rows"),
    (lambda: Parameter("a b"), "Parameter 'a b': give the name of an array and a column, such as 'tet_materials[:,0]'"),
    (lambda: Parameter("edge_rest_length", initial=1.0),
     "Parameter 'edge_rest_length': StepOfOperators does not read edge_rest_length in this model, so no motion can tell it; "
     "fit something that the solver reads"),
    (lambda: Parameter("soft_contact_mu"),
     "Parameter 'soft_contact_mu': StepOfOperators does not read soft_contact_material in this model, so no motion can tell it; "
     "fit something that the solver reads"),
    (lambda: Parameter(K_MU, space="cubic"), "Parameter 'tet_materials[:,0]': space is 'cubic'; give 'log', 'linear' or 'bounded'"),
    (lambda: Parameter(K_MU, per="tet"), "Parameter 'tet_materials[:,0]': per is 'tet'; give 'global', 'region' or 'element'"),
    (lambda: Parameter(K_MU, space="bounded"),
     "Parameter 'tet_materials[:,0]': space 'bounded' needs two finite bounds; give bounds=(lowest, highest)"),
    (lambda: Parameter(K_MU, bounds=(2, 1)), "Parameter 'tet_materials[:,0]': bounds are (2, 1); give (lowest, highest)"),
    (lambda: Parameter(K_MU, per="region"),
     "Parameter 'tet_materials[:,0]': per is 'region' and regions is None; regions, the region of each row, belongs to per='region'"),
    (lambda: Parameter(K_MU, per="region", regions=[0, 1]),
     "Parameter 'tet_materials[:,0]': regions has shape (2,) and type int64; give an integer of at least -1 for each of 40 rows, "
     "and one of at least 0"),
    (lambda: Parameter(K_MU, per="region", regions=[0] * 39 + [2]), "Parameter 'tet_materials[:,0]': no row is in region 1 of 3"),
    (lambda: Parameter(K_MU, initial=[1.0, 2.0]), "Parameter 'tet_materials[:,0]': initial has 2 numbers; give 1 or 1"),
    (lambda: Parameter(K_MU, prior=0.0), "Parameter 'tet_materials[:,0]': prior is 0.0; give a positive standard deviation or None"),
    (lambda: Parameter(K_MU, smooth=0.1),
     "Parameter 'tet_materials[:,0]': smooth compares neighbouring elements; it belongs to per='element'"),
    (lambda: Parameter(K_MU, prior=0.1), "fit: 'tet_materials[:,0]' has a prior or smooth, whose weight needs fit(noise=...)"),
    (lambda: [MU, Parameter("particle_tet_material[:,0]")],
     "fit: the targets are tet_materials[:,0], particle_tet_material[:,0]; give each once"),
    (lambda: [MU, Parameter("E")], "fit: 'E' or 'nu' together with k_mu or k_lambda is one constant twice; give one pair"),
    (lambda: [], "fit: no parameters were given"),
    (lambda: [Parameter(K_MU, initial=9000.0), Parameter(K_LAMBDA, initial=1000.0)],
     "fit: the first guess cannot be simulated: tetrahedron 0 has k_mu = 9000 and k_lambda = 1000, and without k_mu < 8 k_lambda "
     "its rest shape is not stable at any time step"),
]


@pytest.mark.parametrize("make, text", PARAMETERS, ids=[str(i) for i in range(len(PARAMETERS))])
def test_a_parameter_that_cannot_be_fitted_is_refused(observed, make, text):
    with pytest.raises(ValueError) as raised:
        fit(soft_grid(cells=(2, 2, 2)), observed, make(), dt=DT, solver=StepOfOperators, contacts=None)
    assert str(raised.value) == text


OBSERVED = [
    (lambda o: {"times": o["times"]}, "fit: observed holds none of particle_q, centroid, silhouettes"),
    (lambda o: {**o, "times": o["times"][:3]},
     "fit: observed has times of shape (3,) and particle_q of (7, 27, 3); give at least 2 times, one for each"),
    (lambda o: {**o, "times": o["times"][::-1]}, "fit: the observed times do not rise; sort them"),
    (lambda o: {**o, "positions": 1},
     "fit: observed holds 'positions'; it may hold camera, centroid, indices, particle_q, particle_qd, sigma, silhouettes, times"),
    (lambda o: {**o, "particle_q": o["particle_q"][:, :5]}, "fit: observed particle_q has shape (7, 5, 3); (7, 27, 3) is wanted"),
    (lambda o: {**o, "indices": [0, 27]}, "fit: observed indices have shape (2,) and hold 27; give a list of numbers from 0 to 26"),
    (lambda o: {"times": o["times"], "silhouettes": np.zeros((7, 4, 4))},
     "fit: silhouettes were observed without a camera; add observed['camera']"),
    (lambda o: {**o, "times": o["times"] * 1.01},
     "fit: observed time 3, 0.00237647059 s after the first, is 48.480 steps of dt = 4.90196e-05 s; choose dt so that observed "
     "times are whole steps"),
    (lambda o: {"times": o["times"][:2], "particle_q": o["particle_q"][:2]},
     "fit: velocities were not observed and are estimated from the times before and after, so at least 3 times are needed"),
]


@pytest.mark.parametrize("change, text", OBSERVED, ids=[str(i) for i in range(len(OBSERVED))])
def test_a_motion_that_cannot_be_read_is_refused(observed, change, text):
    assert refused(change(observed), MU) == text


def test_a_value_that_is_not_finite_is_named(observed):
    q = observed["particle_q"].copy()
    q[2, 3, 1] = np.nan
    assert refused({**observed, "particle_q": q}, MU) == "fit: observed particle_q holds a value that is not finite, first at [2, 3, 1]"


OPTIONS = [
    ({"dt": 0}, "fit: dt is 0; give a positive time in seconds"),
    ({"dt": 1.0}, "fit: dt = 1 s is longer than the time between two observed ones; choose a shorter dt"),
    ({"method": "newton"}, "fit: method is 'newton'; give 'auto', 'gauss-newton', 'l-bfgs-b'"),
    ({"loss": "image"}, "fit: loss is 'image'; give 'particles', 'centroid', 'silhouette' or None"),
    ({"loss": "centroid"}, "fit: loss is 'centroid' and observed holds no centroid"),
    ({"windows": "long"}, "fit: windows is 'long'; give 'auto', a number of substeps, or pairs of indices"),
    ({"windows": 0}, "fit: windows is 0; give at least 1 substep"),
    ({"windows": [(5, 3)]},
     "fit: window (5, 3) is not between observed times; give a start from 0 to 5 and a later stop up to 6"),
    ({"windows": []}, "fit: windows is []; give 'auto', a number of substeps, or pairs of indices"),
    ({"windows": 2.5}, "fit: windows is 2.5; give 'auto', a number of substeps, or pairs of indices"),
    ({"windows": [3]}, "fit: windows is [3]; give 'auto', a number of substeps, or pairs of indices"),
    ({"window_count": 0}, "fit: window_count is 0; give a whole number of at least 1"),
    ({"iterations": 0}, "fit: iterations is 0; give a whole number of at least 1"),
    ({"iterations": 1.5}, "fit: iterations is 1.5; give a whole number of at least 1"),
    ({"noise": 0.0}, "fit: noise is 0.0; give a positive standard deviation, or None"),
    ({"bounds": {"E": (1, 2)}}, "fit: bounds are given for 'E', which is no parameter"),
    ({"starts": []}, "fit: starts is empty; give at least one first guess"),
    ({"starts": [(1, 2)]}, "fit: a start has 2 numbers for 1 parameters; give one for each"),
    ({"starts": [(1,)], "workers": "mpi"}, "fit: workers is 'mpi'; give 'threads' or 'ray'"),
]


@pytest.mark.parametrize("options, text", OPTIONS, ids=[str(i) for i in range(len(OPTIONS))])
def test_an_option_that_makes_no_sense_is_refused(observed, options, text):
    assert refused(observed, MU, **options) == text


WRITES = "fit(checkpoint=path) and FitReport.to_json(path) write such files"


@pytest.mark.parametrize(("content", "text"), [
    ("{", "is no JSON file (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))"),
    ("[1, 2]", "holds a list, no fit"),
    ("null", "holds a NoneType, no fit"),
])
def test_a_file_that_holds_no_fit_is_not_resumed(observed, tmp_path, content, text):
    path = tmp_path / "fit.json"
    path.write_text(content)
    assert refused(observed, MU, resume=path) == f"fit: resume: {path} {text}; {WRITES}"
    assert refused(observed, MU, resume=3, kind=TypeError) == "fit: resume is a int; give a path or a FitReport"


def test_a_file_that_was_changed_is_not_resumed(observed, tmp_path):
    path = tmp_path / "fit.json"
    report = fit(soft_grid(cells=(2, 2, 2)), observed, MU, dt=DT, solver=StepOfOperators, contacts=None, checkpoint=path)
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, "numbers": []}))
    assert refused(observed, MU, resume=path) == f"fit: resume holds 0 numbers for 1 names; {WRITES}"
    path.write_text(json.dumps({**held, "numbers": None}))
    assert refused(observed, MU, resume=path).startswith("fit: resume was changed since it was written (TypeError(")
    assert report.identifiable == [True]


def test_a_solver_of_another_model_is_refused(observed):
    other = StepOfOperators(soft_grid(cells=(2, 2, 2)))
    assert refused(observed, MU, solver=other) == "fit: the solver is for another model; make one for the model that is fitted"
    assert refused(observed, MU, solver=other, starts=[(1000,)]) == (
        "fit: with starts each has its own model; give a function or class that makes the solver, not a solver")


def test_a_refused_fit_leaves_the_model_as_it_was(observed):
    model = soft_grid(1234.0, 5678.0, cells=(2, 2, 2))
    refused(observed, [MU, Parameter("edge_rest_length", initial=1.0)], model=model)
    assert np.all(model.tet_materials.numpy() == np.float32([1234, 5678, 1]))


def test_a_first_guess_that_flies_apart_is_halved_and_said_so(observed):
    stiff = Parameter(K_LAMBDA, initial=2e6)
    report = fit(soft_grid(cells=(2, 2, 2)), observed, [Parameter(K_MU, initial=1000.0), stiff], dt=DT, solver=StepOfOperators, contacts=None)
    assert report[K_MU] == pytest.approx(3000, rel=1e-3) and any("was halved" in note for note in report.notes)


def test_a_step_that_the_stability_report_refuses_is_refused_with_its_text(observed):
    import novaphy.diff as ndiff

    dt, seen = 1 / 60 / 32, {**observed, "times": np.arange(len(observed["times"])) / 60 / 32}
    model = soft_grid(1000.0, 1000.0, cells=(2, 2, 2))
    text = refused(seen, MU, model=model, dt=dt, solver=None, contacts="auto")
    report = ndiff.stability_report(model, dt)
    assert not report.ok and text == f"fit: the scene cannot be simulated with dt = {dt:g} s: {report.text}"
