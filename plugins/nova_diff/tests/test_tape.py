# SPDX-License-Identifier: Apache-2.0
"""nova.Tape and nova.no_grad from Python: blocks within blocks, and memory that two tensors share."""
import numpy as np
import pytest

from novaphy import nova


def test_no_grad_within_itself_pauses_until_the_outer_block_ends():
    x = nova.tensor([2.0], requires_grad=True)
    pause = nova.no_grad()
    with nova.Tape() as tape:
        with pause:
            with pause:
                pass
            x.clone()
        x.clone()
    assert tape.record_count == 1


def test_two_tensors_over_one_array_of_numpy_are_refused():
    memory = np.zeros(2, np.float32)
    written, read = nova.as_tensor(memory), nova.as_tensor(memory)
    x = nova.tensor([1.0, 2.0], requires_grad=True)
    with nova.Tape() as tape:
        written.assign(x)
        seen = read.clone()
    with pytest.raises(ValueError) as raised:
        tape.backward(seen, grad=nova.ones(2))
    assert str(raised.value) == (
        "Tape: a tensor and a tensor lie over the same memory, so the tape cannot tell what a launch reads through "
        "one of them after a write through the other. Use one tensor for that memory.")


def test_a_write_through_a_held_view_between_two_launches_is_refused():
    import novaphy
    x, y = nova.tensor([1.0, 2.0], requires_grad=True), nova.zeros(2)
    held = y.numpy(writable=True)
    with nova.Tape() as tape:
        y.assign(x)
        held[:] = 7
        seen = y.clone()
    with pytest.raises(novaphy.StaleRecordError) as raised:
        tape.backward(seen, grad=nova.ones(2))
    assert str(raised.value) == (
        "Tape: a tensor was written outside of the recording between launch 0 (assign), which wrote it, and launch 1 "
        "(assign), which read it; the tape cannot see that write. Write with novaphy.diff.assign, or into another array.")
    assert x.grad is None
