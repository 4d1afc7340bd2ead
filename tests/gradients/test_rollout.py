# SPDX-License-Identifier: Apache-2.0
"""novaphy.diff.Rollout on the ball and on random particle scenes: at every budget the bits of one tape, within the budget."""
import ball as ball_scene
import numpy as np
import pytest
from scenes import random_scene

import novaphy
import novaphy.diff as ndiff
from novaphy import nova
from novaphy.solvers import DiffSemiImplicitSolver


@nova.kernel
def plus(a: nova.rows[float], b: nova.rows[float]):
    return a + b


def bits(*arrays):
    return b"".join(np.asarray(a.grad.numpy()).tobytes() for a in arrays)


def ball_by_tape():
    ball = ball_scene.make_ball()
    tape, loss, _ = ball_scene.record_ball(ball)
    tape.backward(loss)
    start = ball.states[0]
    return loss.numpy().tobytes() + bits(start.particle_q, start.particle_qd, *parameters(ball.model))


def parameters(model):
    return model.particle_inv_mass, model.gravity, model.shape_material_ke, model.shape_material_kd, model.shape_material_mu


def ball_by_rollout(budget):
    ball = ball_scene.make_ball(state_count=1)
    roll = ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, ball_scene.STEPS, memory_budget=budget)
    loss = roll(ball.states[0], ball_scene.point_loss)
    assert roll.state_steps[0] == 0 and roll.state_steps[-1] == 288 and roll.states[0] is ball.states[0]
    roll.backward()
    start = ball.states[0]
    return loss.numpy().tobytes() + bits(start.particle_q, start.particle_qd, *parameters(ball.model)), roll


@pytest.mark.parametrize("budget", [None, "1 MB", "200 kB", 60_000, 20_000, 8_000, "least"])
def test_the_balls_rollout_has_the_bits_of_one_tape_at_every_budget(budget):
    if budget == "least":
        with pytest.raises(ValueError) as raised:
            ball_by_rollout(1)
        budget = int(str(raised.value).split("the least is ")[1].split(" ")[0])
    got, roll = ball_by_rollout(budget)
    assert got == ball_by_tape()
    assert ("segments of" in roll.estimate) == (budget not in (None, "1 MB")), roll.estimate


def scene_gradient(scene, run):
    """(loss, gradients) as bytes; run(model, start, losses) rolls and differentiates."""
    model = scene.build(requires_grad=True)
    start = model.state()
    loss = run(model, start)
    return loss.numpy().tobytes() + bits(start.particle_q, start.particle_qd, *parameters(model))


def collide_before_step(model, scene):
    pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=scene.margin)
    return pipeline.contacts(), pipeline.collide


def squared_speed(state):
    return ndiff.particle_point_loss_generated(ndiff.state_particle_qd_tensor(state), 5, 0.1, 0.2, 0.3)


def tape_over(scene):
    def run(model, start):
        contacts, collide = collide_before_step(model, scene)
        solver, states = DiffSemiImplicitSolver(model), [start]
        total = None
        tape = nova.Tape()
        with tape:
            for step in range(scene.steps):
                states.append(model.state())
                states[step].clear_forces()
                collide(states[step], contacts)
                solver.step(states[step], states[step + 1], None, contacts, scene.dt)
                if step % 4 == 3:
                    loss = squared_speed(states[step + 1])
                    total = loss if total is None else plus(total, loss)
            total = plus(total, squared_speed(states[-1]))
        tape.backward(total)
        return total
    return run


def rollout_over(scene, budget, peak=None):
    def run(model, start):
        contacts, collide = collide_before_step(model, scene)

        def before_step(step, state, control, given):
            assert control is None and given is contacts
            collide(state, contacts)
            if peak is not None:
                peak.append(roll.memory_bytes)

        roll = ndiff.Rollout(DiffSemiImplicitSolver(model), None, contacts, scene.dt, scene.steps, memory_budget=budget,
                             loss=squared_speed, before_step=before_step,
                             loss_each=lambda step, state: squared_speed(state) if step % 4 == 0 else None)
        loss = roll(start)
        roll.backward()
        roll.release()
        assert roll.memory_bytes == 0
        return loss
    return run


def test_a_random_scene_collided_every_step_has_the_bits_of_one_tape_within_each_budget():
    scene = random_scene(3, particles=2000, steps=24, margin=0.05)
    want = scene_gradient(scene, tape_over(scene))
    model = scene.build()
    one = sum(a.numpy().nbytes for a in map(model.state().__getattribute__, ("particle_q", "particle_qd", "particle_f")))
    with pytest.raises(ValueError) as raised:
        scene_gradient(scene, rollout_over(scene, 1))
    least = int(str(raised.value).split("the least is ")[1].split(" ")[0])
    for budget in (None, 4 * least, 2 * least, least + 4 * one, least):
        peak = []
        assert scene_gradient(scene, rollout_over(scene, budget, peak)) == want, budget
        assert budget is None or max(peak) < budget + one, (max(peak), budget)


def test_a_callback_that_is_not_deterministic_is_named_by_its_step():
    ball = ball_scene.make_ball(state_count=1)
    rng = np.random.default_rng(1)

    def wind(step, state, control, contacts):
        if step == 40:
            state.particle_f = rng.normal(size=(1, 3)).astype(np.float32)

    roll = ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, 60, memory_budget=8_000, before_step=wind,
                         loss=ball_scene.point_loss)
    roll(ball.states[0])
    with pytest.raises(novaphy.StaleRecordError, match="step 40 gave another state when it ran again for backward"):
        roll.backward()
    assert ball.states[0].particle_qd.grad is None


def test_controls_of_a_callback_get_their_gradient():
    grads = []
    for budget in (None, 8_000):
        ball = ball_scene.make_ball(state_count=1)
        thrust = nova.tensor([[0.5, 0.0, 3.0]], requires_grad=True)
        roll = ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, 60, memory_budget=budget,
                             before_step=lambda step, state, *_: ndiff.assign(state.particle_f, thrust),
                             loss=ball_scene.point_loss)
        roll(ball.states[0])
        roll.backward()
        grads.append(thrust.grad.numpy().tobytes())
    assert grads[0] == grads[1] and any(grads[0])


def test_an_interrupt_leaves_everything_usable():
    ball = ball_scene.make_ball(state_count=1)
    stop = [100]

    def maybe_stop(step, state, control, contacts):
        stop[0] -= 1
        if stop[0] == 0:
            raise KeyboardInterrupt

    roll = ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, 288, before_step=maybe_stop,
                         loss=ball_scene.point_loss)
    with pytest.raises(KeyboardInterrupt):
        roll(ball.states[0])
    loss = roll(ball.states[0])
    roll.backward()
    start = ball.states[0]
    got = loss.numpy().tobytes() + bits(start.particle_q, start.particle_qd, *parameters(ball.model))
    assert got == ball_by_tape()


def test_a_rollout_that_its_callback_knows_is_freed():
    import gc
    import weakref
    ball = ball_scene.make_ball(state_count=1)
    roll = ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, 5, loss=ball_scene.point_loss,
                         before_step=lambda *_: roll.memory_bytes)
    roll(ball.states[0])
    roll.backward()
    gone = weakref.ref(roll)
    del roll
    gc.collect()
    assert gone() is None


def test_mistakes_are_told_in_one_sentence():
    ball = ball_scene.make_ball(state_count=1)
    make = lambda **kw: ndiff.Rollout(ball.solver, ball.control, ball.contacts, ball_scene.DT, 3, **kw)
    with pytest.raises(ValueError) as raised:
        make(memory_budget="lots")
    assert str(raised.value) == "Rollout: memory_budget is 'lots'; give bytes, or a text such as '256 MB' or '1.5 GiB'"
    with pytest.raises(TypeError) as raised:
        make(loss=lambda state: 1.0)(ball.states[0])
    assert str(raised.value) == "Rollout: loss_fn returned float, a nova.Tensor of one element is wanted"
    roll = make()
    assert roll(ball.states[0]) is None
    with pytest.raises(ValueError) as raised:
        roll.backward()
    assert str(raised.value) == "novaphy.diff.Rollout.backward: there is no loss; give loss=, loss_each= or loss_fn"
    with nova.Tape(), pytest.raises(novaphy.UnsupportedFeatureError, match="a tape records on this thread"):
        roll(ball.states[0])
    with nova.no_grad():
        assert roll(ball.states[0], ball_scene.point_loss).size == 1
    with pytest.raises(novaphy.NovaPhyError, match="nothing was rolled since the last backward"):
        roll.backward()
    with pytest.raises(ValueError, match="the least is"):
        make(memory_budget=10, loss=ball_scene.point_loss).estimate
