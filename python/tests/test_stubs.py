# SPDX-License-Identifier: Apache-2.0
"""The shipped type stubs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import novaphy

SOURCE = Path(__file__).resolve().parents[1]


def test_the_shipped_stubs_are_those_of_the_bindings(tmp_path):
    done = subprocess.run(
        [sys.executable, SOURCE / "src" / "stubs.py", "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_stub_is_python_and_lies_in_the_package():
    folder = Path(novaphy.__file__).parent
    names = ["_core/__init__.pyi", "nova.pyi", "diff.pyi", "solvers.pyi", "collision.pyi", "camera.pyi"]
    assert (folder / "py.typed").exists()
    for name in names:
        ast.parse((folder / name).read_text())


def test_every_public_name_of_a_lazy_module_stands_in_its_stub():
    for module in ("nova", "diff", "solvers", "collision", "camera"):
        tree = ast.parse((SOURCE / "novaphy" / f"{module}.pyi").read_text())
        defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        defined |= {a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
        assert set(getattr(novaphy, module).__all__) == defined


USER = """
import numpy as np
import novaphy
import novaphy.diff as ndiff
from novaphy import nova
from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit

b = novaphy.ModelBuilder(up_axis=novaphy.Axis.Z)
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
assert v0.grad is not None
print(loss.item(), v0.grad.numpy())
solver.step(states[0], states[1], None, None, 1 / 480)
SolverSemiImplicit(model).step(states[0], states[1], None, None, 1 / 480)
q: np.ndarray = states[0].particle_q.numpy()
states[0].particle_q = [[1, 2, 3]]
nova.zeros((2, 3), dtype=nova.DType.F32)
novaphy.plugins.configure(disable="nova_diff", paths=["more"])

@nova.kernel
def spring(x: nova.rows[nova.vec3], ij: nova.rows[nova.ivec2], ke: nova.uniform[float], n: nova.table[nova.vec3],
           f: nova.scatter[nova.vec3]):
    i, j = ij
    d = x[i] - x[j]
    length = nova.norm(d)
    force = nova.where(length > 0, d / length, 0.0) * (2 * ke * (length - 1))
    total = nova.total(nova.vec3())
    for s in nova.domain(n):
        total += nova.where(nova.dot(n[s], x) < 0, n[s], 0.0)
    f[i] -= force
    f[j] += force
    return total, nova.sum(nova.dot(d, d) + d.x ** 2)
spring(nova.zeros((2, 3)), [[0, 1]], 2.0, nova.zeros((1, 3)), out={"f": nova.zeros((2, 3))})
nova.uniform(2.0).requires_grad = True
print(spring.text(), nova.torch.function(spring))
"""
WRONG = """
import novaphy
from novaphy import nova
novaphy.ModelBuilder().add_partcle((0, 0, 0), (0, 0, 0), 1)
nova.Tape().backwards
nova.zeros(3).requires_gard = True
"""


def test_a_type_checker_accepts_a_users_program_and_finds_misspelt_names(tmp_path):
    pytest.importorskip("mypy")
    for name, text in (("user.py", USER), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "user.py", "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line.partition(": error: ")[0] for line in errors] == ["wrong.py:4", "wrong.py:5", "wrong.py:6"], (
        done.stdout
    )
