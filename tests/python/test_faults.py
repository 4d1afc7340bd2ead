# SPDX-License-Identifier: Apache-2.0
"""Faults known from other engines: gradient mode that changes the motion, wrong element types, graphics libraries that
load by themselves, memory that grows."""
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from scenes import Shape, scene_of


def python(program, *arguments, timeout=240):
    """Runs a program in a fresh process and returns what it printed."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *arguments], capture_output=True, text=True,
                          timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


# gradient mode must not change the motion

@pytest.mark.parametrize("solver_name", ["SolverSemiImplicit", "DiffSemiImplicitSolver"])
def test_gradient_mode_changes_neither_the_motion_nor_the_contacts(solver_name):
    import novaphy
    import novaphy.solvers
    from novaphy import nova
    from engine import step_all
    box = [Shape("box", (0.5, 0.5, 0.5)), Shape("plane", (0.0, 0.0), (0, 0, -0.5))]
    rng = np.random.default_rng(1)
    scene = scene_of(rng.uniform(-1, 1, (30, 3)) * (1, 1, 0) + (0, 0, 0.9), rng.normal(size=(30, 3)), box, steps=300,
                     margin=0.01)
    runs = []
    for requires_grad in (False, True):
        model = scene.build(requires_grad=requires_grad)
        solver = getattr(novaphy.solvers, solver_name)(model)
        pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=scene.margin,
                                             requires_grad=requires_grad)
        if requires_grad:
            with nova.Tape():
                runs.append(step_all(solver, model, scene, True, pipeline=pipeline))
        else:
            runs.append(step_all(solver, model, scene, True, pipeline=pipeline))
    assert runs[0].contact_counts.max() > 3
    assert np.array_equal(runs[0].contact_counts, runs[1].contact_counts)
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].qd, runs[1].qd)
    assert runs[0].q[-1, :, 2].min() > -0.6, "nothing fell through"


# element types arrive as values or are refused by name

VALUES = (1.1, 2.2, 3.3)
GIVEN = {
    "float64": lambda: np.array([VALUES, VALUES], np.float64),
    "float32": lambda: np.array([VALUES, VALUES], np.float32),
    "float16": lambda: np.array([VALUES, VALUES], np.float16),
    "int32": lambda: np.array([VALUES, VALUES]).astype(np.int32),
    "int64": lambda: np.array([VALUES, VALUES]).astype(np.int64),
    "list": lambda: [list(VALUES), list(VALUES)],
    "tuple": lambda: (VALUES, VALUES),
    "strided rows": lambda: np.array([VALUES, (9, 9, 9), VALUES, (9, 9, 9)], np.float32)[::2],
    "strided columns": lambda: np.array([[1.1, 9, 2.2, 9, 3.3, 9]] * 2, np.float32)[:, ::2],
    "transposed": lambda: np.array([VALUES, VALUES], np.float64).T.copy().T,
    "reversed": lambda: np.array([VALUES[::-1]] * 2, np.float32)[:, ::-1],
    "other byte order": lambda: np.array([VALUES, VALUES], ">f4"),
    "bool": lambda: np.ones((2, 3), bool),
    "complex": lambda: np.array([VALUES, VALUES], np.complex64),
    "text": lambda: np.array([["a", "b", "c"]] * 2),
}


@pytest.mark.parametrize("into", ["state.particle_q", "state.particle_qd", "model.particle_q", "assign"])
@pytest.mark.parametrize("kind", GIVEN)
def test_a_value_of_any_type_arrives_as_that_value_or_is_refused_by_name(kind, into):
    model = scene_of(np.zeros((2, 3)), (0, 0, 0), []).build()
    state = model.state()
    array = {"model.particle_q": model.particle_q, "state.particle_qd": state.particle_qd}.get(into, state.particle_q)
    value = GIVEN[kind]()

    def give():
        if into == "model.particle_q":
            model.particle_q = value
        elif into == "assign":
            state.particle_q.assign(value)
        else:
            setattr(state, into.split(".")[1], value)

    try:
        give()
    except (TypeError, ValueError) as refused:
        assert kind not in ("float64", "float32", "list", "tuple"), refused
        assert "float32" in str(refused), refused
        assert not array.numpy().any()
        return
    tolerance = 1e-3 if kind == "float16" else 1e-6
    assert kind not in ("complex", "text")
    np.testing.assert_allclose(array.numpy(), np.asarray(value, np.float64), rtol=tolerance)


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (2, 2), (7,), (1, 2, 3, 1), ()])
def test_a_wrong_shape_is_refused_with_both_shapes_in_the_text(shape):
    import novaphy
    model = scene_of(np.zeros((2, 3)), (0, 0, 0), [Shape("plane", (0.0, 0.0))]).build()
    state = model.state()
    for give in (lambda v: setattr(state, "particle_q", v), state.particle_qd.assign):
        with pytest.raises(novaphy.ShapeMismatchError) as refused:
            give(np.ones(shape, np.float32))
        numbers = re.findall(r"\d+", str(refused.value))
        assert {"2", "3"} <= set(numbers) and {str(n) for n in shape} <= set(numbers), refused.value
    assert not state.particle_q.numpy().any() and not state.particle_qd.numpy().any()


def test_an_index_array_takes_whole_numbers_only():
    model = scene_of(np.zeros((2, 3)), (0, 0, 0), [Shape("plane", (0.0, 0.0))] * 3).build()
    for dtype in (np.int32, np.int64):
        model.shape_body = np.array([-1, -1, -1], dtype)
        assert model.shape_body.numpy().dtype == np.int32
    for wrong in (np.array(VALUES, np.float64), np.array(VALUES, np.float32), [1.1, 2.2, 3.3]):
        with pytest.raises((TypeError, ValueError), match="int32"):
            model.shape_body = wrong
    assert model.shape_body.numpy().tolist() == [-1, -1, -1]


def test_a_material_table_takes_float64_by_value():
    model = scene_of(np.zeros((1, 3)), (0, 0, 0), [Shape("plane", (0.0, 0.0))] * 3).build()
    model.shape_material_ke = np.array(VALUES, np.float64)
    np.testing.assert_allclose(model.shape_material_ke.numpy(), VALUES, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int64])
def test_a_zero_copy_tensor_refuses_every_type_but_float32(dtype):
    from novaphy import nova
    with pytest.raises(TypeError, match="float32"):
        nova.as_tensor(np.ones((2, 3), dtype))


def test_a_zero_copy_tensor_refuses_strides_and_shares_packed_memory():
    from novaphy import nova
    with pytest.raises(ValueError, match="(?i)packed|contiguous|stride"):
        nova.as_tensor(np.ones((4, 3), np.float32)[::2])
    packed = np.ones((2, 3), np.float32)
    shared = nova.as_tensor(packed)
    packed[0, 0] = 7
    assert shared.numpy()[0, 0] == 7


def test_an_array_read_out_is_read_only_unless_asked():
    state = scene_of(np.zeros((2, 3)), (0, 0, 0), []).build().state()
    with pytest.raises(ValueError, match="read-only"):
        state.particle_q.numpy()[0, 0] = 1.0
    state.particle_q.numpy(writable=True)[0, 0] = 1.0
    assert state.particle_q.numpy()[0, 0] == 1.0


# no graphics library without a viewer

def test_a_headless_run_loads_no_graphics_library_and_the_viewer_says_what_is_missing():
    out = python("""
        import numpy as np, os
        os.environ.pop("DISPLAY", None)
        import novaphy
        from novaphy import nova
        import novaphy.diff as ndiff
        from novaphy.solvers import DiffSemiImplicitSolver
        b = novaphy.ModelBuilder()
        b.add_particle(pos=(0, 0, 1), vel=(0, 0, 0), mass=1.0)
        b.add_ground_plane()
        model = b.finalize(requires_grad=True)
        solver = DiffSemiImplicitSolver(model)
        states = [model.state() for _ in range(101)]
        pipeline = novaphy.CollisionPipeline(model)
        contacts = pipeline.contacts()
        with nova.Tape() as tape:
            for a, b in zip(states, states[1:]):
                a.clear_forces()
                pipeline.collide(a, contacts)
                solver.step(a, b, None, contacts, 1 / 480)
            loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, 0.0, 0.0, 0.0)
        tape.backward(loss)
        print("gradient", states[0].particle_qd.grad.numpy().any())
        for line in open("/proc/self/maps"):
            print("map", line.split()[-1])
        for call in (lambda: novaphy.viewer.ViewerGL(), lambda: novaphy.viewer.ViewerGL(headless=True),
                     lambda: novaphy.viewer.create("gl"), lambda: novaphy.viewer.create("gl", headless=True)):
            try:
                call()
                print("viewer opened")
            except novaphy.PluginNotAvailableError as error:
                print("viewer:", str(error).replace(chr(10), " "))
    """)
    assert "gradient True" in out
    graphics = r"lib(GL|EGL|GLX|GLES|OpenGL|X11|xcb|wayland|glfw|vulkan|OSMesa|cairo|gtk)[^/]*\.so"
    loaded = [line for line in out.splitlines() if line.startswith("map") and re.search(graphics, line)]
    assert not loaded, loaded
    said = [line for line in out.splitlines() if line.startswith("viewer")]
    assert len(said) == 4
    for line in said:
        assert "'viewer'" in line or "viewer" in line.split(":", 1)[1], line
        assert re.search(r"(?i)headless|ViewerNull|--plot", line), line


# memory stays flat when models are rebuilt

ROUNDS = """
import gc, sys, weakref
import numpy as np
import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def round_():
    b = novaphy.ModelBuilder()
    for k in range(50):
        b.add_particle(pos=(0.2 * (k % 7), 0.2 * (k // 7), 0.12), vel=(0, 0, -1), mass=1.0)
    b.add_shape_box(body=-1, xform=((0, 0, 0), (0, 0, 0, 1)), hx=0.5, hy=0.5, hz=0.1)
    b.add_ground_plane()
    model = b.finalize(requires_grad=True)
    solver = DiffSemiImplicitSolver(model)
    states = [model.state() for _ in range(21)]
    pipeline = novaphy.CollisionPipeline(model)
    contacts = pipeline.contacts()

    def derivative(x, g):  # a callback that holds what it is called for
        assert states and solver.model is model
        return 2 * g

    @nova.kernel(vjp=derivative)
    def twice(x: nova.rows[nova.vec3]):
        return 2 * x

    with nova.Tape() as tape:
        for a, b in zip(states, states[1:]):
            a.clear_forces()
            pipeline.collide(a, contacts)
            solver.step(a, b, None, contacts, 1 / 480)
        loss = nova.sum(twice(ndiff.state_particle_q_tensor(states[-1])))
    tape.backward(loss)
    assert states[0].particle_q.grad.numpy().any()
    roll = ndiff.Rollout(solver, None, contacts, 1 / 480, 20, before_step=lambda *_: pipeline.collide(states[0], contacts),
                         loss=lambda s: ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(s), 0, 0.0, 0.0, 0.0))
    roll(states[0])
    roll.backward()
    return [weakref.ref(o) for o in (model, states[3], contacts, twice, roll)]

rounds = int(sys.argv[1])
for k in range(50):
    left = round_()
gc.collect()
start = resident()
for k in range(rounds):
    left = round_()
alive = sum(reference() is not None for reference in left)  # without a manual call
gc.collect()
print((resident() - start) / rounds * 100, alive)
"""


@pytest.mark.parametrize("rounds", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_rebuilding_and_differentiating_a_model_keeps_memory_flat(rounds):
    growth, alive = python(ROUNDS, str(rounds), timeout=600).split()
    assert float(growth) < 1e6, f"{float(growth) / 1e6:.2f} MB per 100 rounds"
    assert int(alive) == 0, "dropping the last reference frees model, states, contacts, kernel and rollout"


VIEWER = """
import sys
import novaphy
from novaphy.solvers import SolverSemiImplicit
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
builder = novaphy.ModelBuilder()
builder.add_particle(pos=(0, 0, 1), vel=(0, 0, 0), mass=1.0)
builder.add_ground_plane()
model = builder.finalize()
solver, a, b = SolverSemiImplicit(model), model.state(), model.state()
steps = int(sys.argv[1])
with novaphy.viewer.ViewerNull(num_frames=None) as viewer:
    viewer.set_model(model)
    for step in range(steps):
        if step == steps // 10:
            start = resident()
        solver.step(a, b, None, None, 1e-4)
        a, b = b, a
        viewer.begin_frame(step * 1e-4)
        viewer.log_state(a)
        viewer.log_scalar("height", 1.0)
        viewer.end_frame()
print(resident() - start)
"""


@pytest.mark.parametrize("steps", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_stepping_with_a_viewer_that_draws_nothing_keeps_memory_flat(steps):
    assert int(python(VIEWER, str(steps), timeout=600)) < 1e6
