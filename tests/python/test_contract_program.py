# SPDX-License-Identifier: Apache-2.0
"""The first program of a user, word for word, and what a fresh process of it prints."""
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """\
import novaphy, numpy as np
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit

b = novaphy.ModelBuilder()
b.add_particle(pos=(0, -0.5, 1), vel=(0, 5, -5), mass=1.0)
cfg = novaphy.ModelBuilder.ShapeConfig(ke=1e4, kf=0, kd=10, mu=0.2)
b.add_shape_box(body=-1, xform=((0, 2, 1), (0, 0, 0, 1)), hx=1, hy=0.25, hz=1, cfg=cfg)
b.add_ground_plane(cfg=cfg)
model = b.finalize(requires_grad=True)
model.soft_contact_ke, model.soft_contact_kf, model.soft_contact_kd, model.soft_contact_mu = 1e4, 0, 10, 0.2
solver = DiffSemiImplicitSolver(model)
states = [model.state() for _ in range(289)]
control = model.control()
pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=10.0)
contacts = pipeline.contacts()
pipeline.collide(states[0], contacts)
v0 = ndiff.state_particle_qd_tensor(states[0], requires_grad=True)
with nova.Tape() as tape:
    for t in range(288):
        states[t].clear_forces()
        solver.step(states[t], states[t + 1], control, contacts, 1 / 480)
    loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[288]), 0, 0.0, -2.0, 1.5)
tape.backward(loss)
print(loss.item(), v0.grad.numpy())
"""


@pytest.fixture(scope="module")
def names():
    scope = {}
    exec(compile(PROGRAM, "first program", "exec"), scope)
    return scope


def test_the_first_program_prints_the_loss_and_the_gradient():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    loss, gradient = done.stdout.split(maxsplit=1)
    assert float(loss) == pytest.approx(9.105798, abs=1e-5)
    np.testing.assert_allclose([float(w) for w in gradient.strip("[] \n").split()], [0, -4.97276, -0.398628], atol=5e-5)


def test_values_are_float32_and_have_the_documented_shapes(names):
    assert names["loss"].shape == (1,)
    assert names["loss"].numpy().dtype == names["v0"].grad.numpy().dtype == np.float32
    assert names["v0"].grad.shape == names["v0"].shape == (1, 3)
    assert isinstance(names["loss"].item(), float)


def test_the_views_share_memory_and_gradient_with_the_arrays(names):
    ndiff, state, v0 = names["ndiff"], names["states"][0], names["v0"]
    again = ndiff.state_particle_qd_tensor(state)
    assert again.ptr == v0.ptr == state.particle_qd.ptr
    assert np.shares_memory(again.numpy(), state.particle_qd.numpy())
    assert state.particle_qd.grad.ptr == v0.grad.ptr == again.grad.ptr
    assert np.shares_memory(state.particle_qd.grad.numpy(), v0.grad.numpy())


def test_the_other_solver_gives_the_same_last_state(names):
    model = names["model"]
    solver = names["SolverSemiImplicit"](model)
    states = [model.state(), model.state()]
    for _ in range(288):
        states[0].clear_forces()
        solver.step(states[0], states[1], names["control"], names["contacts"], 1 / 480)
        states.reverse()
    assert np.array_equal(states[0].particle_q.numpy(), names["states"][288].particle_q.numpy())


def test_a_view_keeps_its_state_alive():
    scope = {}
    exec(compile(PROGRAM.split("with nova.Tape")[0], "first program", "exec"), scope)
    v0 = scope["v0"]
    scope.clear()
    assert v0.numpy().tolist() == [[0, 5, -5]]
