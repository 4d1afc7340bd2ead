# SPDX-License-Identifier: Apache-2.0
"""Faults of other engines in the small, with their numbers: the right value, or a refusal."""
import numpy as np
import pytest

import novaphy
from novaphy import nova


def gradient(fn, *values, seed=None):
    """fn's value and its gradients; without a seed fn returns one number."""
    inputs = [nova.tensor(v, requires_grad=True) for v in values]
    with nova.Tape() as tape:
        out = fn(*inputs)
    tape.backward(out) if seed is None else tape.backward(out, grad=nova.tensor(seed))
    return out.numpy(), [None if x.grad is None else x.grad.numpy() for x in inputs]


# two buffers swapped inside a recorded rollout of a spring

def spring_rollout(k, slots, mode, steps=100):
    """One particle on a linear spring, semi-implicit Euler, states in a ring of `slots`: final position."""
    x, v = nova.zeros((slots, 1)), nova.zeros((slots, 1))
    with nova.Tape(on_overwrite=mode) as tape:
        x[0] = 1.0
        v[0] = 0.0
        for step in range(steps):
            now, then = step % slots, (step + 1) % slots
            v[then] = v[now] - k * x[now] * 0.01
            x[then] = x[now] + v[then] * 0.01
        out = x[steps % slots] * 1.0
    return tape, out


@pytest.mark.parametrize("slots, mode", [(101, "error"), (101, "save"), (2, "save")])
def test_a_spring_has_its_stiffness_gradient_with_separate_and_with_swapped_states(slots, mode):
    k = nova.tensor([4.0], requires_grad=True)
    tape, out = spring_rollout(k, slots, mode)
    tape.backward(out)
    assert out.item() == pytest.approx(-0.42527, abs=2e-5)
    assert k.grad.item() == pytest.approx(-0.22743, rel=1e-3)


def test_two_swapped_states_are_refused_without_saved_copies():
    k = nova.tensor([4.0], requires_grad=True)
    tape, out = spring_rollout(k, 2, "error")
    with pytest.raises(novaphy.StaleRecordError):
        tape.backward(out)
    assert k.grad is None


# a gradient read while recording

def test_a_gradient_is_refused_inside_right_after_backward_and_none_after_clearing():
    x = nova.tensor([0.0], requires_grad=True)
    with nova.Tape() as tape:
        y = nova.sin(x)
        with pytest.raises(novaphy.GradientNotReadyError):
            x.grad
    tape.backward(y)
    assert x.grad.item() == 1.0
    x.zero_grad()
    assert x.grad is None


# an input changed between recording and backward

@pytest.mark.parametrize("mode", ["error", "save"])
def test_an_input_changed_after_the_recording_is_named_and_not_used(mode):
    x, c = nova.tensor([3.0], requires_grad=True), nova.tensor([0.0])
    with nova.Tape(on_overwrite=mode) as tape:
        square, product = x * x, c * x
    x.assign([5.0])
    with pytest.raises(novaphy.StaleRecordError, match=r"launch 0 \(mul\)"):
        tape.backward(square)
    x.assign([3.0])
    c.assign([5.0])
    with pytest.raises(novaphy.StaleRecordError):
        tape.backward(product)
    assert x.grad is None


# two operations write one output

def test_an_overwritten_writer_gets_no_gradient_and_an_accumulating_one_keeps_it():
    @nova.kernel
    def add_three_times(z: nova.rows[float], y: nova.scatter[float]):
        y += 3.0 * z

    def overwrite(x, z):
        y = nova.zeros(3)
        y.assign(2.0 * x)
        y.assign(3.0 * z)
        return nova.sum(y)

    def accumulate(x, z):
        y = 2.0 * x
        add_three_times(z, out=y)
        return nova.sum(y)

    x, z = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    _, (dx, dz) = gradient(overwrite, x, z)
    assert (dx is None or not dx.any()) and dz.tolist() == [3, 3, 3]
    _, (dx, dz) = gradient(accumulate, x, z)
    assert dx.tolist() == [2, 2, 2] and dz.tolist() == [3, 3, 3]


# an intermediate without gradient storage

def test_an_intermediate_that_asked_for_no_gradient_carries_it():
    acc, loss = nova.zeros(1, requires_grad=False), nova.zeros(1, requires_grad=True)
    x = nova.tensor([2.0], requires_grad=True)
    with nova.Tape() as tape:
        acc.assign(x)
        loss.assign(acc)
    tape.backward(loss)
    assert x.grad.item() == 1.0 and acc.grad is None


# one solver for several rollouts, backward twice

def test_a_kept_solver_gives_the_same_gradient_every_time_and_a_second_backward_twice_of_it():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 0.3), vel=(1, 0, -2), mass=1.0, radius=0.1)
    builder.add_ground_plane()
    model = builder.finalize(requires_grad=True)
    pipeline, kept = novaphy.CollisionPipeline(model), novaphy.solvers.DiffSemiImplicitSolver(model)

    def roll(solver):
        states = [model.state() for _ in range(51)]
        contacts = pipeline.contacts()
        pipeline.collide(states[0], contacts)
        speed = novaphy.diff.state_particle_qd_tensor(states[0], requires_grad=True)
        mass = nova.Tensor(model.particle_inv_mass)
        mass.zero_grad()
        with nova.Tape() as tape:
            for now, then in zip(states, states[1:]):
                now.clear_forces()
                solver.step(now, then, model.control(), contacts, 1 / 600)
            loss = novaphy.diff.particle_point_loss_generated(nova.Tensor(states[-1].particle_q), 0, 0.0, 0.0, 1.0)
        tape.backward(loss)
        once = [speed.grad.numpy().copy(), mass.grad.numpy().copy()]
        tape.backward(loss)
        assert np.array_equal(speed.grad.numpy(), 2 * once[0])
        tape.zero()
        tape.backward(loss)
        assert np.array_equal(speed.grad.numpy(), once[0])
        return b"".join(part.tobytes() for part in once)

    assert len({roll(kept) for _ in range(3)} | {roll(novaphy.solvers.DiffSemiImplicitSolver(model))}) == 1


# the norm of a zero vector, alone and in one row of a thousand

@nova.kernel
def squared(a: nova.rows[nova.vec3], b: nova.rows[nova.vec3]):
    return nova.length(a - b) * nova.length(a - b)


@nova.kernel
def drag(v: nova.rows[nova.vec3]):
    return -0.5 * nova.length(v) * v


@nova.kernel
def speed_of(v: nova.rows[nova.vec3]):
    return nova.length(v)


@pytest.mark.parametrize("rows", [1, 1000])
def test_a_length_of_zero_has_a_zero_gradient_and_spoils_no_other_row(rows):
    v = np.random.default_rng(0).uniform(0.5, 1, (rows, 3)).astype(np.float32)
    v[rows // 2] = 0
    point = np.tile(np.float32([1, 2, 3]), (rows, 1))
    others = np.arange(rows) != rows // 2
    size = np.linalg.norm(v[others].astype(np.float64), axis=1)[:, None]
    ones, seed = np.ones(rows, np.float32), np.tile(np.float32([1, 0, 0]), (rows, 1))
    wide = v[others].astype(np.float64)
    for fn, at, weight, wanted in (
        (lambda a: squared(a, nova.tensor(point)), point + v, ones, 2 * wide),
        (drag, v, seed, -0.5 * (wide[:, :1] * wide / size + size * np.float64([1, 0, 0]))),
        (speed_of, v, ones, wide / size),
    ):
        _, (grad,) = gradient(fn, at, seed=weight)
        assert not grad[rows // 2].any()
        assert np.allclose(grad[others], wanted, rtol=1e-4, atol=1e-5)


# operations without a useful derivative

def test_a_sign_is_a_constant_and_an_integer_path_is_refused():
    @nova.kernel
    def by_sign(v: nova.rows[float]):
        return nova.sum(nova.sign(v) * v)

    @nova.kernel
    def rounded(v: nova.rows[float]):
        return nova.to_int(v)

    @nova.kernel
    def back(i: nova.rows[int]):
        return nova.to_float(i)

    _, (grad,) = gradient(by_sign, np.float32([2, -3, 4]))
    assert grad.tolist() == [1, -1, 1]
    for path in (lambda v: back(rounded(v)), lambda v: back(rounded(v).clone()), lambda v: nova.sum(back(rounded(v)) * v)):
        with pytest.raises(novaphy.UnsupportedFeatureError, match="which have no derivative; keep that path in float32"):
            gradient(lambda v: nova.sum(path(v) * 2.0), np.float32([2, -3, 4]))
    with pytest.raises(TypeError, match="requires_grad wants float32"):
        nova.arange(3, requires_grad=True)


def test_a_choice_that_reads_one_array_in_both_arms_has_the_gradient_of_the_arm_taken():
    @nova.kernel
    def choice(flag: nova.rows[int], a: nova.rows[float], b: nova.rows[float]):
        return nova.where(flag > 0, a / b, a)

    for flag, wanted in ((1, [0.5, 0.25, 0.125]), (0, [1, 1, 1])):
        flags = nova.tensor(np.full(3, flag, np.int32))
        _, (da, _) = gradient(lambda a, b: choice(flags, a, b), np.float32([1, 2, 3]), np.float32([2, 4, 8]),
                              seed=np.ones(3, np.float32))  # fmt: skip
        assert da.tolist() == wanted
