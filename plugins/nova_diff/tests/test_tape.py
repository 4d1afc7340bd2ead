# SPDX-License-Identifier: Apache-2.0
"""nova.Tape and nova.no_grad from Python: blocks within blocks, and memory that two tensors share."""
import subprocess
import sys

import numpy as np
import pytest

import novaphy
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


def test_names_of_records_stand_in_reports_and_messages():
    x, y = nova.tensor([2.0], requires_grad=True), nova.zeros(1)
    with nova.Tape() as tape:
        with nova.record_name("step"), nova.record_name("contact"):
            y.assign(x * x)
        x.fill_(5.0)
    report = tape.report()
    assert [line.name for line in report.records] == ["step/contact: mul", "step/contact: assign", "fill"]
    assert report.records[0].inputs == [("a", "tensor #0"), ("b", "tensor #0")]
    assert report.records[2].inputs == [("value", "5")]
    assert report.table.startswith("launch 0 step/contact: mul, 1 rows: a=tensor #0, b=tensor #0 -> out=tensor #1\n")
    with pytest.raises(novaphy.StaleRecordError) as raised:
        tape.backward(y)
    assert str(raised.value) == (
        "Tape: a tensor was written at launch 2 (fill) after launch 0 (step/contact: mul) had read it; its old values are "
        'gone. Write into another array, or use Tape(on_overwrite="save").')


def test_the_report_names_parts_and_saved_copies():
    x = nova.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    with nova.Tape(on_overwrite="save") as tape:
        loss = nova.sum(x[1:3] * x[1:3])
        x[2:4] = 0.0
    before = tape.memory_bytes
    assert tape.report().saved_copies == ["tensor #1[4:12], 8 bytes"]
    assert tape.report().records[0].inputs[0] == ("a", "tensor #1[4:12]")
    tape.backward(loss)
    assert np.array_equal(x.grad.numpy(), [0, 4, 6, 0])
    assert tape.memory_bytes >= before
    tape.reset()
    assert tape.report().saved_copies == []


def test_saved_copies_count_as_memory_of_the_tape():
    x = nova.ones(100_000, requires_grad=True)
    with nova.Tape(on_overwrite="save") as tape:
        nova.sum(x * x)
        empty = tape.memory_bytes
        x.zero_()
    assert tape.memory_bytes >= empty + 400_000


@pytest.mark.parametrize("mode", ["error", "save"])
def test_backward_twice_adds_and_zero_in_between_does_not(mode):
    x, y = nova.tensor([3.0], requires_grad=True), nova.zeros(1)
    with nova.Tape(on_overwrite=mode) as tape:
        y.assign(x)
        loss = y * y
        if mode == "save":
            y.zero_()
            x.fill_(7.0)
    tape.backward(loss)
    assert x.grad.item() == 6
    tape.backward(loss)
    assert x.grad.item() == 12
    tape.zero()
    tape.backward(loss)
    assert x.grad.item() == 6


def test_a_recording_is_drawn_as_text_and_as_a_picture(tmp_path):
    x = nova.tensor([1.0, 2.0], requires_grad=True)
    with nova.Tape() as tape, nova.record_name('a "loss"'):
        nova.sum(x * x)
    tape.visualize(tmp_path / "recording.dot")
    text = (tmp_path / "recording.dot").read_text()
    assert text.startswith("digraph recording {\n") and text.endswith("}\n")
    assert '  comment="{\\"version\\": ' in text  # novaphy.provenance()
    assert 'r0 [shape=box, label="0: a \\"loss\\": mul"];' in text
    assert 'a0 -> r0 [label="a"];' in text and 'r0 -> a1 [label="out"];' in text
    with pytest.raises(ValueError, match="the path ends in '.txt'; wants one of .dot, .gv, .svg, .png, .pdf"):
        tape.visualize(tmp_path / "recording.txt")
    for ending, head in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
        tape.visualize(str(tmp_path / ("recording" + ending)))
        assert (tmp_path / ("recording" + ending)).read_bytes().startswith(head)


def test_detach_cuts_on_purpose():
    x = nova.tensor([3.0], requires_grad=True)
    with nova.Tape() as tape:
        loss = x * nova.detach(x)
    tape.backward(loss)
    assert x.grad.item() == 3.0
    assert not nova.detach(x).requires_grad


# in a process of its own: memory that earlier tests left to the allocator would be taken first
MEMORY_OF_A_RECORDING = """
import os, sys
import numpy as np
from novaphy import nova

def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = nova.tensor(np.full(1 << 18, 0.5, np.float32), requires_grad=True)  # a megabyte
scale = nova.tensor(np.ones(1 << 18, np.float32))
before = resident()
with nova.Tape(keep_values=sys.argv[1] == "True"):
    y = x
    for _ in range(40):
        y = (y + y) * scale  # only the derivative by `scale` reads the sum
print((resident() - before) / 1e6)
"""


@pytest.mark.parametrize("keep_values", [False, True])
def test_memory_that_no_wanted_derivative_reads_is_given_back(keep_values):
    done = subprocess.run([sys.executable, "-c", MEMORY_OF_A_RECORDING, str(keep_values)], capture_output=True, text=True,
                          check=True)
    kept = float(done.stdout)
    assert kept > 75 if keep_values else kept < 20


@pytest.mark.parametrize("keep_values", [False, True])
def test_a_derivative_that_was_not_wanted_while_recording_is_refused(keep_values):
    x = nova.tensor(np.full(1 << 12, 0.5, np.float32), requires_grad=True)
    scale = nova.tensor(np.ones(1 << 12, np.float32))
    with nova.Tape(keep_values=keep_values) as tape:
        y = x
        for _ in range(2):
            y = (y + y) * scale
        loss = nova.sum(y)
    tape.backward(loss)
    assert x.grad.numpy()[0] == 4.0

    scale.requires_grad = True
    if keep_values:
        tape.backward(loss)
        assert scale.grad.numpy()[0] == 4.0
        return
    with pytest.raises(novaphy.StaleRecordError) as raised:
        tape.backward(loss)
    assert str(raised.value).startswith("Tape: a tensor was given back after launch ")
    assert str(raised.value).endswith(
        "had read it, since no derivative that was wanted while recording needs its values. Set requires_grad before "
        "the recording, or use Tape(keep_values=True).")
