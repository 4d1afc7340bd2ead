# SPDX-License-Identifier: Apache-2.0
"""Every element force: gradients against the float64 law over twenty random elements, momentum, singular points."""
import numpy as np
import pytest

from compare import assert_close_to_largest
from element_cases import CORNERS, COUNT, PARAMETERS, differences, element_case
from engine import gradient

KINDS = tuple(CORNERS)


def run(case, weights, **changed):
    """(forces, {name: gradient}) of sum(weights * forces); rest shapes are leaves in the model."""
    from novaphy import nova
    values = {**case.values, **changed}
    leaves = {name: nova.tensor(np.asarray(value, np.float32), requires_grad=True) for name, value in values.items() if name != "rest"}
    with nova.Tape() as tape:
        out = case.forces(**leaves)
    tape.backward(out, grad=nova.tensor(np.asarray(weights, np.float32)))
    grads = {name: gradient(leaf) for name, leaf in leaves.items()}
    if "rest" in values:
        grads["rest"] = gradient(getattr(case.model, PARAMETERS[case.kind]["rest"])).reshape(values["rest"].shape)
    return out.numpy(), grads


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_twenty_random_elements_are_those_of_the_law_in_double(kind):
    case = element_case(kind, seed=11, requires_grad=True)
    weights = np.random.default_rng(12).normal(size=case.values["x"].shape)
    force, grads = run(case, weights)
    assert_close_to_largest(force, case.law(), 2e-6, f"forces of {kind}")
    assert set(grads) == {"x", "v", "f", *PARAMETERS[kind]}
    for name, got in grads.items():
        want = differences(case, name, weights)
        assert np.abs(want).max() > 0, f"{kind}: the forces do not depend on {name}, so nothing is tested"
        assert_close_to_largest(got, want, 1e-5, f"{kind}: gradient of {name}")


@pytest.mark.parametrize("kind", KINDS)
def test_forces_of_an_element_add_up_to_zero(kind):
    """To rounding; the air pushes a triangle, so drag and lift are 0 here."""
    case = element_case(kind, seed=21)
    changed = {"f": np.zeros_like(case.values["f"])}
    if kind == "triangles":
        changed["material"] = case.values["material"] * np.float32([1, 1, 1, 0, 0])
    from novaphy import nova
    force = case.forces(**{name: nova.tensor(value) for name, value in changed.items()}).numpy().reshape(COUNT, -1, 3)
    assert np.abs(force.astype(np.float64).sum(1)).max() < 1e-6 * np.abs(force).max()


@pytest.mark.parametrize("kind", ["springs", "triangles", "tetrahedra"])
def test_elastic_forces_of_an_element_have_no_moment(kind):
    """To rounding, without damping (that of triangles and tetrahedra also slows rotation). Bending is no gradient of an
    energy: its moment vanishes only where both triangles are equally high."""
    from novaphy import nova
    case = element_case(kind, seed=22)
    changed = {"f": np.zeros_like(case.values["f"]), "v": np.zeros_like(case.values["v"])}
    force = case.forces(**{name: nova.tensor(value) for name, value in changed.items()}).numpy().astype(np.float64)
    x = case.values["x"].astype(np.float64).reshape(COUNT, -1, 3)
    moment = np.cross(x - x.mean(1, keepdims=True), force.reshape(COUNT, -1, 3)).sum(1)
    assert np.abs(moment).max() < 1e-6 * np.abs(force).max()


def test_bending_has_no_moment_where_both_triangles_are_equally_high():
    from novaphy import nova
    case = element_case("bending", seed=23)
    x = np.array([[0.3, 0.8, 0.1], [0.6, -0.8, 0.1], [0, 0, 0], [1, 0, 0]], np.float32)
    x = (x[None] + np.arange(COUNT)[:, None, None] * np.float32([3, 0, 0])).reshape(-1, 3)
    zero = nova.tensor(np.zeros_like(x))
    force = case.forces(x=nova.tensor(x), v=zero, f=zero).numpy().astype(np.float64).reshape(COUNT, 4, 3)
    arms = x.reshape(COUNT, 4, 3) - x.reshape(COUNT, 4, 3)[:, 2:3]
    assert np.abs(force).max() > 0.1
    assert np.abs(np.cross(arms, force).sum(1)).max() < 1e-5 * np.abs(force).max()


def singular(kind, changes):
    case = element_case(kind, seed=31, requires_grad=True)
    weights = np.ones_like(case.values["x"])
    weights[::2] = -0.5
    changed = {name: change(case.values[name].copy()) for name, change in changes.items()}
    force, grads = run(case, weights, **changed)
    assert np.isfinite(force).all(), f"{kind}: forces are not finite"
    for name, grad in grads.items():
        assert np.isfinite(grad).all(), f"{kind}: the gradient of {name} is not finite"
    return force - changed.get("f", case.values["f"]), grads


def collapsed(values, corners=1):
    """All corners of every element on its first."""
    shaped = values.reshape(COUNT, -1, 3)
    shaped[:, corners:] = shaped[:, :1]
    return shaped.reshape(values.shape)


def in_line(values):
    shaped = values.reshape(COUNT, -1, 3)
    shaped[:, :, 1:] = 0
    return shaped.reshape(values.shape)


def flat(values):
    shaped = values.reshape(COUNT, -1, 3)
    shaped[:, :, 2] = 0
    return shaped.reshape(values.shape)


def column_zero(k):
    def change(values):
        values[:, k] = 0
        return values
    return change


def along_normal(sign):
    return lambda values: np.tile(np.float32([0, 0, sign]), (len(values), 1))


def test_a_triangle_without_area_or_speed_has_finite_forces_and_gradients():
    singular("triangles", {"x": collapsed})
    singular("triangles", {"x": in_line})
    singular("triangles", {"v": np.zeros_like})
    singular("triangles", {"v": np.zeros_like, "x": collapsed})


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_triangle_that_moves_along_its_normal_has_no_derivative_through_the_angle(sign):
    """acos at 1 and -1: its derivative counts as 0 there, so moving the velocity aside changes no lift."""
    _, grads = singular("triangles", {"x": flat, "v": along_normal(sign), "material": column_zero(3)})
    assert np.abs(grads["v"][:, :2]).max() > 0  # damping is left


def test_a_triangle_without_area_stiffness_has_no_area_force_and_no_gradient_of_it():
    _, grads = singular("triangles", {"material": column_zero(1)})
    assert (grads["material"][:, 1] == 0).all() and (grads["activation"] == 0).all()


def test_an_edge_that_is_shorter_than_a_micrometre_does_not_bend():
    """The edge, or a normal, below 1e-6: force and gradients are 0, also for nothing at all."""
    def short(values):
        shaped = values.reshape(COUNT, 4, 3)
        shaped[:, 3] = shaped[:, 2] + np.float32([9e-7, 0, 0])
        return shaped.reshape(values.shape)
    for change in (short, collapsed, in_line):
        force, grads = singular("bending", {"x": change})
        assert (force == 0).all(), change.__name__
        for name in ("x", "v", "material", "rest_angle"):
            assert (grads[name] == 0).all(), (change.__name__, name)


def test_a_flat_edge_and_one_that_is_folded_onto_itself_have_finite_gradients():
    """atan2 at 0 and at pi."""
    def folded(values):
        shaped = flat(values).reshape(COUNT, 4, 3)
        shaped[:, 1] = shaped[:, 0]
        return shaped.reshape(values.shape)
    singular("bending", {"x": flat})
    singular("bending", {"x": folded})


def test_tetrahedra_without_stiffness_volume_or_in_a_point_have_finite_forces_and_gradients():
    def inverted(values):
        shaped = values.reshape(COUNT, 4, 3)
        shaped[:, [1, 2]] = shaped[:, [2, 1]]
        return shaped.reshape(values.shape)
    both_zero = lambda values: values * np.float32([0, 0, 1])
    _, grads = singular("tetrahedra", {"material": column_zero(1)})
    assert (grads["material"][:, 1] == 0).all() and (grads["activation"] == 0).all()
    singular("tetrahedra", {"material": both_zero})
    singular("tetrahedra", {"material": np.zeros_like})
    for change in (collapsed, in_line, flat, inverted):
        singular("tetrahedra", {"x": change})


def test_a_spring_in_a_point_has_no_force():
    force, grads = singular("springs", {"x": collapsed})
    assert (force == 0).all() and all((grads[name] == 0).all() for name in ("x", "v", "ke", "kd", "rest_length"))


def test_materials_of_tetrahedra_from_shared_parameters_and_from_two_for_each():
    """k_damp stays that of the base; the gradient of shared parameters is the sum of those for each."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    rng = np.random.default_rng(41)
    base = nova.tensor(rng.uniform(1, 9, (7, 3)).astype(np.float32), requires_grad=True)
    weights = rng.normal(size=(7, 3)).astype(np.float32)
    sums = []
    for params in (np.float32([3, 5]), np.tile(np.float32([3, 5]), (7, 1)), np.tile(np.float32([3, 5]), 7)):
        leaf = nova.tensor(params, requires_grad=True)
        with nova.Tape() as tape:
            materials = ndiff.assign_tet_materials_generated(leaf, base, 7)
        tape.backward(materials, grad=nova.tensor(weights))
        assert (materials.numpy()[:, :2] == [3, 5]).all() and (materials.numpy()[:, 2] == base.numpy()[:, 2]).all()
        assert leaf.grad.numpy().shape == params.shape
        assert (base.grad.numpy() == weights * [0, 0, 1]).all()
        base.zero_grad()
        sums.append(leaf.grad.numpy().reshape(-1, 2).astype(np.float64).sum(0))
    assert np.allclose(sums, weights[:, :2].astype(np.float64).sum(0), rtol=1e-5)
    with pytest.raises(ValueError, match=r"assign_tet_materials_generated: material_params holds 3 numbers; give 2 that all "
                                         r"tetrahedra share, or 2 for each, which are 14"):
        ndiff.assign_tet_materials_generated(nova.tensor(np.float32([1, 2, 3])), base, 7)
    with pytest.raises(novaphy.ShapeMismatchError, match=r"base_tet_materials has shape \(7, 3\), \(6, 3\) is wanted"):
        ndiff.assign_tet_materials_generated(nova.tensor(np.float32([1, 2])), base, 6)
