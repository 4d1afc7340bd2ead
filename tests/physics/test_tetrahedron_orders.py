# SPDX-License-Identifier: Apache-2.0
"""The order in which a tetrahedron names its vertices: the same motion, or a refusal with its index and volume."""
from itertools import permutations

import numpy as np
import pytest

import novaphy
from novaphy import nova
from novaphy import diff as ndiff
from novaphy.solvers import SolverSemiImplicit

VERTICES = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
EVEN = [p for p in permutations(range(4)) if round(np.linalg.det(np.eye(4)[list(p)])) == 1]
ODD = [p for p in permutations(range(4)) if p not in EVEN]


def tetrahedron(order, k_mu=1000.0, k_lambda=1000.0):
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    for vertex, push in zip(VERTICES, (0.0, 0.0, 0.0, 0.5)):  # the fourth is pushed upwards
        builder.add_particle(vertex, (0, 0, push), 1.0)
    builder.add_tetrahedron(*order, k_mu, k_lambda, 0.0)
    return builder.finalize()


def after_a_second(model, dt=1 / 240):
    solver, state, after = SolverSemiImplicit(model), model.state(), model.state()
    for _ in range(round(1 / dt)):
        state.clear_forces()
        solver.step(state, after, None, None, dt)
        state, after = after, state
    return state.particle_q.numpy()


def test_the_twelve_orders_of_positive_volume_move_alike():
    want = after_a_second(tetrahedron((0, 1, 2, 3)))
    assert np.abs(want - VERTICES).max() > 0.05  # it has moved
    for order in EVEN:
        np.testing.assert_allclose(after_a_second(tetrahedron(order)), want, rtol=0, atol=1e-5, err_msg=str(order))


@pytest.mark.parametrize("order", ODD)
def test_the_twelve_orders_of_negative_volume_are_refused_with_index_and_volume(order):
    names = ", ".join(map(str, order))
    with pytest.raises(novaphy.DegenerateElementError, match=rf"add_tetrahedron: tetrahedron 0 \({names}\) is inverted, its "
                                                             r"signed volume is -0.166667 m\^3: swap two of its particles"):
        tetrahedron(order)


def test_four_points_in_a_plane_are_refused():
    builder = novaphy.ModelBuilder()
    for vertex in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)):
        builder.add_particle(vertex, (0, 0, 0), 1.0)
    with pytest.raises(novaphy.DegenerateElementError, match=r"tetrahedron 0 \(0, 1, 2, 3\) has volume 0 m\^3"):
        builder.add_tetrahedron(0, 1, 2, 3)


@pytest.mark.parametrize("k_mu, k_lambda", [(1000.0, 0.0), (0.0, 0.0), (0.0, 1000.0)])
def test_force_and_material_gradient_stay_finite_without_stiffness(k_mu, k_lambda):
    model = tetrahedron((0, 1, 2, 3), k_mu, k_lambda)
    material = nova.tensor(np.float32([[k_mu, k_lambda, 0.0]]), requires_grad=True)
    q, zero = nova.tensor(np.float32(VERTICES) * 1.1), nova.tensor(np.zeros((4, 3), np.float32))
    with nova.Tape() as tape:
        force = ndiff.eval_tetrahedra_forces_generated(model, q, zero, zero, nova.tensor(np.zeros(1, np.float32)), material)
        loss = nova.dot(force, force)
    tape.backward(loss)
    assert np.isfinite(force.numpy()).all() and np.isfinite(material.grad.numpy()).all()
