# SPDX-License-Identifier: Apache-2.0
"""What callers get wrong: numbers of the wrong kind, misspelt names, None for a model, every protocol of pickle."""

import copy
import pickle
import threading

import numpy as np
import pytest

import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver, DiffSolverConfig, SolverSemiImplicit

ShapeConfig, JointDofConfig = novaphy.ModelBuilder.ShapeConfig, novaphy.ModelBuilder.JointDofConfig


def text_of(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def add(**changed):
    builder = novaphy.ModelBuilder()
    builder.add_particle(**{"pos": (0, 0, 1), "vel": (0, 0, 0), "mass": 1.0, **changed})
    return builder.particle_q[0]


class Torchlike:
    """Memory of another library that NumPy can read."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.parametrize(
    "value, message",
    [
        ((1j, 0, 0), "add_particle: pos wants 3 numbers, and item 0 is complex"),
        (np.zeros(3, np.complex64), "add_particle: pos wants 3 numbers, and item 0 is complex64"),
        ({1, 2, 3}, "add_particle: pos wants 3 numbers, got set"),
        ({0: 1, 1: 2, 2: 3}, "add_particle: pos wants 3 numbers, got dict"),
        (bytearray(b"abc"), "add_particle: pos wants 3 numbers, got bytearray"),
        ("abc", "add_particle: pos wants 3 numbers, got str"),
        (("1", "2", "3"), "add_particle: pos wants 3 numbers, and item 0 is str"),
        (3.0, "add_particle: pos wants 3 numbers, got float"),
    ],
)
def test_what_is_no_vector_is_refused_by_its_type(value, message):
    assert text_of(TypeError, lambda: add(pos=value)) == message


@pytest.mark.parametrize("value, item", [((1e300, 0, 0), "1e+300"), ((0, 10**400, 0), "1" + "0" * 23)])
def test_a_number_too_large_for_float32_is_shown_as_it_was_given(value, item):
    place = 0 if value[0] else 1
    assert text_of(ValueError, lambda: add(pos=value)) == (
        f"add_particle: pos wants 3 numbers, and item {place} is too large for float32: {item}"
    )


def test_vectors_come_from_anything_that_has_an_order(model):
    for value in (
        [1, 2, 3],
        (n for n in (1, 2, 3)),
        np.array([3, 2, 1])[::-1],
        np.array([1, 2, 3], np.float16),
        np.array([1, 2, 3], object),
        Torchlike([1, 2, 3]),
        nova.tensor([1, 2, 3]),
        novaphy.DeviceArray([1, 2, 3]),
    ):
        assert add(pos=value) == [1, 2, 3]


@pytest.mark.parametrize("fraction", [np.float32(1.7), np.float16(1.7), 1.7])
def test_an_integer_is_never_cut_from_a_fraction(model, fraction):
    builder = novaphy.ModelBuilder()
    for _ in range(3):
        builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    state = model.state()
    for call in (
        lambda: builder.add_spring(0, fraction, 1.0, 1.0, 0.0),
        lambda: builder.add_triangle(0, 1, fraction),
        lambda: builder.add_shape_box(fraction),
        lambda: builder.add_joint_fixed(-1, fraction),
        lambda: builder.add_articulation([fraction]),
        lambda: builder.replicate(novaphy.ModelBuilder(), fraction),
        lambda: builder.add_particle((0, 0, 1), (0, 0, 0), 1.0, flags=fraction),
        lambda: ShapeConfig(collision_group=fraction),
        lambda: model.set_gravity((0, 0, -1), world=fraction),
        lambda: novaphy.Device.cuda(fraction),
        lambda: novaphy.CollisionPipeline(model, soft_contact_max=fraction),
        lambda: ndiff.particle_point_loss_generated(state.particle_q, fraction, 0, 0, 0),
        lambda: nova.zeros(fraction),
        lambda: nova.set_num_threads(fraction),
    ):
        with pytest.raises(TypeError):
            call()
    assert ndiff.particle_point_loss_generated(state.particle_q, np.int64(0), 0, 0, 0).size == 1
    assert nova.zeros(np.int32(3)).shape == (3,) and novaphy.ModelBuilder(up_axis=np.int64(1)).up_vector[1] == 1


@pytest.mark.parametrize("number", [-2.0, np.float32(-2), np.array(-2.0), np.int64(-2)])
def test_a_number_for_gravity_is_any_number(number):
    with pytest.warns(DeprecationWarning, match="gravity is a vector now"):
        assert novaphy.ModelBuilder(gravity=number).default_gravity == (0, 0, -2)


def test_none_is_no_model():
    for make in (SolverSemiImplicit, DiffSemiImplicitSolver, novaphy.CollisionPipeline):
        assert text_of(TypeError, lambda: make(None)) == (
            f"{make.__name__}: model wants a novaphy.Model, got None"
        )


def every_object(model):
    state = model.state()
    return {
        "model": model,
        "state": state,
        "control": model.control(),
        "contacts": model.contacts(),
        "array": state.particle_q,
        "builder": novaphy.ModelBuilder(),
        "column": novaphy.ModelBuilder().particle_q,
        "shape config": ShapeConfig(),
        "dof config": JointDofConfig(),
        "device": novaphy.Device(),
        "transform": novaphy.Transform(),
        "pipeline": novaphy.CollisionPipeline(model),
        "forward solver": SolverSemiImplicit(model),
        "solver": DiffSemiImplicitSolver(model),
        "solver config": DiffSolverConfig(),
        "tensor": nova.tensor([1.0]),
        "tape": nova.Tape(),
        "report": nova.Tape().report(),
        "no_grad": nova.no_grad(),
    }


def test_no_object_takes_an_attribute_that_it_does_not_have(model):
    for name, one in every_object(model).items():
        with pytest.raises(AttributeError, match=rf"^'{type(one).__name__}' has no attribute 'xyzzy'$"):
            one.xyzzy = 1
        with pytest.raises(AttributeError):
            one.xyzzy
        assert not hasattr(one, "__dict__"), name


@pytest.mark.parametrize(
    "make, wrong, near",
    [
        (lambda model: DiffSolverConfig(), "strickt", "strict"),
        (lambda model: DiffSemiImplicitSolver(model), "forward_onli", "forward_only"),
        (lambda model: nova.tensor([1.0]), "requires_gard", "requires_grad"),
        (lambda model: novaphy.Transform(), "positon", "position"),
        (lambda model: novaphy.CollisionPipeline(model), "soft_contact_margn", "soft_contact_margin"),
    ],
)
def test_a_misspelt_assignment_names_the_nearest_attribute(model, make, wrong, near):
    one = make(model)
    assert text_of(AttributeError, lambda: setattr(one, wrong, 1)) == (
        f"'{type(one).__name__}' has no attribute '{wrong}'; did you mean '{near}'?"
    )


def test_what_is_read_only_says_so(model):
    assert text_of(AttributeError, lambda: setattr(model, "particle_count", 3)) == (
        "'Model.particle_count' cannot be assigned"
    )
    assert text_of(AttributeError, lambda: setattr(model.particle_q, "requires_grad", True)) == (
        "'DeviceArray.requires_grad' cannot be assigned"
    )


def test_a_wrong_value_of_a_setting_is_named():
    assert text_of(TypeError, lambda: ShapeConfig(ke="stiff")) == (
        "'ShapeConfig.ke' cannot be 'stiff', which is str"
    )
    builder = novaphy.ModelBuilder()
    assert text_of(TypeError, lambda: setattr(builder, "default_particle_radius", None)) == (
        "'ModelBuilder.default_particle_radius' cannot be None, which is NoneType"
    )


def test_names_of_older_releases_point_to_the_new_ones():
    assert text_of(TypeError, lambda: JointDofConfig(mode=1)) == (
        "'JointDofConfig' has no attribute 'mode'; it is called actuator_mode now"
    )
    assert text_of(TypeError, lambda: ShapeConfig(thickness=1)) == (
        "'ShapeConfig' has no attribute 'thickness'; it is called margin now"
    )


def test_a_derived_class_keeps_what_it_likes():
    class Scene(novaphy.ModelBuilder):
        def __init__(self):
            super().__init__()
            self.target = (1, 2, 3)

    assert Scene().target == (1, 2, 3)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle_works_or_raises(model, protocol):
    for name, one in every_object(model).items():
        if name in ("column", "pipeline", "forward solver", "solver", "tensor", "tape", "report", "no_grad"):
            with pytest.raises(TypeError, match=f"^cannot pickle '{type(one).__name__}': "):
                pickle.dumps(one, protocol)
        else:
            assert type(pickle.loads(pickle.dumps(one, protocol))) is type(one)


def test_what_cannot_be_pickled_says_how_it_is_copied():
    assert text_of(TypeError, lambda: pickle.dumps(nova.tensor([1.0]))) == (
        "cannot pickle 'Tensor': it belongs to its process; its clone() is a copy"
    )
    assert text_of(TypeError, lambda: copy.deepcopy(nova.Tape())) == (
        "cannot pickle 'Tape': it belongs to its process"
    )


def test_dlpack_copies_when_asked_and_refuses_other_devices(model):
    for one in (model.state().particle_q, nova.tensor([1.0, 2.0])):
        copied = np.from_dlpack(one, copy=True)
        assert copied.ctypes.data != one.ptr and np.array_equal(copied, one.numpy())
        shared = np.from_dlpack(one)
        assert shared.ctypes.data == one.ptr and not shared.flags.writeable
        assert "lies on DLPack device (1, 0), not on (2, 0)" in text_of(
            BufferError, lambda: one.__dlpack__(dl_device=(2, 0))
        )


def test_a_conversion_without_a_copy_is_refused_where_it_needs_one(model):
    array = model.state().particle_q
    assert text_of(ValueError, lambda: array.__array__(np.float64, copy=False)) == (
        "'particle_q' of state #0 is float32: giving it as float64 needs a copy, and copy=False was asked for"
    )
    with pytest.raises(ValueError, match="particle_q: it has no memory of its own to show"):
        np.array(novaphy.ModelBuilder().particle_q, copy=False)
    assert np.array(array, copy=True).ctypes.data != array.ptr


def test_an_interrupt_is_no_wrong_type(model):
    class Interrupted:
        def __array__(self, dtype=None, copy=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.state().particle_q = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        add(pos=Interrupted())


@pytest.mark.parametrize(
    "call, start",
    [
        (lambda: novaphy.DeviceArray([[1], [2, 3]]), "DeviceArray: data wants float32, got list that is no array: "),
        (lambda: nova.tensor([[1], [2, 3]]), "nova.tensor: data wants float32, got list that is no array: "),
        (
            lambda: novaphy.DeviceArray([1], dtype="foo"),
            "DeviceArray: dtype must be float32, int32, uint32 or uint8, got 'foo'",
        ),
        (
            lambda: nova.tensor([1.0], device=0),
            "device wants text such as 'cpu' or a novaphy.Device, got int",
        ),
    ],
)
def test_wrong_data_types_and_devices_are_type_errors(call, start):
    assert text_of(TypeError, call).startswith(start)


def test_a_pipelines_margin_has_two_names_and_one_value(model):
    assert novaphy.CollisionPipeline(model).soft_contact_margin == pytest.approx(0.01)
    assert novaphy.CollisionPipeline(model, soft_contact_margin=None).soft_contact_margin == pytest.approx(0.01)
    assert novaphy.CollisionPipeline(model, soft_contact_gap=0.5).soft_contact_margin == 0.5
    pipeline, state = novaphy.CollisionPipeline(model), model.state()
    counts = []
    for names in ({}, {"soft_contact_margin": 10.0}, {"soft_contact_gap": 10.0}):
        contacts = pipeline.contacts()
        pipeline.collide(state, contacts, **names)
        counts.append(int(contacts.soft_contact_count[0]))
    assert counts == [0, 2, 2]
    for both in (
        lambda: novaphy.CollisionPipeline(model, soft_contact_margin=0.01, soft_contact_gap=0.02),
        lambda: pipeline.collide(state, pipeline.contacts(), soft_contact_margin=0.01, soft_contact_gap=0.02),
    ):
        assert text_of(ValueError, both).endswith(
            ": soft_contact_gap is another name of soft_contact_margin; give one of them"
        )


@pytest.mark.parametrize("phase", ["grid", 7, 1.5])
def test_an_unknown_broad_phase_is_named(model, phase):
    assert text_of(ValueError, lambda: novaphy.CollisionPipeline(model, broad_phase=phase)) == (
        f"CollisionPipeline: there is no broad phase '{phase}'; give 'explicit', 'sap' or 'nxn'"
    )


@pytest.mark.parametrize("name, owner", [("clear_forces", "state"), ("clone", "model"), ("clear", "contacts")])
def test_a_custom_array_takes_no_name_that_is_taken(name, owner):
    cls = {"state": "SimState", "model": "Model", "contacts": "Contacts"}[owner]
    builder = novaphy.ModelBuilder()
    assert text_of(ValueError, lambda: builder.add_custom_array(name, "particle", owner=owner)) == (
        f"add_custom_array: {cls} has an attribute '{name}' already; choose another name"
    )
    for taken in ("class", "__init__"):
        assert text_of(ValueError, lambda: builder.add_custom_array(taken, "particle")) == (
            f"add_custom_array: '{taken}' is a name of Python itself; choose another"
        )


def test_transforms_are_finite_and_can_be_cut():
    assert novaphy.Transform((1, 2, 3))[:3] == (1, 2, 3) and novaphy.Transform((1, 2, 3))[-1] == 1
    assert text_of(ValueError, lambda: novaphy.Transform((float("nan"), 0, 0))) == (
        "Transform: position is (nan, 0, 0): want finite numbers"
    )
    assert text_of(ValueError, lambda: novaphy.Transform.from_axis_angle((0, 0, 1), float("nan"))) == (
        "Transform.from_axis_angle: angle is nan: want a finite number of rad"
    )


def test_bodies_name_the_call_and_the_argument():
    builder = novaphy.ModelBuilder()
    assert text_of(ValueError, lambda: builder.add_link(com=(1, 2))) == "add_link: com wants 3 numbers, got 2"
    assert text_of(ValueError, lambda: builder.add_body(inertia=3.0)) == (
        "add_body: inertia wants float32 of shape (3, 3), got float64 of shape ()"
    )
    assert text_of(TypeError, lambda: builder.add_joint_d6(-1, 0, angular_axes=3)) == (
        "add_joint_d6: axes want a list of Axis, vectors or JointDofConfig, got 3"
    )


def test_a_tensor_is_filled_with_what_float32_can_hold():
    assert text_of(ValueError, lambda: nova.full(3, 1e300)) == "nova.full: value is 1e+300, too large for float32"
    assert text_of(ValueError, lambda: nova.zeros(3).fill_(-1e39)) == (
        "nova.Tensor.fill_: value is -1e+39, too large for float32"
    )
    assert nova.full(1, float("inf")).item() == float("inf")


def test_memory_that_is_not_aligned_is_no_tensor():
    odd = np.frombuffer(bytearray(13), np.uint8)[1:].view(np.float32)
    assert text_of(ValueError, lambda: nova.as_tensor(odd)) == (
        "nova.as_tensor: wants memory that begins at a multiple of its element size, got float32 of shape (3,); "
        "nova.tensor copies it"
    )


def test_two_threads_that_share_a_tape_go_one_after_the_other(model):
    solver, states = DiffSemiImplicitSolver(model), [model.state() for _ in range(100)]
    start = ndiff.state_particle_qd_tensor(states[0], requires_grad=True)
    with nova.Tape() as tape:
        for now, after in zip(states, states[1:]):
            solver.step(now, after, None, None, 1 / 480)
        loss = ndiff.particle_point_loss_generated(states[-1].particle_q, 0, 0, 0, 0)
    tape.backward(loss)
    once = start.grad.numpy().astype(np.float64)
    failures = []

    def work():
        try:
            for _ in range(100):
                tape.backward(loss)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and start.grad.numpy() == pytest.approx(201 * once, rel=1e-4)
