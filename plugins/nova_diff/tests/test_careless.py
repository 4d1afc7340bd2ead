# SPDX-License-Identifier: Apache-2.0
"""What a careless user writes: the right value, or one clear sentence; never a crash, never a gradient lost silently."""
import numpy as np
import pytest

from novaphy import nova


def test_an_array_of_numpy_is_written_to_a_part():
    x = nova.tensor([1.0, 2.0, 3.0])
    x[0:2] = np.array([4.0, 5.0])
    x[2] = np.float64(6.5)
    assert x.numpy().tolist() == [4, 5, 6.5]
    x[2] = np.array(7)
    assert x[2].item() == 7


@pytest.mark.parametrize("action, error, message", [
    (lambda x: x[np.array([True, False, True])], TypeError,
     "nova.Tensor: an index is an integer, a slice or ..., not a ndarray; a kernel gathers rows by an index tensor"),
    (lambda x: x.__setitem__(np.array([True, False, True]), 1.0), TypeError,
     "nova.Tensor: an index is an integer, a slice or ..., not a ndarray; a kernel gathers rows by an index tensor"),
    (lambda x: x[10**30], IndexError,
     "nova.Tensor: index 1000000000000000000000000000000 is out of range for axis 0 of shape (3)"),
    (lambda x: x.__setitem__(0, 1e300), ValueError,
     "nova.Tensor.__setitem__: value is 1e+300, too large for float32"),
    (lambda x: x.reshape("a"), TypeError, "nova.Tensor.reshape: an extent is an integer, not a str"),
    (lambda x: x.reshape(3.0), TypeError, "nova.Tensor.reshape: an extent is an integer, not a float"),
    (lambda x: nova.zeros((0, 3)).reshape(0, -1), ValueError,
     "nova.Tensor.reshape: an extent of -1 beside one of 0 may be any number"),
    (lambda x: bool(x), ValueError,
     "the truth of a nova.Tensor of shape (3) is not known; take .item() of one element"),
    (lambda x: float(x), ValueError, "nova.Tensor.item: the tensor has shape (3), one element is wanted"),
    (lambda x: nova.Tape().backward(None), TypeError,
     "Tape.backward: the loss is a NoneType; give a nova.Tensor that the recording computed"),
    (lambda x: nova.Tape().backward(x, grad=np.ones(3)), TypeError,
     "Tape.backward: grad is a ndarray; give a nova.Tensor of the shape of the loss"),
])  # fmt: skip
def test_a_mistake_is_told_in_one_sentence(action, error, message):
    with pytest.raises(error) as raised:
        action(nova.tensor([1.0, 2.0, 3.0]))
    assert str(raised.value) == message


def test_one_element_is_a_number_where_python_asks_for_one():
    x = nova.tensor([0.0, 2.5])
    assert not x[0] and x[1]
    assert float(x[1]) == 2.5


def test_a_tensor_of_a_tensor_keeps_its_gradient_inside_a_recording():
    x = nova.tensor([1.0, 2.0], requires_grad=True)
    with nova.Tape() as tape:
        y = nova.tensor(x)
        loss = nova.sum(x * y)
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [2, 4] and y.ptr != x.ptr


def test_a_list_of_tensors_would_lose_their_gradient_and_is_refused_inside_a_recording():
    @nova.kernel
    def twice(a: nova.rows[float]):
        return 2.0 * a

    x = nova.tensor([1.0, 2.0], requires_grad=True)
    y = nova.zeros(2)
    assert nova.tensor([x[0], x[1]]).numpy().tolist() == [1, 2]
    with nova.Tape():
        with pytest.raises(TypeError) as raised:
            nova.tensor([x[0], x[1]])
        assert str(raised.value) == (
            "nova.tensor: a list of tensors would be copied without their gradient; write each to its part of one "
            "tensor: out[i] = x, or give nova.detach(x).numpy()")
        with pytest.raises(TypeError, match="^nova.Tensor.assign: a list of tensors would be copied without"):
            y[0:2] = [x[0], x[1]]
        with pytest.raises(TypeError, match="^twice: 'a' is a list of tensors, whose gradient would be lost"):
            twice([x[0], x[1]])


def test_an_index_too_large_for_int32_is_refused_and_not_wrapped():
    @nova.kernel
    def gather(i: nova.rows[int], x: nova.rows[float]):
        return x[i]

    with pytest.raises(ValueError) as raised:
        gather(np.array([0, 2**32]), [1.0])
    assert str(raised.value) == "gather: 'i' wants int32, element 1 is 4294967296"
