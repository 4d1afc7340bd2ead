# SPDX-License-Identifier: Apache-2.0
"""The thrown ball in the engine's Python API, with the reference's numbers."""
from dataclasses import dataclass

import numpy as np

STEPS = 288
DT = 1 / 60 / 8
TARGET = (0.0, -2.0, 1.5)
START_VELOCITY = (0.0, 5.0, -5.0)


@dataclass
class Ball:
    """Model, solver, 289 states, control, contacts (collided once at the start)."""
    model: object
    solver: object
    states: list
    control: object
    contacts: object
    pipeline: object


def make_ball(solver_class=None, requires_grad=True, state_count=STEPS + 1):
    """The scene of the reference; the solver is DiffSemiImplicitSolver unless another class is given."""
    import novaphy
    from novaphy.solvers import DiffSemiImplicitSolver
    b = novaphy.ModelBuilder()
    b.add_particle(pos=(0, -0.5, 1), vel=START_VELOCITY, mass=1.0)
    cfg = novaphy.ModelBuilder.ShapeConfig(ke=1e4, kf=0, kd=10, mu=0.2)
    b.add_shape_box(body=-1, xform=((0, 2, 1), (0, 0, 0, 1)), hx=1, hy=0.25, hz=1, cfg=cfg)
    b.add_ground_plane(cfg=cfg)
    model = b.finalize(requires_grad=requires_grad)
    model.soft_contact_ke, model.soft_contact_kf, model.soft_contact_kd, model.soft_contact_mu = 1e4, 0, 10, 0.2
    solver = (solver_class or DiffSemiImplicitSolver)(model)
    states = [model.state() for _ in range(state_count)]
    pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=10.0)
    contacts = pipeline.contacts()
    pipeline.collide(states[0], contacts)
    return Ball(model, solver, states, model.control(), contacts, pipeline)


def step_ball(ball, states=None):
    """All substeps, as a user writes them."""
    states = states or ball.states
    for now, then in zip(states, states[1:]):
        now.clear_forces()
        ball.solver.step(now, then, ball.control, ball.contacts, DT)
    return states


def point_loss(state):
    import novaphy.diff as ndiff
    return ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(state), 0, *TARGET)


def record_ball(ball):
    """(tape, loss, start velocity tensor) of one recorded rollout; backward has not run."""
    import novaphy.diff as ndiff
    from novaphy import nova
    v0 = ndiff.state_particle_qd_tensor(ball.states[0], requires_grad=True)
    with nova.Tape() as tape:
        step_ball(ball)
        loss = point_loss(ball.states[-1])
    return tape, loss, v0


def ball_loss(ball, velocity):
    """The float32 loss of a throw, unrecorded, in the given ball's states."""
    ball.states[0].particle_qd = np.asarray(velocity, np.float32).reshape(1, 3)
    step_ball(ball)
    d = ball.states[-1].particle_q.numpy()[0] - np.asarray(TARGET, np.float32)
    return np.float32((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2])


def stacked(states, name):
    """One array of all states, (N,P,width)."""
    return np.stack([getattr(s, name).numpy() for s in states])
