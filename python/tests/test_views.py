# SPDX-License-Identifier: Apache-2.0
"""The twelve tensor views: same memory, same gradient, shapes as documented, also where there is nothing."""

import gc

import numpy as np
import pytest

import novaphy
import novaphy.diff as ndiff
from novaphy import nova

STATE_VIEWS = {
    "state_particle_q_tensor": ("particle_q", (8, 3)),
    "state_particle_qd_tensor": ("particle_qd", (8, 3)),
    "state_particle_f_tensor": ("particle_f", (8, 3)),
    "state_body_q_tensor": ("body_q", (1, 7)),
    "state_body_qd_tensor": ("body_qd", (1, 6)),
    "state_body_f_tensor": ("body_f", (1, 6)),
    "state_joint_q_tensor": ("joint_q", (7,)),
    "state_joint_qd_tensor": ("joint_qd", (6,)),
}
MODEL_VIEWS = {
    "model_tet_activation_tensor": ("particle_tet_activation", (5,)),
    "model_tet_material_tensor": ("particle_tet_material", (5, 3)),
    "model_tri_activation_tensor": ("particle_tri_activation", (12,)),
    "model_tri_material_tensor": ("particle_tri_material", (12, 5)),
}
VIEWS = {**STATE_VIEWS, **MODEL_VIEWS}


@pytest.fixture
def soft_model():
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
    body = builder.add_body(mass=1.0)
    builder.add_shape_box(body)
    return builder.finalize()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_shares_memory_and_has_the_documented_shape(soft_model, name):
    array_name, shape = VIEWS[name]
    owner = soft_model.state() if name in STATE_VIEWS else soft_model
    array = getattr(owner, array_name)
    view = getattr(ndiff, name)(owner)
    assert view.shape == shape and view.ptr == array.ptr and not view.requires_grad
    array.fill_(0.25)
    assert np.array_equal(view.numpy(), np.full(shape, 0.25, np.float32))
    again = getattr(ndiff, name)(owner, requires_grad=True)
    assert again.requires_grad and again.ptr == array.ptr and again.grad is None


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_nothing_has_no_rows(name):
    model = novaphy.ModelBuilder().finalize()
    owner = model.state() if name in STATE_VIEWS else model
    view = getattr(ndiff, name)(owner)
    assert view.shape == (0, *VIEWS[name][1][1:])
    assert view.numpy().shape == view.shape


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_the_wrong_object_is_a_type_error(soft_model, name):
    with pytest.raises(TypeError):
        getattr(ndiff, name)(soft_model if name in STATE_VIEWS else soft_model.state())


def test_views_of_one_array_share_their_gradient_with_the_array(soft_model):
    state = soft_model.state()
    leaf = ndiff.state_particle_q_tensor(state, requires_grad=True)
    assert state.particle_q.grad is None
    with nova.Tape() as tape:
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(state), 0, 0.0, 0.0, 0.0)
    tape.backward(loss)
    other = ndiff.state_particle_q_tensor(state)
    assert state.particle_q.grad.ptr == leaf.grad.ptr == other.grad.ptr
    assert np.array_equal(leaf.grad.numpy()[0], 2 * state.particle_q.numpy()[0])
    leaf.zero_grad()
    assert state.particle_q.grad is None and other.grad is None


def test_a_view_keeps_the_memory_alive(soft_model):
    state = soft_model.state()
    state.particle_q.fill_(3.0)
    view = ndiff.state_particle_q_tensor(state)
    del state
    gc.collect()
    assert np.all(view.numpy() == 3.0)
