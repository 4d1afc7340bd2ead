# SPDX-License-Identifier: Apache-2.0
"""Forces of springs and tetrahedra: Newton's bits, and gradients against the float64 law."""
import json

import numpy as np
import pytest

from compare import assert_close_to_largest, assert_same_bits
from engine import gradient
from soft_grids import soft_grid
from twin_elements import spring_forces, tetrahedron_forces, triangle_forces


def tensor(array, requires_grad=False):
    from novaphy import nova
    return nova.tensor(np.asarray(array, np.float32), requires_grad=requires_grad)


def tetrahedra(grid, **changed):
    """(output, {name: leaf}) of the operator; leaves are those of `changed`, or all."""
    import novaphy.diff as ndiff
    values = {"q": grid.q, "qd": grid.qd, "f": grid.f, "activation": grid.activation, "material": grid.material} | changed
    leaves = {name: tensor(value, requires_grad=True) for name, value in values.items()}
    return ndiff.eval_tetrahedra_forces_generated(grid.model, *leaves.values()), leaves


def differences(function, start, weights, eps):
    """d(sum(weights * function(x)))/dx by central differences in float64."""
    out = np.zeros(start.shape)
    for at in np.ndindex(start.shape):
        ends = []
        for sign in (1, -1):
            moved = start.astype(np.float64)
            moved[at] += sign * eps
            ends.append((weights * function(moved)).sum())
        out[at] = (ends[0] - ends[1]) / (2 * eps)
    return out


def test_tetrahedra_give_the_bits_of_the_law_in_numpy():
    grid = soft_grid(cells=(6, 5, 4), seed=3)
    got, _ = tetrahedra(grid)
    assert_same_bits(got.numpy(), tetrahedron_forces(*grid.law()), "forces of 600 tetrahedra")


def test_tetrahedra_give_the_forces_of_newtons_soft_body_bit_for_bit(data):
    """All substeps of the reference without contact; its triangles come from the law in NumPy."""
    import novaphy
    import novaphy.diff as ndiff
    z = np.load(data / "newton_soft_body_anisotropic.npz")
    scene = json.loads((data / "newton_soft_body_anisotropic.json").read_text())
    builder = novaphy.ModelBuilder()
    n = 27
    builder.add_particles(pos=z["model_particle_q"], vel=z["model_particle_qd"], mass=z["model_particle_mass"].tolist(),
                          radius=z["model_particle_radius"].tolist())
    for corners in z["model_tet_indices"]:
        builder.add_tetrahedron(*map(int, corners))
    model = builder.finalize()
    model.tet_poses = z["model_tet_poses"].reshape(model.tet_poses.shape)
    material = z["model_tet_materials"].copy()
    material[:, :2] = z["params0"].reshape(-1, 2)
    activation, tets = tensor(z["model_tet_activations"]), tensor(material)
    free = np.flatnonzero(z["contact_count"] == 0)
    assert len(free) > 700 and scene["dt"] == pytest.approx(1 / 960)
    for k in free:
        q, qd = z["particle_q_substeps"][k], z["particle_qd_substeps"][k]
        surface = triangle_forces(q, qd, np.zeros((n, 3), np.float32), z["model_tri_indices"], z["model_tri_poses"],
                                  z["model_tri_activations"], z["model_tri_materials"])
        got = ndiff.eval_tetrahedra_forces_generated(model, tensor(q), tensor(qd), tensor(surface), activation, tets)
        assert_same_bits(got.numpy(), z["particle_f_substeps"][k], f"substep {k}")


def test_gradients_of_the_tetrahedra_agree_with_the_float64_law():
    from novaphy import nova
    grid = soft_grid(cells=(2, 1, 1), seed=1)
    weights = np.random.default_rng(2).normal(size=grid.q.shape)
    with nova.Tape() as tape:
        out, leaves = tetrahedra(grid)
    tape.backward(out, grad=tensor(weights))
    twin_names = {"q": "x", "qd": "v", "f": "f", "activation": "activation", "material": "material"}
    for name, leaf in leaves.items():
        law = lambda value: tetrahedron_forces(*grid.law(np.float64, **{twin_names[name]: value}))
        start = getattr(grid, name)
        want = differences(law, start, weights, 1e-6 * max(1.0, float(np.abs(start).max())))
        assert_close_to_largest(gradient(leaf), want, 1e-5, name)


def test_a_tetrahedron_at_rest_and_still_gives_no_force_and_a_gradient_that_is_finite():
    from novaphy import nova
    grid = soft_grid(cells=(1, 1, 1), stretch=0.0)
    zero = np.zeros_like(grid.q)
    with nova.Tape() as tape:
        out, leaves = tetrahedra(grid, qd=zero, f=zero, activation=np.zeros_like(grid.activation))
    tape.backward(out, grad=tensor(np.ones_like(grid.q)))
    elastic = np.abs(grid.material[:, :2]).max() * 0.1 ** 2
    assert np.abs(out.numpy()).max() < 1e-5 * elastic
    for name, leaf in leaves.items():
        assert np.isfinite(gradient(leaf)).all(), name


def test_zero_volumetric_stiffness_has_no_volume_force_and_finite_gradients():
    from novaphy import nova
    grid = soft_grid(cells=(2, 1, 1), seed=4)
    material = grid.material.copy()
    material[::2, 1] = 0.0
    with nova.Tape() as tape:
        out, leaves = tetrahedra(grid, material=material)
    law = tetrahedron_forces(*grid.law(material=material))
    assert np.isfinite(law).all()
    assert_same_bits(out.numpy(), law, "forces with k_lambda = 0")
    weights = np.random.default_rng(5).normal(size=grid.q.shape)
    tape.backward(out, grad=tensor(weights))
    assert (gradient(leaves["material"])[::2, 1] == 0).all(), "the derivative with respect to k_lambda is 0 there"
    want = differences(lambda q: tetrahedron_forces(*grid.law(np.float64, x=q, material=material)), grid.q, weights, 1e-6)
    assert_close_to_largest(gradient(leaves["q"]), want, 1e-5, "positions")
    others = differences(lambda m: tetrahedron_forces(*grid.law(np.float64, material=m)), material, weights, 1e-3)
    got = gradient(leaves["material"])
    assert_close_to_largest(got[1::2], others[1::2], 1e-5, "material rows with k_lambda > 0")
    assert_close_to_largest(got[::2, [0, 2]], others[::2, [0, 2]], 1e-5, "k_mu and k_damp of rows with k_lambda = 0")


@pytest.mark.parametrize("kd", [0.0, 10.0])
def test_springs_give_the_states_of_newtons_spring_cage_and_its_gradient(data, kd):
    """31 states bit for bit with the reference's damping (10), and the gradient of the rest lengths at both."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    z = np.load(data / "newton_spring_cage.npz")
    scene = json.loads((data / "newton_spring_cage.json").read_text())
    builder = novaphy.ModelBuilder(gravity=tuple(z["model_gravity"][0].tolist()))
    builder.add_particles(pos=z["model_particle_q"], vel=z["model_particle_qd"], mass=z["model_particle_mass"].tolist())
    for (i, j), ke in zip(z["model_spring_indices"].reshape(-1, 2), z["model_spring_stiffness"]):
        builder.add_spring(int(i), int(j), float(ke), kd, 0.0)
    model = builder.finalize()
    rest_length = tensor(z["train_rest_length"][0], requires_grad=True)  # the model holds the trained ones
    q, qd = tensor(z["particle_q_substeps"][0]), tensor(z["particle_qd_substeps"][0])
    start = q.numpy(), qd.numpy()
    states = [start]
    with nova.Tape() as tape:
        for _ in range(scene["sim_steps"]):
            f = ndiff.eval_spring_forces_generated(model, q, qd, nova.zeros((9, 3)), spring_rest_length=rest_length)
            q, qd = ndiff.integrate_particles_generated(model, q, qd, f, scene["dt"])
            states.append((q.numpy(), qd.numpy()))
        loss = ndiff.particle_point_loss_generated(q, 0, *scene["target"])
    tape.backward(loss)
    if kd == 10.0:
        assert_same_bits(np.stack([s[0] for s in states]), z["particle_q_substeps"], "positions")
        assert_same_bits(np.stack([s[1] for s in states]), z["particle_qd_substeps"], "velocities")
        assert_close_to_largest(gradient(rest_length), z["grad_rest_length"], 1e-5, "Newton's gradient")

    def rollout(lengths):
        x, v = (a.astype(np.float64) for a in start)
        inv = model.particle_inv_mass.numpy().astype(np.float64)[:, None]
        gravity, dt = z["model_gravity"][0].astype(np.float64), np.float64(np.float32(scene["dt"]))
        for _ in range(scene["sim_steps"]):
            f = spring_forces(x, v, np.zeros_like(x), z["model_spring_indices"].reshape(-1, 2),
                              z["model_spring_stiffness"].astype(np.float64), kd, lengths)
            v = v + (f * inv + gravity * (inv > 0)) * dt
            x = x + v * dt
        return x[0] - np.asarray(scene["target"])
    want = differences(lambda lengths: (rollout(lengths) ** 2), rest_length.numpy(), np.ones(3), 1e-6)
    assert_close_to_largest(gradient(rest_length), want, 1e-5, "float64 rollout")


def test_a_spring_without_length_has_no_direction_and_no_gradient_there():
    """Two particles on one point, as one of 1,000 springs: 0 there, the others to the bit as without it."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    rng = np.random.default_rng(7)
    builder = novaphy.ModelBuilder()
    q = rng.uniform(-1, 1, (2000, 3)).astype(np.float32)
    builder.add_particles(pos=q, vel=np.zeros_like(q), mass=[1.0] * 2000)
    for k in range(1000):
        builder.add_spring(2 * k, 2 * k + 1, 100.0, 1.0, 0.0)
    model = builder.finalize()

    def run(positions):
        leaf = tensor(positions, requires_grad=True)
        with nova.Tape() as tape:
            f = ndiff.eval_spring_forces_generated(model, leaf, tensor(q), nova.zeros((2000, 3)),
                                                   spring_rest_length=tensor(np.full(1000, 0.3)))
        tape.backward(f, grad=tensor(rng_weights))
        return f.numpy(), gradient(leaf)
    rng_weights = rng.normal(size=q.shape)
    together = q.copy()
    together[1] = together[0]
    force, grad = run(together)
    other_force, other_grad = run(q)
    assert (force[:2] == 0).all() and (grad[:2] == 0).all()
    assert_same_bits(force[2:], other_force[2:], "the other springs' forces")
    assert_same_bits(grad[2:], other_grad[2:], "the other springs' gradients")


def test_wrong_arguments_are_named():
    import novaphy
    import novaphy.diff as ndiff
    grid = soft_grid()
    arguments = [tensor(a) for a in (grid.q, grid.qd, grid.f, grid.activation, grid.material)]
    names = ("particle_q", "particle_qd", "particle_f")
    for k, name in enumerate(names):
        wrong = list(arguments)
        wrong[k] = tensor(np.zeros((5, 3)))
        with pytest.raises(novaphy.ShapeMismatchError,
                           match=rf"eval_tetrahedra_forces_generated: {name} has shape \(5, 3\); the model's particles want \(36, 3\)"):
            ndiff.eval_tetrahedra_forces_generated(grid.model, *wrong)
    with pytest.raises(novaphy.ShapeMismatchError, match=r"tetrahedra: input 'material' has shape \(60, 2\) .* 60 rows of 3 float32"):
        ndiff.eval_tetrahedra_forces_generated(grid.model, *arguments[:4], tensor(np.zeros((60, 2))))
    with pytest.raises(novaphy.ShapeMismatchError, match=r"springs: input 'ke' has shape \(3\)"):
        ndiff.eval_spring_forces_generated(grid.model, *arguments[:3], spring_ke=tensor(np.zeros(3)))
