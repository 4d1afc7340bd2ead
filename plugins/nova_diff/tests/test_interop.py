# SPDX-License-Identifier: Apache-2.0
"""Memory that tensors share with other libraries."""
import gc
import sys
import weakref

import numpy as np
import pytest

import novaphy
from novaphy import nova


class Foreign:
    """An object of another library that offers the DLPack protocol over an array of NumPy."""

    def __init__(self, array, device=(1, 0), versions=True):
        self.array, self.device, self.versions = array, device, versions

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **kwargs):
        if not self.versions and kwargs:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__(**kwargs)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "uint8"])
@pytest.mark.parametrize("take", [nova.as_tensor, nova.from_dlpack, lambda a: nova.as_tensor(Foreign(a)),
                                  lambda a: nova.from_dlpack(Foreign(a, versions=False)),
                                  lambda a: nova.from_dlpack(a.__dlpack__())],
                         ids=["array", "dlpack", "foreign", "old foreign", "capsule"])
def test_memory_is_shared_both_ways_and_kept_alive(take, dtype):
    array = np.arange(6).astype(dtype).reshape(2, 3)
    tensor = take(array)
    assert tensor.shape == (2, 3) and tensor.is_external and tensor.ptr == array.ctypes.data
    tensor[1, 2] = 9
    array[0, 0] = 7
    assert np.array_equal(tensor.numpy(), [[7, 1, 2], [3, 4, 9]])
    alive = weakref.ref(array)
    part = tensor[1:]
    del array, tensor
    gc.collect()
    assert alive() is not None
    assert np.array_equal(part.numpy(), [[3, 4, 9]])
    del part
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("take, name", [(nova.as_tensor, "as_tensor"), (nova.from_dlpack, "from_dlpack")])
def test_what_cannot_be_shared_is_refused_with_the_remedy(take, name):
    with pytest.raises(TypeError) as raised:
        take(np.zeros((2, 3)))
    assert str(raised.value).startswith(f"nova.{name}: wants float32, int32, uint32 or uint8, got float64 of shape (2, 3)")
    with pytest.raises(ValueError) as raised:
        take(np.zeros((3, 2), np.float32).T)
    assert str(raised.value) == f"nova.{name}: wants packed memory, got float32 of shape (2, 3); nova.tensor copies it"
    locked = np.zeros(3, np.float32)
    locked.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        take(locked)
    with pytest.raises(novaphy.ShapeMismatchError, match="takes at most 4 dimensions"):
        take(np.zeros((1, 1, 1, 1, 1), np.float32))


def test_read_only_memory_is_named():
    locked = np.zeros(3, np.float32)
    locked.flags.writeable = False
    with pytest.raises(ValueError) as raised:
        nova.as_tensor(locked)
    assert str(raised.value) == ("nova.as_tensor: wants memory that may be written, as a tensor can be, got float32 of "
                                 "shape (3,), which is read-only; nova.tensor copies it")


class Unchangeable(Foreign):
    """As a JAX array: its capsules are from before DLPack 1, which cannot say that memory is read-only."""

    def __array__(self, dtype=None, copy=None):
        view = self.array[...]
        view.flags.writeable = False
        return view


@pytest.mark.parametrize("take, name", [(nova.as_tensor, "as_tensor"), (nova.from_dlpack, "from_dlpack")])
def test_memory_that_numpy_knows_as_read_only_is_refused_though_the_capsule_cannot_say_so(take, name):
    array = np.zeros(3, np.float32)
    alive = weakref.ref(array)
    with pytest.raises(ValueError) as raised:
        take(Unchangeable(array, versions=False))
    assert str(raised.value) == (f"nova.{name}: wants memory that may be written, as a tensor can be, got float32 of "
                                 "shape (3,), which is read-only; nova.tensor copies it")
    assert np.array_equal(nova.tensor(Unchangeable(array)).numpy(), [0, 0, 0])
    del array, raised
    gc.collect()
    assert alive() is None


def test_memory_on_a_device_without_a_backend_is_refused_by_its_name():
    array = np.zeros(3, np.float32)
    with pytest.raises(novaphy.DeviceMismatchError) as raised:
        nova.from_dlpack(Foreign(array, device=(2, 1)))
    assert str(raised.value) == ("nova.from_dlpack: the memory lies on device 'cuda:1' (DLPack type 2), for which there is "
                                 "no backend here; copy it to the CPU first")
    with pytest.raises(novaphy.DeviceMismatchError, match="'unknown:0' .DLPack type 99."):
        nova.as_tensor(Foreign(array, device=(99, 0)))

    class Cuda:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3}

    with pytest.raises(novaphy.DeviceMismatchError, match="the memory of a Cuda lies on device 'cuda'"):
        nova.as_tensor(Cuda())
    with pytest.raises(novaphy.PluginNotAvailableError):
        nova.zeros(3).to("cuda:0")
    assert nova.zeros(3).to("cpu").shape == (3,)


def test_a_capsule_is_taken_once():
    capsule = np.zeros(3, np.float32).__dlpack__()
    nova.from_dlpack(capsule)
    with pytest.raises(ValueError, match="has been taken by another library already"):
        nova.from_dlpack(capsule)


def test_a_slice_leaves_by_dlpack_and_the_array_interface():
    x = nova.tensor(np.arange(12, dtype=np.float32).reshape(4, 3))
    part = x[1:3]
    assert part.strides == (12, 4) and part.nbytes == 24 and part.ndim == 2
    assert part.__array_interface__["data"][0] == part.ptr == x.ptr + 12
    assert np.array_equal(np.from_dlpack(part), [[3, 4, 5], [6, 7, 8]])
    assert np.array_equal(np.asarray(part), [[3, 4, 5], [6, 7, 8]])


def test_values_that_others_may_write_are_compared_in_slices_too():
    memory = np.ones((3, 2), np.float32)
    x = nova.as_tensor(memory, requires_grad=True)
    with nova.Tape() as tape:
        loss = nova.sum(x[1] * x[1])
    memory[0] = 5
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), [[0, 0], [2, 2], [0, 0]])
    memory[1] = 5
    with pytest.raises(novaphy.StaleRecordError, match="changed through a writable view"):
        tape.backward(loss)


def test_arange_counts_as_numpy_does():
    assert nova.arange(4).dtype == nova.DType.I32
    assert np.array_equal(nova.arange(1, 8, 3).numpy(), [1, 4, 7])
    assert np.array_equal(nova.arange(0.0, 1.0, 0.25).numpy(), np.arange(0, 1, 0.25, np.float32))
    assert nova.arange(3.0, requires_grad=True).requires_grad


def test_a_missing_library_is_named(monkeypatch):
    for library, call in (("torch", nova.to_torch), ("jax.numpy", nova.to_jax)):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ImportError, match=f"{library} is not installed; install it with 'pip install"):
            call(nova.zeros(2))
