# SPDX-License-Identifier: Apache-2.0
"""A soft cube learns its stiffness, so that it bounces off a wall to a target.

The scene is Newton's diffsim_soft_body: 40 tetrahedra are thrown at a wall. Contacts are generated in every one of
the 960 substeps, inside the recording; the gradient of the squared distance of the body's centre to the target flows
through all of them to mu and lambda: two numbers that all tetrahedra share, or with --per-tet two of each.
"""

from __future__ import annotations

import sys

import numpy as np

import novaphy
from novaphy import nova
import novaphy.diff as ndiff

from . import _trained_scene
from ._wall import finalize_with_wall

CELLS, CELL = 2, 0.1  # cells along each edge, m
MASS = 0.2  # kg, of all particles
YOUNG, POISSON = 1.5e4, 0.3
START, VELOCITY = (-0.1, -0.5, 1.0), (0.0, 6.0, -6.0)
LOWEST, HIGHEST = 500.0, 4e6  # Pa, of both constants


class Example(_trained_scene.TrainedScene):
    name = "diffsim_soft_body"
    fps, frame_count, substep_count = 60, 60, 16
    iterations = 100
    target = (0.0, -1.0, 1.5)
    check_tolerance = 2e-2  # contacts begin and end between the two rollouts of a difference

    def __init__(self, viewer=None, *, per_tet=False, device=None, seed=None):
        self.per_tet = per_tet
        super().__init__(viewer, device=device, seed=seed)
        count = self.parameter.shape[0]
        self.learning_rate = 1e7 if per_tet else 1e7 * count / self.model.tet_count
        self.check_eps = 1e-3 * float(self.parameter.numpy().max())

    @classmethod
    def add_options(cls, parser):
        parser.add_argument("--per-tet", action="store_true", help="mu and lambda of each tetrahedron, not two for all")

    @classmethod
    def of_options(cls, viewer, given):
        return cls(viewer, per_tet=given.per_tet, device=given.device, seed=given.seed)

    def build_model(self, device):
        builder = novaphy.ModelBuilder()
        builder.default_particle_radius = 0.0005
        particles = (CELLS + 1) ** 3
        builder.add_soft_grid(
            pos=START,
            rot=(0.0, 0.0, 0.0, 1.0),
            vel=VELOCITY,
            dim_x=CELLS,
            dim_y=CELLS,
            dim_z=CELLS,
            cell_x=CELL,
            cell_y=CELL,
            cell_z=CELL,
            density=MASS / particles / CELL**3,
            k_mu=0.5 * YOUNG / (1.0 + POISSON),
            k_lambda=YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON)),
            k_damp=0.0,
            tri_ke=1e-4,
            tri_ka=1e-4,
            tri_kd=1e-4,
        )
        return finalize_with_wall(builder, device, ke=1.0e3, kd=1.0, kf=0.0, mu=0.2)

    def make_contacts(self):
        self.pipeline = novaphy.CollisionPipeline(self.model, broad_phase="explicit", soft_contact_margin=0.001)
        self.contacts = self.pipeline.contacts()

    def make_parameter(self):
        materials = ndiff.model_tet_material_tensor(self.model)
        self.base_materials = nova.tensor(materials.numpy())
        columns = materials.numpy()[:, :2]
        return nova.tensor(columns.ravel() if self.per_tet else columns[0], requires_grad=True)

    def disturb(self, random):
        drawn = np.exp(random.normal(scale=0.2, size=self.parameter.shape)).astype(np.float32)
        self.parameter.assign(self.parameter.numpy() * drawn)

    def write_parameter(self):
        materials = ndiff.assign_tet_materials_generated(self.parameter, self.base_materials, self.model.tet_count)
        ndiff.assign(ndiff.model_tet_material_tensor(self.model), materials)

    def before_step(self, state):
        self.pipeline.collide(state, self.contacts)

    def update(self, gradient):
        moved = self.parameter.numpy() - np.float32(self.learning_rate) * gradient
        self.parameter.assign(np.clip(moved, np.float32(LOWEST), np.float32(HIGHEST)))

    def describe(self):
        mu, lam = self.parameter.numpy().reshape(-1, 2).mean(axis=0)
        return f"{'mean ' if self.per_tet else ''}mu {mu:.1f} Pa, lambda {lam:.1f} Pa"

    def target_radius(self):
        return 0.06


def main(argv=None):
    return _trained_scene.run(Example, argv)


if __name__ == "__main__":
    sys.exit(main())
