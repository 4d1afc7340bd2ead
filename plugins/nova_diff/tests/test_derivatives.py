# SPDX-License-Identifier: Apache-2.0
"""nova.jvp, jacobian, hvp and check_grad."""
import numpy as np
import pytest

import novaphy
from novaphy import nova


@nova.kernel
def product(a: nova.rows[float], b: nova.rows[float]):
    return a * b


@nova.kernel
def cube_times(a: nova.rows[float], b: nova.rows[float]):
    return a * a * a * b


@nova.kernel
def add_to(i: nova.rows[int], a: nova.rows[float], total: nova.scatter[float]):
    total[i] += a


def total(a):
    return add_to([0] * a.size, a, out=nova.zeros(1))


@pytest.fixture
def point():
    return nova.tensor([0.5, -1.0, 2.0]), nova.tensor([1.0, 2.0, 0.5])


def test_jvp_gives_the_value_and_its_tangent(point):
    x, k = point
    dx, dk = nova.tensor([1.0, 0.0, -1.0]), nova.tensor([0.0, 2.0, 1.0])
    y, dy = nova.jvp(product, (x, k), (dx, dk))
    np.testing.assert_allclose(y.numpy(), x.numpy() * k.numpy())
    np.testing.assert_allclose(dy.numpy(), x.numpy() * dk.numpy() + dx.numpy() * k.numpy())


def test_jvp_of_several_results_has_their_structure(point):
    x, k = point
    values, tangents = nova.jvp(lambda a: (product(a, k), product(a, a)), x, nova.ones(3))
    assert isinstance(values, tuple) and isinstance(tangents, tuple)
    np.testing.assert_allclose(tangents[0].numpy(), k.numpy())
    np.testing.assert_allclose(tangents[1].numpy(), 2 * x.numpy())


def test_jacobian_is_dense_and_leaves_gradients_alone(point):
    x, k = point
    x.requires_grad = k.requires_grad = True
    np.testing.assert_allclose(nova.jacobian(lambda a: product(a, k), x), np.diag(k.numpy()))
    row = nova.jacobian(lambda a: total(product(product(a, a), k)), x)
    assert row.shape == (1, 3)
    np.testing.assert_allclose(row[0], 2 * x.numpy() * k.numpy())
    assert x.grad is None and k.grad is None


def test_hvp_is_the_change_of_the_gradient(point):
    x, k = point
    x.requires_grad = k.requires_grad = True
    with nova.Tape() as tape:
        loss = total(cube_times(x, k))
    direction = nova.tensor([1.0, 2.0, -1.0])
    of_x = nova.hvp(loss, x, direction, tape)
    np.testing.assert_allclose(of_x.numpy(), 6 * x.numpy() * k.numpy() * direction.numpy(), rtol=1e-6)
    of_both = nova.hvp(loss, [x, k], [direction, nova.zeros(3)], tape)
    np.testing.assert_allclose(of_both[1].numpy(), 3 * x.numpy() ** 2 * direction.numpy(), rtol=1e-6)
    assert x.grad is None and k.grad is None


def test_check_grad_accepts_right_gradients_and_reports_readably(point):
    report = nova.check_grad(cube_times, point)
    assert report.ok and len(report.per_input) == 2 and report.max_rel < 5e-2
    assert repr(report).startswith("GradReport(gradient agrees with differences; largest difference ")


def test_check_grad_finds_a_cut_gradient(point):
    report = nova.check_grad(lambda a, b: product(a, product(a, b).detach()), point)
    assert not report.ok
    assert "DIFFERS" in repr(report)


@nova.kernel
def square_adjoint(x: nova.rows[float], g: nova.rows[float], factor: nova.uniform[float]):
    return factor * x * g


@nova.kernel(vjp=lambda x, g: square_adjoint(x, g, 2.0))
def square(x: nova.rows[float]):
    return x * x


@nova.kernel(vjp=lambda x, g: square_adjoint(x, g, 1.0))
def square_of_half_derivative(x: nova.rows[float]):
    return x * x


def test_check_grad_finds_a_wrong_derivative_of_ones_own(point):
    x, _ = point
    right, wrong = nova.check_grad(square, x), nova.check_grad(square_of_half_derivative, x)
    assert right.ok and right.max_rel < 1e-2
    assert not wrong.ok and abs(wrong.max_rel - 0.5) < 1e-2  # half of the derivative is missing
    assert nova.check_grad(square_of_half_derivative.traced, x).ok


def test_mistakes_are_told(point):
    x, _ = point
    with pytest.raises(novaphy.ShapeMismatchError, match=r"nova.jvp: input 0 has shape \(3\), its direction \(2\)"):
        nova.jvp(lambda a: product(a, a), x, nova.ones(2))
    with pytest.raises(TypeError, match="nova.jvp: inputs must be a nova.Tensor or a sequence of them, not int"):
        nova.jvp(product, 3, x)
    with pytest.raises(TypeError, match="nova.jvp: what the function returns must be a nova.Tensor or a sequence"):
        nova.jvp(lambda a: product(a, a).numpy(), x, x)
    with pytest.raises(TypeError, match="nova.jacobian: the function must return one nova.Tensor, not a tuple of"):
        nova.jacobian(lambda a: (a, a), x)
    with pytest.raises(ValueError, match="no recorded launch reads it"):
        nova.jvp(lambda a: product(nova.ones(3), nova.ones(3)), x, nova.ones(3))
    with nova.Tape() as tape:
        loss = total(product(x, x))
    with pytest.raises(ValueError, match="nova.hvp: parameter 0 does not require gradient"):
        nova.hvp(loss, x, nova.ones(3), tape)


@nova.kernel
def root_of(a: nova.rows[float]):
    return nova.sqrt(a)


def test_anomaly_names_the_launch_the_row_and_the_operation():
    x = nova.tensor([1.0, -4.0])
    root_of(x)
    with nova.anomaly(), nova.Tape():
        with pytest.raises(novaphy.NovaPhyError, match=r"launch 0 \(root_of\) makes '.*' nan in row 1, number 0: "
                                                       r"operation 1, sqrt\(-4\) gave nan"):
            root_of(x)
    root_of(x)


def overwritten(x):
    x[0] = 5.0
    return x * x


@pytest.mark.parametrize("fn, wanted", [
    (lambda x: x, np.eye(3)), (lambda x: x[1:], np.eye(3)[1:]), (lambda x: x.reshape(3, 1), np.eye(3)[:, None]),
    (overwritten, np.diag([0, 4, 6])), (lambda x: nova.sum(overwritten(x)), [[0, 4, 6]]),
    (lambda x: nova.sum(nova.ones(3) * 2.0), np.zeros((1, 3))),
], ids=["the input", "a view", "a shape", "writes its input", "writes its input, one number", "a constant"])
def test_a_jacobian_is_that_of_the_values_that_are_given_whatever_the_function_does_with_its_input(fn, wanted):
    assert np.array_equal(nova.jacobian(fn, nova.tensor([1.0, 2.0, 3.0])), wanted)
    assert nova.check_grad(fn, nova.tensor([1.0, 2.0, 3.0])).ok


def test_a_step_of_check_grad_is_positive():
    with pytest.raises(ValueError) as raised:
        nova.check_grad(nova.sin, nova.ones(1), eps=0)
    assert str(raised.value) == "nova.check_grad: eps is 0; give a positive step"
