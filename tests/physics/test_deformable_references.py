# SPDX-License-Identifier: Apache-2.0
"""Soft body, spring cage and cloth against the stored references: steps of both solvers, their gradients and training."""
import json
from types import SimpleNamespace

import numpy as np
import pytest

from compare import assert_close_to_largest, assert_same_bits
from deformables import BOTH_SOLVERS, model_from_arrays, solver_of

SOFT, CAGE, CLOTH = "newton_soft_body_anisotropic", "newton_spring_cage", "newton_cloth"


def reference(data, name):
    scene = json.loads((data / f"{name}.json").read_text())
    return SimpleNamespace(z=dict(np.load(data / f"{name}.npz")), **scene)


def write_records(contacts, z, step):
    """The records of one substep into a Contacts."""
    count = int(z["contact_count"][step])
    contacts.soft_contact_count = np.array([count], np.int32)
    tids = np.full(contacts.soft_contact_tids.shape, -1, np.int32)
    particles = len(z["model_particle_q"])
    for name in ("particle", "shape", "body_pos", "body_vel", "normal"):
        rows = getattr(contacts, "soft_contact_" + name).numpy().copy()
        rows[:count] = z["contact_" + name][step, :count]
        setattr(contacts, "soft_contact_" + name, rows)
    for record in range(count):
        tids[z["contact_shape"][step, record] * particles + z["contact_particle"][step, record]] = record
    contacts.soft_contact_tids = tids


@pytest.mark.parametrize("solver", BOTH_SOLVERS)
def test_the_soft_body_steps_through_newtons_961_states_bit_for_bit(data, solver):
    """Springs, triangles, tetrahedra and the reference's 371 contact records; also the total force of each substep."""
    import novaphy
    ref = reference(data, SOFT)
    z = ref.z
    model = model_from_arrays(z, ref.model, tet_materials=np.column_stack([z["params0"].reshape(-1, 2), z["model_tet_materials"][:, 2]]))
    steps = solver_of(solver, model)
    contacts = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=0.001).contacts()
    now, then = model.state(), model.state()
    records = 0
    for k in range(960):
        assert_same_bits(now.particle_q.numpy(), z["particle_q_substeps"][k], f"positions of state {k}")
        assert_same_bits(now.particle_qd.numpy(), z["particle_qd_substeps"][k], f"velocities of state {k}")
        write_records(contacts, z, k)
        records += int(z["contact_count"][k])
        now.clear_forces()
        steps.step(now, then, None, contacts, ref.dt)
        assert_same_bits(now.particle_f.numpy(), z["particle_f_substeps"][k], f"forces of substep {k}")
        now, then = then, now
    assert records == 371
    assert_same_bits(now.particle_q.numpy(), z["particle_q_substeps"][960], "positions at the end")
    assert_same_bits(now.particle_qd.numpy(), z["particle_qd_substeps"][960], "velocities at the end")


@pytest.mark.parametrize("solver", BOTH_SOLVERS)
def test_the_spring_cage_steps_through_newtons_31_states_bit_for_bit(data, solver):
    ref = reference(data, CAGE)
    model = model_from_arrays(ref.z, spring_rest_length=ref.z["train_rest_length"][0])
    steps = solver_of(solver, model)
    now, then = model.state(), model.state()
    for k in range(ref.sim_steps + 1):
        assert_same_bits(now.particle_q.numpy(), ref.z["particle_q_substeps"][k], f"positions of state {k}")
        assert_same_bits(now.particle_qd.numpy(), ref.z["particle_qd_substeps"][k], f"velocities of state {k}")
        now.clear_forces()
        steps.step(now, then, None, None, ref.dt)
        now, then = then, now


def test_training_the_spring_cage_follows_newtons_curve(data):
    """The gradient of the rest lengths, and 100 iterations: the first ten losses within 1e-3, the end below 1e-13."""
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    ref = reference(data, CAGE)
    model = model_from_arrays(ref.z, requires_grad=True, spring_rest_length=ref.z["train_rest_length"][0])
    solver = DiffSemiImplicitSolver(model)
    states = [model.state() for _ in range(ref.sim_steps + 1)]
    losses = []
    for iteration in range(100):
        with nova.Tape() as tape:
            for now, then in zip(states, states[1:]):
                now.clear_forces()
                solver.step(now, then, None, None, ref.dt)
            loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, *ref.target)
        tape.backward(loss)
        losses.append(loss.item())
        gradient = model.spring_rest_length.grad.numpy().copy()
        if iteration == 0:
            assert_close_to_largest(gradient, ref.z["grad_rest_length"], 1e-5, "gradient of the rest lengths")
        model.spring_rest_length = model.spring_rest_length.numpy() - np.float32(ref.train_rate) * gradient
        model.spring_rest_length.grad.zero_()
    assert np.allclose(losses[:10], ref.train_loss[:10], rtol=1e-3, atol=0)
    assert losses[-1] < 1e-13


@pytest.mark.parametrize("solver", BOTH_SOLVERS)
def test_the_cloth_follows_newton_up_to_its_angles(data, solver):
    """acos and atan2 are rounded otherwise here (each within half a unit in the last place), so no equal bits: forces of
    the first eight substeps within 2e-6 of the largest, positions within 1e-6 m through one second and within 2e-5 m
    through the two seconds of the reference."""
    ref = reference(data, CLOTH)
    z = ref.z
    model = model_from_arrays(z)
    steps = solver_of(solver, model)
    stored = {int(k): row for row, k in enumerate(z["substep_index"])}
    now, then = model.state(), model.state()
    for k in range(ref.sim_steps * ref.sim_substeps + 1):
        if k in stored:
            difference = np.abs(now.particle_q.numpy() - z["particle_q"][stored[k]]).max()
            assert difference < (1e-6 if k <= 960 else 2e-5), f"positions of state {k}"
        now.clear_forces()
        steps.step(now, then, None, None, ref.dt)
        if k < 8:
            assert_close_to_largest(now.particle_f.numpy(), z["particle_f_first8"][k], 2e-6, f"forces of substep {k}")
        now, then = then, now
