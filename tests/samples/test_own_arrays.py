# SPDX-License-Identifier: Apache-2.0
"""Sample own_arrays: orthotropic tetrahedra, the law's properties and the life of a plugin's own arrays."""

import numpy as np
import pytest

# a block of 2 x 2 x 2 cells of five tetrahedra; `forces` gives what acts at positions q
SCENE = """
import json
import numpy as np
import novaphy
from novaphy.solvers import SolverSemiImplicit

CELL = [[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(1, 1, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)],
        [(1, 0, 1), (0, 0, 1), (1, 1, 1), (1, 0, 0)], [(0, 1, 1), (1, 1, 1), (0, 0, 1), (0, 1, 0)],
        [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]]

def block():
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    number = {}
    for at in np.ndindex(3, 3, 3):
        number[at] = builder.add_particle(pos=np.array(at) * 0.1, vel=(0, 0, 0), mass=0.01)
    for cell in np.ndindex(2, 2, 2):
        for corners in CELL:  # mirrored in every other cell, so that faces meet
            turned = [[(c[k] if cell[k] == 0 else 2 - c[k]) for k in range(3)] for c in corners]
            i, j, k, l = (number[tuple(c)] for c in turned)
            x = [np.array(c) for c in turned]
            if np.linalg.det([x[1] - x[0], x[2] - x[0], x[3] - x[0]]) < 0:
                k, l = l, k
            builder.add_tetrahedron(i, j, k, l, k_mu=0.0, k_lambda=0.0)
    return builder

def made(solver_class=SolverSemiImplicit, builder=None):
    model = (builder or block()).finalize()
    return model, solver_class(model, forces=["orthotropic"])

def fill(model, seed=1, equal=False):
    random = np.random.default_rng(seed)
    stiffness = random.uniform(5e3, 2e4, (model.tet_count, 3))
    if equal:
        stiffness[:] = 8e3
    frames = random.normal(size=(model.tet_count, 4))
    model.orthotropic_stiffness.assign(stiffness.astype(np.float32))
    model.orthotropic_frame.assign((frames / np.linalg.norm(frames, axis=1, keepdims=True)).astype(np.float32))

def bent(model, amount=0.15):
    q = model.particle_q.numpy().astype(np.float64)
    return q + amount * np.stack([q[:, 1] + q[:, 0], 0.3 * q[:, 2] - 0.5 * q[:, 1], np.sin(9 * q[:, 0]) * 0.1], 1)

def forces(model, solver, q=None, contraction=0.0):
    state, following = model.state(), model.state()
    if q is not None:
        state.particle_q.assign(np.asarray(q, np.float32))
    state.orthotropic_contraction.assign(np.full(model.tet_count, contraction, np.float32))
    solver.step(state, following, None, None, 1e-4)
    return values(state.particle_f)

def values(array):
    return np.asarray(array.numpy(), np.float64).tolist()

def all_of(model):
    return {name: values(getattr(model, name)) for name in ("tet_indices", "tet_poses", "orthotropic_stiffness",
            "orthotropic_lambda", "orthotropic_frame")}
"""


@pytest.fixture(scope="module")
def measure(installed_sdk):
    return installed_sdk.measure("own_arrays", SCENE)


def rotation(quaternions):
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    return np.moveaxis(np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                                 [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                                 [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]), -1, 0)


def energy(q, model, contraction=0.0):
    """Of all tetrahedra, J; over complex positions too."""
    corners = q[np.array(model["tet_indices"], int)]
    poses = np.array(model["tet_poses"]).reshape(-1, 3, 3)
    k = np.array(model["orthotropic_stiffness"])
    edges = np.stack([corners[:, i] - corners[:, 0] for i in (1, 2, 3)], -1)
    f = edges @ poses @ rotation(np.array(model["orthotropic_frame"]))
    strain = (np.swapaxes(f, -1, -2) @ f - np.eye(3)) / 2
    strain[:, 0, 0] += contraction
    density = ((k[:, :, None] + k[:, None, :]) / 2 * strain ** 2).sum((1, 2))
    trace = np.trace(strain, axis1=1, axis2=2)
    return ((density + np.array(model["orthotropic_lambda"]) / 2 * trace ** 2) / (6 * np.linalg.det(poses))).sum()


@pytest.mark.parametrize("contraction", [0.0, 0.1])
def test_forces_are_the_downhill_gradient_of_the_energy(measure, contraction):
    result = measure(f"""
model, solver = made()
fill(model)
q = bent(model).astype(np.float32)
result = {{"model": all_of(model), "q": q.tolist(), "forces": forces(model, solver, q, {contraction})}}
""")
    q, wanted = np.array(result["q"]), np.zeros((27, 3))
    for at in np.ndindex(wanted.shape):
        moved = q.astype(complex)
        moved[at] += 1e-30j
        wanted[at] = -energy(moved, result["model"], contraction).imag / 1e-30
    assert np.abs(wanted).max() > 1
    np.testing.assert_allclose(result["forces"], wanted, atol=1e-5 * np.abs(wanted).max())


def test_the_rest_shape_is_without_force_in_any_frame_and_place(measure):
    result = measure("""
model, solver = made()
fill(model)
axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
turn = np.eye(3) + np.sin(1.1) * cross + (1 - np.cos(1.1)) * cross @ cross
q = model.particle_q.numpy()
result = [forces(model, solver, at) for at in (q, q @ turn.T + [1, 2, 3], bent(model))]
""")
    rest, moved, bent = (np.abs(np.array(force)).max() for force in result)
    assert rest < 1e-5 * bent and moved < 1e-4 * bent


def test_forces_turn_with_the_body_and_leave_both_momenta_alone(measure):
    result = measure("""
model, solver = made()
fill(model)
turn = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
q = bent(model).astype(np.float32)
result = {"q": q.tolist(), "force": forces(model, solver, q), "turn": turn.tolist(),
          "turned": forces(model, solver, q @ turn.T.astype(np.float32))}
""")
    q, force, turn = np.array(result["q"]), np.array(result["force"]), np.array(result["turn"])
    size = np.abs(force).max()
    np.testing.assert_allclose(result["turned"], force @ turn.T, atol=2e-5 * size)
    assert np.abs(force.sum(0)).max() < 1e-5 * size
    assert np.abs(np.cross(q, force).sum(0)).max() < 1e-5 * size * 0.3


def test_three_equal_stiffnesses_are_isotropic_and_unequal_ones_are_not(measure):
    result = measure("""
model, solver = made()
q = bent(model)
result = []
for seed in (1, 2):
    fill(model, seed, equal=True)
    result.append(forces(model, solver, q))
for axis in range(3):  # stretched along x, with one axis of the fibre frame three times as stiff
    model.orthotropic_frame.assign(np.tile(np.array([0, 0, 0, 1], np.float32), (model.tet_count, 1)))
    stiffness = np.full((model.tet_count, 3), 1e4, np.float32)
    stiffness[:, axis] *= 3
    model.orthotropic_stiffness.assign(stiffness)
    stretched = model.particle_q.numpy() * [1.1, 1, 1]
    pull = np.array(forces(model, solver, stretched))
    result.append(float(np.abs(pull[:, 0]).sum()))
""")
    isotropic = np.array(result[0])
    np.testing.assert_allclose(isotropic, result[1], atol=1e-5 * np.abs(isotropic).max())
    along, across, up = result[2:]
    assert along > 2 * across and across == pytest.approx(up, rel=1e-5)


def test_gradients_reach_the_arrays_of_model_and_state(measure):
    result = measure("""
import novaphy.nova as nova
from novaphy.solvers import DiffSemiImplicitSolver
model, solver = made(DiffSemiImplicitSolver)
fill(model)
plain = SolverSemiImplicit(model, forces=["orthotropic"])
states, twins = ([model.state() for _ in range(21)] for _ in range(2))
for first in (states[0], twins[0]):
    first.particle_q.assign(bent(model).astype(np.float32))
    first.orthotropic_contraction.assign(np.full(model.tet_count, 0.05, np.float32))
wanted = [nova.as_tensor(array, requires_grad=True) for array in
          (model.orthotropic_stiffness, model.orthotropic_frame, states[0].orthotropic_contraction)]
def roll(solver, states):
    for state, following in zip(states, states[1:]):
        state.clear_forces()
        solver.step(state, following, None, None, 1e-3)
with nova.Tape() as tape:
    roll(solver, states)
roll(plain, twins)
weights = np.random.default_rng(6).normal(size=(27, 3)).astype(np.float32)
tape.backward(nova.as_tensor(states[-1].particle_q), nova.tensor(weights))
same = np.array_equal(states[-1].particle_q.numpy(), twins[-1].particle_q.numpy())
carried = values(states[-1].orthotropic_contraction)[0]
def loss():
    roll(plain, twins)
    return float((twins[-1].particle_q.numpy().astype(np.float64) * weights).sum())
differences = []
for array, at, eps in ((model.orthotropic_stiffness, (3, 0), 2000.0), (model.orthotropic_stiffness, (17, 2), 2000.0),
                       (twins[0].orthotropic_contraction, (5,), 0.02), (twins[0].orthotropic_contraction, (30,), 0.02)):
    before, pair = array.numpy().copy(), []
    for sign in (1, -1):
        moved = before.copy()
        moved[at] += sign * eps
        array.assign(moved)
        pair.append(loss())
    array.assign(before)
    differences.append((pair[0] - pair[1]) / (2 * eps))
found = [wanted[0].grad.numpy()[3, 0], wanted[0].grad.numpy()[17, 2], wanted[2].grad.numpy()[5], wanted[2].grad.numpy()[30]]
result = {"same": same, "carried": carried, "found": np.array(found, float).tolist(), "wanted": differences,
          "frame": float(np.abs(wanted[1].grad.numpy()).max())}
""")
    assert result["same"] and result["carried"] == pytest.approx(0.05) and result["frame"] > 0
    np.testing.assert_allclose(result["found"], result["wanted"], rtol=2e-2)


def test_the_arrays_survive_the_builder_worlds_copies_and_pickles(measure):
    result = measure("""
import copy, pickle
part = block()
part.add_custom_array("orthotropic_stiffness", "tet", width=3, default=(1.0, 2.0, 3.0))
builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
builder.replicate(part, 2)
model, solver = made(builder=builder)
model.orthotropic_lambda.assign(np.arange(model.tet_count, dtype=np.float32))
result = [[m.tet_count, m.world_count, values(m.orthotropic_stiffness)[-1], values(m.orthotropic_lambda)[-1],
           values(m.orthotropic_frame)[-1], m.state().orthotropic_contraction.shape[0]]
          for m in (model, model.clone(), copy.deepcopy(model), pickle.loads(pickle.dumps(model)))]
state = model.state()
state.orthotropic_contraction.assign(np.full(model.tet_count, 0.5, np.float32))
result += [values(s.orthotropic_contraction)[-1] for s in (state.clone(), pickle.loads(pickle.dumps(state)))]
other = pickle.loads(pickle.dumps(model))
again = SolverSemiImplicit(other, forces=["orthotropic"])
result.append(values(other.orthotropic_lambda)[-1])
""")
    assert result[:4] == [[80, 2, [1.0, 2.0, 3.0], 79.0, [0.0, 0.0, 0.0, 1.0], 80]] * 4
    assert result[4:] == [0.5, 0.5, 79.0]


def test_an_array_of_another_width_is_refused_by_name(measure):
    assert measure("""
builder = block()
builder.add_custom_array("orthotropic_stiffness", "tet", width=1)
try:
    made(builder=builder)
except ValueError as error:
    result = str(error)
""") == ("SolverSemiImplicit: force 'orthotropic' of plugin 'own_arrays' wants the array 'orthotropic_stiffness' with 3 "
         "float32 for each tet, the model has one with 1 float32 for each tet")
