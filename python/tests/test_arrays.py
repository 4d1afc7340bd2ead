# SPDX-License-Identifier: Apache-2.0
"""DeviceArray: views that are read-only, conversions by value, versions, exchange with other libraries."""

import copy
import pickle

import numpy as np
import pytest

import novaphy
from novaphy import DeviceArray


def test_members():
    array = DeviceArray([[1, 2, 3], [4, 5, 6]])
    assert (array.shape, array.ndim, array.size, array.nbytes, array.strides) == ((2, 3), 2, 6, 24, (12, 4))
    assert array.dtype == np.float32 and str(array.device) == "cpu" and len(array) == 2
    assert array.tolist() == [[1, 2, 3], [4, 5, 6]] and array[1, 2] == 6
    assert repr(array) == "DeviceArray(shape=(2, 3), dtype=float32, device='cpu')"
    assert array.to("cpu").ptr == array.ptr == array.view().ptr != array.clone().ptr


def test_numpy_is_a_read_only_view_unless_asked():
    array = DeviceArray([1.0, 2.0])
    view = array.numpy()
    assert view.ctypes.data == array.ptr and not view.flags.writeable
    with pytest.raises(ValueError):
        view[0] = 5
    writable = array.numpy(writable=True)
    writable[0] = 5
    assert array.tolist() == [5, 2]
    with pytest.raises(TypeError):
        array.numpy(True)  # the word must be written


@pytest.mark.parametrize("exchange", [np.asarray, np.from_dlpack, lambda array: np.array(array, copy=False)])
def test_other_libraries_see_the_same_memory_read_only(exchange):
    array = DeviceArray([[1.5, 2.5]])
    seen = exchange(array)
    assert seen.dtype == np.float32 and seen.ctypes.data == array.ptr and not seen.flags.writeable


def test_views_outlive_their_array():
    view = np.from_dlpack(DeviceArray(np.arange(1000)))
    view_too = np.asarray(DeviceArray(np.arange(1000)))
    assert view[999] == 999 and view_too[999] == 999


@pytest.mark.parametrize("shape", [(0,), (0, 3), (0, 3, 3)])
def test_arrays_without_elements_are_ordinary(shape):
    array = DeviceArray(np.zeros(shape))
    assert array.numpy().shape == np.asarray(array).shape == np.from_dlpack(array).shape == shape
    array.assign(np.zeros(shape))
    array.zero_()
    array.fill_(1)
    assert pickle.loads(pickle.dumps(array)).shape == shape


def test_every_write_through_the_engine_raises_the_version():
    array = DeviceArray([1.0, 2.0])
    versions = [array.version]
    for write in (
        lambda: array.assign([3, 4]),
        lambda: array.fill_(1),
        array.zero_,
        lambda: array.__setitem__(0, 7),
        lambda: array.copy_from(DeviceArray([8, 9])),
    ):
        write()
        versions.append(array.version)
    assert versions == sorted(set(versions))
    array.numpy(), array[0], np.asarray(array)
    assert array.version == versions[-1]


@pytest.mark.parametrize(
    "value",
    [
        [1.1, 2.2, 3.3],
        (1.1, 2.2, 3.3),
        np.array([1.1, 2.2, 3.3]),
        np.array([1.1, 2.2, 3.3], np.float32),
        np.array([1.1, 2.2, 3.3], ">f4"),
        np.array([1.1, 0, 2.2, 0, 3.3])[::2],
        np.array([[1.1], [2.2], [3.3]])[:, 0],
    ],
)
def test_assign_takes_values_of_any_layout(value):
    array = DeviceArray([0, 0, 0])
    array.assign(value)
    assert array.tolist() == pytest.approx([1.1, 2.2, 3.3], abs=1e-6)


@pytest.mark.parametrize(
    "value, error, text",
    [
        ("abc", TypeError, "wants float32 of shape (3,), got <U3 of shape ()"),
        ([1j, 0, 0], TypeError, "wants float32 of shape (3,), got complex128 of shape (3,)"),
        (None, TypeError, "wants float32 of shape (3,), got object of shape ()"),
        ([1, 2], novaphy.ShapeMismatchError, "wants float32 of shape (3,), got int64 of shape (2,)"),
        ([[1, 2, 3]], novaphy.ShapeMismatchError, "wants float32 of shape (3,), got int64 of shape (1, 3)"),
        ([1e300, 0, 0], ValueError, "1e+300 is too large for float32"),
    ],
)
def test_a_refused_value_is_named_with_both_types_and_shapes(value, error, text):
    array = DeviceArray([1, 2, 3])
    with pytest.raises(error) as caught:
        array.assign(value)
    assert text in str(caught.value)
    assert array.tolist() == [1, 2, 3]


def test_integers_are_never_made_from_fractions_nor_from_what_does_not_fit():
    array = DeviceArray([1, 2], dtype="int32")
    array.assign(np.array([3, 4], np.int64))
    array.assign([True, False])
    assert array.dtype == np.int32 and array.tolist() == [1, 0]
    with pytest.raises(TypeError, match="wants int32 of shape .* got float64"):
        array.assign([1.0, 2.0])
    with pytest.raises(TypeError, match="wants int32"):
        array[0] = 1.1
    with pytest.raises(ValueError, match="2147483648 does not fit"):
        array.assign([2**31, 0])


def test_setting_items_follows_numpys_indexing():
    array = DeviceArray(np.zeros((2, 3)))
    array[0] = (1, 2, 3)
    array[:, 2] = 9
    array[1, 0] = 5
    assert array.tolist() == [[1, 2, 9], [5, 0, 9]]
    with pytest.raises(IndexError):
        array[2] = 0


def test_copies_share_no_memory():
    array = DeviceArray([1, 2, 3])
    for made in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array)), array.clone()):
        made.fill_(0)
        assert array.tolist() == [1, 2, 3]


def test_unknown_dtypes_and_devices_are_refused():
    with pytest.raises(TypeError, match="dtype must be float32, int32, uint32 or uint8, got float64"):
        DeviceArray([1], dtype="float64")
    with pytest.raises(ValueError, match="device is 'gpu'"):
        DeviceArray([1], device="gpu")
    with pytest.raises(novaphy.PluginNotAvailableError, match="cuda"):
        DeviceArray([1], device="cuda")
    with pytest.raises(novaphy.PluginNotAvailableError, match="cuda"):
        novaphy.set_device("cuda:0")
    assert novaphy.get_device() == novaphy.Device("cpu") == "cpu"
