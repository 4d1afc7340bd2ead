# SPDX-License-Identifier: Apache-2.0
"""Springs, triangles, edges and tetrahedra in steps: switches, activations, orders of vertices, refusals."""
import itertools

import numpy as np
import pytest

import novaphy
from novaphy.solvers import DiffSemiImplicitSolver, DiffSolverConfig, SolverSemiImplicit

SOLVERS = (SolverSemiImplicit, DiffSemiImplicitSolver)
CORNERS = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def builder_of(points=CORNERS):
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    builder.add_particles(pos=points, vel=np.zeros_like(points), mass=[1.0] * len(points))
    return builder


def tetrahedron_and_triangle():
    builder = builder_of()
    builder.add_tetrahedron(0, 1, 2, 3, 1000.0, 1000.0, 0.0)
    builder.add_triangle(0, 1, 2, tri_ke=100.0, tri_ka=100.0, tri_kd=0.0)
    model = builder.finalize()
    model.particle_q = CORNERS * np.float32(1.1)
    return model


def force(solver, model, control=None):
    now, then = model.state(), model.state()
    solver.step(now, then, control, None, 1e-3)
    return now.particle_f.numpy().copy()


def test_triangles_and_tetrahedra_can_be_switched_off():
    model = tetrahedron_and_triangle()
    both = force(DiffSemiImplicitSolver(model), model)
    without = {name: force(DiffSemiImplicitSolver(model, DiffSolverConfig(**{name: False})), model)
               for name in ("enable_triangles", "enable_tetrahedra")}
    neither = force(DiffSemiImplicitSolver(model, DiffSolverConfig(enable_triangles=False, enable_tetrahedra=False)), model)
    assert (neither == 0).all() and all(np.abs(f).max() > 0 for f in without.values())
    assert np.allclose(both, without["enable_triangles"] + without["enable_tetrahedra"], rtol=1e-5)
    assert (without["enable_tetrahedra"][3] == 0).all(), "particle 3 belongs to the tetrahedron alone"


@pytest.mark.parametrize("solver", SOLVERS)
def test_activations_come_from_the_control_or_from_the_model(solver):
    """An activation of the volume shifts it: the force of lambda times the shift, the same from either place."""
    model = tetrahedron_and_triangle()
    rest = force(solver(model), model)
    control = model.control()
    control.tet_activations = np.float32([0.3])
    pushed = force(solver(model), model, control)
    assert np.abs(pushed - rest).max() > 10
    model.particle_tet_activation = np.float32([0.3])
    assert np.array_equal(force(solver(model), model), pushed)
    control.tet_activations = np.float32([0.0])
    assert np.array_equal(force(solver(model), model, control), rest)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_does_not_fit_the_model_is_named(solver):
    model, other = tetrahedron_and_triangle(), builder_of().finalize()
    with pytest.raises(novaphy.ShapeMismatchError, match=rf"{solver.__name__}.step: control has 0 triangles and 0 tetrahedra, "
                                                         r"the model has 1 and 1; take it from this model's control\(\)"):
        force(solver(model), model, other.control())
    model.tri_indices = np.int32([[0, -1, 2]])
    with pytest.raises(IndexError, match=r"triangle 0 has particle -1, the model has 4; correct tri_indices"):
        solver(model)
    model.tri_indices, model.tet_indices = np.int32([[0, 1, 2]]), np.int32([[0, 1, 2, 4]])
    with pytest.raises(IndexError, match=r"tetrahedron 0 has particle 4, the model has 4; correct tet_indices"):
        solver(model)


@pytest.mark.parametrize("array, value, text", [
    ("particle_tri_material", [[1, -2, 3, 0, 0]], "triangle 0 has ka = -2"),
    ("particle_tri_material", [[np.nan, 2, 3, 0, 0]], "triangle 0 has ke = -?nan"),
    ("particle_tet_material", [[1, 2, -3]], "tetrahedron 0 has k_damp = -3"),
])
def test_materials_that_make_no_sense_are_refused_at_the_step(array, value, text):
    model = tetrahedron_and_triangle()
    solvers = [solver(model) for solver in SOLVERS]
    setattr(model, array, np.float32(value))
    for solver in solvers:
        with pytest.raises(ValueError, match=text):
            force(solver, model)


def test_drag_and_lift_may_have_either_sign():
    model = tetrahedron_and_triangle()
    model.particle_tri_material = np.float32([[1, 1, 0, -1, -2]])
    for solver in SOLVERS:
        assert np.isfinite(force(solver(model), model)).all()


def motion(order, seconds=1.0):
    """Where the four particles are after the fourth was pushed up, in the order of CORNERS; None if refused."""
    points = CORNERS[list(order)]
    builder = builder_of(points)
    builder.add_tetrahedron(0, 1, 2, 3, 100.0, 100.0, 0.0)
    model = builder.finalize()
    now, then = model.state(), model.state()
    push = np.zeros((4, 3), np.float32)
    push[list(order).index(3), 2] = 0.5
    now.particle_qd = push
    solver = SolverSemiImplicit(model)
    for _ in range(int(seconds * 500)):
        now.clear_forces()
        solver.step(now, then, None, None, 2e-3)
        now, then = then, now
    out = np.empty((4, 3))
    out[list(order)] = now.particle_q.numpy()
    return out


def test_every_right_handed_order_of_the_vertices_gives_the_same_motion():
    """The twelve even orders agree within 1e-5 m after a second; the odd ones are the builder's to turn or to refuse.
    Without damping: Newton's reads the velocities of the last three vertices alone."""
    even = [order for order in itertools.permutations(range(4))
            if np.linalg.det(CORNERS[list(order)][1:] - CORNERS[order[0]]) > 0]
    assert len(even) == 12
    first = motion(even[0])
    assert np.abs(first - CORNERS).max() > 0.05
    for order in even[1:]:
        assert np.abs(motion(order) - first).max() < 1e-5, order
