# SPDX-License-Identifier: Apache-2.0
"""ModelBuilder in Python: every form of an argument, columns that may be changed, copies."""

import copy
import pickle

import numpy as np
import pytest

import novaphy
from novaphy import Axis, ModelBuilder, Transform

HALF = 0.5**0.5


@pytest.mark.parametrize(
    "xform",
    [
        Transform((0, 2, 1), (0, 0, HALF, HALF)),
        (0, 2, 1, 0, 0, HALF, HALF),
        ((0, 2, 1), (0, 0, HALF, HALF)),
        [[0, 2, 1], [0, 0, HALF, HALF]],
        np.array([0, 2, 1, 0, 0, HALF, HALF]),
        (np.array([0, 2, 1]), np.array([0, 0, HALF, HALF], np.float32)),
    ],
)
def test_every_form_of_a_transform_is_taken(xform):
    builder = ModelBuilder()
    builder.add_shape_box(body=-1, xform=xform)
    assert builder.shape_transform[0] == pytest.approx([0, 2, 1, 0, 0, HALF, HALF])


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda b: b.add_particle((0, 1), (0, 0, 0), 1.0),
            ValueError,
            "add_particle: pos wants 3 numbers, got 2",
        ),
        (
            lambda b: b.add_particle("abc", (0, 0, 0), 1.0),
            TypeError,
            "add_particle: pos wants 3 numbers, got str",
        ),
        (lambda b: b.add_particle((0, 0, None), (0, 0, 0), 1.0), TypeError, "item 2 is NoneType"),
        (
            lambda b: b.add_shape_box(-1, xform=(1, 2, 3)),
            TypeError,
            "add_shape_box: xform wants a Transform, seven numbers",
        ),
        (lambda b: b.add_shape_box(3), IndexError, "body is 3"),
        (
            lambda b: b.add_particles(np.zeros((2, 4)), np.zeros((2, 3)), [1, 1]),
            ValueError,
            "add_particles: pos wants",
        ),
        (lambda b: b.add_particle((0, 0, float("nan")), (0, 0, 0), 1.0), ValueError, "pos"),
        (lambda b: b.add_particle((0, 0, 0), (0, 0, 0), -1.0), ValueError, "mass"),
        (lambda b: b.finalize("cuda"), novaphy.PluginNotAvailableError, "cuda"),
        (
            lambda b: b.finalize(skip_all_validations=True),
            novaphy.UnsupportedFeatureError,
            "skip_all_validations",
        ),
        (
            lambda b: ModelBuilder("up"),
            ValueError,
            "ModelBuilder: up_axis wants Axis.X, Axis.Y or Axis.Z, got 'up'",
        ),
    ],
)
def test_wrong_arguments_are_named(call, error, text):
    with pytest.raises(error) as caught:
        call(ModelBuilder())
    assert text in str(caught.value)


def test_newtons_rule_of_masses():
    builder = ModelBuilder()
    body = builder.add_body(mass=4.0)
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    model = builder.finalize()
    assert model.body_mass.tolist() == [12.0]
    assert (model.joint_count, model.joint_coord_count, model.joint_dof_count, model.articulation_count) == (
        1,
        7,
        6,
        1,
    )


@pytest.mark.parametrize("axis", [Axis.Y, 1, "y", (0, 1, 0), ModelBuilder.JointDofConfig(axis=Axis.Y)])
def test_an_axis_has_many_names(axis):
    builder = ModelBuilder()
    link = builder.add_link(mass=1.0)
    joint = builder.add_joint_revolute(-1, link, axis=axis, target_ke=5.0, limit_lower=-1.0)
    builder.add_articulation([joint])
    model = builder.finalize()
    assert model.joint_axis.tolist() == [[0, 1, 0]]
    assert model.joint_target_ke[0] == 5 and model.joint_limit_lower[0] == -1


def test_columns_can_be_read_and_changed_but_not_resized():
    builder = ModelBuilder()
    builder.add_particle((1, 2, 3), (0, 0, 0), 1.0)
    builder.add_particle((4, 5, 6), (0, 0, 0), 1.0)
    assert builder.particle_q[0] == [1, 2, 3] and len(builder.particle_q) == 2
    builder.particle_q[0] = (7, 8, 9)
    builder.particle_q[-1, 2] = 0
    builder.particle_mass[:] = 2
    builder.particle_flags = [1, 0]
    model = builder.finalize()
    assert model.particle_q.tolist() == [[7, 8, 9], [4, 5, 0]]
    assert model.particle_mass.tolist() == [2, 2] and model.particle_flags.tolist() == [1, 0]
    with pytest.raises(IndexError):
        builder.particle_q[2] = (0, 0, 0)
    with pytest.raises(novaphy.ShapeMismatchError, match="ModelBuilder.particle_flags wants int32 of shape"):
        builder.particle_flags = [1]
    with pytest.raises(TypeError, match="wants int32"):
        builder.particle_flags[0] = 0.5


def test_a_column_of_a_builder_that_is_gone_is_still_safe():
    column = ModelBuilder().particle_q
    assert len(column) == 0 and column.tolist() == []


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda builder: pickle.loads(pickle.dumps(builder))]
)
def test_a_copied_builder_makes_the_same_model_and_goes_its_own_way(duplicate):
    builder = ModelBuilder(up_axis=Axis.Y, gravity=(0, -3, 0))
    builder.default_particle_radius = 0.25
    builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    body = builder.add_body(mass=1.0, label="cart")
    builder.add_shape_sphere(body, radius=0.3)
    builder.add_ground_plane()
    builder.add_custom_array("heat", "particle", default=3.0)
    twin = duplicate(builder)
    assert novaphy.scene_hash(twin.finalize()) == novaphy.scene_hash(builder.finalize())
    assert twin.body_label == ["cart"] and twin.up_axis == Axis.Y and twin.default_particle_radius == 0.25
    twin.add_shape_sphere(body, radius=0.3)
    assert (builder.shape_count, twin.shape_count) == (2, 3)


def test_worlds_have_a_gravity_each():
    one = ModelBuilder()
    one.add_particle((0, 0, 1), (0, 0, 0), 1.0)
    many = ModelBuilder()
    many.replicate(one, 3, spacing=(1, 0, 0))
    model = many.finalize()
    assert (
        model.world_count == 3
        and model.gravity.shape == (3, 3)
        and model.particle_world.tolist() == [0, 1, 2]
    )


def test_transforms_compose_and_invert():
    turn = Transform.from_axis_angle((0, 0, 1), np.pi / 2, position=(1, 0, 0))
    assert turn.transform_point((1, 0, 0)) == pytest.approx((1, 1, 0), abs=1e-6)
    assert tuple(turn * turn.inverse()) == pytest.approx(tuple(Transform()), abs=1e-6)
    assert pickle.loads(pickle.dumps(turn)) == turn
    with pytest.raises(ValueError, match="rotation must be a unit quaternion, its length is 2"):
        Transform((0, 0, 0), (0, 0, 0, 2))
    with pytest.raises(ValueError, match="axis must not be zero"):
        Transform.from_axis_angle((0, 0, 0), 1.0)


def test_gravity_as_one_number_still_works_and_warns():
    with pytest.warns(DeprecationWarning, match="gravity is a vector now"):
        builder = ModelBuilder(up_axis="Y", gravity=-2.0)
    assert builder.default_gravity == (0, -2, 0)
    assert ModelBuilder(up_axis="Y").default_gravity == pytest.approx((0, -9.81, 0))
