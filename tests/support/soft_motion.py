# SPDX-License-Identifier: Apache-2.0
"""A soft grid in flight whose motion is known: the scene of the material tests, recorded with chosen constants."""
from dataclasses import dataclass

import numpy as np

import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver

DT = 1 / 60 / 340
K_MU, K_LAMBDA, K_DAMP = "tet_materials[:,0]", "tet_materials[:,1]", "tet_materials[:,2]"


class StepOfOperators:
    """A solver written in Python: tetrahedra and integration, as generated operators. What fit() takes as `solver`."""

    def __init__(self, model):
        self.model = model
        self.activation = ndiff.model_tet_activation_tensor(model)
        self.material = ndiff.model_tet_material_tensor(model)
        self.no_force = nova.zeros((model.particle_count, 3))

    def step(self, state_in, state_out, control, contacts, dt):
        q, qd = ndiff.state_particle_q_tensor(state_in), ndiff.state_particle_qd_tensor(state_in)
        f = ndiff.eval_tetrahedra_forces_generated(self.model, q, qd, self.no_force, self.activation, self.material)
        q_next, qd_next = ndiff.integrate_particles_generated(self.model, q, qd, f, dt)
        ndiff.assign(ndiff.state_particle_q_tensor(state_out), q_next)
        ndiff.assign(ndiff.state_particle_qd_tensor(state_out), qd_next)


def soft_grid(k_mu=3000.0, k_lambda=1000.0, k_damp=1.0, cells=(6, 2, 4), refined=1):
    """The material scene of cells 10 x 5 x 10 mm, moving at -2 m/s; `refined` divides each cell."""
    builder = novaphy.ModelBuilder()
    n = refined
    builder.add_soft_grid(pos=(0, 0, 0), rot=(0, 0, 0, 1), vel=(-2, 0, 0), dim_x=cells[0] * n, dim_y=cells[1] * n,
                          dim_z=cells[2] * n, cell_x=0.01 / n, cell_y=0.005 / n, cell_z=0.01 / n, density=10.0, k_mu=k_mu,
                          k_lambda=k_lambda, k_damp=k_damp, particle_radius=0.001)
    return builder.finalize()


@dataclass
class Motion:
    """times (K), positions and velocities (K, P, 3)."""
    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray

    def observed(self, noise=0.0, seed=0, velocities=True):
        """The mapping that fit() takes, with noise [m] on the positions."""
        q = self.q + np.random.default_rng(seed).normal(scale=noise, size=self.q.shape) if noise else self.q
        seen = {"times": self.times, "particle_q": np.asarray(q, np.float32)}
        return seen | ({"particle_qd": self.qd} if velocities else {})


def record(model, steps=512, every=16, dt=DT, solver=DiffSemiImplicitSolver):
    """The motion of a model over `steps` steps, one state kept of `every`."""
    stepper, now, after = solver(model), model.state(), model.state()
    times, q, qd = [], [], []
    with nova.no_grad():
        for step in range(steps + 1):
            if step % every == 0:
                times.append(step * dt), q.append(now.particle_q.numpy().copy()), qd.append(now.particle_qd.numpy().copy())
            now.clear_forces()
            stepper.step(now, after, None, None, dt)
            now, after = after, now
    return Motion(np.array(times), np.array(q), np.array(qd))
