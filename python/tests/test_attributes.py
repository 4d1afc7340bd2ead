# SPDX-License-Identifier: Apache-2.0
"""Attributes of models and states: assignment copies, names that do not exist raise with the nearest one."""

import numpy as np
import pytest

import novaphy
from novaphy import nova


@pytest.mark.parametrize(
    "name, message",
    [
        ("ground", "'Model' has no attribute 'ground'; the ground is a shape: builder.add_ground_plane()"),
        ("particle_mas", "'Model' has no attribute 'particle_mas'; did you mean 'particle_mass'?"),
        ("xyzzy", "'Model' has no attribute 'xyzzy'"),
        ("wind_velocity", "'Model' has no attribute 'wind_velocity'"),
    ],
)
def test_an_attribute_that_does_not_exist_is_neither_read_nor_made(model, name, message):
    with pytest.raises(AttributeError) as caught:
        getattr(model, name)
    assert str(caught.value) == message
    with pytest.raises(AttributeError) as caught:
        setattr(model, name, True)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "make, wrong, near",
    [
        (lambda model: model.state(), "particle_qq", "particle_q"),
        (lambda model: model.control(), "joint_ff", "joint_f"),
        (lambda model: model.contacts(), "soft_contact_cout", "soft_contact_count"),
        (lambda model: novaphy.ModelBuilder(), "add_partcle", "add_particle"),
        (lambda model: novaphy.ModelBuilder.ShapeConfig(), "restitutoin", "restitution"),
    ],
)
def test_every_object_of_the_model_names_the_nearest_attribute(model, make, wrong, near):
    target = make(model)
    with pytest.raises(AttributeError, match=f"did you mean '{near}'"):
        setattr(target, wrong, 1)


def test_an_unknown_keyword_of_a_configuration_is_a_type_error_with_the_nearest_name():
    with pytest.raises(
        TypeError, match="'ShapeConfig' has no attribute 'restitutoin'; did you mean 'restitution'"
    ):
        novaphy.ModelBuilder.ShapeConfig(restitutoin=1.0)


def test_a_gradient_is_dropped_by_name_not_by_assignment(model):
    for target, advice in [(nova.Tensor(model.particle_mass), "zero_grad() drops the gradient"),
                           (model.particle_mass, "nova.as_tensor(array).zero_grad() drops the gradient")]:
        with pytest.raises(AttributeError) as caught:
            target.grad = None
        assert str(caught.value) == f"'{type(target).__name__}.grad' cannot be assigned; {advice}"


def test_a_number_is_assigned_to_the_only_element(model):
    model.particle_mass = 2.5
    assert model.particle_mass.tolist() == [2.5]
    model.particle_mass.assign(np.float64(1.5))
    assert model.particle_mass.tolist() == [1.5]
    nova.Tensor(model.particle_mass).assign(3)
    assert model.particle_mass.tolist() == [3.0]
    with pytest.raises(novaphy.ShapeMismatchError) as caught:
        model.particle_q = 1.0
    assert str(caught.value) == "'particle_q' of model wants float32 of shape (1, 3), got float64 of shape ()"


def test_assigning_copies_into_the_storage(model):
    state = model.state()
    held = state.particle_q
    address, version = held.ptr, held.version
    state.particle_q = [[1, 2, 3]]
    assert held.tolist() == [[1, 2, 3]]
    assert state.particle_q.ptr == address and state.particle_q.version == version + 1


def test_a_refused_assignment_leaves_the_values(model):
    state = model.state()
    before = state.particle_q.numpy().copy()
    with pytest.raises(novaphy.ShapeMismatchError) as caught:
        state.particle_q = np.zeros((1, 4))
    assert (
        str(caught.value)
        == "'particle_q' of state #0 wants float32 of shape (1, 3), got float64 of shape (1, 4)"
    )
    assert np.array_equal(state.particle_q.numpy(), before)


def test_contact_scalars_are_columns_of_a_material_array(model):
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_kf = 1e4, 10, 0
    model.soft_contact_mu, model.soft_contact_restitution = 0.2, 1.0
    assert model.soft_contact_material.tolist() == pytest.approx([1e4, 10, 0, 0.2, 1.0])
    model.particle_ke = 7
    assert model.particle_contact_material[0] == 7
    with pytest.raises(TypeError, match="Model.soft_contact_ke"):
        model.soft_contact_ke = "stiff"


def test_defaults_are_newtons(model):
    assert [
        model.soft_contact_ke,
        model.soft_contact_kd,
        model.soft_contact_kf,
        model.soft_contact_mu,
        model.soft_contact_restitution,
    ] == [1000, 10, 1000, 0.5, 0]
    assert [
        model.particle_ke,
        model.particle_kd,
        model.particle_kf,
        model.particle_mu,
        model.particle_cohesion,
        model.particle_adhesion,
    ] == [1000, 100, 100, 0.5, 0, 0]
    cfg = novaphy.ModelBuilder.ShapeConfig()
    assert (cfg.density, cfg.ke, cfg.kd, cfg.kf, cfg.ka, cfg.mu, cfg.gap, cfg.collision_group) == (
        1000,
        2500,
        100,
        1000,
        0,
        1,
        None,
        1,
    )
    dof = novaphy.ModelBuilder.JointDofConfig()
    assert (dof.axis, dof.limit_ke, dof.limit_kd, dof.armature, dof.effort_limit) == (
        (1, 0, 0),
        1e4,
        10,
        0,
        1e6,
    )


def test_particles_do_not_act_on_each_other_unless_asked_for_it(model):
    assert model.particle_grid is None
    model.particle_grid = novaphy.ParticleGrid()
    assert repr(model.particle_grid) == "ParticleGrid()"
    model.particle_grid = None
    assert model.particle_grid is None
    with pytest.raises(TypeError, match="Model.particle_grid: got object; give novaphy.ParticleGrid()"):
        model.particle_grid = object()


def test_newtons_names_of_the_material_arrays_are_the_same_arrays():
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(
        pos=(0, 0, 1),
        rot=(0, 0, 0, 1),
        vel=(0, 0, 0),
        dim_x=1,
        dim_y=1,
        dim_z=1,
        cell_x=0.1,
        cell_y=0.1,
        cell_z=0.1,
        density=10.0,
        k_mu=1e3,
        k_lambda=1e3,
        k_damp=0.0,
    )
    model = builder.finalize()
    assert model.tet_materials.ptr == model.particle_tet_material.ptr
    assert model.tet_activations.ptr == model.particle_tet_activation.ptr
    assert model.tri_materials.ptr == model.particle_tri_material.ptr
    assert model.tri_activations.ptr == model.particle_tri_activation.ptr
    model.tet_materials = np.ones((model.tet_count, 3))
    assert model.particle_tet_material.tolist() == [[1, 1, 1]] * 5
    assert model.tet_poses.shape == (5, 3, 3) and model.tri_poses.shape == (model.tri_count, 2, 2)


@pytest.mark.parametrize(
    "old, new",
    [
        ("joint_target_pos", "joint_target_q"),
        ("joint_target", "joint_target_q"),
        ("joint_target_vel", "joint_target_qd"),
    ],
)
def test_old_names_work_and_warn(model, old, new):
    for target in (model, model.control()):
        with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now"):
            assert getattr(target, old).ptr == getattr(target, new).ptr


def test_custom_arrays_are_attributes_of_their_owner():
    builder = novaphy.ModelBuilder()
    builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    builder.add_custom_array("temperature", "particle", width=2, default=(293.0, 1.0), owner="state")
    model = builder.finalize()
    state = model.state()
    assert state.temperature.tolist() == [[293.0, 1.0]]
    state.temperature = [[300.0, 2.0]]
    assert state.clone().temperature.tolist() == [[300.0, 2.0]]
    assert "temperature" in dir(state) and "temperature" in state.array_names()
    model.add_custom_array("colour", "particle", dtype="uint8", width=3, default=255)
    assert model.colour.dtype == np.uint8 and model.colour.tolist() == [[255, 255, 255]]
    with pytest.raises(ValueError):
        model.add_custom_array("particle_mass", "particle")
    with pytest.raises(ValueError, match="frequency 'particles' is not one of once, world, particle"):
        model.add_custom_array("x", "particles")


def test_gravity_has_a_row_a_world(model):
    model.set_gravity((0, 0, -1))
    assert model.gravity.tolist() == [[0, 0, -1]]
    with pytest.raises(IndexError):
        model.set_gravity((0, 0, -1), world=1)
