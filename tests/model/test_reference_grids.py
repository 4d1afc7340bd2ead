# SPDX-License-Identifier: Apache-2.0
"""The builder's grids and springs against the models of Newton's recorded examples: all but rest shapes to the bit."""
import numpy as np
import pytest

import novaphy

IDENTITY = (0.0, 0.0, 0.0, 1.0)
OURS = {"tri_activations": "particle_tri_activation", "tri_materials": "particle_tri_material",
        "tet_activations": "particle_tet_activation", "tet_materials": "particle_tet_material"}
#: Newton computes these with LAPACK and NumPy's arctan2; we in double, rounded once.
WITHIN = {"tri_poses": 1e-6, "tet_poses": 1e-6, "tri_areas": 1e-6, "edge_rest_angle": 1e-6, "edge_rest_length": 1e-6}


def check_like_reference(model, reference, skip=()):
    compared = 0
    for key, want in reference.items():
        name = key.removeprefix("model_")
        if not key.startswith("model_") or name in skip or not want.size:
            continue
        ours = getattr(model, OURS.get(name, name)).numpy().reshape(-1)
        want = want.reshape(-1)[:len(ours)] if name == "gravity" else want.reshape(-1)
        within = WITHIN.get(name, 0.0) * max(1.0, float(np.abs(want).max()))
        np.testing.assert_allclose(ours, want, rtol=0, atol=within, err_msg=name)
        compared += 1
    return compared


def test_the_soft_bodys_grid_is_newtons(data):
    reference = dict(np.load(data / "newton_soft_body_anisotropic.npz"))
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(-0.1, -0.5, 1.0), rot=IDENTITY, vel=(0.0, 6.0, -6.0), dim_x=2, dim_y=2, dim_z=2, cell_x=0.1,
                          cell_y=0.1, cell_z=0.1, density=(0.2 / 27) / 0.1**3, k_mu=1.5e4 / (2 * 1.3),
                          k_lambda=1.5e4 * 0.3 / (1.3 * 0.4), k_damp=0.0, tri_ke=1e-4, tri_ka=1e-4, tri_kd=1e-4,
                          tri_drag=0.0, tri_lift=0.0, particle_radius=5e-4)
    shapes = [key.removeprefix("model_") for key in reference if key.startswith("model_shape")]
    material = reference.pop("model_tet_materials")  # its stiffness is drawn at random
    assert check_like_reference(builder.finalize(), reference, skip=shapes) >= 15
    assert np.all(material[:, 2] == 0.0)


def test_the_clothes_grid_is_newtons(data):
    reference = dict(np.load(data / "newton_cloth.npz"))
    half = np.deg2rad(-135.0) / 2
    builder = novaphy.ModelBuilder()
    builder.add_cloth_grid(pos=reference["model_particle_q"][0], rot=(0.0, np.sin(half), 0.0, np.cos(half)), vel=(0.0, 0.1, 0.1),
                           dim_x=16, dim_y=16, cell_x=1 / 16, cell_y=1 / 16, mass=1.0, particle_radius=0.01, tri_ke=1e4,
                           tri_ka=1e4, tri_kd=100.0, tri_drag=5.0, tri_lift=10.0)
    assert check_like_reference(builder.finalize(), reference) >= 15


def test_the_cages_springs_are_newtons(data):
    reference = dict(np.load(data / "newton_spring_cage.npz"))
    builder = novaphy.ModelBuilder(gravity=reference["model_gravity"][0])
    for q, mass in zip(reference["model_particle_q"], reference["model_particle_mass"]):
        builder.add_particle(q, (0, 0, 0), mass)
    for i, j in reference["model_spring_indices"].reshape(-1, 2):
        builder.add_spring(int(i), int(j), 100.0, 10.0, 0)
    reference["model_spring_rest_length"] = reference["train_rest_length"][0]  # the model's own is the trained one
    assert check_like_reference(builder.finalize(), reference) >= 10


def test_the_same_grid_as_a_mesh_has_the_same_elements():
    grid, mesh = novaphy.ModelBuilder(), novaphy.ModelBuilder()
    grid.add_soft_grid(pos=(0, 0, 0), rot=IDENTITY, vel=(1, 2, 3), dim_x=3, dim_y=2, dim_z=4, cell_x=0.1, cell_y=0.2, cell_z=0.1,
                       density=50.0, k_mu=10.0, k_lambda=20.0, k_damp=0.1)
    a = grid.finalize()
    mesh.add_soft_mesh(pos=(0, 0, 0), rot=IDENTITY, scale=1.0, vel=(1, 2, 3), vertices=a.particle_q.numpy(),
                       indices=a.tet_indices.numpy(), density=50.0, k_mu=10.0, k_lambda=20.0, k_damp=0.1)
    b = mesh.finalize()
    for name in ("particle_q", "particle_qd", "tet_indices", "tet_poses", "particle_tet_material", "tri_indices", "tri_poses",
                 "edge_indices"):
        assert np.array_equal(getattr(a, name).numpy(), getattr(b, name).numpy()), name
    volume = 3 * 2 * 4 * 0.1 * 0.2 * 0.1
    assert b.particle_mass.numpy().sum() == pytest.approx(50.0 * volume, rel=1e-5)
