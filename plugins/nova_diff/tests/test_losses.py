# SPDX-License-Identifier: Apache-2.0
"""Generated losses and projections: values, gradients in closed form, singular points, refusals."""

import numpy as np
import pytest

import novaphy
import novaphy.diff as ndiff
from novaphy import nova

Q = np.random.default_rng(5).uniform(-2.0, 2.0, (27, 3)).astype(np.float32)


def test_the_loss_of_the_centroid_and_its_gradient_have_their_closed_form():
    q = nova.tensor(Q, requires_grad=True)
    with nova.Tape() as tape:
        centre = ndiff.particle_centroid_generated(q)
        loss = ndiff.vec3_point_loss_generated(centre, 0.5, -1.0, 1.5)
    tape.backward(loss)
    mean = Q.astype(np.float64).mean(axis=0)
    away = mean - [0.5, -1.0, 1.5]
    assert centre.shape == (1, 3) and centre.numpy()[0] == pytest.approx(mean, rel=1e-5)
    assert loss.numpy() == pytest.approx([away @ away], rel=1e-5)
    assert q.grad.numpy() == pytest.approx(np.broadcast_to(2 * away / 27, (27, 3)), rel=1e-5)


def test_the_gradient_at_the_target_is_zero():
    point = nova.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    with nova.Tape() as tape:
        loss = ndiff.vec3_point_loss_generated(point, 1.0, 2.0, 3.0)
    tape.backward(loss)
    assert loss.item() == 0.0 and point.grad.numpy().tolist() == [[0.0, 0.0, 0.0]]


def test_a_clamp_passes_the_gradient_within_its_bounds_alone():
    x = nova.tensor([-3.0, -1.0, 0.5, 2.0, 4.0], requires_grad=True)
    with nova.Tape() as tape:
        y = ndiff.clamp_f32_generated(x, -1.0, 2.0)
        total = nova.sum(y)
    tape.backward(total)
    assert y.numpy().tolist() == [-1.0, -1.0, 0.5, 2.0, 2.0]
    assert x.grad.numpy().tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]


def test_a_clamp_can_be_captured():
    x = nova.tensor([-3.0, 0.5])
    with nova.ScopedCapture() as capture:
        y = ndiff.clamp_f32_generated(x, -1.0, 2.0)
    capture.graph.launch()
    assert y.numpy().tolist() == [-1.0, 0.5]


def test_what_has_no_meaning_is_refused():
    with pytest.raises(novaphy.ShapeMismatchError) as caught:
        ndiff.particle_centroid_generated(nova.tensor([1.0, 2.0]))
    assert str(caught.value) == "particle_centroid_generated: particle_q has shape (2), (n, 3) is wanted"
    with pytest.raises(ValueError) as caught:
        ndiff.particle_centroid_generated(nova.zeros((0, 3)))
    assert str(caught.value) == (
        "particle_centroid_generated: particle_q has no particle; a mean needs at least one"
    )
    with pytest.raises(novaphy.ShapeMismatchError) as caught:
        ndiff.vec3_point_loss_generated(nova.zeros((2, 3)), 0.0, 0.0, 0.0)
    assert str(caught.value) == "vec3_point_loss_generated: point has shape (2, 3), (1, 3) is wanted"
    with pytest.raises(ValueError) as caught:
        ndiff.clamp_f32_generated(nova.zeros(2), 2.0, 1.0)
    assert str(caught.value) == "clamp_f32_generated: lower is 2, upper is 1; give bounds with lower <= upper"
