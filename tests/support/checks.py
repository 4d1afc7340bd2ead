# SPDX-License-Identifier: Apache-2.0
"""The whole comparison of one scene: both solvers, the float32 law, the adjoint, and the free-running float64 twin."""
from dataclasses import dataclass

import numpy as np

from compare import assert_close_to_largest, assert_same_bits, relative_to_largest
from engine import PARAMETERS, forward, gradient, recorded
from scenes import read_arrays
from twin_contact import adjoint, rollout

TOLERANCE = 1e-4  # of the largest entry


@dataclass
class Checked:
    """What check_scene compared: the engine's run, its tape, the float32 law's rollout and the float64 gradients."""
    run: object
    tape: object
    law: object
    gradients: object
    worst: dict


def check_scene(scene, seed=0, every_step=False, external=None):
    """Forward states equal bit for bit between both solvers and the law; gradients of a loss with random weights equal
    the adjoint at the recorded states within TOLERANCE of the largest entry."""
    weights = random_weights(scene, seed)
    run, tape = recorded(scene, weights, every_step, external)
    law = rollout(read_arrays(run.model), scene.steps, scene.dt, scene.margin, every_step, external=external)
    check_forward(scene, run, law, every_step, external)
    gradients = adjoint(law, weights)
    worst = {"start positions": check_gradient(run.states[0].particle_q, gradients.particle_q, tape, "start position"),
             "start velocities": check_gradient(run.states[0].particle_qd, gradients.particle_qd, tape, "start velocity")}
    for name in PARAMETERS:
        worst[name] = check_parameter(run.model, gradients, tape, name)
    return Checked(run, tape, law, gradients, worst)


def random_weights(scene, seed):
    return np.random.default_rng(1000 + seed).normal(size=scene.q.shape).astype(np.float32)


def check_forward(scene, run, law, every_step, external):
    """Contact counts, positions, velocities and total forces of the recorded run against the law and the forward solver."""
    plain = forward(scene, every_step, external)
    moving = scene.active.astype(bool)  # the output velocity of an inactive particle is left open
    assert run.contact_counts.tolist() == [r.count for r in law.records], "numbers of contacts"
    assert run.contact_counts.tolist() == plain.contact_counts.tolist(), "numbers of contacts of both solvers"
    for name, law_values in (("q", law.q), ("qd", law.qd[:, moving]), ("f", law.f)):
        got, same = getattr(run, name), getattr(plain, name)
        if name == "qd":
            got, same = got[:, moving], same[:, moving]
        got, same = got[:len(law_values)], same[:len(law_values)]
        assert_same_bits(got, law_values, f"recorded solver, {name}")
        assert_same_bits(same, law_values, f"SolverSemiImplicit, {name}")


def check_gradient(array, want, tape, what):
    """None is right only where the true gradient is zero, and then the tape's report names the leaf."""
    got = gradient(array)
    if got is None:
        assert not np.any(want), f"{what}: no gradient, want up to {np.abs(want).max()}"
        return 0.0
    return assert_close_to_largest(got.reshape(want.shape), want, TOLERANCE, what)


def check_parameter(model, gradients, tape, name):
    """The gradient of a model array. A sum over all shapes is compared on the scale of the shapes' own gradients,
    because it may cancel to almost nothing."""
    want = getattr(gradients, name)
    got = gradient(getattr(model, name))
    if got is None:
        assert not np.any(want), f"{name}: no gradient, want up to {np.abs(want).max()}"
        return 0.0
    if name != "soft_contact_material":
        return assert_close_to_largest(got.reshape(want.shape), want, TOLERANCE, name)
    worst = 0.0
    for k, material in enumerate(("ke", "kd", "kf", "mu")):
        scale = np.abs(getattr(gradients, "shape_material_" + material)).max(initial=0.0)
        worst = max(worst, assert_close_to_largest(got.reshape(-1)[k:k + 1], want[k:k + 1], TOLERANCE,
                                                   f"{name} {material}", largest=max(scale, abs(want[k]))))
    assert not got.reshape(-1)[4:].any(), "the semi-implicit law does not read the restitution"
    return worst


def particles_unlike_free_twin(checked, scene, every_step=False, external=None, seed=0):
    """Particles whose gradient or path differs from a float64 twin that runs by itself, and text that lists them."""
    twin = rollout(checked.law.model.astype(np.float64), scene.steps, scene.dt, scene.margin, every_step, external=external)
    free = adjoint(twin, random_weights(scene, seed))
    largest = np.abs(checked.gradients.particle_qd).max()
    got = gradient(checked.run.states[0].particle_qd).astype(np.float64)
    difference = relative_to_largest(got, free.particle_qd, largest).max(1)
    unlike = np.nonzero(difference > TOLERANCE)[0]
    lines = [f"  particle {i}: gradient {got[i]}, free twin {free.particle_qd[i]}, apart at the end "
             f"{np.abs(checked.law.q[-1, i] - twin.q[-1, i]).max():.1e} m" for i in unlike]
    return unlike, "\n".join(lines)
