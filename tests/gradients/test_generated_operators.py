# SPDX-License-Identifier: Apache-2.0
"""The `*_generated` operators: values and gradients against the NumPy law, and the ball against the recorded solver.

Contact geometry is traced inside these kernels, so their gradient contains the turning of a box's normal at edges and
corners; the reference is the difference quotient of the float64 twin that collides in every step.
"""
from dataclasses import replace

import numpy as np
import pytest

from ball import DT, STEPS, TARGET, make_ball, record_ball, stacked
from checks import check_parameter
from compare import assert_close_to_largest, assert_same_bits
from engine import PARAMETERS, gradient
from scenes import Shape, random_rotation, random_scene, read_arrays, scene_of
from twin_contact import adjoint, contact_force, integrate, rollout
from twin_shapes import generate


def box_and_plane_scene(seed=1, particles=300):
    """Boxes turned at random and planes, with particles inside, on faces, over edges and corners."""
    rng = np.random.default_rng(seed)
    shapes = [Shape("plane", (0.0, 0.0), mu=0.5), Shape("box", (0.4, 0.3, 0.2), (0.3, 0.1, 0.4), random_rotation(rng), ke=5e3),
              Shape("box", (0.2, 0.2, 0.6), (-0.4, 0.2, 0.5), random_rotation(rng), kd=25.0, kf=5.0),
              Shape("plane", (1.0, 1.2), (0, -0.5, 0.3), random_rotation(rng))]
    q = rng.uniform(-0.9, 0.9, (particles, 3)) * (1, 1, 0.6) + (0, 0, 0.6)
    return scene_of(q, rng.normal(size=(particles, 3)), shapes, radius=rng.uniform(0.02, 0.1, particles),
                    mass=rng.uniform(0.5, 2, particles), margin=0.0)


def tensors(*arrays):
    from novaphy import nova
    return [nova.tensor(np.asarray(a, np.float32), requires_grad=True) for a in arrays]


def seed_tensor(array):
    from novaphy import nova
    return nova.tensor(np.asarray(array, np.float32))


def per_particle_differences(arrays, function, weights, eps=1e-6):
    """Derivatives of sum(weights * function(model, x, v, f)) by each particle's x, v, f: (3, P, 3), and the mask of the
    particles where two step sizes agree, so that no branch changed."""
    start = [a.astype(np.float64) for a in arrays]
    tables = []
    for step in (eps, eps / 4):
        table = np.zeros((3, *start[0].shape))
        for which in range(3):
            for k in range(3):
                ends = []
                for sign in (1, -1):
                    moved = [a.copy() for a in start]
                    moved[which][:, k] += sign * step
                    ends.append(sum((w * r).sum(1) for w, r in zip(weights, function(*moved))))
                table[which, :, k] = (ends[0] - ends[1]) / (2 * step)
        tables.append(table)
    same = np.abs(tables[0] - tables[1]).max((0, 2)) <= 1e-4 * np.abs(tables[0]).max()
    return tables[0], same


def compare_gradients(leaves, arrays, function, weights, what):
    want, same = per_particle_differences(arrays, function, weights)
    assert same.mean() > 0.9
    for leaf, exact, name in zip(leaves, want, ("position", "velocity", "force")):
        got = gradient(leaf)
        assert got is not None or not exact[same].any(), f"{what}: no gradient of the {name}"
        if got is not None:
            assert_close_to_largest(got[same], exact[same], 1e-4, f"{what}: {name}")


@pytest.fixture(scope="module")
def scene():
    return box_and_plane_scene()


@pytest.fixture(scope="module")
def inputs(scene):
    rng = np.random.default_rng(5)
    return scene.q, scene.qd, rng.normal(0, 30, scene.q.shape).astype(np.float32)


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_contact_forces_and_their_gradient(scene, inputs, margin):
    import novaphy.diff as ndiff
    from novaphy import nova
    model = scene.build()
    law = read_arrays(model)
    x, v, f = tensors(*inputs)
    weights = np.random.default_rng(6).normal(size=scene.q.shape).astype(np.float32)
    with nova.Tape() as tape:
        out = ndiff.eval_static_particle_shape_contact_forces_generated(model, x, v, f, margin)
    want, branches = contact_force(law, generate(law, inputs[0], margin), *inputs)
    assert sum(len(b.rows) for b in branches) > 60
    assert_close_to_largest(out.numpy(), want, 1e-6, "forces")
    assert np.array_equal(f.numpy(), inputs[2]), "the operator returns a new tensor"
    tape.backward(out, grad=seed_tensor(weights))
    twin = law.astype(np.float64)
    force = lambda a, b, c: (contact_force(twin, generate(twin, a, margin), a, b, c)[0],)
    compare_gradients((x, v, f), inputs, force, (weights,), "contact forces")


def test_integration_and_its_gradient(inputs):
    import novaphy.diff as ndiff
    from novaphy import nova
    scene = box_and_plane_scene()
    scene.mass[::7] = 0.0
    scene.max_velocity = 2.0
    model = scene.build()
    law = read_arrays(model)
    x, v, f = tensors(*inputs)
    with nova.Tape() as tape:
        q_next, qd_next = ndiff.integrate_particles_generated(model, x, v, f, scene.dt)
    q_want, qd_want, limited = integrate(law, *inputs, np.float32(scene.dt))
    assert 0 < limited.sum() < len(limited)
    assert_same_bits(q_next.numpy(), q_want, "positions")
    assert_same_bits(qd_next.numpy(), qd_want, "velocities")
    weights = np.random.default_rng(7).normal(size=scene.q.shape).astype(np.float32)
    tape.backward(q_next, grad=seed_tensor(weights))
    twin = law.astype(np.float64)
    compare_gradients((x, v, f), inputs, lambda *a: (integrate(twin, *a, np.float64(np.float32(scene.dt)))[0],),
                      (weights,), "integration")


@pytest.mark.parametrize("steps", [1, 40])
def test_the_fused_step_and_its_gradient(scene, inputs, steps):
    import novaphy.diff as ndiff
    from novaphy import nova
    model = scene.build()
    law = read_arrays(model)
    force = inputs[2] / 10
    x, v, f = tensors(inputs[0], inputs[1], force)
    weights = np.random.default_rng(8).normal(size=scene.q.shape).astype(np.float32)
    with nova.Tape() as tape:
        q, qd = x, v
        for _ in range(steps):
            q, qd = ndiff.integrate_particles_with_static_contacts_generated(model, q, qd, f, 0.0, scene.dt)
    want = rollout(law, steps, scene.dt, 0.0, True, external=force)
    if steps == 1:
        assert_close_to_largest(qd.numpy(), want.qd[-1], 1e-6, "velocities")
    tape.backward(q, grad=seed_tensor(weights))
    twin = law.astype(np.float64)

    def roll(a, b, c):
        model = replace(twin, particle_q=a, particle_qd=b)
        return (rollout(model, steps, scene.dt, 0.0, True, external=c).q[-1],)

    compare_gradients((x, v, f), (inputs[0], inputs[1], force), roll, (weights,), f"{steps} fused steps")


def test_the_fused_step_differentiates_the_models_parameters(scene, inputs):
    """Over one step a parameter does not move the contact geometry, so the adjoint with fixed records is exact."""
    import novaphy.diff as ndiff
    from novaphy import nova
    model = scene.build()
    x, v, f = tensors(*inputs)
    weights = np.random.default_rng(9).normal(size=scene.q.shape).astype(np.float32)
    with nova.Tape() as tape:
        q, _ = ndiff.integrate_particles_with_static_contacts_generated(model, x, v, f, 0.0, scene.dt)
    tape.backward(q, grad=seed_tensor(weights))
    law = rollout(read_arrays(model), 1, scene.dt, 0.0, True, external=inputs[2])
    want = adjoint(law, weights)
    for name in PARAMETERS:
        check_parameter(model, want, tape, name)
        assert gradient(getattr(model, name)) is not None, name


def test_the_fused_step_is_the_two_operators_one_after_the_other(scene, inputs):
    import novaphy.diff as ndiff
    model = scene.build()
    x, v, f = tensors(*inputs)
    fused = ndiff.integrate_particles_with_static_contacts_generated(model, x, v, f, 0.01, scene.dt)
    force = ndiff.eval_static_particle_shape_contact_forces_generated(model, x, v, f, 0.01)
    apart = ndiff.integrate_particles_generated(model, x, v, force, scene.dt)
    for a, b, name in zip(fused, apart, ("positions", "velocities")):
        assert_same_bits(a.numpy(), b.numpy(), name)


def test_the_ball_by_fused_steps_is_the_recorded_ball():
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball()
    tape, loss, v0 = record_ball(ball)
    tape.backward(loss)
    fused_states, fused_loss, fused_gradient = [], None, None
    x, v = tensors([[0, -0.5, 1]], [[0, 5, -5]])
    force = nova.zeros((1, 3))
    with nova.Tape() as fused_tape:
        q, qd = x, v
        for _ in range(STEPS):
            q, qd = ndiff.integrate_particles_with_static_contacts_generated(ball.model, q, qd, force, 0.0, DT)
            fused_states.append(q)
        fused_loss = ndiff.particle_point_loss_generated(q, 0, *TARGET)
    fused_tape.backward(fused_loss)
    recorded = stacked(ball.states[1:], "particle_q")
    np.testing.assert_allclose(np.stack([s.numpy() for s in fused_states]), recorded, rtol=0, atol=2e-5)
    assert fused_loss.item() == pytest.approx(loss.item(), rel=1e-5)
    assert_close_to_largest(v.grad.numpy(), v0.grad.numpy(), 1e-4, "start velocity")


def test_the_point_loss_and_its_gradient():
    import novaphy.diff as ndiff
    from novaphy import nova
    positions = np.random.default_rng(9).normal(size=(5, 3)).astype(np.float32)
    x, = tensors(positions)
    with nova.Tape() as tape:
        loss = ndiff.particle_point_loss_generated(x, 3, *TARGET)
    tape.backward(loss)
    d = positions[3] - np.asarray(TARGET, np.float32)
    assert loss.shape == (1,)
    assert loss.numpy()[0] == np.float32((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2])
    want = np.zeros((5, 3), np.float32)
    want[3] = 2 * d
    assert_close_to_largest(x.grad.numpy(), want, 1e-6, "positions")


@pytest.mark.parametrize("index", [5, -1, 100])
def test_the_point_loss_refuses_a_particle_that_is_not_there(index):
    import novaphy.diff as ndiff
    x, = tensors(np.zeros((5, 3)))
    with pytest.raises(IndexError, match=str(index)):
        ndiff.particle_point_loss_generated(x, index, *TARGET)


@pytest.mark.parametrize("kind", ["cylinder", "cone"])
def test_shapes_without_a_particle_distance_are_refused(kind):
    import novaphy
    import novaphy.diff as ndiff
    builder = novaphy.ModelBuilder()
    builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    getattr(builder, f"add_shape_{kind}")(-1)
    model = builder.finalize()
    x, v, f = tensors(*np.zeros((3, 1, 3), np.float32))
    for call in (lambda: ndiff.eval_static_particle_shape_contact_forces_generated(model, x, v, f, 0.0),
                 lambda: ndiff.integrate_particles_with_static_contacts_generated(model, x, v, f, 0.0, 0.01)):
        with pytest.raises(novaphy.UnsupportedFeatureError, match=f"(?i){kind}"):
            call()


def test_a_shape_that_particles_do_not_meet_may_be_of_any_kind():
    import novaphy.diff as ndiff
    scene = scene_of((0, 0, 1), (0, 0, 0), [Shape("plane", (0.0, 0.0)), Shape("sphere", (3.0,), collides=False)])
    x, v, f = tensors(scene.q, scene.qd, scene.qd)
    out = ndiff.eval_static_particle_shape_contact_forces_generated(scene.build(), x, v, f, 0.0)
    assert not out.numpy().any()


@pytest.mark.parametrize("dt", [0.0, -1.0])
def test_a_time_step_that_is_not_positive_is_refused(dt):
    import novaphy.diff as ndiff
    scene = scene_of((0, 0, 1), (0, 0, 0), [Shape("plane", (0.0, 0.0))])
    x, v, f = tensors(scene.q, scene.qd, scene.qd)
    model = scene.build()
    with pytest.raises(ValueError, match="dt"):
        ndiff.integrate_particles_generated(model, x, v, f, dt)
    with pytest.raises(ValueError, match="dt"):
        ndiff.integrate_particles_with_static_contacts_generated(model, x, v, f, 0.0, dt)


@pytest.mark.parametrize("shape", [(5, 4), (6, 3), (5, 2), (15,)])
def test_rows_of_another_width_or_count_are_refused(shape):
    import novaphy
    import novaphy.diff as ndiff
    scene = scene_of(np.zeros((5, 3)), (0, 0, 0), [Shape("plane", (0.0, 0.0))])
    model = scene.build()
    good, bad = tensors(scene.q, np.zeros(shape))
    for arguments in ((bad, good, good), (good, bad, good), (good, good, bad)):
        with pytest.raises(novaphy.ShapeMismatchError):
            ndiff.integrate_particles_generated(model, *arguments, 1e-3)
        with pytest.raises(novaphy.ShapeMismatchError):
            ndiff.eval_static_particle_shape_contact_forces_generated(model, *arguments, 0.0)


def test_generated_operators_work_on_random_worlds():
    """Two worlds with their own gravity: the operators read the same model arrays as the solver."""
    import novaphy.diff as ndiff
    scene = replace(random_scene(3, particles=40, shapes=0), worlds=2, gravity=((0, 0, -9.81), (1, 2, 3)))
    scene.world[20:] = 1
    scene.world[:20] = 0
    model = scene.build()
    law = rollout(read_arrays(model), 1, scene.dt, 0.0, True)
    x, v, f = tensors(scene.q, scene.qd, np.zeros_like(scene.q))
    for q, qd in (ndiff.integrate_particles_generated(model, x, v, f, scene.dt),
                  ndiff.integrate_particles_with_static_contacts_generated(model, x, v, f, 0.0, scene.dt)):
        assert_same_bits(q.numpy(), law.q[1], "positions")
        assert_same_bits(qd.numpy(), law.qd[1], "velocities")
