# SPDX-License-Identifier: Apache-2.0
"""assign_tet_materials_generated: values, gradients, refusals."""

import numpy as np
import pytest

import novaphy
import novaphy.diff as ndiff
from novaphy import nova

BASE = np.float32([[1.0, 2.0, 0.5], [3.0, 4.0, 0.25], [5.0, 6.0, 0.125]])
WEIGHTS = np.float32([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0], [3.0, 30.0, 300.0]])


def assigned(params):
    """The materials and the gradient of the weighted sum of them."""
    params = nova.tensor(params, requires_grad=True)
    with nova.Tape() as tape:
        materials = ndiff.assign_tet_materials_generated(params, nova.tensor(BASE), 3)
        total = nova.sum(materials * nova.tensor(WEIGHTS))
    tape.backward(total)
    return materials.numpy(), params.grad.numpy()


@pytest.mark.parametrize("shape", [(2,), (1, 2)])
def test_two_numbers_serve_all_and_damping_is_kept(shape):
    materials, gradient = assigned(np.float32([7.0, 8.0]).reshape(shape))
    assert materials.tolist() == [[7.0, 8.0, 0.5], [7.0, 8.0, 0.25], [7.0, 8.0, 0.125]]
    assert gradient.shape == shape and gradient.ravel().tolist() == [6.0, 60.0]


@pytest.mark.parametrize("shape", [(6,), (3, 2)])
def test_two_numbers_of_each_are_its_own(shape):
    materials, gradient = assigned(np.arange(6, dtype=np.float32).reshape(shape))
    assert materials.tolist() == [[0.0, 1.0, 0.5], [2.0, 3.0, 0.25], [4.0, 5.0, 0.125]]
    assert gradient.shape == shape and gradient.ravel().tolist() == [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]


def test_other_shapes_are_refused_with_what_is_wanted():
    with pytest.raises(ValueError) as caught:
        ndiff.assign_tet_materials_generated(nova.zeros(3), nova.tensor(BASE), 3)
    assert str(caught.value) == (
        "assign_tet_materials_generated: material_params holds 3 numbers; give 2 that all tetrahedra share, or 2 for each, "
        "which are 6"
    )
    with pytest.raises(novaphy.ShapeMismatchError) as caught:
        ndiff.assign_tet_materials_generated(nova.zeros(2), nova.tensor(BASE), 4)
    assert str(caught.value) == (
        "assign_tet_materials_generated: base_tet_materials has shape (3, 3), (4, 3) is wanted"
    )
