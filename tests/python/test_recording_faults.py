# SPDX-License-Identifier: Apache-2.0
"""Recordings that must not lie: overwritten states and inputs, gradients read too early, re-used solvers and tapes."""
import re

import numpy as np
import pytest

from ball import DT, START_VELOCITY, make_ball, point_loss, record_ball
from engine import gradient
from scenes import Shape, scene_of


@pytest.fixture(scope="module")
def right_gradient(data):
    return np.load(data / "newton_ball.npz")["grad_particle_qd0"]


def close(got, want):
    return np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


# two states swapped inside a recorded rollout

def swapped_rollout(ball, **options):
    import novaphy.diff as ndiff
    from novaphy import nova
    now, then = ball.states[:2]
    v0 = ndiff.state_particle_qd_tensor(now, requires_grad=True)
    with nova.Tape(**options) as tape:
        for _ in range(288):
            now.clear_forces()
            ball.solver.step(now, then, ball.control, ball.contacts, DT)
            now, then = then, now
        loss = point_loss(now)
    return tape, loss, v0


def test_two_swapped_states_raise_and_the_text_names_array_state_launch_and_remedy():
    import novaphy
    tape, loss, v0 = swapped_rollout(make_ball(state_count=2))
    assert loss.item() == pytest.approx(9.105798, abs=1e-5)
    with pytest.raises(novaphy.StaleRecordError) as raised:
        tape.backward(loss)
    text = str(raised.value)
    assert re.search(r"'particle_qd?' of state #[01]\b", text), text
    assert len(re.findall(r"launch \d+", text)) >= 1, text
    assert re.search(r"(?i)one state (per|a|for each|each) (sub)?step", text), text
    assert v0.grad is None


def test_two_swapped_states_with_saved_copies_are_right_or_refused(right_gradient):
    import novaphy
    try:
        tape, loss, v0 = swapped_rollout(make_ball(state_count=2), on_overwrite="save")
    except novaphy.UnsupportedFeatureError as refused:
        assert "save" in str(refused)
        return
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)


def test_separate_states_give_the_right_gradient(right_gradient):
    tape, loss, v0 = record_ball(make_ball())
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)


def test_a_state_stepped_onto_itself_is_refused_while_recording():
    from novaphy import nova
    ball = make_ball(state_count=1)
    state = ball.states[0]
    with nova.Tape(), pytest.raises(ValueError, match="state"):
        ball.solver.step(state, state, ball.control, ball.contacts, DT)


# a gradient read at the wrong time

def test_a_gradient_read_inside_the_tape_raises_and_is_right_after_backward(right_gradient):
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball()
    v0 = ndiff.state_particle_qd_tensor(ball.states[0], requires_grad=True)
    assert v0.grad is None and ball.states[0].particle_qd.grad is None
    with nova.Tape() as tape:
        for now, then in zip(ball.states, ball.states[1:]):
            now.clear_forces()
            ball.solver.step(now, then, ball.control, ball.contacts, DT)
        loss = point_loss(ball.states[-1])
        with pytest.raises(novaphy.GradientNotReadyError, match="(?i)backward"):
            v0.grad
        with pytest.raises(novaphy.GradientNotReadyError, match="(?i)backward"):
            ball.states[0].particle_qd.grad
    assert v0.grad is None
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)
    assert close(ball.states[0].particle_qd.grad.numpy(), right_gradient)
    v0.zero_grad()
    assert v0.grad is None and ball.states[0].particle_qd.grad is None


def test_backward_inside_the_open_tape_raises():
    import novaphy
    from novaphy import nova
    ball = make_ball(state_count=2)
    with nova.Tape() as tape:
        ball.solver.step(ball.states[0], ball.states[1], ball.control, ball.contacts, DT)
        loss = point_loss(ball.states[1])
        with pytest.raises(novaphy.GradientNotReadyError):
            tape.backward(loss)


def test_a_gradient_of_an_earlier_recording_is_not_readable_inside_a_new_one():
    import novaphy
    from novaphy import nova
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    with nova.Tape():
        with pytest.raises(novaphy.GradientNotReadyError):
            v0.grad
    assert v0.grad is not None


# an input changed between recording and backward

def held_view(array):
    view = array.numpy(writable=True)

    def write():
        view[...] = view * np.float32(0.5)
    return write


OVERWRITES = {
    "start velocity": ("particle_qd", lambda b: lambda: setattr(b.states[0], "particle_qd", [[0, 1, 2]])),
    "start velocity by assign": ("particle_qd", lambda b: lambda: b.states[0].particle_qd.assign([[0, 1, 2]])),
    "start velocity by fill_": ("particle_qd", lambda b: lambda: b.states[0].particle_qd.fill_(2.0)),
    "start velocity by item": ("particle_qd", lambda b: lambda: b.states[0].particle_qd.__setitem__((0, 1), 3.0)),
    "start velocity by copy_from": ("particle_qd", lambda b: lambda: b.states[0].particle_qd.copy_from(b.states[9].particle_qd)),
    "whole state by assign": ("particle_q", lambda b: lambda: b.states[0].assign(b.states[9])),
    "start position": ("particle_q", lambda b: lambda: setattr(b.states[0], "particle_q", [[0, 1, 2]])),
    "state in between": ("particle_q", lambda b: lambda: setattr(b.states[100], "particle_q", [[0, 1, 2]])),
    "soft_contact_ke": ("soft_contact_(ke|material)", lambda b: lambda: setattr(b.model, "soft_contact_ke", 5e3)),
    "shape stiffness": ("shape_material_ke", lambda b: lambda: b.model.shape_material_ke.assign([5e3, 5e3])),
    "mass": ("particle_inv_mass", lambda b: lambda: b.model.particle_inv_mass.assign([0.5])),
    "radius": ("particle_radius", lambda b: lambda: b.model.particle_radius.assign([0.2])),
    "gravity": ("gravity", lambda b: lambda: b.model.set_gravity((0, 0, -1.62))),
    "view taken after the recording": (
        "particle_q", lambda b: lambda: b.states[0].particle_q.numpy(writable=True).__setitem__((0, 1), 3.0)),
    "held view of the start velocity": ("particle_qd", lambda b: held_view(b.states[0].particle_qd)),
    "held view of the start position": ("particle_q", lambda b: held_view(b.states[0].particle_q)),
    "held view of a state in between": ("particle_q", lambda b: held_view(b.states[7].particle_q)),
    "held view of the shape stiffness": ("shape_material_ke", lambda b: held_view(b.model.shape_material_ke)),
    "held view of the mass": ("particle_inv_mass", lambda b: held_view(b.model.particle_inv_mass)),
}


@pytest.mark.parametrize("case", OVERWRITES)
def test_an_input_changed_after_recording_raises_and_is_named(case):
    import novaphy
    name, prepare = OVERWRITES[case]
    ball = make_ball()
    write = prepare(ball)
    tape, loss, v0 = record_ball(ball)
    write()
    with pytest.raises(novaphy.StaleRecordError, match=name):
        tape.backward(loss)
    assert v0.grad is None


def test_an_input_changed_between_two_recordings_is_no_error(right_gradient):
    ball = make_ball()
    view = ball.states[0].particle_qd.numpy(writable=True)
    view[...] = 1.0
    record_ball(ball)
    view[...] = START_VELOCITY
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)


def test_a_state_overwritten_between_two_recorded_steps_is_cut_or_refused():
    """The second step does not start from what the first one wrote, so no gradient may flow from one to the other."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball(state_count=3)
    v0 = ndiff.state_particle_qd_tensor(ball.states[0], requires_grad=True)
    with nova.Tape() as tape:
        ball.solver.step(ball.states[0], ball.states[1], ball.control, ball.contacts, DT)
        ball.states[1].particle_q = [[0.0, 0.5, 1.0]]
        ball.states[1].particle_qd = [[0.0, 1.0, 0.0]]
        ball.solver.step(ball.states[1], ball.states[2], ball.control, ball.contacts, DT)
        loss = point_loss(ball.states[2])
    try:
        tape.backward(loss)
    except novaphy.StaleRecordError as refused:
        assert "state #1" in str(refused)
        return
    assert v0.grad is None or not v0.grad.numpy().any()


def test_contacts_collided_again_while_the_tape_holds_them_are_kept(right_gradient):
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    far = ball.model.state()
    far.particle_q = [[0, 0, 500]]
    ball.pipeline.collide(far, ball.contacts)
    ball.contacts.clear()
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)


def test_the_total_force_left_in_the_input_state_does_not_make_the_record_stale(right_gradient):
    import novaphy.diff as ndiff
    ball = make_ball()
    f0 = ndiff.state_particle_f_tensor(ball.states[0], requires_grad=True)
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    assert close(v0.grad.numpy(), right_gradient)
    # with mass 1 and no contact in the first step, a force there acts as dt times a start velocity does
    np.testing.assert_allclose(f0.grad.numpy(), v0.grad.numpy() * np.float32(DT), rtol=1e-4, atol=1e-8)


# one solver, three rollouts; one recording, two sweeps

def test_one_solver_used_three_times_gives_the_same_gradient_to_the_bit():
    ball = make_ball()
    seen = []
    for _ in range(3):
        tape, loss, v0 = record_ball(ball)
        tape.backward(loss)
        seen.append((loss.item(), v0.grad.numpy().tobytes(), gradient(ball.model.soft_contact_material).tobytes(),
                     gradient(ball.model.particle_inv_mass).tobytes()))
        tape.zero()
    assert seen[0] == seen[1] == seen[2]
    fresh = make_ball()
    tape, loss, v0 = record_ball(fresh)
    tape.backward(loss)
    assert seen[0][:2] == (loss.item(), v0.grad.numpy().tobytes())


def test_two_sweeps_of_one_recording_add_and_clearing_starts_anew():
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    once, ke_once = v0.grad.numpy().copy(), gradient(ball.model.shape_material_ke)
    tape.backward(loss)
    assert np.array_equal(v0.grad.numpy(), once + once)
    assert np.array_equal(gradient(ball.model.shape_material_ke), ke_once + ke_once)
    tape.zero()
    assert v0.grad is None and ball.model.shape_material_ke.grad is None
    tape.backward(loss)
    assert np.array_equal(v0.grad.numpy(), once)


def test_gradients_of_two_recordings_add_until_they_are_cleared():
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    once = v0.grad.numpy().copy()
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    assert np.array_equal(v0.grad.numpy(), once + once)


# what backward refuses, and what the report says

def test_a_leaf_without_a_path_has_no_gradient_and_stands_in_the_report():
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball(requires_grad=False, state_count=4)
    a, b, c, d = ball.states
    reached = ndiff.state_particle_qd_tensor(a, requires_grad=True)
    apart = ndiff.state_particle_qd_tensor(c, requires_grad=True)
    with nova.Tape() as tape:
        ball.solver.step(a, b, ball.control, ball.contacts, DT)
        ball.solver.step(c, d, ball.control, ball.contacts, DT)
        loss = point_loss(b)
    tape.backward(loss)
    assert reached.grad is not None
    assert apart.grad is None and c.particle_qd.grad is None
    text = str(tape.report())
    assert "particle_qd" in text and "#2" in text, text
    assert "#0" not in text, text


def test_a_loss_that_is_not_on_the_tape_is_refused():
    import novaphy
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    with pytest.raises(novaphy.NovaPhyError, match="(?i)tape"):
        tape.backward(point_loss(ball.states[-1]))


def test_a_loss_with_many_elements_needs_a_seed():
    import novaphy.diff as ndiff
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    with pytest.raises(ValueError, match="(?i)seed|grad|scalar"):
        tape.backward(ndiff.state_particle_q_tensor(ball.states[-1]))


def test_a_tape_inside_an_open_tape_is_refused():
    import novaphy
    from novaphy import nova
    with nova.Tape():
        with pytest.raises(novaphy.NovaPhyError, match="(?i)tape"):
            with nova.Tape():
                pass


def test_an_exception_inside_the_tape_closes_it():
    from novaphy import nova
    with pytest.raises(KeyError):
        with nova.Tape():
            raise KeyError("mine")
    with nova.Tape():
        pass


def test_a_recorded_write_into_a_model_array_carries_the_gradient():
    """ndiff.assign: the stiffness that the steps read comes from a tensor, and its gradient goes back there."""
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball()
    plain_tape, plain_loss, _ = record_ball(ball)
    plain_tape.backward(plain_loss)
    want = gradient(ball.model.shape_material_ke)
    ball = make_ball()
    stiffness = nova.tensor(np.array([1e4, 1e4], np.float32), requires_grad=True)
    with nova.Tape() as tape:
        ndiff.assign(ball.model.shape_material_ke, stiffness)
        for now, then in zip(ball.states, ball.states[1:]):
            now.clear_forces()
            ball.solver.step(now, then, ball.control, ball.contacts, DT)
        loss = point_loss(ball.states[-1])
    tape.backward(loss)
    np.testing.assert_array_equal(stiffness.grad.numpy(), want)


# zero speed and zero tangential speed

@pytest.mark.parametrize("speed", [(0, 0, 0), (0, 0, -2), (1e-30, 0, -2)], ids=["at rest", "no slip", "tiny slip"])
def test_one_row_without_slip_is_finite_and_leaves_the_other_rows_unchanged(speed):
    from engine import recorded
    rng = np.random.default_rng(3)
    q = rng.uniform(-1, 1, (1000, 3)) * (1, 1, 0) + (0, 0, 0.09)
    qd = rng.normal(size=(1000, 3))
    weights = rng.normal(size=(1000, 3))
    results = []
    for value in ((0.3, 0.1, -1.0), speed):
        qd[500] = value
        scene = scene_of(q, qd, [Shape("plane", (0.0, 0.0))], gravity=((0, 0, 0),), steps=5)
        run, _ = recorded(scene, weights)
        results.append((run, gradient(run.states[0].particle_qd)))
    others = np.arange(1000) != 500
    assert np.isfinite(results[1][1]).all()
    assert np.array_equal(results[0][1][others], results[1][1][others])
    assert np.array_equal(results[0][0].q[:, others], results[1][0].q[:, others])
    for name in ("soft_contact_material", "shape_material_ke", "shape_material_kf", "shape_material_mu"):
        assert np.isfinite(gradient(getattr(results[1][0].model, name))).all(), name
