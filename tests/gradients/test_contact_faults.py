# SPDX-License-Identifier: Apache-2.0
"""Known faults of other engines in the contact of particles, each with the number that is right."""
import numpy as np
import pytest

import novaphy
from novaphy import diff as ndiff
from novaphy import nova
from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit


def over_ground(height, *, radius=0.05, mass=1.0, ke=1e4, kd=0.0, velocity=(0, 0, 0), requires_grad=False):
    """One particle without friction over the ground; the ground and the model have the same material."""
    builder = novaphy.ModelBuilder()
    builder.add_particle((0, 0, height), velocity, mass, radius=radius)
    builder.add_ground_plane(cfg=novaphy.ModelBuilder.ShapeConfig(ke=ke, kd=kd, kf=0.0, mu=0.0))
    model = builder.finalize(requires_grad=requires_grad)
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_kf, model.soft_contact_mu = ke, kd, 0.0, 0.0
    return model


def contacts_everywhere(model):
    """Contacts of a plane, whose record is the same for every position, so that one collide() does."""
    pipeline = novaphy.CollisionPipeline(model, soft_contact_margin=100.0)
    contacts = pipeline.contacts()
    pipeline.collide(model.state(), contacts)
    return contacts


def bounce(start_height, steps, dt):
    """(last height, its derivative by the start height) of a particle that falls on the ground without losing energy."""
    model = over_ground(start_height, radius=0.0, ke=1e4)
    solver, contacts = DiffSemiImplicitSolver(model), contacts_everywhere(model)
    states = [model.state(requires_grad=t == 0) for t in range(steps + 1)]
    with nova.Tape() as tape:
        for now, then in zip(states, states[1:]):
            solver.step(now, then, None, contacts, dt)
        loss = nova.sum(ndiff.state_particle_q_tensor(states[-1])[0:1, 2])
    tape.backward(loss)
    return states[-1].particle_q.numpy()[0, 2], states[0].particle_q.grad.numpy()[0, 2]


def bounce_twin(start_height, steps, dt, ke=1e4):
    """The last height of the same steps in float64."""
    x, v = start_height, 0.0
    for _ in range(steps):
        v += (-ke * min(x, 0.0) - 9.81) * dt
        x += v * dt
    return x


def test_the_derivative_through_a_bounce_is_that_of_the_steps_that_were_made():
    """A penalty contact is entered somewhere within a step, so the last height over the start height is a saw around the
    exact curve; the gradient is that of the tooth, as a difference quotient within the tooth is."""
    dt, steps = float(np.float32(1e-4)), 6000
    height, slope = bounce(1.0, steps, dt)
    quotient = (bounce_twin(1.0 + 1e-8, steps, dt) - bounce_twin(1.0 - 1e-8, steps, dt)) / 2e-8
    assert height == pytest.approx(bounce_twin(1.0, steps, dt), abs=1e-4)
    assert slope == pytest.approx(quotient, rel=1e-2) and abs(slope - 1.0) > 0.5


def test_the_derivative_of_a_fall_without_a_bounce_is_one():
    assert bounce(1.0, 300, 1e-3)[1] == pytest.approx(1.0, abs=1e-6)


def test_the_step_jacobian_stays_finite_while_a_particle_is_lifted_off_the_ground():
    dt = 0.002
    model = over_ground(0.049, ke=1e4, kd=20.0)
    solver = DiffSemiImplicitSolver(model)
    pipeline = novaphy.CollisionPipeline(model)
    contacts, now = pipeline.contacts(), model.state(requires_grad=True)
    touching = []
    for t in range(200):
        then = model.state(requires_grad=True)
        now.particle_f.assign([[0.0, 0.0, 12.0 if t >= 50 else 0.0]])
        pipeline.collide(now, contacts)
        touching.append(int(contacts.soft_contact_count.numpy()[0]))
        for axis in range(3):
            with nova.Tape() as tape:
                solver.step(now, then, None, contacts, dt)
                loss = nova.sum(ndiff.state_particle_q_tensor(then)[0:1, axis])
            tape.backward(loss)
            by_q, by_qd = now.particle_q.grad.numpy(), now.particle_qd.grad.numpy()
            assert np.isfinite(by_q).all() and np.isfinite(by_qd).all(), t
            if touching[-1] == 0:
                assert by_qd[0, axis] == pytest.approx(dt, abs=1e-5 * dt)
            tape.zero()
            now.particle_f.assign([[0.0, 0.0, 12.0 if t >= 50 else 0.0]])
        now = then
    assert touching[49] == 1 and touching[-1] == 0


@pytest.mark.parametrize("direction", [(1, 0, 0), (-1, 0, 0), (0.6, 0, 0.8), (0, -0.28, 0.96)])
@pytest.mark.parametrize("kind", ["plane", "box", "sphere", "capsule"])
@pytest.mark.parametrize("solver_class", [SolverSemiImplicit, DiffSemiImplicitSolver])
def test_a_shape_pushes_a_particle_away_from_itself_whatever_the_direction(kind, direction, solver_class):
    direction = np.array(direction)
    turn = np.append(np.cross((0, 0, 1), direction), 1 + direction[2])  # takes +z to the direction
    turn = (turn / np.linalg.norm(turn)).tolist()
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    pose = ((0.1, 0.2, 0.3), turn)
    surface = {"plane": 0.0, "box": 0.2, "sphere": 0.2, "capsule": 0.5}[kind]
    if kind == "plane":
        offset = float(direction @ pose[0])
        builder.add_shape_plane(plane=(*direction.tolist(), -offset), width=0.0, length=0.0)
    elif kind == "box":
        builder.add_shape_box(-1, xform=pose, hx=0.2, hy=0.2, hz=0.2)
    elif kind == "sphere":
        builder.add_shape_sphere(-1, xform=pose, radius=0.2)
    else:
        builder.add_shape_capsule(-1, xform=pose, radius=0.2, half_height=0.3)
    place = np.array(pose[0]) + direction * (surface + 0.05 - 0.001)  # 1 mm into the surface
    builder.add_particle(place.tolist(), (0, 0, 0), 1.0, radius=0.05)
    model = builder.finalize()
    pipeline = novaphy.CollisionPipeline(model)
    contacts, now, then = pipeline.contacts(), model.state(), model.state()
    pipeline.collide(now, contacts)
    assert np.allclose(contacts.soft_contact_normal.numpy()[0], direction, atol=1e-5)
    solver_class(model).step(now, then, None, contacts, 1e-3)
    push = then.particle_qd.numpy()[0]
    assert np.linalg.norm(push) > 0 and np.allclose(push / np.linalg.norm(push), direction, atol=1e-4)


def slide(cut):
    """Gradients of the last place of a particle that slides on the ground, by the force in each of 20 steps of 0.1 s;
    at step 10 the recording is cut when `cut` is set."""
    dt, model = 0.1, over_ground(0.05, ke=10.0, kd=10.0)
    model.set_gravity((0, 0, 0))
    solver, pipeline = DiffSemiImplicitSolver(model), novaphy.CollisionPipeline(model)
    contacts = pipeline.contacts()
    states = [model.state(requires_grad=True) for _ in range(21)]
    forces = [nova.tensor([[0.1 * t, 0.0, -0.01]], requires_grad=True) for t in range(20)]
    with nova.Tape() as tape:
        for t in range(20):
            now, then = states[t], states[t + 1]
            ndiff.assign(now.particle_f, forces[t])
            pipeline.collide(now, contacts)
            solver.step(now, then, None, contacts, dt)
            if cut and t == 9:
                for array in (then.particle_q, then.particle_qd):
                    ndiff.assign(array, nova.as_tensor(array).detach())
        assert contacts.soft_contact_count.numpy()[0] == 1
        loss = nova.sum(ndiff.state_particle_q_tensor(states[-1])[0:1, 0])
    tape.backward(loss)
    return [0.0 if force.grad is None else force.grad.numpy()[0, 0] for force in forces]


def test_a_cut_ends_the_gradient_at_its_step_also_through_contacts_collided_inside():
    whole = [0.01 * (20 - t) for t in range(20)]
    assert np.allclose(slide(False), whole, rtol=1e-5)
    cut = slide(True)
    assert cut[:10] == [0.0] * 10
    assert np.allclose(cut[10:], whole[10:], rtol=1e-5)


def test_a_loss_on_the_contact_force_at_rest_has_the_gradient_of_the_weight_by_the_mass():
    mass, dt = 2.0, 1e-3
    model = over_ground(0.05 - mass * 9.81 / 1e4, mass=mass, ke=1e4, kd=200.0, requires_grad=True)
    solver, contacts = DiffSemiImplicitSolver(model), contacts_everywhere(model)
    states = [model.state(requires_grad=False) for _ in range(1001)]
    with nova.Tape() as tape:
        for now, then in zip(states, states[1:]):
            solver.step(now, then, None, contacts, dt)  # leaves the total force, here that of the contact, in particle_f
        loss = nova.sum(ndiff.state_particle_f_tensor(states[900])[0:1, 2])
        for state in states[901:1000]:
            loss = loss + nova.sum(ndiff.state_particle_f_tensor(state)[0:1, 2])
        loss = loss * 0.01
    tape.backward(loss)
    assert loss.item() == pytest.approx(19.62, rel=1e-3)
    by_inverse_mass = model.particle_inv_mass.grad.numpy()[0]
    assert -by_inverse_mass / mass**2 == pytest.approx(9.81, rel=0.02)


def test_particle_contact_is_switched_by_the_particle_grid_and_by_nothing_else():
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    for x in (0.0, 0.15):
        builder.add_particle((x, 0, 0), (0, 0, 0), 1.0, radius=0.1)
    model = builder.finalize()
    assert model.particle_grid is None

    def speed(solver_class):
        now, then = model.state(), model.state()
        solver_class(model).step(now, then, None, None, 0.01)
        return then.particle_qd.numpy()[0, 0]

    for solver_class in (SolverSemiImplicit, DiffSemiImplicitSolver):
        model.particle_grid = None
        assert speed(solver_class) == 0.0
        model.particle_grid = novaphy.ParticleGrid()
        assert speed(solver_class) == pytest.approx(-1000 * 0.05 * 0.01, rel=1e-5)
    assert repr(model.particle_grid) == "ParticleGrid()" and repr(model.clone().particle_grid) == "ParticleGrid()"
    with pytest.raises(TypeError) as raised:
        model.particle_grid = 3
    assert str(raised.value) == ("Model.particle_grid: got int; give novaphy.ParticleGrid() to let particles act on each other, "
                                 "or None")
