# SPDX-License-Identifier: Apache-2.0
"""Sample custom_force: wind in both semi-implicit solvers, its formula, its gradient, and what is said without Nova."""
import shutil
import subprocess

import numpy as np
import pytest
from project_tree import ROOT
from readme_commands import blocks

STEPS, DT, DENSITY = 50, 0.02, 1.225
PARTICLES = 7

# PARTICLES spheres in moving air; `scene()` gives the model, whose arrays the solver adds, and the states
SCENE = f"""
import json
import shutil
import subprocess
import numpy as np
import novaphy
from novaphy.solvers import SolverSemiImplicit

def start():
    random = np.random.default_rng(4)
    return {{"q": random.normal(size=({PARTICLES}, 3)), "qd": random.normal(size=({PARTICLES}, 3)) * 3,
            "mass": random.uniform(0.05, 0.2, {PARTICLES}), "radius": random.uniform(0.05, 0.2, {PARTICLES})}}

def scene(solver_class, **options):
    builder = novaphy.ModelBuilder(gravity=(0, 0, -9.81))
    for q, qd, mass, radius in zip(*start().values()):
        builder.add_particle(pos=q, vel=qd, mass=mass, radius=radius)
    model = builder.finalize()
    solver = solver_class(model, forces=["wind"], **options)
    model.wind_velocity.assign(np.array([6.0, -2.0, 1.0], np.float32))
    model.wind_drag.assign(np.linspace(0.2, 0.8, {PARTICLES}).astype(np.float32))
    return model, solver, [model.state() for _ in range({STEPS} + 1)]

def simulate(solver, states):
    for state, following in zip(states, states[1:]):
        solver.step(state, following, None, None, {DT})

def values(array):
    return np.asarray(array.numpy(), np.float64).tolist()
"""


@pytest.fixture(scope="module")
def measure(installed_sdk):
    return installed_sdk.measure("custom_force", SCENE)


def drag(velocity, radius, air, density, coefficient):
    u = air - velocity
    size = np.sqrt((u * u).sum(axis=-1, keepdims=True))
    return u * (density / 2 * coefficient * np.pi * radius ** 2)[:, None] * size


class Twin:
    """The same motion in float64, or over complex numbers: their imaginary parts carry derivatives."""

    def __init__(self, model):
        self.parameters = {name: np.array(value) for name, value in model.items()}

    def end(self, **changed):
        p = self.parameters | changed
        q, qd = p["q"], p["qd"]
        for _ in range(STEPS):
            force = drag(qd, p["radius"], p["air"], p["density"], p["drag"])
            qd = qd + (force * p["inv_mass"][:, None] + p["gravity"]) * DT
            q = q + qd * DT
        return q

    def gradient(self, name, weights):
        """d(sum of weights * end)/d(parameter) by complex steps."""
        out = np.zeros(self.parameters[name].shape)
        for at in np.ndindex(out.shape):
            value = self.parameters[name].astype(complex)
            value[at] += 1e-30j
            out[at] = (weights * self.end(**{name: value})).sum().imag / 1e-30
        return out


@pytest.fixture(scope="module")
def differentiated(measure):
    return measure("""
import novaphy.nova as nova
from novaphy.solvers import DiffSemiImplicitSolver
model, solver, states = scene(DiffSemiImplicitSolver)
arrays = {"air": model.wind_velocity, "density": model.wind_density, "drag": model.wind_drag,
          "radius": model.particle_radius, "q": states[0].particle_q, "qd": states[0].particle_qd}
wanted = {name: nova.as_tensor(array, requires_grad=True) for name, array in arrays.items()}
with nova.Tape() as tape:
    simulate(solver, states)
weights = np.random.default_rng(5).normal(size=states[-1].particle_q.shape).astype(np.float32)
tape.backward(nova.as_tensor(states[-1].particle_q), nova.tensor(weights))
start_values = {name: values(array) for name, array in arrays.items()}
start_values |= {"inv_mass": values(model.particle_inv_mass), "gravity": values(model.gravity)}
plain_model, plain, plain_states = scene(SolverSemiImplicit)
simulate(plain, plain_states)
result = {"start": start_values, "weights": weights.tolist(), "end": values(states[-1].particle_q),
          "gradients": {name: values(tensor.grad) for name, tensor in wanted.items()},
          "same": all(np.array_equal(a.particle_q.numpy(), b.particle_q.numpy()) and
                      np.array_equal(a.particle_qd.numpy(), b.particle_qd.numpy()) and
                      np.array_equal(a.particle_f.numpy(), b.particle_f.numpy()) for a, b in zip(states, plain_states))}
""")


def test_the_forward_step_adds_the_formula(measure):
    result = measure("""
model, solver, states = scene(SolverSemiImplicit)
states[0].particle_f.assign(np.full((7, 3), 0.5, np.float32))
simulate(solver, states[:2])
result = {"total": values(states[0].particle_f), "air": values(model.wind_velocity), "drag": values(model.wind_drag),
          "radius": values(model.particle_radius), "qd": values(states[0].particle_qd), "forces": solver.forces}
""")
    wanted = 0.5 + drag(np.array(result["qd"]), np.array(result["radius"]), np.array(result["air"]), DENSITY,
                        np.array(result["drag"]))
    np.testing.assert_allclose(result["total"], wanted, rtol=3e-6)
    assert result["forces"] == ["wind"]


def test_the_recorded_step_has_the_bits_of_the_forward_step(differentiated):
    assert differentiated["same"]


def test_gradients_are_those_of_a_float64_twin_through_fifty_steps(differentiated):
    twin, weights = Twin(differentiated["start"]), np.array(differentiated["weights"])
    np.testing.assert_allclose(differentiated["end"], twin.end(), atol=3e-5)
    for name, found in differentiated["gradients"].items():
        wanted = twin.gradient(name, weights)
        np.testing.assert_allclose(found, wanted, atol=2e-5 * np.abs(wanted).max(), err_msg=name)
        assert np.abs(wanted).max() > 1e-3, name


def test_the_gradient_of_one_coasting_sphere_is_the_product_of_its_steps(measure):
    """Along one axis: v' = v + k (w - v)^2 dt, so dv'/dw = 2 k (w - v) dt + (1 - 2 k (w - v) dt) dv/dw."""
    result = measure("""
import novaphy.nova as nova
from novaphy.solvers import DiffSemiImplicitSolver
builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
builder.add_particle(pos=(0, 0, 0), vel=(1, 0, 0), mass=0.25, radius=0.25)
model = builder.finalize()
solver = DiffSemiImplicitSolver(model, forces=["wind"])
model.wind_velocity.assign(np.array([9.0, 0.0, 0.0], np.float32))
wind = nova.as_tensor(model.wind_velocity, requires_grad=True)
states = [model.state() for _ in range(51)]
with nova.Tape() as tape:
    simulate(solver, states)
tape.backward(nova.as_tensor(states[-1].particle_q), nova.tensor(np.array([[1.0, 0.0, 0.0]], np.float32)))
result = wind.grad.numpy().tolist()
""")
    k, w, v, by_w, wanted = DENSITY / 2 * 0.47 * np.pi * 0.25 ** 2 / 0.25, 9.0, 1.0, 0.0, 0.0
    for _ in range(STEPS):
        slope = 2 * k * (w - v) * DT
        v, by_w = v + k * (w - v) ** 2 * DT, slope + (1 - slope) * by_w
        wanted += by_w * DT
    assert result[0] == pytest.approx(wanted, rel=2e-6)
    assert result[1:] == [0.0, 0.0]


def test_a_rollout_within_a_budget_has_the_gradient_of_one_tape(measure):
    result = measure("""
import novaphy.nova as nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver
result = []
for budget in (None, 6000):
    model, solver, states = scene(DiffSemiImplicitSolver)
    wind = nova.as_tensor(model.wind_velocity, requires_grad=True)
    roll = ndiff.Rollout(solver, None, None, 0.02, substeps=50, memory_budget=budget)
    loss = roll(states[0], lambda state: ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(state), 2, 1.0, 2.0, 3.0))
    roll.backward()
    result.append([loss.item(), values(wind.grad), roll.estimate])
""")
    assert result[0][:2] == result[1][:2]
    assert result[0][2].startswith("all states") and not result[1][2].startswith("all states")


def test_parameters_go_with_the_model(measure):
    assert measure("""
import copy, pickle
model, solver, states = scene(SolverSemiImplicit)
result = [[values(m.wind_velocity), values(m.wind_drag) == values(model.wind_drag)]
          for m in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model))]
""") == [[[6.0, -2.0, 1.0], True]] * 3


def test_without_nova_the_forward_step_has_the_same_bits_and_the_other_solver_says_what_lacks(measure, differentiated):
    result = measure("""
model, solver, states = scene(SolverSemiImplicit)
simulate(solver, states)
result = {"end": values(states[-1].particle_q)}
try:
    from novaphy.solvers import DiffSemiImplicitSolver
except novaphy.PluginNotAvailableError as error:
    result["text"] = str(error)
""", first='import novaphy; novaphy.plugins.configure(disable=["nova_diff"])')
    assert result["end"] == differentiated["end"]
    assert "DiffSemiImplicitSolver: module 'semi_implicit_diff' of plugin 'semi_implicit' isn't loaded" in result["text"]
    assert "'nova'" in result["text"] and "disabled" in result["text"]


def test_names_that_there_are_not_are_told_with_the_nearest_and_all(measure):
    text = measure("""
try:
    model, solver, states = scene(SolverSemiImplicit)
    SolverSemiImplicit(model, forces=["wnd"])
except novaphy.PluginNotAvailableError as error:
    result = str(error)
""")
    assert text.startswith("SolverSemiImplicit: forces: no novaphy.x.IForce/1 is named 'wnd'; did you mean 'wind'? "
                           "There are: wind; searched: ")


def test_arrays_of_a_force_that_no_solver_has_added_are_told_with_the_force(measure):
    assert measure("""
model = novaphy.ModelBuilder().finalize()
result = []
for target in (model, model.state()):
    for ask in (lambda: target.wind_velocity, lambda: setattr(target, "wind_velocity", (1, 0, 0))):
        try:
            ask()
        except AttributeError as error:
            result.append(str(error))
""") == 2 * ["'Model' has no attribute 'wind_velocity'; the arrays of force 'wind' are added by a solver that is made with "
             "forces=['wind']"] + 2 * [
             "'SimState' has no attribute 'wind_velocity'; the arrays of force 'wind' are added by a solver that is made "
             "with forces=['wind'], to states that are made after it"]


def test_the_config_takes_forces_too_and_pickles(measure):
    assert measure("""
import pickle
from novaphy.solvers import DiffSemiImplicitSolver, DiffSolverConfig
config = pickle.loads(pickle.dumps(DiffSolverConfig(forces=["wind"])))
model = scene(SolverSemiImplicit)[0]
result = [DiffSemiImplicitSolver(model, config).forces, config == DiffSolverConfig(forces=["wind"])]
try:
    DiffSemiImplicitSolver(model, config, forces=["gust"])
except ValueError as error:
    result.append(str(error))
""") == [["wind"], True, "DiffSemiImplicitSolver: forces are given twice, in the config too; give them once"]


def test_the_program_of_the_sample_finds_the_wind(installed_sdk):
    program = (ROOT / "samples/custom_force/find_the_wind.py").read_text()
    printed = installed_sdk.python(program, plugins=installed_sdk.sample("custom_force")).stdout
    assert float(printed.split()[1]) < 0.02


def test_a_literal_in_double_is_refused_while_compiling(installed_sdk, tmp_path):
    source = tmp_path / "custom_force"
    shutil.copytree(ROOT / "samples/custom_force", source)
    formula = source / "formula/wind.h"
    formula.write_text(formula.read_text().replace("T(0.5f)", "0.5"))
    build, _ = installed_sdk.configure(source)
    done = subprocess.run(["cmake", "--build", build], capture_output=True, text=True, env=installed_sdk.environment())
    assert done.returncode != 0
    assert "literals of a formula are float32: write 0.1f instead of 0.1" in done.stdout + done.stderr


def test_the_guides_code_is_that_of_the_sample():
    guide, sample = ROOT / "sdk/docs/differentiable_force.md", ROOT / "samples/custom_force"
    shown = blocks(guide, "cpp") + blocks(guide, "python")
    assert len(shown) == 4
    for block in shown:
        first, code = block.split("\n", 1)
        assert code in (sample / first.split()[1]).read_text(), first
    assert blocks(guide, "json") == [(sample / "custom_force.novaplugin.json").read_text()]
    assert (sample / "CMakeLists.txt").read_text().endswith(blocks(guide, "cmake")[0])
    assert blocks(guide, "bash") == blocks(sample / "README.md", "bash")
