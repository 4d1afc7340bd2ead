# SPDX-License-Identifier: Apache-2.0
"""What stability_report() says of radii, and of indices that lead nowhere."""

import numpy as np
import pytest

import novaphy
import novaphy.diff as ndiff


def spring_model(radius_far=0.01, radius_near=0.01):
    builder = novaphy.ModelBuilder()
    for x in (0.0, 0.1):
        builder.add_particle((x, 0, 0), (0, 0, 0), 1.0, radius=radius_near)
    builder.add_particle((10.0, 0, 0), (0, 0, 0), 1.0, radius=radius_far)
    builder.add_spring(0, 1, 100.0, 1.0, 0.0)
    model = builder.finalize()
    model.particle_grid = novaphy.ParticleGrid()
    return model


def test_a_large_particle_far_from_small_elements_overlaps_nothing():
    report = ndiff.stability_report(spring_model(radius_far=0.5), 1e-4)
    assert report.ok and "overlap" not in report.text


def test_neighbours_whose_radii_overlap_are_told_with_what_to_give():
    report = ndiff.stability_report(spring_model(radius_near=0.08), 1e-4)
    assert not report.ok
    assert "Particles of radius 0.08 m overlap at rest, neighbours are 0.1 m apart" in report.text
    assert "give particle_radius of at most 0.05 m" in report.text


def test_an_index_beyond_the_particles_is_refused_and_one_below_zero_is_no_corner():
    model = spring_model()
    model.spring_indices.assign(np.array([[0, 900_000_000]], np.int32))
    with pytest.raises(IndexError, match="^stability_report: "):
        ndiff.stability_report(model, 1e-4)
    model.spring_indices.assign(np.array([[0, -1]], np.int32))
    assert ndiff.stability_report(model, 1e-4).ok
