# SPDX-License-Identifier: Apache-2.0
"""Deformed soft grids for tests of element forces: a model of the engine and its arrays in NumPy."""
from dataclasses import dataclass

import numpy as np


@dataclass
class SoftGrid:
    """Random positions, velocities and forces of a grid whose tetrahedra have different materials, float32."""
    model: object
    q: np.ndarray
    qd: np.ndarray
    f: np.ndarray
    indices: np.ndarray
    rest: np.ndarray
    activation: np.ndarray
    material: np.ndarray

    def law(self, dtype=np.float32, **changed):
        """The arguments of twin_elements.tetrahedron_forces in that type."""
        values = {"x": self.q, "v": self.qd, "f": self.f, "activation": self.activation, "material": self.material,
                  "rest": self.rest} | changed
        cast = {name: np.asarray(value, dtype) for name, value in values.items()}
        return (cast["x"], cast["v"], cast["f"], self.indices, cast["rest"], cast["activation"], cast["material"])


def soft_grid(cells=(3, 2, 2), seed=0, stretch=0.02):
    """`stretch` [m]: how far particles are from rest, against cells of 0.1 m."""
    import novaphy
    rng = np.random.default_rng(seed)
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 1), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=cells[0], dim_y=cells[1], dim_z=cells[2],
                          cell_x=0.1, cell_y=0.1, cell_z=0.1, density=100.0, k_mu=1e3, k_lambda=2e3, k_damp=1.0)
    model = builder.finalize()
    tets = model.tet_count
    material = np.stack([rng.uniform(500, 5e3, tets), rng.uniform(500, 5e3, tets), rng.uniform(0.1, 2, tets)], 1)
    q = model.particle_q.numpy() + rng.uniform(-stretch, stretch, (model.particle_count, 3))
    cast = lambda a: np.asarray(a, np.float32)
    return SoftGrid(model, cast(q), cast(rng.normal(size=q.shape)), cast(rng.normal(size=q.shape)),
                    model.tet_indices.numpy().reshape(-1, 4).copy(), model.tet_poses.numpy().reshape(-1, 3, 3).copy(),
                    cast(rng.uniform(-0.2, 0.2, tets)), cast(material))
