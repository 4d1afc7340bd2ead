# SPDX-License-Identifier: Apache-2.0
"""novaphy beside torch, JAX and warp, imported in every order: each then takes a step and a gradient of its own, with the
numbers that it has alone."""
import importlib.util
import itertools
import subprocess
import sys

import pytest

PRESENT = [name for name in ("torch", "jax", "warp") if importlib.util.find_spec(name)]
PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)

def of_novaphy():
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    builder = novaphy.ModelBuilder()
    for k in range(5000):  # enough rows for several threads
        builder.add_particle(pos=(0, 0, 1 + 1e-4 * k), vel=(0, 0, 0), mass=1.0)
    model = builder.finalize(requires_grad=True)
    solver, states = DiffSemiImplicitSolver(model), [model.state() for _ in range(4)]
    with nova.Tape() as tape:
        for now, then in zip(states, states[1:]):
            solver.step(now, then, None, None, 0.01)
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, 0.0, 0.0, 0.0)
    tape.backward(loss)
    return loss.item(), float(states[0].particle_q.grad.numpy()[0, 2])

def of_torch():
    import torch
    x = torch.ones(3, requires_grad=True)
    (x * x).sum().backward()
    return x.grad.tolist()

def of_jax():
    import jax
    return jax.grad(lambda x: x * x)(3.0).item()

def of_warp():
    import warp as wp
    wp.config.quiet = True
    x = wp.ones(3, dtype=float, device="cpu", requires_grad=True)
    y = wp.zeros(3, dtype=float, device="cpu", requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.copy(y, x)
    tape.backward(grads={y: wp.ones(3, dtype=float, device="cpu")})
    return x.grad.numpy().tolist()

print("results", [globals()["of_" + name]() for name in sorted(sys.argv[1:])])
"""


def results(order):
    done = subprocess.run([sys.executable, "-c", PROGRAM, *order], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{order}: exit code {done.returncode}\n{done.stderr}"
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def alone():
    """What each gives in a process of its own."""
    import ast
    return {name: ast.literal_eval(results([name]).removeprefix("results "))[0] for name in ("novaphy", *PRESENT)}


@pytest.mark.parametrize("order", list(itertools.permutations(["novaphy", *PRESENT])), ids=" ".join)
def test_every_order_of_imports_works_and_gives_the_same_numbers(order, alone):
    assert results(order) == f"results {[alone[name] for name in sorted(order)]}"
