# SPDX-License-Identifier: Apache-2.0
"""Forward sensitivities, adjoint and differences of a window agree; the moduli are those of the law."""
import numpy as np
import pytest
import twin_elements
from soft_motion import DT, K_DAMP, K_LAMBDA, K_MU, StepOfOperators, record, soft_grid

from novaphy.identify import Parameter, tet_materials_of, true_moduli
from novaphy.identify._moduli import tet_material_slopes
from novaphy.identify._observed import Observed
from novaphy.identify._setup import simulator_for
from novaphy.identify._unknowns import Unknowns
from novaphy.identify._windows import Planner

PARAMETERS = {
    "logarithms": [Parameter(K_MU), Parameter(K_LAMBDA), Parameter(K_DAMP)],
    "bounded and linear": [Parameter(K_MU, space="bounded", bounds=(500, 5000)), Parameter(K_LAMBDA, space="linear")],
    "the pair": [Parameter("E"), Parameter("nu")],
    "mass": [Parameter("particle_mass"), Parameter(K_MU)],
}


def simulator(parameters, kind="particles", window=48):
    motion = record(soft_grid(cells=(3, 2, 2)), steps=96)
    model = soft_grid(2200.0, 1300.0, 0.7, cells=(3, 2, 2))
    seen = motion.observed()
    if kind == "indices":
        seen = {"times": seen["times"], "particle_q": seen["particle_q"][:, [1, 5, 8]], "indices": [1, 5, 8]}
    observed = Observed(seen, None, model.particle_count)
    unknowns = Unknowns(model, parameters)
    made = simulator_for(unknowns, observed, DT, StepOfOperators, None, None, None, None)
    return made, unknowns.initial, Planner(observed, DT, 2).of_length(window)


@pytest.mark.parametrize("name", PARAMETERS)
def test_forward_and_reverse_mode_agree(name):
    made, numbers, windows = simulator(PARAMETERS[name])
    forward, squares = np.zeros(len(numbers)), 0.0
    for _, residual, derivatives in made.sensitivities(numbers, windows):
        forward += 2 * derivatives.T.astype(np.float64) @ residual
        squares += float(residual.astype(np.float64) @ residual)
    total, reverse = made.gradient(numbers, windows)
    assert total == pytest.approx(squares, rel=1e-5)
    assert reverse == pytest.approx(forward.tolist(), rel=2e-4, abs=1e-5 * np.abs(forward).max())


def test_sensitivities_are_those_of_the_exact_law():
    """The law in float64, differenced: differences of the engine's own float32 rollouts would be rounding."""
    made, numbers, windows = simulator(PARAMETERS["logarithms"], window=16)
    window, model = windows[0], made.unknowns.model

    def ends(material):
        x, v = (a.astype(np.float64) for a in made.observed.start(window.start, DT))
        tets, rest = model.tet_indices.numpy().reshape(-1, 4), model.tet_poses.numpy().reshape(-1, 3, 3).astype(np.float64)
        inverse_mass, gravity = model.particle_inv_mass.numpy().astype(np.float64), model.gravity.numpy()[0].astype(np.float64)
        dt = float(np.float32(DT))
        for _ in range(window.substeps):
            f = twin_elements.tetrahedron_forces(x, v, np.zeros_like(x), tets, rest, np.zeros(len(tets)), np.tile(material, (len(tets), 1)))
            v = v + (f * inverse_mass[:, None] + gravity) * dt
            x = x + v * dt
        return x.ravel()

    (_, residual, derivatives), = made.sensitivities(numbers, [window])
    constants = np.exp(numbers)
    for k in range(3):
        up, down = (constants * np.exp(s * 1e-4 * (np.arange(3) == k)) for s in (1, -1))
        exact = (ends(up) - ends(down)) / 2e-4
        assert np.abs(derivatives[:, k] - exact).max() < 1e-3 * np.abs(exact).max()


def test_indices_choose_the_rows():
    everything, numbers, windows = simulator(PARAMETERS["logarithms"])
    some, _, _ = simulator(PARAMETERS["logarithms"], kind="indices")
    window = [type(windows[0])(0, windows[0].stops)]
    rows = np.ravel([[3 * i, 3 * i + 1, 3 * i + 2] for i in (1, 5, 8)])
    whole = list(everything.sensitivities(numbers, window))
    for (_, r, d), (_, all_r, all_d) in zip(some.sensitivities(numbers, window), whole, strict=True):
        assert np.allclose(r, all_r[rows], atol=1e-9) and np.allclose(d, all_d[rows], atol=1e-9)


def test_the_moduli_are_those_of_the_laws_stress():
    """Stress of a small strain from the forces of one tetrahedron, float64."""
    k_mu, k_lambda = 3000.0, 1700.0
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    moduli = true_moduli(k_mu, k_lambda)
    for strain in (np.diag([1.0, 0, 0]), np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 0]]), np.diag([1.0, 1, 1])):
        h = 1e-6
        stress = []
        for sign in (1, -1):
            x = corners @ (np.eye(3) + sign * h * strain)
            f = twin_elements.tetrahedron_forces(x, np.zeros((4, 3)), np.zeros((4, 3)), np.array([[0, 1, 2, 3]]), np.eye(3)[None],
                                                 np.zeros(1), np.array([[k_mu, k_lambda, 0.0]]))
            stress.append(-6.0 * f[1:].T)  # force on corner i is -V P e_i, V = 1/6
        got = (stress[0] - stress[1]) / (2 * h)
        want = 2 * moduli.G * strain + moduli.lame * np.trace(strain) * np.eye(3)
        assert np.allclose(got, want, atol=1e-3 * k_mu)
    assert moduli.K == pytest.approx(k_lambda - k_mu / 8)
    assert moduli.E == pytest.approx(9 * moduli.K * moduli.G / (3 * moduli.K + moduli.G))


@pytest.mark.parametrize("E, nu", [(2000.0, 0.3), (3068.0, -0.318), (1e4, 0.0)])
def test_slopes_of_the_pair(E, nu):
    h = 1e-5
    got = tet_material_slopes(E, nu)
    by_e = [(a - b) / (2 * h * E) for a, b in zip(tet_materials_of(E * (1 + h), nu), tet_materials_of(E * (1 - h), nu))]
    by_nu = [(a - b) / (2 * h) for a, b in zip(tet_materials_of(E, nu + h), tet_materials_of(E, nu - h))]
    assert got == pytest.approx((by_e[0], by_nu[0], by_e[1], by_nu[1]), rel=1e-5)
