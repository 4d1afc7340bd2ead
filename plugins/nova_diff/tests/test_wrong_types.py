# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong type are refused in one sentence that names the argument and what is wanted."""
import numpy as np
import pytest

from novaphy import nova


@pytest.fixture
def x():
    return nova.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("call, sentence", [
    (lambda x: nova.sum(x, axis=1.0), "nova.sum: axis is a float; give an integer or None"),
    (lambda x: nova.mean(x, axis=True), "nova.mean: axis is a bool; give an integer or None"),
    (lambda x: nova.sum([1.0]), "nova.sum: a is a list; give a nova.Tensor"),
    (lambda x: nova.add(None, x), "nova.add: a is a NoneType; give a nova.Tensor or a number"),
    (lambda x: nova.maximum(x, "1"), "nova.maximum: b is a str; give a nova.Tensor or a number"),
    (lambda x: nova.mul(2, 3), "nova.mul: a and b are numbers; give at least one nova.Tensor"),
    (lambda x: nova.exp(None), "nova.exp: a is a NoneType; give a nova.Tensor"),
    (lambda x: nova.dot(x, 1.0), "nova.dot: b is a float; give a nova.Tensor"),
    (lambda x: nova.add_row(x, [1.0, 2.0]), "nova.add_row: row is a list; give a nova.Tensor"),
    (lambda x: nova.detach(1.0), "nova.detach: x is a float; give a nova.Tensor"),
    (lambda x: nova.clamp(x, x, 1.0), "nova.clamp: low is a Tensor; give a number"),
    (lambda x: nova.clamp(x, 0.0, None), "nova.clamp: high is a NoneType; give a number"),
    (lambda x: x.fill_(None), "nova.Tensor.fill_: value is a NoneType; give a number"),
    (lambda x: nova.optim.SGD([x], 0.1).load_state_dict(None),
     "nova.optim.SGD.load_state_dict: state is a NoneType; give what state_dict() returned"),
    (lambda x: nova.optim.Adam([x]).load_state_dict([]),
     "nova.optim.Adam.load_state_dict: state is a list; give what state_dict() returned"),
    (lambda x: nova.optim.Adam([x], betas=(0.9, "0.99")), "nova.optim.Adam: betas[1] is a str; give a number"),
])
def test_a_wrong_type_is_named(x, call, sentence):
    with pytest.raises(TypeError) as raised:
        call(x)
    assert str(raised.value) == sentence


def test_betas_are_two():
    with pytest.raises(ValueError) as raised:
        nova.optim.Adam([nova.zeros(2)], betas=(0.9, 0.99, 0.999))
    assert str(raised.value) == (
        "nova.optim.Adam: betas is (0.9, 0.99, 0.999); give two numbers, (beta1, beta2)")
    assert nova.optim.Adam([nova.zeros(2)], betas=[0.5, 0.75]).betas == (0.5, 0.75)


def test_the_step_of_a_rollout_is_a_number():
    import novaphy
    builder = novaphy.ModelBuilder()
    builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    solver = novaphy.solvers.DiffSemiImplicitSolver(builder.finalize())
    with pytest.raises(TypeError) as raised:
        novaphy.diff.Rollout(solver, None, None, "0.01", 3)
    assert str(raised.value) == "Rollout: dt is a str; give seconds as a number"


def test_tensors_are_not_compared_by_identity_in_silence(x):
    for other in (x.clone(), x, 1.0, np.float32(1)):
        for compare in (lambda a, b: a == b, lambda a, b: a != b):
            with pytest.raises(TypeError) as raised:
                compare(x, other)
            assert str(raised.value) == (
                "nova.Tensor: == and != would not compare elements; compare a.numpy() == b.numpy(), or ask 'a is b' for "
                "the same object")
    assert (x == None) is False and x != "text"  # noqa: E711
    assert {x: "value"}[x] == "value" and x in [x]


def test_a_full_tensor_of_integers_names_itself():
    with pytest.raises(ValueError) as raised:
        nova.full(3, 0.5, dtype=nova.DType.I32)
    assert str(raised.value) == "nova.full: the tensor is int32 and cannot hold 0.5"


def test_helpers_made_anew_for_each_call_are_forgotten_and_read_by_their_code():
    factor = [2.0]

    @nova.kernel
    def scaled(v: nova.rows[float]):
        return outside(v)

    def make(value):
        def helper(v):
            return v * value
        return helper

    for round in range(50):
        outside = make(factor[0])
        assert scaled(nova.tensor([1.0])).numpy()[0] == 2.0
    outside = make(3.0)
    assert scaled(nova.tensor([1.0])).numpy()[0] == 3.0
    captured = scaled._captured if hasattr(scaled, "_captured") else None
    if captured is not None:
        assert len(captured._functions) == 2
