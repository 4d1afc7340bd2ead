# SPDX-License-Identifier: Apache-2.0
"""Copies and pickles of models and of what belongs to them, here and in another process: the same motion, no shared
memory, and a TypeError that names the class for whatever belongs to its process."""
import copy
import multiprocessing
import pickle
import re

import numpy as np
import pytest

import novaphy
from ball import DT, make_ball, record_ball, stacked, step_ball
from scenes import random_scene

COPIES = {"pickle": lambda o: pickle.loads(pickle.dumps(o)), "deepcopy": copy.deepcopy}
ARRAYS = ("particle_q", "particle_qd", "particle_f")


def rich_builder():
    """Springs, triangles, tetrahedra, bodies, shapes and a joint: all that a model may hold."""
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 0.4), rot=(0, 0, 0, 1), vel=(0, 0, -1), dim_x=2, dim_y=1, dim_z=1, cell_x=0.1,
                          cell_y=0.1, cell_z=0.1, density=100.0, k_mu=1e3, k_lambda=1e3, k_damp=0.1)
    builder.add_spring(0, 5, 10.0, 0.1, 0.0)
    body = builder.add_link(xform=((0, 0, 1), (0, 0, 0, 1)), mass=1.0)
    builder.add_shape_box(body, hx=0.1, hy=0.2, hz=0.3)
    joint = builder.add_joint_revolute(-1, body, axis=(0, 1, 0))
    builder.add_articulation([joint])
    builder.add_ground_plane()
    return builder


def falling_builder():
    """Particles that fall onto a box and the ground, which SolverSemiImplicit steps."""
    builder = novaphy.ModelBuilder()
    for k in range(12):
        builder.add_particle(pos=(0.1 * k - 0.5, 0.05 * k, 0.12 + 0.01 * k), vel=(0.2, 0, -1), mass=0.5 + 0.1 * k)
    builder.add_shape_box(body=-1, hx=0.4, hy=0.4, hz=0.1)
    builder.add_ground_plane()
    return builder


def arrays_of(owner):
    return {name: getattr(owner, name) for name in owner.array_names()}


def assert_same_and_apart(one, other):
    """Equal arrays in different memory."""
    ours, theirs = arrays_of(one), arrays_of(other)
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert np.array_equal(ours[name].numpy(), theirs[name].numpy(), equal_nan=True), name
        assert ours[name].nbytes == 0 or ours[name].ptr != theirs[name].ptr, f"{name} is shared"


def run(model, state, contacts, control, steps):
    """The states after each of `steps` steps, as one array."""
    from novaphy.solvers import SolverSemiImplicit
    solver, after, seen = SolverSemiImplicit(model), model.state(), []
    for _ in range(steps):
        state.clear_forces()
        solver.step(state, after, control, contacts, DT)
        state, after = after, state
        seen.append(np.concatenate([state.particle_q.numpy(), state.particle_qd.numpy()]).copy())
    return np.stack(seen)


def run_pickled(data, steps):
    """What a spawned process does with what it is sent, and what it sends back."""
    model, state, contacts, control = pickle.loads(data)
    motion = run(model, state, contacts, control, steps)
    return motion, pickle.dumps((model, state, contacts, control))


@pytest.fixture(scope="module")
def spawned():
    """One process that multiprocessing has spawned."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


@pytest.fixture
def parts():
    """Model, state, contacts and control after 30 steps of particles that fall onto a box."""
    model = falling_builder().finalize()
    pipeline = novaphy.CollisionPipeline(model, soft_contact_margin=1.0)
    state, contacts, control = model.state(), pipeline.contacts(), model.control()
    pipeline.collide(state, contacts)
    run(model, state, contacts, control, 30)
    return model, state, contacts, control


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("stepped", [False, True])
def test_a_copy_moves_like_the_original_and_shares_no_memory(how, stepped, parts):
    model, state, contacts, control = parts if stepped else (parts[0], parts[0].state(), *parts[2:])
    copies = [COPIES[how](part) for part in (model, state, contacts, control)]
    for one, other in zip((model, state, contacts, control), copies):
        assert type(one) is type(other) and one is not other
        assert_same_and_apart(one, other)
    assert np.array_equal(run(*copies, 50), run(model, state, contacts, control, 50))


@pytest.mark.parametrize("how", COPIES)
def test_a_copied_model_of_every_kind_of_element_is_equal_and_shares_no_memory(how):
    model = rich_builder().finalize(requires_grad=True)
    twin = COPIES[how](model)
    assert_same_and_apart(model, twin)
    assert repr(twin) == repr(model)
    for make in ("state", "control"):
        one = getattr(model, make)()
        assert_same_and_apart(one, COPIES[how](one))


@pytest.mark.parametrize("how", COPIES)
def test_parts_that_are_copied_together_stay_together(how, parts):
    model, states = parts[0], [parts[0].state() for _ in range(2)]
    twin, twins = COPIES[how]((model, states))
    twins[0].particle_q.fill_(3.0)
    assert not (states[0].particle_q.numpy() == 3.0).all() and not (twins[1].particle_q.numpy() == 3.0).all()
    assert run(twin, twins[0], None, None, 2).shape == (2, 2 * twin.particle_count, 3)


def test_a_spawned_process_gets_parts_moves_them_the_same_and_sends_them_back(spawned, parts):
    data = pickle.dumps(parts)
    theirs, back = spawned.apply(run_pickled, (data, 40))
    assert np.array_equal(theirs, run(*parts, 40))
    theirs, _ = spawned.apply(run_pickled, (back, 20))
    assert np.array_equal(theirs, run(*pickle.loads(back), 20))


def builder_arrays(builder):
    return {name: array.numpy().tobytes() for name, array in arrays_of(builder.finalize()).items()}


@pytest.mark.parametrize("how", COPIES)
def test_a_copied_builder_builds_the_same_model_and_goes_its_own_way(how):
    builder = rich_builder()
    twin = COPIES[how](builder)
    assert builder_arrays(twin) == builder_arrays(builder)
    builder.add_particle(pos=(0, 0, 2), vel=(1, 2, 3), mass=2.0)
    assert twin.particle_count == builder.particle_count - 1
    assert twin.finalize().particle_count == builder.finalize().particle_count - 1


def test_a_builder_builds_the_same_model_in_a_spawned_process(spawned):
    assert spawned.apply(builder_arrays, (rich_builder(),)) == builder_arrays(rich_builder())


@pytest.mark.parametrize("how", COPIES)
def test_copied_settings_are_equal(how):
    from novaphy.solvers import DiffSolverConfig
    config = COPIES[how](DiffSolverConfig(strict=False, soft_contact_margin=0.25))
    assert config.strict is False and config.soft_contact_margin == 0.25
    shape = COPIES[how](novaphy.ModelBuilder.ShapeConfig(ke=123.0, mu=0.25))
    assert (shape.ke, shape.mu) == (123.0, 0.25)
    joint = COPIES[how](novaphy.ModelBuilder.JointDofConfig(target_ke=12.0))
    assert joint.target_ke == 12.0
    transform = COPIES[how](novaphy.Transform((1, 2, 3), (0, 0, 0, 1)))
    assert list(transform.position) == [1, 2, 3]


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_of_a_stepped_scene_with_contacts_goes_on_the_same(how):
    from engine import step_all
    from novaphy.solvers import SolverSemiImplicit
    scene = random_scene(2, particles=50, steps=40, margin=0.5)
    model = scene.build()
    first = step_all(SolverSemiImplicit(model), model, scene)
    twin = COPIES[how](model)
    second = step_all(SolverSemiImplicit(twin), twin, scene)
    assert first.contact_counts.max() > 0 and np.array_equal(first.q, second.q)


def test_a_copy_made_in_the_middle_goes_on_like_the_original():
    ball = make_ball(requires_grad=False)
    step_ball(ball, ball.states[:101])
    model, contacts = copy.deepcopy(ball.model), copy.deepcopy(ball.contacts)
    ours = run(model, copy.deepcopy(ball.states[100]), contacts, None, 50)
    step_ball(ball, ball.states[100:151])
    assert np.array_equal(ours[:, :1], stacked(ball.states[101:151], "particle_q"))


# what belongs to its process

def bound_objects():
    """One of each class that holds something of this process, by the name of the class."""
    import novaphy.diff as ndiff
    from novaphy import nova
    ball = make_ball(state_count=4)
    v0 = ndiff.state_particle_qd_tensor(ball.states[0], requires_grad=True)
    with nova.Tape() as tape:
        step_ball(ball)
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(ball.states[-1]), 0, 0.0, 0.0, 0.0)
    numbers = nova.zeros(3)
    with nova.ScopedCapture() as capture:
        nova.add(numbers, numbers)

    @nova.kernel
    def double(x: nova.rows[float]):
        return 2 * x

    return {
        "Tape": tape, "TapeReport": tape.report(), "Tensor": loss, "Adam": nova.optim.Adam([v0]), "Kernel": double,
        "ScopedCapture": capture, "Graph": capture.graph, "ViewerNull": novaphy.viewer.ViewerNull(),
        "Rollout": ndiff.Rollout(ball.solver, ball.control, ball.contacts, DT, 3), "no_grad": nova.no_grad(),
        "DiffSemiImplicitSolver": ball.solver, "CollisionPipeline": ball.pipeline,
    }


def test_what_belongs_to_its_process_says_so_under_its_own_name():
    objects = bound_objects()
    ways = {f"pickle {n}": lambda o, n=n: pickle.dumps(o, n) for n in range(pickle.HIGHEST_PROTOCOL + 1)}
    ways |= {"copy": copy.copy, "deepcopy": copy.deepcopy, "inside a list": lambda o: copy.deepcopy([{"a": o}])}
    for name, value in objects.items():
        for way, make in ways.items():
            with pytest.raises(TypeError) as refused:
                make(value)
            assert re.match(rf"cannot pickle '{name}': \w.*", str(refused.value)), (name, way, str(refused.value))


def test_a_recording_goes_on_after_a_copy_was_refused():
    tape, loss, v0 = record_ball(make_ball())
    with pytest.raises(TypeError, match="Tape"):
        copy.deepcopy(tape)
    tape.backward(loss)
    assert np.isfinite(v0.grad.numpy()).all() and v0.grad.numpy().any()


def load_nothing(name):
    novaphy.plugins.load(name)


def test_an_error_of_a_worker_arrives_with_its_class_and_text(spawned):
    with pytest.raises(novaphy.PluginNotAvailableError, match="no plugin or module is named 'vdb'"):
        spawned.apply(load_nothing, ("vdb",))
