# SPDX-License-Identifier: Apache-2.0
"""novaphy.diff.Rollout with wrong arguments, and with callbacks that give something else the second time."""
import pickle

import numpy as np
import pytest

import novaphy
from novaphy import diff as ndiff
from novaphy import nova


@pytest.fixture
def model():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 0.5), vel=(1, 0, -1), mass=1.0, radius=0.1)
    return builder.finalize(requires_grad=True)


def rollout(model, **options):
    solver = novaphy.solvers.DiffSemiImplicitSolver(model)
    return ndiff.Rollout(solver, model.control(), None, 0.01, **{"substeps": 40, **options})


@pytest.mark.parametrize("substeps, kind", [(1.5, "float"), (True, "bool"), ("3", "str"), (None, "NoneType")])
def test_a_number_of_steps_is_an_integer(model, substeps, kind):
    with pytest.raises(TypeError) as raised:
        rollout(model, substeps=substeps)
    assert str(raised.value) == f"Rollout: substeps is a {kind}; give an integer of at least 1"


def test_what_is_no_solver_is_told():
    with pytest.raises(TypeError) as raised:
        ndiff.Rollout(None, None, None, 0.01, 3)
    assert str(raised.value) == "Rollout: solver is a NoneType; give a solver such as DiffSemiImplicitSolver"


def test_a_start_of_another_model_is_refused_whatever_its_sizes(model):
    roll = rollout(model, loss=lambda s: nova.sum(nova.Tensor(s.particle_q)))
    with pytest.raises(ValueError) as raised:
        roll(model.clone().state())
    assert str(raised.value) == ("novaphy.diff.Rollout: the start, state #0, was made by another model; take it from state() "
                                 "of the solver's model")
    assert roll(model.state().clone()).item() == roll(pickle.loads(pickle.dumps(model.state()))).item()


def test_a_budget_of_any_size_is_taken(model):
    roll = rollout(model, memory_budget=10**30)
    assert roll(model.state(), lambda s: nova.sum(nova.Tensor(s.particle_q))).size == 1


@pytest.mark.parametrize("budget", ["8 KB", 3000])
def test_a_loss_that_is_another_one_the_second_time_is_refused(model, budget):
    rng = np.random.default_rng(0)
    state = model.state()
    speed = ndiff.state_particle_qd_tensor(state, requires_grad=True)
    roll = rollout(model, memory_budget=budget,
                   loss_each=lambda step, s: nova.sum(nova.Tensor(s.particle_q)) * float(rng.uniform()))  # fmt: skip
    roll(state)
    with pytest.raises(novaphy.StaleRecordError, match=(
        r"^novaphy.diff.Rollout: the loss after \d+ steps was another one when it was computed again for backward; it must "
        "be the same each time, or give a larger memory_budget$")):  # fmt: skip
        roll.backward()
    assert speed.grad is None
