# SPDX-License-Identifier: Apache-2.0
"""The gradient of the thrown ball: against the reference, the float64 twin of all substeps, and differences."""
import numpy as np
import pytest

from ball import DT, START_VELOCITY, STEPS, TARGET, ball_loss, make_ball, record_ball
from compare import assert_close_to_largest
from engine import PARAMETERS, gradient
from scenes import ball_scene, read_arrays
from twin_contact import adjoint, rollout
from twin_differences import Differences


@pytest.fixture(scope="module")
def differentiated():
    """(ball, tape, loss) after one backward; all states and the model keep their gradients."""
    import novaphy.diff as ndiff
    ball = make_ball()
    ndiff.state_particle_q_tensor(ball.states[0], requires_grad=True)
    tape, loss, _ = record_ball(ball)
    tape.backward(loss)
    return ball, tape, loss


def test_the_start_gradient_is_the_reference_gradient(differentiated, data):
    ball, _, _ = differentiated
    reference = np.load(data / "newton_ball.npz")
    assert_close_to_largest(gradient(ball.states[0].particle_qd), reference["grad_particle_qd0"], 1e-5, "start velocity")
    assert_close_to_largest(gradient(ball.states[0].particle_q), reference["grad_particle_q0"], 1e-5, "start position")


def test_the_adjoints_of_all_substeps_are_those_of_the_float64_twin(differentiated, data):
    ball, _, _ = differentiated
    twin = np.load(data / "ball_twin.npz")
    positions = np.stack([gradient(s.particle_q)[0] for s in ball.states])
    velocities = [gradient(s.particle_qd) for s in ball.states]
    # the loss does not read the last velocity: None, or zero
    assert velocities[-1] is None or not velocities[-1].any()
    velocities = np.stack([g[0] for g in velocities[:-1]])
    assert_close_to_largest(positions, twin["adjoint_q"], 1e-4, "adjoints of the positions")
    assert_close_to_largest(velocities, twin["adjoint_qd"][:-1], 1e-4, "adjoints of the velocities")


def test_the_gradient_agrees_with_float32_differences_of_the_loss(differentiated):
    """Central differences at 1e-3; 2.2e-3 of them is the float32 quotient's own error."""
    got = gradient(differentiated[0].states[0].particle_qd)[0]
    ball = make_ball(requires_grad=False)
    eps = np.float32(1e-3)
    quotient = np.zeros(3)
    for i in range(3):
        step = np.zeros(3, np.float32)
        step[i] = eps
        start = np.asarray(START_VELOCITY, np.float32)
        quotient[i] = (float(ball_loss(ball, start + step)) - float(ball_loss(ball, start - step))) / (2 * float(eps))
    assert_close_to_largest(got, quotient, 2.5e-3, "start velocity")
    assert_close_to_largest(got[1:], quotient[1:], 2.5e-3, "start velocity without the idle axis")


@pytest.mark.parametrize("eps", [1e-3, 1e-4, 1e-5, 1e-6])
def test_the_gradient_agrees_with_differences_of_the_float64_twin(differentiated, eps):
    got = gradient(differentiated[0].states[0].particle_qd)[0]

    def loss(velocity):
        model = ball_scene().arrays().astype(np.float64)
        model.particle_qd[0] = velocity
        return ((rollout(model, STEPS, DT, 10.0).q[-1, 0] - TARGET) ** 2).sum()

    start = np.array(START_VELOCITY)
    quotient = [(loss(start + d) - loss(start - d)) / (2 * eps) for d in eps * np.eye(3)]
    assert_close_to_largest(got, np.array(quotient), 1e-5, f"start velocity at eps {eps}")


def test_the_gradients_of_the_models_parameters_are_those_of_the_twin(differentiated):
    ball, _, _ = differentiated
    run = rollout(read_arrays(ball.model), STEPS, DT, 10.0)
    want = adjoint(run, 2 * (run.q[-1].astype(np.float64) - TARGET))
    for name in PARAMETERS:
        got = gradient(getattr(ball.model, name))
        assert got is not None, f"model.{name} has no gradient"
        exact = getattr(want, name)
        if name == "soft_contact_material":
            for k, material in enumerate(("ke", "kd", "kf", "mu")):
                scale = np.abs(getattr(want, "shape_material_" + material)).max()
                assert_close_to_largest(got.reshape(-1)[k:k + 1], exact[k:k + 1], 1e-4, f"{name} {material}", scale)
        else:
            assert_close_to_largest(got.reshape(exact.shape), exact, 1e-4, name)


def test_the_damping_gradient_agrees_with_differences_of_the_twin(differentiated):
    """soft_contact_kd, independently of the twin's adjoint."""
    ball, _, _ = differentiated
    run = rollout(ball_scene().arrays().astype(np.float64), STEPS, DT, 10.0)
    quotient, same = Differences(run, 2 * (run.q[-1] - TARGET), [0]).of("soft_contact_material", (1,), 1e-5)
    assert same.all()
    got = gradient(ball.model.soft_contact_material).reshape(-1)[1]
    assert got == pytest.approx(quotient[0], rel=1e-4)
