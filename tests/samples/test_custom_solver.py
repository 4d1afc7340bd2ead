# SPDX-License-Identifier: Apache-2.0
"""Sample custom_solver: a third party's solver in novaphy.solvers, and its physics."""

import pytest

# n particles in a row along x, one metre apart, each tied to the next; prints what `measure` returns as JSON
SCENE = """
import json, math
import numpy as np
import novaphy

def chain(n, gravity=(0.0, 0.0, 0.0), fixed=True, ke=2000.0, mass=0.5, **options):
    builder = novaphy.ModelBuilder()
    for i in range(n):
        builder.add_particle(pos=(float(i), 0.0, 0.0), vel=(0.0, 0.0, 0.0), mass=0.0 if fixed and i == 0 else mass)
    for i in range(n - 1):
        builder.add_spring(i, i + 1, ke=ke, kd=0.0, control=0.0)
    model = builder.finalize()
    model.set_gravity(gravity)
    return model, novaphy.solvers.SolverPBD(model, **options)

def simulate(model, solver, steps, dt, velocity=None, force=None):
    state, other = model.state(), model.state()
    if velocity is not None:
        state.particle_qd.assign(np.asarray(velocity, np.float32))
    for _ in range(steps):
        state.clear_forces()
        if force is not None:
            state.particle_f.assign(np.asarray(force, np.float32))
        solver.step(state, other, None, None, dt)
        state, other = other, state
    return state, other

def lengths(state):
    return np.linalg.norm(np.diff(state.particle_q.numpy(), axis=0), axis=1)
"""


@pytest.fixture(scope="module")
def measure(installed_sdk):
    return installed_sdk.measure("custom_solver", SCENE)


def test_it_stands_among_the_solvers_and_in_the_report(measure):
    result = measure("""
row = next(row for row in novaphy.plugins.report() if row.plugin == "acme_pbd")
result = ["SolverPBD" in dir(novaphy.solvers), row.state, novaphy.solvers.SolverPBD.__module__,
          isinstance(chain(2)[1], novaphy.solvers.SolverPBD.__mro__[1]), chain(2)[1].name]
""")
    assert result == [True, "ready", "novaphy.solvers", True, "acme_pbd"]


def test_a_swinging_chain_keeps_its_lengths_and_its_anchor(measure):
    result = measure("""
model, solver = chain(6, gravity=(0, 0, -9.81), iterations=200)
worst = lowest = 0.0
state, other = model.state(), model.state()
for _ in range(400):
    state.clear_forces()
    solver.step(state, other, None, None, 0.005)
    state, other = other, state
    worst = max(worst, float(abs(lengths(state) - 1).max()))
    lowest = min(lowest, float(state.particle_q.numpy()[-1, 2]))
result = [worst, state.particle_q.numpy()[0].tolist(), lowest]
""")
    assert result[0] < 2e-3
    assert result[1] == [0, 0, 0]
    assert result[2] < -4  # it did swing


def test_springs_give_way_by_weight_over_stiffness(measure):
    """A hanging mass at rest: extension = m g / ke."""
    result = measure("""
model, solver = chain(2, gravity=(9.81, 0, 0), ke=200.0, stiffness="springs", damping=4.0)
state, _ = simulate(model, solver, 2000, 0.005)
result = [float(lengths(state)[0]) - 1, float(abs(state.particle_qd.numpy()).max())]
""")
    assert result[0] == pytest.approx(0.5 * 9.81 / 200, rel=2e-3)
    assert result[1] < 1e-4


def test_free_chains_keep_their_momentum_and_nearly_their_spin(measure):
    result = measure("""
model, solver = chain(5, fixed=False, iterations=100)
velocity = np.random.default_rng(7).normal(size=(5, 3))
def momenta(state, q):
    p = 0.5 * state.particle_qd.numpy()
    return p.sum(axis=0), np.cross(q - q.mean(axis=0), p).sum(axis=0)
state, before = simulate(model, solver, 1, 0.001, velocity)
first = momenta(state, state.particle_q.numpy())
state, _ = simulate(model, solver, 500, 0.001, velocity)
last = momenta(state, state.particle_q.numpy())
result = [[part.tolist() for part in pair] for pair in (first, last)] + [(0.5 * velocity.sum(axis=0)).tolist()]
""")
    (linear, angular), (linear_later, angular_later), given = result
    assert linear == pytest.approx(given, abs=2e-6) and linear_later == pytest.approx(given, abs=1e-4)
    scale = max(map(abs, angular))
    assert all(abs(a - b) < 0.03 * scale for a, b in zip(angular, angular_later))


def test_a_step_reports_the_force_that_acted(measure):
    """On two tied masses pulled at one: each force is mass times acceleration."""
    result = measure("""
model, solver = chain(2, fixed=False)
state, other = model.state(), model.state()
state.particle_f.assign(np.array([[0, 0, 0], [3, 0, 0]], np.float32))
solver.step(state, other, None, None, 0.01)
result = [state.particle_f.numpy().tolist(), (0.5 * other.particle_qd.numpy() / 0.01).tolist()]
""")
    forces, changes = result
    assert forces[0] == pytest.approx([1.5, 0, 0], abs=1e-3) and forces[1] == pytest.approx([1.5, 0, 0], abs=1e-3)
    for force, change in zip(forces, changes):
        assert force == pytest.approx(change, abs=1e-3)


def test_a_step_in_place_is_the_same_step(measure):
    result = measure("""
values = []
for in_place in (False, True):
    model, solver = chain(4, gravity=(0, 0, -9.81))
    state = model.state()
    for _ in range(20):
        other = state if in_place else model.state()
        solver.step(state, other, None, None, 0.01)
        state = other
        state.clear_forces()
    values.append(state.particle_q.numpy().tolist())
result = values[0] == values[1]
""")
    assert result is True


def test_what_falls_on_the_ground_stays_on_it(measure):
    result = measure("""
builder = novaphy.ModelBuilder()
for i in range(3):
    builder.add_particle(pos=(0.5 * i, 0, 0.4), vel=(1, 0, 0), mass=1.0, radius=0.1)
builder.add_spring(0, 1, ke=100.0, kd=0.0, control=0.0)
builder.add_ground_plane()
model = builder.finalize()
solver, pipeline = novaphy.solvers.SolverPBD(model), novaphy.CollisionPipeline(model)
contacts, state, other = pipeline.contacts(), model.state(), model.state()
for _ in range(200):
    state.clear_forces()
    pipeline.collide(state, contacts)
    solver.step(state, other, None, contacts, 0.005)
    state, other = other, state
result = [state.particle_q.numpy().tolist(), other.particle_f.numpy().tolist()]
""")
    for x, (position, force) in enumerate(zip(*result)):
        assert position == pytest.approx([0.5 * x + 1.0, 0, 0.1], abs=1e-4)  # no friction: it slides on
        assert force == pytest.approx([0, 0, 9.81], rel=1e-3, abs=1e-3)      # what the ground bears


def test_options_come_from_the_host_and_are_checked_against_the_manifest(measure):
    result = measure("""
novaphy.plugins.configure(config={"acme_pbd": {"iterations": 7, "stiffness": "springs"}})
_, solver = chain(2)
_, own = chain(2, iterations=3, stiffness="rigid", damping=0.5)
result = [solver.iterations, solver.stiffness, solver.damping, own.iterations, own.stiffness, own.damping]
""")
    assert result == [7, "springs", 0.0, 3, "rigid", 0.5]
    said = measure("""
novaphy.plugins.configure(config={"acme_pbd": {"iterations": 0}})
try:
    chain(2)
    result = "nothing"
except novaphy.NovaPhyError as error:
    result = str(error)
""")
    assert "#/config/acme_pbd/iterations: 0 is below min 1" in said


WRONG = {
    "chain(2, iterations=0)": "SolverPBD: iterations is 0; give a number from 1 to 1000",
    "chain(2, stiffness='soft')": "SolverPBD: stiffness is 'soft'; give 'rigid' or 'springs'",
    "chain(2, damping=-1.0)": "SolverPBD: damping is -1; give a rate of at least 0, in 1/s",
    "solver.step(model.state(), model.state(), None, None, 0.0)": "SolverPBD.step: dt is 0; give a positive time in s",
    "solver.step(chain(3)[0].state(), model.state(), None, None, 0.1)":
        "SolverPBD.step: a state has 3 particles, the model has 2; take it from this model's state()",
    "solver.step(model.state(), model.state(), None, novaphy.CollisionPipeline(chain(3)[0]).contacts(), 0.1)":
        "SolverPBD.step: contacts were made for another model; take them from a pipeline of this one",
    "novaphy.solvers.SolverPBD(None)": "SolverPBD: model wants a novaphy.Model, got None",
    "novaphy.solvers.SolverPBD(cloth())":
        "SolverPBD: the model has 2 triangles, which this solver does not step; it steps particles and springs",
}


def test_what_is_wrong_is_one_sentence(measure):
    said = measure(f"""
def cloth():
    builder = novaphy.ModelBuilder()
    builder.add_cloth_grid(pos=(0, 0, 0), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=1, dim_y=1, cell_x=1, cell_y=1, mass=1)
    return builder.finalize()

model, solver = chain(2)
result = {{}}
for call in {list(WRONG)!r}:
    try:
        eval(call)
    except Exception as error:
        result[call] = str(error)
""")
    assert said == WRONG
