# SPDX-License-Identifier: Apache-2.0
"""Slices, columns, strides and assignment to parts: values as NumPy's, gradients exact, nothing silently detached."""
import gc

import numpy as np
import pytest

from novaphy import nova

KEYS = [np.s_[1], np.s_[-1], np.s_[1:3], np.s_[:, 1], np.s_[::2], np.s_[:, 1:3], np.s_[1, 2], np.s_[..., 0],
        np.s_[::-1], np.s_[3:0:-2, ::2], np.s_[1:2, 0:2], np.s_[2, 1:], np.s_[-2:], np.s_[:], np.s_[...], np.s_[4:4]]


def values(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_part_has_numpys_values_and_its_gradient_reaches_the_whole(key):
    data = values(5, 3)
    x = nova.tensor(data, requires_grad=True)
    with nova.Tape() as tape:
        part = x[key]
        loss = nova.sum(part * part)
    assert part.shape == data[key].shape
    assert np.array_equal(part.numpy(), data[key])
    wanted = np.zeros_like(data)
    wanted[key] = 2 * data[key]
    if data[key].size == 0:
        return
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), wanted)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_assignment_to_a_part_replaces_values_and_gradients_there_and_only_there(key):
    data, target = values(5, 3), values(5, 3) * 10
    x, y = nova.tensor(data[key], requires_grad=True), nova.tensor(target, requires_grad=True)
    with nova.Tape() as tape:
        z = y * 1.0
        z[key] = x * 3.0
        loss = nova.sum(z * z)
    wanted = target.copy()
    wanted[key] = 3 * data[key]
    assert np.array_equal(z.numpy(), wanted)
    tape.backward(loss)
    kept = 2 * target
    kept[key] = 0
    if y.grad is None:
        assert data[key].size == data.size
    else:
        assert np.array_equal(y.grad.numpy(), kept)
    if data[key].size > 0:
        assert np.array_equal(x.grad.numpy(), 18 * data[key])


def test_one_component_by_index_by_row_view_and_by_stride_have_one_gradient():
    pick = [lambda t: t[1, 2], lambda t: t[1][2], lambda t: t[:, ::2][1, 1]]
    for of in pick:
        a, b = nova.tensor(values(2, 3), requires_grad=True), nova.tensor(values(2, 3), requires_grad=True)
        with nova.Tape() as tape:
            c = nova.zeros((2, 3))
            c[1, 2] = of(a) + of(b)
        seed = np.zeros((2, 3), np.float32)
        seed[1, 2] = 1
        tape.backward(c, grad=nova.tensor(seed))
        assert np.array_equal(a.grad.numpy(), seed)
        assert np.array_equal(b.grad.numpy(), seed)


def test_a_scalar_written_into_three_components_has_the_sum_of_their_factors():
    s = nova.tensor([1.0], requires_grad=True)
    rows = nova.zeros((2, 3))
    with nova.Tape() as tape:
        for k in range(3):
            rows[1, k:k + 1] = s * (k + 2.0)
        loss = nova.sum(rows)
    tape.backward(loss)
    assert s.grad.item() == 9.0


def test_a_ring_of_states_in_one_tensor_has_exact_gradients_and_a_swapped_pair_is_refused():
    import novaphy
    start = nova.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    ring = nova.zeros((4, 1, 3))
    with nova.Tape() as tape:
        ring[0] = start
        for t in range(3):
            ring[t + 1] = ring[t] * ring[t]
        loss = nova.sum(ring[3])
    tape.backward(loss)
    x = np.array([[1.0, 2.0, 3.0]])
    assert np.array_equal(start.grad.numpy(), (8 * x**7).astype(np.float32))

    pair = nova.zeros((2, 1, 3))
    with nova.Tape() as tape:
        pair[0] = start
        for t in range(3):
            pair[(t + 1) % 2] = pair[t % 2] * pair[t % 2]
        loss = nova.sum(pair[1])
    with pytest.raises(novaphy.StaleRecordError, match=r"Write into another array, or use Tape\(on_overwrite=\"save\"\)"):
        tape.backward(loss)

    start.zero_grad()
    with nova.Tape(on_overwrite="save") as tape:
        pair[0] = start
        for t in range(3):
            pair[(t + 1) % 2] = pair[t % 2] * pair[t % 2]
        loss = nova.sum(pair[1])
    tape.backward(loss)
    assert np.array_equal(start.grad.numpy(), (8 * x**7).astype(np.float32))


def test_an_aliased_write_through_another_view_is_refused():
    import novaphy
    x = nova.tensor(values(4, 3), requires_grad=True)
    with nova.Tape() as tape:
        first = x[0:3]
        loss = nova.sum(first * first)
        x[2:4] = nova.zeros((2, 3))
    with pytest.raises(novaphy.StaleRecordError):
        tape.backward(loss)


def test_assignment_from_an_overlapping_part_reads_before_it_writes():
    data = values(5, 2)
    x = nova.tensor(data, requires_grad=True)
    with nova.Tape() as tape:
        y = x * 1.0
        y[1:4] = y[0:3]
        y[:, 0] = y[:, 1]
        loss = nova.sum(y * nova.tensor(values(5, 2)))
    wanted = data.copy()
    wanted[1:4] = data[0:3]
    wanted[:, 0] = wanted[:, 1]
    assert np.array_equal(y.numpy(), wanted)
    tape.backward(loss)
    row = [3.0, 7.0, 11.0, 15.0, 19.0]  # sums of a row of the weights
    assert np.array_equal(x.grad.numpy()[:, 1], [row[0] + row[1], row[2], row[3], 0, row[4]])
    assert np.array_equal(x.grad.numpy()[:, 0], np.zeros(5))


def test_rows_are_views_and_columns_are_not():
    x = nova.tensor(values(3, 2))
    x[1][0] = 50.0
    assert x[1, 0].item() == 50.0
    assert x[1].ptr == x.ptr + 8
    column = x[:, 0]
    column.fill_(0)
    assert x[1, 0].item() == 50.0


def test_a_slice_keeps_its_memory_alive():
    part = nova.tensor(values(1000, 3))[10:12]
    gc.collect()
    nova.zeros((1000, 3))
    assert np.array_equal(part.numpy(), values(1000, 3)[10:12])
    view = part.numpy()
    del part
    gc.collect()
    assert np.array_equal(view, values(1000, 3)[10:12])


def test_iteration_gives_rows_and_len_their_number():
    x = nova.tensor(values(3, 2), requires_grad=True)
    with nova.Tape() as tape:
        loss = sum((nova.sum(row) * (i + 1.0) for i, row in enumerate(x)), start=nova.zeros(1))
    tape.backward(loss)
    assert len(x) == 3
    assert np.array_equal(x.grad.numpy(), [[1, 1], [2, 2], [3, 3]])
    with pytest.raises(TypeError, match="no dimensions"):
        iter(x[0, 0])


def test_reshape_is_a_view_that_carries_gradient():
    x = nova.tensor(values(2, 6), requires_grad=True)
    with nova.Tape() as tape:
        y = x.reshape(3, -1)
        loss = nova.sum(y[1] * y[1])
    assert y.shape == (3, 4) and y.ptr == x.ptr
    tape.backward(loss)
    wanted = np.zeros(12, np.float32)
    wanted[4:8] = 2 * values(12)[4:8]
    assert np.array_equal(x.grad.numpy().ravel(), wanted)
    assert x.reshape((4, 3)).shape == (4, 3)


def test_integer_tensors_are_sliced_filled_and_assigned():
    n = nova.arange(12).reshape(4, 3)
    assert n.dtype == nova.DType.I32
    assert np.array_equal(n[:, 1].numpy(), [1, 4, 7, 10])
    n[::2] = nova.tensor(np.array([[7, 8, 9], [1, 2, 3]], np.int32))
    n[1] = 5
    n[3].fill_(-1)
    assert np.array_equal(n.numpy(), [[7, 8, 9], [5, 5, 5], [1, 2, 3], [-1, -1, -1]])
    assert n[0, 0].item() == 7 and isinstance(n[0, 0].item(), int)
    with pytest.raises(TypeError, match="requires_grad wants float32, this tensor is int32"):
        n.requires_grad = True
    with pytest.raises(ValueError, match=r"the tensor is int32 and cannot hold 1.5"):
        n.fill_(1.5)
    with pytest.raises(TypeError, match="float32"):
        n + n


@pytest.mark.parametrize("key, error, message", [
    (np.s_[3], IndexError, "nova.Tensor: index 3 is out of range for axis 0 of shape (3, 2)"),
    (np.s_[0, -3], IndexError, "nova.Tensor: index -3 is out of range for axis 1 of shape (3, 2)"),
    (np.s_[0, 0, 0], IndexError, "nova.Tensor: 3 indices were given for a tensor of shape (3, 2)"),
    ([0, 1], TypeError, "nova.Tensor: an index is an integer, a slice or ..., not a list; a kernel gathers rows by an "
                        "index tensor"),
    (True, TypeError, "nova.Tensor: an index is an integer, a slice or ..., not a bool; a kernel gathers rows by an "
                      "index tensor"),
], ids=str)
def test_a_wrong_index_is_told_in_one_sentence(key, error, message):
    with pytest.raises(error) as raised:
        nova.zeros((3, 2))[key]
    assert str(raised.value) == message


def test_a_source_of_another_shape_is_told_with_both():
    import novaphy
    with pytest.raises(novaphy.ShapeMismatchError) as raised:
        nova.zeros((3, 2))[:, 0] = nova.zeros(2)
    assert str(raised.value) == "nova.Tensor: the part has shape (3), the source (2)"
