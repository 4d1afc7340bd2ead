# SPDX-License-Identifier: Apache-2.0
"""Recorded steps with all kinds of elements: gradients against a float64 rollout, and against the soft body's reference."""
import json

import numpy as np
import pytest

from compare import assert_close_to_largest, relative_to_largest
from deformables import model_from_arrays
from twin_elements import bending_forces, spring_forces, tetrahedron_forces, triangle_forces

DT, STEPS = 1e-3, 10
ARRAYS = ("spring_stiffness", "spring_damping", "spring_rest_length", "tri_poses", "particle_tri_material",
          "edge_bending_properties", "edge_rest_angle", "tet_poses", "particle_tet_material", "particle_inv_mass", "gravity")


def block_with_springs(seed=5):
    """A deformed soft block with a surface, bending edges and springs, every number of every element at random."""
    import novaphy
    rng = np.random.default_rng(seed)
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 1), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=3, dim_y=2, dim_z=1, cell_x=0.2, cell_y=0.2,
                          cell_z=0.2, density=1000.0, k_mu=1e3, k_lambda=2e3, k_damp=1.0, particle_radius=1e-3)
    for spring in range(15):
        builder.add_spring(spring, spring + 8, 1.0, 0.0, 0.0)
    model = builder.finalize(requires_grad=True)
    drawn = {"spring_stiffness": (50, 200), "spring_damping": (0.1, 1), "particle_tri_material": (10, 100),
             "edge_bending_properties": (0.5, 5), "edge_rest_angle": (-0.3, 0.3), "particle_tet_material": (500, 3000),
             "particle_inv_mass": (0.5, 2), "gravity": (-10, 10)}
    for name, (low, high) in drawn.items():
        array = getattr(model, name)
        values = rng.uniform(low, high, array.shape)
        if name == "particle_tet_material":
            values[:, 2] = rng.uniform(0.1, 2, len(values))
        setattr(model, name, values.astype(np.float32))
    start = {"q": model.particle_q.numpy() + rng.uniform(-0.02, 0.02, model.particle_q.shape), "qd": rng.normal(size=model.particle_q.shape),
             "external": rng.normal(size=model.particle_q.shape),
             "tri_activation": rng.uniform(-0.1, 0.1, model.tri_count), "tet_activation": rng.uniform(-0.1, 0.1, model.tet_count)}
    return model, {name: value.astype(np.float32) for name, value in start.items()}


def numbers_of(model, start):
    """Everything that the rollout depends on, by name, in float64."""
    return {name: np.asarray(value, np.float64) for name, value in start.items()} | {
        name: getattr(model, name).numpy().astype(np.float64) for name in ARRAYS}


def twin_rollout(model, n):
    """Last positions in float64."""
    rows = lambda name, width: getattr(model, name).numpy().reshape(-1, width)
    x, v = n["q"], n["qd"]
    dt = np.float64(np.float32(DT))
    for _ in range(STEPS):
        f = spring_forces(x, v, n["external"], rows("spring_indices", 2), n["spring_stiffness"], n["spring_damping"], n["spring_rest_length"])
        f = triangle_forces(x, v, f, rows("tri_indices", 3), n["tri_poses"].reshape(-1, 2, 2), n["tri_activation"], n["particle_tri_material"])
        f = bending_forces(x, v, f, rows("edge_indices", 4), n["edge_bending_properties"], n["edge_rest_angle"])
        f = tetrahedron_forces(x, v, f, rows("tet_indices", 4), n["tet_poses"].reshape(-1, 3, 3), n["tet_activation"], n["particle_tet_material"])
        v = v + (f * n["particle_inv_mass"][:, None] + n["gravity"].reshape(-1, 3)[0]) * dt
        x = x + v * dt
    return x


def recorded_gradients(model, start, weights):
    """{name: gradient} of sum(weights * last positions) through DiffSemiImplicitSolver."""
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    solver = DiffSemiImplicitSolver(model)
    states = [model.state(requires_grad=True) for _ in range(STEPS + 1)]
    control = model.control(requires_grad=True)
    control.tri_activations, control.tet_activations = start["tri_activation"], start["tet_activation"]
    states[0].particle_q, states[0].particle_qd = start["q"], start["qd"]
    for state in states:
        state.particle_f = start["external"]
    with nova.Tape() as tape:
        for now, then in zip(states, states[1:]):
            solver.step(now, then, control, None, DT)
    import novaphy.diff as ndiff
    tape.backward(ndiff.state_particle_q_tensor(states[-1]), grad=nova.tensor(weights.astype(np.float32)))
    grads = {"q": states[0].particle_q, "qd": states[0].particle_qd, "tri_activation": control.tri_activations,
             "tet_activation": control.tet_activations} | {name: getattr(model, name) for name in ARRAYS}
    grads = {name: array.grad.numpy().astype(np.float64) for name, array in grads.items()}
    grads["external"] = sum(state.particle_f.grad.numpy().astype(np.float64) for state in states[:-1])
    return states[-1].particle_q.numpy(), grads


def test_gradients_of_a_rollout_reach_every_number_that_it_depends_on():
    """Ten steps, three random directions for each array, against central differences of the float64 rollout."""
    model, start = block_with_springs()
    rng = np.random.default_rng(6)
    weights = rng.normal(size=start["q"].shape)
    numbers = numbers_of(model, start)
    last, grads = recorded_gradients(model, start, weights)
    assert_close_to_largest(last, twin_rollout(model, numbers), 1e-6, "last positions")
    assert set(grads) == set(numbers)
    loss = lambda changed: (weights * twin_rollout(model, numbers | changed)).sum()
    for name, value in numbers.items():
        got, want = [], []
        for _ in range(3):
            direction = rng.normal(size=value.shape)
            eps = 1e-5 * max(1.0, np.abs(value).max())
            got.append((grads[name].reshape(value.shape) * direction).sum())
            want.append((loss({name: value + eps * direction}) - loss({name: value - eps * direction})) / (2 * eps))
        assert np.abs(want).min() > 0, name
        worst = relative_to_largest(np.array(got), np.array(want)).max()
        assert worst < 5e-5, f"{name}: {worst:.1e} of the largest directional derivative, got {got}, want {want}"


@pytest.fixture(scope="module")
def soft_body(data):
    z = dict(np.load(data / "newton_soft_body_anisotropic.npz"))
    return z, json.loads((data / "newton_soft_body_anisotropic.json").read_text())


def train_soft_body(z, scene, iterations):
    """(losses, gradients of the first iteration): Newton's example, contacts collided inside the tape in every substep."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    model = model_from_arrays(z, scene["model"])
    model.particle_grid = None
    solver = DiffSemiImplicitSolver(model)
    pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=scene["soft_contact_gap"])
    contacts = pipeline.contacts()
    states = [model.state() for _ in range(961)]
    q0, qd0 = ndiff.state_particle_q_tensor(states[0], True), ndiff.state_particle_qd_tensor(states[0], True)
    base = nova.tensor(z["model_tet_materials"])
    params = nova.tensor(z["params0"], requires_grad=True)
    losses, first = [], None
    for _ in range(iterations):
        with nova.Tape() as tape:
            materials = ndiff.assign_tet_materials_generated(params, base, model.tet_count)
            ndiff.assign(ndiff.model_tet_material_tensor(model), materials)
            for now, then in zip(states, states[1:]):
                now.clear_forces()
                pipeline.collide(now, contacts)
                solver.step(now, then, None, contacts, scene["dt"])
            centre = ndiff.particle_centroid_generated(ndiff.state_particle_q_tensor(states[-1]))
            loss = ndiff.vec3_point_loss_generated(centre, *scene["target"])
        tape.backward(loss)
        losses.append(loss.item())
        first = first or {"params": params.grad.numpy().copy(), "particle_q0": q0.grad.numpy().copy(),
                          "particle_qd0": qd0.grad.numpy().copy()}
        with nova.no_grad():
            stepped = params.numpy() - np.float32(scene["train_rate"]) * params.grad.numpy()
        params = nova.tensor(np.clip(stepped, np.float32(scene["lower"]), np.float32(scene["upper"])), requires_grad=True)
        for leaf in (q0, qd0):
            leaf.zero_grad()
    return losses, first


def test_the_soft_body_has_newtons_loss_gradients_and_training_curve(soft_body):
    z, scene = soft_body
    losses, first = train_soft_body(z, scene, 10)
    assert losses[0] == np.float32(scene["loss"])
    for name, got in first.items():
        assert_close_to_largest(got, z["grad_" + name], 1e-5, name)
    assert np.allclose(losses, scene["train_loss"][:10], rtol=1e-3, atol=0), (losses, scene["train_loss"][:10])
