# SPDX-License-Identifier: Apache-2.0
"""novaphy.diff.coverage(): what has a gradient, of what kind, and the test that shows it. As a program: the page of it."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

EXACT, SMOOTH, REFUSED = "exact", "smooth", "refused"

#: What the words mean, for the page.
MEANINGS = {
    EXACT: "the derivative of what the forward operation computes, wherever it has one; at the places without one it is "
    "finite and documented",
    SMOOTH: "the derivative of a smooth operation that stands in for a step of a production solver",
    REFUSED: "an error names it, so that no wrong number comes out",
}


class Coverage(NamedTuple):
    """One row: the gradient of `operation` with respect to `parameter`."""

    operation: str
    parameter: str
    status: str  #: "exact", "smooth" or "refused"
    test: str  #: file::test of this project's source tree
    note: str


_ELEMENTS = "tests/gradients/test_element_gradients.py::test_gradients_of_twenty_random_elements_are_those_of_the_law_in_double"
_ROLLOUT = "tests/gradients/test_element_rollouts.py::test_gradients_of_a_rollout_reach_every_number_that_it_depends_on"
_FOUND = (
    "plugins/semi_implicit/tests/found_contacts_test.cpp::"
    "collided inside the recording: every gradient is that of the double twin, on the world and on bodies"
)
_PARTICLES = (
    "plugins/semi_implicit/tests/pair_forces_test.cpp::"
    "two particles that overlap: force and every gradient are the double twin's, momentum is kept"
)
_TRIANGLES = (
    "plugins/semi_implicit/tests/pair_forces_test.cpp::"
    "a particle beside a triangle: force and every gradient are the double twin's, momentum is kept"
)
_FORCES = (
    "plugins/semi_implicit/tests/forces_test.cpp::"
    "gradients reach the parameters, the state arrays and the start state of a force, through many steps"
)
_ANYTHING_ELSE = (
    "plugins/semi_implicit/tests/diff_semi_implicit_solver_test.cpp::"
    "a model with anything else is refused with the whole list, or stepped without it"
)
_OPERATORS = "tests/gradients/test_generated_operators.py::"
_LOSSES = "plugins/nova_diff/tests/test_losses.py::"
_MATERIALS = (
    "tests/gradients/test_element_gradients.py::"
    "test_materials_of_tetrahedra_from_shared_parameters_and_from_two_for_each"
)
_PUSH = "plugins/semi_implicit/tests/test_push_box.py::test_a_step_and_its_gradient_are_those_of_the_twin_in_double"
_STEP = "DiffSemiImplicitSolver.step"
_MOTION = "particle_q particle_qd particle_f"

# operation, parameters, status, test, note
_TABLE = [
    (_STEP, _MOTION, EXACT, _ROLLOUT, "of a recorded step; particle_f is the external force before it"),
    (_STEP, "particle_inv_mass gravity", EXACT, _ROLLOUT, "particle_mass is not read"),
    (_STEP, "spring_stiffness spring_damping spring_rest_length", EXACT, _ROLLOUT, "0 where a spring has no length"),
    (_STEP, "tri_poses particle_tri_material tri_activations", EXACT, _ROLLOUT, "0 through the normal of no area"),
    (_STEP, "edge_bending_properties edge_rest_angle", EXACT, _ROLLOUT, "0 for edges below 1e-6"),
    (_STEP, "tet_poses particle_tet_material tet_activations", EXACT, _ROLLOUT, "k_lambda 0: no volume force, derivative 0"),
    (_STEP, "particle_radius soft_contact_material", EXACT, _FOUND, "contact with shapes; 0 out of contact"),
    (_STEP, "shape_material_ke shape_material_kd shape_material_kf shape_material_mu", EXACT, _FOUND, ""),
    (_STEP, "shape_scale shape_transform", EXACT, _FOUND, "where contacts are collided inside the recording"),
    (_STEP, "body_q body_qd", EXACT, _FOUND, "of kinematic bodies that carry shapes"),
    (_STEP, "particle_contact_material", EXACT, _PARTICLES, "contact between particles, also of particle_radius"),
    (_STEP, "soft_contact_ke", EXACT, _TRIANGLES, "contact with triangles, also of particle_radius"),
    (_STEP, "arrays of a plugin's force", EXACT, _FORCES, "the force brings its program"),
    (_STEP, "dynamic bodies, joints, muscles", REFUSED, _ANYTHING_ELSE, "strict=False skips them and says so"),
    ("eval_spring_forces_generated", _MOTION + " spring_ke spring_kd spring_rest_length", EXACT, _ELEMENTS, ""),
    ("eval_triangle_forces_generated", _MOTION + " tri_activations tri_materials tri_poses", EXACT, _ELEMENTS, ""),
    ("eval_bending_forces_generated", _MOTION + " edge_bending_properties edge_rest_angle", EXACT, _ELEMENTS, ""),
    ("eval_tetrahedra_forces_generated", _MOTION + " tet_activations tet_materials tet_poses", EXACT, _ELEMENTS, ""),
    ("assign_tet_materials_generated", "material_params base_tet_materials", EXACT, _MATERIALS, "shared: the sum over elements"),
    ("integrate_particles_generated", _MOTION, EXACT, _OPERATORS + "test_integration_and_its_gradient", ""),
    (
        "integrate_particles_with_static_contacts_generated",
        _MOTION,
        EXACT,
        _OPERATORS + "test_the_fused_step_and_its_gradient",
        "finds its contacts itself",
    ),
    (
        "integrate_particles_with_static_contacts_generated",
        "particle_inv_mass particle_radius gravity soft_contact_material shape_material_ke shape_material_kd "
        "shape_material_kf shape_material_mu",
        EXACT,
        _OPERATORS + "test_the_fused_step_differentiates_the_models_parameters",
        "",
    ),
    (
        "eval_static_particle_shape_contact_forces_generated",
        _MOTION,
        EXACT,
        _OPERATORS + "test_contact_forces_and_their_gradient",
        "finds its contacts itself",
    ),
    ("integrate_push_box_generated", "box_x box_vx pusher_x pusher_vx", SMOOTH, _PUSH, "friction is smooth near rest"),
    ("particle_point_loss_generated", "particle_q", EXACT, _OPERATORS + "test_the_point_loss_and_its_gradient", ""),
    (
        "particle_centroid_generated",
        "particle_q",
        EXACT,
        _LOSSES + "test_the_loss_of_the_centroid_and_its_gradient_have_their_closed_form",
        "",
    ),
    (
        "vec3_point_loss_generated",
        "point",
        EXACT,
        _LOSSES + "test_the_loss_of_the_centroid_and_its_gradient_have_their_closed_form",
        "",
    ),
    (
        "clamp_f32_generated",
        "x",
        EXACT,
        _LOSSES + "test_a_clamp_passes_the_gradient_within_its_bounds_alone",
        "0 outside of the bounds",
    ),
    (
        "SolverSemiImplicit.step",
        "everything",
        REFUSED,
        "tests/python/test_values_beside_the_tape.py::test_a_first_step_of_the_forward_solver_inside_a_recording_is_refused",
        "a forward step inside a recording is not recorded: later recorded steps refuse its states",
    ),
]


def coverage() -> list[Coverage]:
    """Every gradient of novaphy.diff and of the differentiable solver: (operation, parameter, status, test, note).

    status is "exact" (the derivative of what the forward operation computes), "smooth" (the derivative of a smooth
    stand-in) or "refused" (an error); test names the file and the test that shows it. What is not listed has none.
    """
    rows = []
    for operation, parameters, status, test, note in _TABLE:
        several = status != REFUSED and not parameters.startswith("arrays ")
        names = parameters.split() if several else [parameters]
        rows += [Coverage(operation, parameter, status, test, note) for parameter in names]
    return rows


def page() -> str:
    """python/docs/coverage.md."""
    lines = [
        "# What has a gradient",
        "",
        "<!-- written by `python -m novaphy._coverage`; edit python/novaphy/_coverage.py -->",
        "",
        "`novaphy.diff.coverage()` gives this table. Each row is shown by the test that it names.",
        "",
        *(f"* **{status}**: {meaning}." for status, meaning in MEANINGS.items()),
    ]
    operation = None
    for (named, status, test, note), rows in groupby(coverage(), key=lambda row: (row.operation, *row[2:])):
        if named != operation:
            operation = named
            lines += ["", f"## {operation}", "", "| with respect to | gradient | note | shown by |", "|---|---|---|---|"]
        file, name = test.split("::")
        parameters = ", ".join(row.parameter for row in rows)
        lines.append(f"| {parameters} | {status} | {note} | {name.removeprefix('test_').replace('_', ' ')} (`{file}`) |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
