# SPDX-License-Identifier: Apache-2.0
"""Operators and functions on tensors: values, gradients against float64, and a small policy network."""
import numpy as np
import pytest

from novaphy import nova

RNG = np.random.default_rng(3)
A = (RNG.uniform(0.5, 2.0, (4, 3))).astype(np.float32)
B = (RNG.uniform(0.5, 2.0, (4, 3))).astype(np.float32)

BINARY = {
    "add": (lambda a, b: a + b), "sub": (lambda a, b: a - b), "mul": (lambda a, b: a * b), "div": (lambda a, b: a / b),
    "pow": (lambda a, b: a**b),
    "minimum": (lambda a, b: (nova if isinstance(a, nova.Tensor) else np).minimum(a, b)),
    "maximum": (lambda a, b: (nova if isinstance(a, nova.Tensor) else np).maximum(a, b)),
}
UNARY = ["neg", "abs", "exp", "log", "tanh", "sin", "cos", "sqrt"]
TWIN = {"neg": np.negative}


def slope(f, *arrays):
    """d(sum of w * f)/d(array) by central differences in float64, with weights w = 1, 2, 3, ..."""
    out = []
    for which, array in enumerate(arrays):
        grad = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = [np.array(x, np.float64) for x in arrays]
                moved[which][at] += h
                y = np.asarray(f(*moved))
                ends.append(np.sum(y * np.arange(1, 1 + y.size).reshape(y.shape)))
            grad[at] = (ends[0] - ends[1]) / 2e-6
        out.append(grad)
    return out


def gradients(f, *arrays):
    tensors = [nova.tensor(a, requires_grad=True) for a in arrays]
    with nova.Tape() as tape:
        y = f(*tensors)
    weights = np.arange(1, 1 + y.size, dtype=np.float32).reshape(y.shape)
    tape.backward(y, grad=nova.tensor(weights))
    return y.numpy(), [t.grad.numpy() for t in tensors]


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_operator_has_the_value_and_gradient_of_its_twin(name):
    value, grads = gradients(BINARY[name], A, B)
    assert np.allclose(value, BINARY[name](A.astype(np.float64), B.astype(np.float64)), rtol=1e-6)
    for got, wanted in zip(grads, slope(BINARY[name], A, B)):
        assert np.allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert np.array_equal(getattr(nova, name)(nova.tensor(A), nova.tensor(B)).numpy(), value)


@pytest.mark.parametrize("n", range(10))
def test_a_whole_power_is_a_product_with_its_derivative_at_0_too(n):
    values = np.float32([-1.7, 0.0, 0.3, 2.9])
    x = nova.tensor(values, requires_grad=True)
    with nova.Tape() as tape:
        y = x**n
    tape.backward(y, grad=nova.ones(4))
    exact = values.astype(np.float64)
    assert np.allclose(y.numpy(), exact**n, rtol=1e-6)
    if n == 0:
        assert x.grad is None  # nothing depends on x
    else:
        assert np.allclose(x.grad.numpy(), n * exact ** (n - 1), rtol=1e-6)
    if n == 3:
        assert np.array_equal(y.numpy(), values * values * values)
        assert np.array_equal(nova.pow(nova.tensor(values), 3.0).numpy(), y.numpy())


@pytest.mark.parametrize("name", BINARY)
def test_numbers_stand_on_either_side(name):
    for f in (lambda a: BINARY[name](a, 1.5), lambda a: getattr(nova, name)(1.5, a)):
        tensor = nova.tensor(A)
        assert f(tensor).shape == A.shape
    operator = BINARY[name]
    if name in ("minimum", "maximum"):
        return
    value, (grad,) = gradients(lambda a: operator(1.5, a), A)
    assert np.allclose(value, operator(1.5, A.astype(np.float64)), rtol=1e-6)
    assert np.allclose(grad, slope(lambda a: operator(1.5, a), A)[0], rtol=1e-5, atol=1e-5)
    value, (grad,) = gradients(lambda a: operator(a, 3), A)
    assert np.allclose(grad, slope(lambda a: operator(a, 3.0), A)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", UNARY)
def test_a_function_has_the_value_and_gradient_of_its_twin(name):
    twin = TWIN.get(name) or getattr(np, name)
    value, (grad,) = gradients(getattr(nova, name), A)
    assert np.allclose(value, twin(A.astype(np.float64)), rtol=1e-6)
    assert np.allclose(grad, slope(twin, A)[0], rtol=1e-5, atol=1e-5)


def test_a_tensor_with_one_element_goes_with_any_shape_and_collects_its_gradient():
    value, (all_grad, one_grad) = gradients(lambda a, s: a * s, A, np.array([2.0], np.float32))
    assert np.array_equal(value, A * 2)
    weights = np.arange(1, 13).reshape(4, 3)
    assert one_grad[0] == pytest.approx((A * weights).sum(), rel=1e-6)
    assert np.array_equal(all_grad, 2.0 * weights)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_reductions_go_over_all_or_one_axis(name, axis):
    twin = getattr(np, name)
    value, (grad,) = gradients(lambda a: getattr(nova, name)(a, axis=axis), A)
    assert np.allclose(value, twin(A.astype(np.float64), axis=axis), rtol=1e-6)
    assert np.allclose(grad, slope(lambda a: twin(a, axis=axis), A)[0], rtol=1e-5)


def test_dot_and_norm_and_the_norm_of_nothing():
    value, grads = gradients(nova.dot, A, B)
    assert value[0] == pytest.approx((A * B).sum(), rel=1e-6)
    assert np.array_equal(grads[0], B) and np.array_equal(grads[1], A)
    value, (grad,) = gradients(nova.norm, A)
    assert np.allclose(grad, A / np.linalg.norm(A), rtol=1e-6)
    value, (grad,) = gradients(nova.norm, np.zeros(3, np.float32))
    assert value[0] == 0 and np.array_equal(grad, np.zeros(3))


def test_singular_points_have_the_documented_derivatives():
    zero = np.zeros(1, np.float32)
    for f, wanted in ((nova.abs, 1.0), (nova.sqrt, 0.0), (lambda a: nova.maximum(a, 0.0), 0.0),
                      (lambda a: nova.maximum(0.0, a), 1.0), (lambda a: a**2, 0.0)):
        _, (grad,) = gradients(f, zero)
        assert grad[0] == wanted


def test_clamp_passes_gradient_inside_only():
    value, (grad,) = gradients(lambda a: nova.clamp(a, 0.0, 1.0), np.array([-1.0, 0.5, 2.0], np.float32))
    assert np.array_equal(value, [0, 0.5, 1]) and np.array_equal(grad, [0, 2, 0])
    with pytest.raises(ValueError, match="low is 2, high is 1"):
        nova.clamp(nova.zeros(1), 2, 1)


@pytest.mark.parametrize("shapes", [((4, 3), (3, 5)), ((4, 3), (3,)), ((1, 1), (1, 1)), ((70, 90), (90, 40)),
                                    ((3, 0), (0, 2))], ids=str)
def test_matmul_and_its_gradients(shapes):
    a = RNG.uniform(-1, 1, shapes[0]).astype(np.float32)
    b = RNG.uniform(-1, 1, shapes[1]).astype(np.float32)
    value, (ga, gb) = gradients(nova.matmul, a, b)
    seed = np.arange(1, 1 + value.size).reshape(value.shape).astype(np.float64)
    wide, tall = (m if m.ndim == 2 else m[:, None] for m in (seed, b.astype(np.float64)))
    assert np.allclose(value, a.astype(np.float64) @ b, atol=1e-5)
    assert np.allclose(ga, wide @ tall.T, rtol=1e-5, atol=1e-2)
    assert np.allclose(gb.reshape(tall.shape), a.astype(np.float64).T @ wide, rtol=1e-5, atol=1e-2)
    again = nova.matmul(nova.tensor(a), nova.tensor(b)).numpy()
    assert again.tobytes() == value.tobytes()
    assert np.array_equal((nova.tensor(a) @ nova.tensor(b)).numpy(), value)


def test_a_row_is_added_to_every_row_and_collects_their_gradients_in_order():
    row = np.array([1.0, 2.0, 3.0], np.float32)
    value, (ga, gr) = gradients(lambda a, r: a + r, A, row)
    assert np.array_equal(value, A + row)
    weights = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    assert np.array_equal(ga, weights)
    assert np.array_equal(gr, weights[0] + weights[1] + weights[2] + weights[3])
    value, _ = gradients(lambda r, a: r + a, row, A)
    assert np.array_equal(value, A + row)


@pytest.mark.parametrize("call, message", [
    (lambda: nova.zeros(2) + nova.zeros(3), "nova.add: the shapes (2) and (3) differ"),
    (lambda: nova.zeros((2, 3)) * nova.zeros(3), "nova.mul: the shapes (2, 3) and (3) differ"),
    (lambda: nova.dot(nova.zeros(2), nova.zeros((2, 1))), "nova.dot: the shapes (2) and (2, 1) differ"),
    (lambda: nova.zeros((2, 3)) @ nova.zeros((2, 3)),
     "nova.matmul: a has shape (2, 3), b (2, 3); (n, k) and (k, m) or (k) are wanted"),
    (lambda: nova.add_row(nova.zeros((2, 3)), nova.zeros(2)),
     "nova.add_row: a has shape (2, 3), row (2); (n, m) and (m) are wanted"),
])
def test_shapes_that_do_not_fit_are_told(call, message):
    import novaphy
    with pytest.raises(novaphy.ShapeMismatchError) as raised:
        call()
    assert str(raised.value) == message


def test_a_shape_is_told_with_the_name_of_its_array():
    import novaphy
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 1), vel=(0, 0, 0), mass=1.0)
    state = builder.finalize().state()
    with pytest.raises(novaphy.ShapeMismatchError) as raised:
        nova.sub(state.particle_q, nova.zeros((2, 3)))
    assert str(raised.value) == "nova.sub: the shapes (1, 3) of 'particle_q' of state #0 and (2, 3) differ"


def test_numpy_never_takes_an_operation_over_where_the_gradient_would_end():
    x = nova.ones(3, requires_grad=True)
    for call in (lambda: np.ones(3, np.float32) + x, lambda: x + np.ones(3, np.float32), lambda: np.sin(x)):
        with pytest.raises(TypeError):
            call()
    assert np.array_equal((np.float32(2) * x).numpy(), [2, 2, 2])


def policy(parameters, x, lib):
    w1, b1, w2, b2 = parameters
    if lib is np:
        return np.tanh(np.tanh(x @ w1 + b1) @ w2 + b2)
    return nova.tanh(nova.tanh(x @ w1 + b1) @ w2 + b2)


def test_a_small_policy_network_trains_as_its_float64_twin():
    rng = np.random.default_rng(0)
    shapes = [(8, 16), (16,), (16, 3), (3,)]
    start = [rng.normal(0, 0.3, s).astype(np.float32) for s in shapes]
    x = rng.normal(0, 1, (64, 8)).astype(np.float32)
    y = np.tanh(x @ rng.normal(0, 0.4, (8, 3))).astype(np.float32)

    ours = [nova.tensor(p, requires_grad=True) for p in start]
    twin = [p.astype(np.float64) for p in start]
    losses, twin_losses = [], []
    for _ in range(40):
        with nova.Tape() as tape:
            error = policy(ours, nova.tensor(x), nova) - nova.tensor(y)
            loss = nova.mean(error**2)
        tape.backward(loss)
        losses.append(loss.item())
        for p in ours:
            nova.sgd_update_f32(p, 0.5)
            p.zero_grad()

        h = np.tanh(x @ twin[0] + twin[1])
        out = np.tanh(h @ twin[2] + twin[3])
        twin_losses.append(np.mean((out - y)**2))
        d = 2 * (out - y) / y.size * (1 - out**2)
        dh = d @ twin[2].T * (1 - h**2)
        for p, g in zip(twin, [x.T @ dh, dh.sum(0), h.T @ d, d.sum(0)]):
            p -= 0.5 * g
    assert losses[-1] < 0.2 * losses[0]
    assert np.allclose(losses, twin_losses, rtol=1e-4)
    for p, t in zip(ours, twin):
        assert np.allclose(p.numpy(), t, atol=1e-4)


def test_an_operation_on_a_small_tensor_costs_little():
    """A loose bound against accidents; the target is about a microsecond."""
    import timeit
    a, b = nova.ones(8), nova.ones(8)
    best = min(timeit.repeat(lambda: a + b, number=2000, repeat=5)) / 2000
    assert best < 20e-6, f"{best * 1e6:.2f} us"
