# SPDX-License-Identifier: Apache-2.0
"""Both solvers as Python sees them: options, properties, steps in place, what a configuration holds."""
import copy
import pickle

import numpy as np
import pytest

import novaphy
from novaphy.solvers import DiffSemiImplicitSolver, DiffSolverConfig, SolverSemiImplicit


@pytest.fixture
def model():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 1), vel=(1, 0, 0), mass=1.0)
    return builder.finalize()


def test_a_step_in_place_equals_a_step_between_states(model):
    solver = SolverSemiImplicit(model)
    first, second, same = model.state(), model.state(), model.state()
    solver.step(first, second, None, None, 0.125)
    solver.step(same, same, None, None, 0.125)
    assert np.array_equal(same.particle_q.numpy(), second.particle_q.numpy())
    assert second.particle_q.numpy()[0, 0] == 0.125
    assert solver.supports_in_place and not DiffSemiImplicitSolver(model).supports_in_place


def test_a_configuration_keeps_what_it_was_given():
    config = DiffSolverConfig(angular_damping=0.5, friction_smoothing=2.0, friction_law="newton1.7", soft_contact_margin=0.25,
                              enable_rigid=False, strict=False)
    assert (config.angular_damping, config.friction_smoothing, config.friction_law) == (0.5, 2.0, "newton1.7")
    assert (config.soft_contact_margin, config.enable_rigid, config.strict) == (0.25, False, False)
    assert config.enable_particles and config.enable_tetrahedra and config.enable_triangles and config.enable_contacts
    with pytest.raises(TypeError):
        DiffSolverConfig(0.5)


def test_a_configuration_can_be_copied_pickled_compared_and_shown():
    config = DiffSolverConfig(friction_law="newton1.7", strict=False)
    for twin in (copy.deepcopy(config), pickle.loads(pickle.dumps(config))):
        assert twin == config and twin is not config
    assert config != DiffSolverConfig()
    assert repr(config).startswith("DiffSolverConfig(angular_damping=") and "strict=False" in repr(config)


def test_solvers_say_what_they_are(model):
    solver = DiffSemiImplicitSolver(model, DiffSolverConfig(strict=False))
    assert (solver.name, solver.supports_graph_capture, solver.skipped) == ("semi_implicit_diff", False, [])
    assert solver.model is model and not solver.config.strict
    solver.config.strict = True  # of a copy
    assert not solver.config.strict
    assert SolverSemiImplicit(model, angular_damping=0.0).name == "semi_implicit"


def test_forward_only_records_nothing(model):
    from novaphy import nova
    solver = DiffSemiImplicitSolver(model)
    solver.forward_only = True
    with nova.Tape() as tape:
        solver.step(model.state(), model.state(), None, None, 0.1)
    assert tape.record_count == 0


@pytest.mark.parametrize("given, text", [
    ("wind", "forces is the str 'wind'; give a list of names, forces=['wind']"),
    ({"wind"}, "forces wants a list or tuple of names, in the order of addition; got set"),
    (iter(["wind"]), "forces wants a list or tuple of names, in the order of addition; got list_iterator"),
    (b"wind", "forces wants a list or tuple of names, in the order of addition; got bytes"),
    (["wind", 3], "forces[1] is 3; give the name of a force, a str"),
])
def test_forces_are_an_ordered_sequence_of_names(given, text):
    model = novaphy.ModelBuilder().finalize()
    config = DiffSolverConfig()
    refused = {
        "SolverSemiImplicit": lambda: SolverSemiImplicit(model, forces=given),
        "DiffSemiImplicitSolver": lambda: DiffSemiImplicitSolver(model, forces=given),
        "DiffSolverConfig": lambda: DiffSolverConfig(forces=given),
    }
    for who, make in refused.items():
        with pytest.raises(TypeError) as error:
            make()
        assert str(error.value) == f"{who}: {text}"
    with pytest.raises(TypeError) as error:
        config.forces = given
    assert str(error.value) == f"DiffSolverConfig: {text}"
    config.forces = ("wind", "gust")
    assert config.forces == ["wind", "gust"]
