# SPDX-License-Identifier: Apache-2.0
"""novaphy.from_warp: what ported programs write as `wp.`."""

import math

import numpy as np
import pytest

import novaphy
from novaphy import from_warp as wp
from novaphy import nova


def test_vectors_and_poses_are_what_builders_take():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=wp.vec3(1.0, 2.0, 3.0), vel=wp.vec3(), mass=1.0)
    builder.add_shape_box(body=-1, xform=wp.transform(wp.vec3(0.0, 2.0, 1.0), wp.quat_identity()))
    model = builder.finalize()
    assert model.particle_q.numpy().tolist() == [[1, 2, 3]]
    assert model.shape_transform.numpy().tolist() == [[0, 2, 1, 0, 0, 0, 1]]
    assert wp.transform() == ((0, 0, 0), (0, 0, 0, 1)) and wp.vec4(1, 2) == (1, 2, 0, 0) == wp.quat(1, 2)


def test_a_rotation_about_an_axis_of_any_length_has_length_one():
    q = wp.quat_from_axis_angle(wp.vec3(0.0, 3.0, 0.0), -0.75 * wp.pi)
    assert q == pytest.approx((0.0, math.sin(-0.375 * math.pi), 0.0, math.cos(-0.375 * math.pi)), abs=1e-15)
    with pytest.raises(ValueError) as caught:
        wp.quat_from_axis_angle((0, 0, 0), 1.0)
    assert str(caught.value) == "from_warp.quat_from_axis_angle: axis is (0, 0, 0); it needs a direction"


def test_arrays_are_tensors_with_a_row_for_each_vector():
    x = wp.array([1, 2], dtype=float, requires_grad=True)
    assert isinstance(x, nova.Tensor) and x.requires_grad and x.numpy().tolist() == [1, 2]
    assert wp.zeros(2, dtype=wp.vec3).shape == (2, 3) and wp.zeros((2, 3)).shape == (2, 3)
    assert wp.zeros(2, dtype=nova.vec3).shape == (2, 3) and wp.zeros(3, dtype=wp.int32).numpy().dtype == np.int32
    assert wp.array([[1, 2, 3]], dtype=wp.vec3).shape == (1, 3)
    with pytest.raises(ValueError) as caught:
        wp.array([[1.0, 2.0]], dtype=wp.vec3)
    assert str(caught.value) == "from_warp.array: a row of vec3 has 3 numbers, the data's shape is (1, 2)"
    with pytest.raises(ValueError) as caught:
        wp.zeros(2, dtype=np.float64)
    assert str(caught.value) == (
        "from_warp.zeros: dtype is float64; there are float32, int32, vec2, vec3, vec4, quat, transform"
    )


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_optimisers_take_the_gradients_of_their_parameters_and_no_others(kind):
    results = []
    for optimiser_of in (getattr(wp.optim, kind), getattr(nova.optim, kind)):
        x = wp.array([1.0, 2.0], requires_grad=True)
        with wp.Tape() as tape:
            loss = nova.sum(x * x)
        tape.backward(loss)
        optimiser = optimiser_of([x], lr=0.25)
        optimiser.step([x.grad]) if optimiser_of.__module__ == wp.__name__ else optimiser.step()
        results.append(x.numpy().tolist())
    assert results[0] == results[1] != [1.0, 2.0]
    x = wp.array([1.0], requires_grad=True)
    with pytest.raises(ValueError) as caught:
        getattr(wp.optim, kind)([x], lr=0.1).step([nova.ones(1)])
    assert str(caught.value) == (
        f"from_warp.optim.{kind}.step: grads are not the gradients of the parameters; give [p.grad for p in params] "
        "or nothing"
    )
    with pytest.raises(ValueError) as caught:
        getattr(wp.optim, kind)([x], lr=0.1, nesterov=True)
    assert str(caught.value) == f"from_warp.optim.{kind}: nesterov=True is not there; leave it out"


def test_names_of_kernels_say_how_kernels_are_written():
    with pytest.raises(AttributeError) as caught:
        wp.tid
    assert str(caught.value) == (
        "from_warp.tid: kernels are written with nova.kernel, where annotations say how rows are reached; see the page "
        "'Write your own differentiable kernel'"
    )
    with pytest.raises(AttributeError, match="has no attribute 'sine'"):
        wp.sine
    assert wp.Tape is nova.Tape and {"vec3", "Tape", "array"} <= set(dir(wp))
