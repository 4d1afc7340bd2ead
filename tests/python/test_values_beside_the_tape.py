# SPDX-License-Identifier: Apache-2.0
"""Values of a recording that are copied or computed beside the tape: refused where the gradient would end unseen."""
import numpy as np
import pytest

from ball import DT, make_ball, point_loss
from engine import gradient

REFUSED = (r"^Tape: 'particle_qd?' of state #\d+ was copied or computed from values of this recording beside the tape, and "
           r"launch \d+ \(\w+\) read it; the gradient would end there. Record it \(DiffSemiImplicitSolver, "
           r"novaphy.diff.assign, Tensor.clone\), or cut it on purpose \(Tensor.detach, nova.no_grad\).$")


def step(ball, now, then, solver=None):
    now.clear_forces()
    (solver or ball.solver).step(now, then, ball.control, ball.contacts, DT)


def clone(ball, now):
    return now.clone()


def assign(ball, now):
    other = ball.model.state()
    other.assign(now)
    return other


def assign_arrays(ball, now):
    other = ball.model.state()
    other.particle_q, other.particle_qd = now.particle_q, now.particle_qd
    return other


def clone_of_a_clone(ball, now):
    return now.clone().clone()


def forward_solver(ball, now):
    from novaphy.solvers import SolverSemiImplicit
    other = ball.model.state()
    step(ball, now, other, SolverSemiImplicit(ball.model))
    return other


BESIDE = [clone, assign, assign_arrays, clone_of_a_clone, forward_solver]


def roll(ball, beside, steps=10):
    """Five recorded steps, `beside` in the middle, the rest recorded again, the loss."""
    state = ball.states[0]
    for k in range(steps):
        if k == steps // 2:
            state = beside(ball, state)
        step(ball, state, ball.states[k + 1])
        state = ball.states[k + 1]
    return point_loss(state)


@pytest.mark.parametrize("beside", BESIDE, ids=lambda f: f.__name__)
def test_a_value_that_left_the_tape_and_came_back_is_refused_with_its_name(beside):
    import novaphy
    from novaphy import nova
    ball = make_ball(state_count=11)
    with nova.Tape() as tape:
        loss = roll(ball, beside)
    with pytest.raises(novaphy.StaleRecordError, match=REFUSED):
        tape.backward(loss)
    assert ball.states[0].particle_qd.grad is None
    assert ball.model.gravity.grad is None


@pytest.mark.parametrize("beside", BESIDE, ids=lambda f: f.__name__)
def test_no_grad_cuts_on_purpose(beside):
    from novaphy import nova
    ball = make_ball(state_count=11)

    def cut(ball, now):
        with nova.no_grad():
            return beside(ball, now)

    with nova.Tape() as tape:
        loss = roll(ball, cut)
    tape.backward(loss)
    assert ball.states[0].particle_qd.grad is None
    assert np.abs(gradient(ball.model.gravity)).max() > 0


def test_a_first_step_of_the_forward_solver_inside_a_recording_is_refused():
    import novaphy
    from novaphy import nova
    ball = make_ball(state_count=3)
    with nova.Tape() as tape:
        first = forward_solver(ball, ball.states[0])
        step(ball, first, ball.states[1])
        loss = point_loss(ball.states[1])
    with pytest.raises(novaphy.StaleRecordError, match=REFUSED):
        tape.backward(loss)


def test_the_last_state_of_a_recording_starts_the_next_one():
    from novaphy import nova
    ball = make_ball(state_count=11)
    with nova.Tape() as tape:
        roll(ball, lambda _, now: now)
    tape.reset()
    ball.states[0].assign(ball.states[-1])
    for recording in (tape, nova.Tape()):
        with recording:
            loss = roll(ball, lambda _, now: now)
        recording.backward(loss)
        assert np.abs(gradient(ball.states[0].particle_qd)).max() > 0


def test_copies_that_no_launch_reads_do_not_matter():
    from novaphy import nova
    want, got = make_ball(state_count=11), make_ball(state_count=11)
    kept = []
    with nova.Tape() as tape:
        loss = roll(want, lambda _, now: now)
    tape.backward(loss)
    with nova.Tape() as tape:
        loss = roll(got, lambda _, now: kept.append(now.clone()) or now)
    tape.backward(loss)
    np.testing.assert_array_equal(gradient(got.states[0].particle_qd), gradient(want.states[0].particle_qd))


def test_a_detached_tensor_is_a_constant():
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball(state_count=11)

    def through_a_constant(ball, now):
        other = ball.model.state()
        ndiff.assign(other.particle_q, ndiff.state_particle_q_tensor(now).detach())
        ndiff.assign(other.particle_qd, ndiff.state_particle_qd_tensor(now).detach())
        return other

    with nova.Tape() as tape:
        loss = roll(ball, through_a_constant)
    tape.backward(loss)
    assert ball.states[0].particle_qd.grad is None


def test_a_recorded_copy_carries_the_gradient():
    import novaphy.diff as ndiff
    from novaphy import nova
    want, got = make_ball(state_count=11), make_ball(state_count=11)

    def recorded_copy(ball, now):
        other = ball.model.state()
        ndiff.assign(other.particle_q, ndiff.state_particle_q_tensor(now))
        ndiff.assign(other.particle_qd, ndiff.state_particle_qd_tensor(now))
        return other

    for ball, beside in ((want, lambda _, now: now), (got, recorded_copy)):
        with nova.Tape() as tape:
            loss = roll(ball, beside)
        tape.backward(loss)
    np.testing.assert_array_equal(gradient(got.states[0].particle_qd), gradient(want.states[0].particle_qd))
    np.testing.assert_array_equal(gradient(got.model.gravity), gradient(want.model.gravity))
