# SPDX-License-Identifier: Apache-2.0
"""The thrown ball against the stored reference: every state bit for bit, from both solvers and from the host."""
import json
import re
import subprocess

import numpy as np
import pytest

from ball import DT, START_VELOCITY, STEPS, make_ball, point_loss, record_ball, stacked, step_ball
from compare import assert_same_bits
from engine import host_executable


@pytest.fixture(scope="module")
def reference(data):
    return dict(np.load(data / "newton_ball.npz"))


def assert_states(states, reference):
    assert len(states) == STEPS + 1 == 289
    assert_same_bits(stacked(states, "particle_q"), reference["particle_q_substeps"], "positions")
    assert_same_bits(stacked(states, "particle_qd"), reference["particle_qd_substeps"], "velocities")


def test_the_model_is_the_reference_model(reference, data):
    ball = make_ball()
    for key, want in reference.items():
        name = key.removeprefix("model_")
        if name == key or name.startswith("joint_"):
            continue
        got = getattr(ball.model, name).numpy()
        assert np.array_equal(got.reshape(want.shape), want), f"model.{name} is {got}, want {want}"
    scalars = json.loads((data / "newton_ball.json").read_text())["model"]
    for name in ("soft_contact_ke", "soft_contact_kd", "soft_contact_kf", "particle_max_velocity"):
        assert getattr(ball.model, name) == scalars[name], name
    assert ball.model.soft_contact_mu == pytest.approx(scalars["soft_contact_mu"], rel=1e-7)


def test_the_contact_records_are_the_reference_records(reference):
    contacts = make_ball().contacts
    count = int(contacts.soft_contact_count.numpy()[0])
    assert count == reference["soft_contact_count"][0] == 2
    for name in ("particle", "shape", "body_pos", "body_vel", "normal"):
        got = getattr(contacts, "soft_contact_" + name).numpy()[:count]
        want = reference["soft_contact_" + name]
        assert np.array_equal(got, want), f"soft_contact_{name} is {got}, want {want}"
    assert np.array_equal(contacts.soft_contact_tids.numpy(), reference["soft_contact_tids"])


def test_the_recorded_solver_gives_all_289_states_and_the_loss_bit_for_bit(reference):
    ball = make_ball()
    tape, loss, _ = record_ball(ball)
    assert_states(ball.states, reference)
    assert_same_bits(loss.numpy().reshape(1), reference["loss"], "loss")


def test_the_forward_solver_gives_all_289_states_and_the_loss_bit_for_bit(reference):
    from novaphy.solvers import SolverSemiImplicit
    ball = make_ball(SolverSemiImplicit, requires_grad=False)
    step_ball(ball)
    assert_states(ball.states, reference)
    assert_same_bits(point_loss(ball.states[-1]).numpy().reshape(1), reference["loss"], "loss")


def test_both_solvers_leave_the_total_force_in_the_input_state(reference):
    from novaphy.solvers import SolverSemiImplicit
    for solver_class in (None, SolverSemiImplicit):
        ball = make_ball(solver_class)
        step_ball(ball)
        got = stacked(ball.states[:-1], "particle_f")
        assert np.array_equal(got, reference["particle_f_substeps"][:STEPS])


def test_the_recorded_solver_gives_the_same_states_without_a_tape(reference):
    ball = make_ball(requires_grad=False)
    step_ball(ball)
    assert_states(ball.states, reference)


def test_the_host_demo_gives_all_289_states_and_the_loss_bit_for_bit(reference, tmp_path):
    arrays, losses = host_dump(tmp_path, "--iterations", "0")
    assert_same_bits(arrays["particle_q_substeps"].reshape(289, 1, 3), reference["particle_q_substeps"], "positions")
    assert_same_bits(arrays["particle_qd_substeps"].reshape(289, 1, 3), reference["particle_qd_substeps"], "velocities")
    assert_same_bits(arrays["particle_q"].reshape(37, 1, 3), reference["particle_q_substeps"][::8], "positions of the frames")
    assert_same_bits(arrays["loss"], reference["loss"], "loss")
    assert losses == [pytest.approx(float(reference["loss"][0]), rel=1e-7)]


def test_the_host_demo_trains_as_the_reference_and_dumps_the_trained_throw(reference, tmp_path):
    arrays, losses = host_dump(tmp_path, "--iterations", "3")
    np.testing.assert_allclose(losses, reference["train_loss"][:4], rtol=1e-3)
    want = reference["train_v0"][3]
    np.testing.assert_allclose(arrays["particle_qd_substeps"].reshape(289, 3)[0], want, rtol=0, atol=1e-3)


def host_dump(folder, *options):
    """(arrays, losses) of the host's ball: it dumps raw values with a JSON of names and shapes beside them, and prints
    a loss for each iteration and one for the last rollout."""
    command = [str(host_executable()), "run", "diffsim_ball", *options, "--dump-states", str(folder / "dump")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_dump(folder / "dump"), [float(text) for text in re.findall(r"loss ([0-9.e+-]+)", done.stdout)]


def read_dump(folder):
    arrays = {}
    for described in folder.rglob("*.json"):
        meta = json.loads(described.read_text())
        for name, entry in meta["arrays"].items():
            raw = np.fromfile(described.parent / entry["file"], np.dtype(entry["dtype"]))
            arrays[name] = raw.reshape(entry["shape"])
    assert arrays, f"the host wrote no array into {folder}: {sorted(map(str, folder.rglob('*')))}"
    return arrays


def test_thirty_training_losses_follow_the_reference(reference):
    """Plain descent at rate 0.02; one solver and one set of states for all iterations."""
    ball = make_ball()
    velocity = np.array([START_VELOCITY], np.float32)
    losses = []
    for _ in range(30):
        ball.states[0].particle_qd = velocity
        tape, loss, v0 = record_ball(ball)
        tape.backward(loss)
        losses.append(loss.item())
        velocity = velocity - np.float32(0.02) * v0.grad.numpy()
        v0.zero_grad()
    np.testing.assert_allclose(losses, reference["train_loss"], rtol=1e-3)
    assert losses[-1] < 0.25 * losses[0]
    assert all(later < earlier for earlier, later in zip(losses, losses[1:]))


def test_the_time_step_is_rounded_to_float32_once(reference):
    """1/480 and 1/60/8 are the same float32, and a Python double arrives as it."""
    assert np.float32(DT) == np.float32(1 / 480)
    ball = make_ball(state_count=2)
    ball.solver.step(ball.states[0], ball.states[1], ball.control, ball.contacts, float(np.float32(1 / 480)))
    assert_same_bits(ball.states[1].particle_q.numpy(), reference["particle_q_substeps"][1], "one step")
