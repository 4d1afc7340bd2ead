# SPDX-License-Identifier: Apache-2.0
"""CollisionPipeline as Python sees it: its arguments, their other names, and the errors about them."""
import pytest

import novaphy


@pytest.fixture
def model():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 0.5), vel=(0, 0, 0), mass=1.0)
    builder.add_ground_plane()
    return builder.finalize()


def count(pipeline, model, **options):
    contacts = pipeline.contacts()
    pipeline.collide(model.state(), contacts, **options)
    return int(contacts.soft_contact_count.numpy()[0])


def test_the_margin_has_two_names_and_can_be_set_for_one_call(model):
    assert count(novaphy.CollisionPipeline(model), model) == 0
    assert count(novaphy.CollisionPipeline(model, soft_contact_margin=1.0), model) == 1
    assert count(novaphy.CollisionPipeline(model, soft_contact_gap=1.0), model) == 1
    assert count(novaphy.CollisionPipeline(model), model, soft_contact_margin=1.0) == 1


def test_broad_phases_go_by_name_or_number(model):
    from novaphy.collision import BroadPhase
    assert novaphy.CollisionPipeline(model, broad_phase="sap").broad_phase == BroadPhase.SAP
    assert novaphy.CollisionPipeline(model, broad_phase=BroadPhase.AllPairs).broad_phase == BroadPhase.AllPairs


@pytest.mark.parametrize("options, error, text", [
    ({"broad_phase": "octree"}, ValueError, "CollisionPipeline: there is no broad phase 'octree'; give 'explicit', 'sap' or 'nxn'"),
    ({"soft_contact_margin": 1.0, "soft_contact_gap": 1.0}, ValueError,
     "CollisionPipeline: soft_contact_gap is another name of soft_contact_margin; give one of them"),
    ({"soft_contact_margin": float("nan")}, ValueError,
     "CollisionPipeline: soft_contact_margin is nan; give a finite distance in m"),
    ({"soft_contact_max": -5}, ValueError,
     "CollisionPipeline: soft_contact_max is -5; give a number of at least 0, or None for as many as there can be"),
    ({"rigid_contact_max": -1}, ValueError,
     "CollisionPipeline: rigid_contact_max is -1; give a number of at least 0, or None for as many as there can be"),
    ({"shape_pairs_filtered": [(0, 1)]}, novaphy.UnsupportedFeatureError,
     "CollisionPipeline: shape_pairs_filtered chooses pairs of shapes, and contact between shapes is not generated yet; leave it None"),
])
def test_arguments_that_cannot_be_used_are_refused(model, options, error, text):
    with pytest.raises(error) as raised:
        novaphy.CollisionPipeline(model, **options)
    assert str(raised.value) == text
