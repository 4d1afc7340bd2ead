# SPDX-License-Identifier: Apache-2.0
"""What stands before the first step of a fit: solver, contacts, and the refusals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import diff as ndiff
from .. import nova, solvers
from .._core import Contacts
from .._lazy import extension
from ..collision import CollisionPipeline
from ._observed import Observed
from ._simulation import Simulator
from ._unknowns import Unknowns

#: Arrays that a solver reads only while something touches, so that a try of one step may not show it.
_READ_IN_CONTACT = {"shape_material_ke", "shape_material_kd", "shape_material_kf", "shape_material_mu", "particle_radius"}
_HALVES = 3
_MATERIAL_READ = 4  # of soft_contact_material: ke, kd, kf, mu


def simulator_for(unknowns: Unknowns, observed: Observed, dt: float, solver: Any, contacts: Any, control: Any,
                  before_step: Any, memory_budget: Any) -> Simulator:
    """The simulator of a fit, with the solver and the contacts that were asked for."""
    model = unknowns.model
    if solver is None:
        solver = solvers.DiffSemiImplicitSolver(model)
    elif not hasattr(solver, "step") or isinstance(solver, type):
        solver = solver(model)
    if getattr(solver, "model", model) is not model:
        raise ValueError("fit: the solver is for another model; make one for the model that is fitted")
    collide, held = None, None
    if isinstance(contacts, str) and contacts == "auto":
        contacts = CollisionPipeline(model) if model.shape_count > 0 and model.particle_count > 0 else None
    if isinstance(contacts, Contacts):
        held = contacts
    elif contacts is not None:
        collide, held = contacts.collide, contacts.contacts()
    return Simulator(unknowns, observed, solver, dt, collide=collide, contacts=held, control=control,
                     before_step=before_step, memory_budget=memory_budget)


def check_stable(model: Any, dt: float, unknowns: Unknowns, solver: Any) -> None:
    """ValueError where the first guess cannot stand, or where stability_report says that dt is too long for it and for its
    half, quarter and eighth: the search halves a guess that flies apart, but no guess helps a dt that damping forbids."""
    if reason := unknowns.collapses(unknowns.initial):
        raise ValueError(f"fit: the first guess cannot be simulated: {reason}")
    if solver is not None and solver is not solvers.DiffSemiImplicitSolver and not isinstance(solver, solvers.DiffSemiImplicitSolver):
        return
    report = first = ndiff.stability_report(model, dt)
    numbers = list(unknowns.initial)
    for _ in range(_HALVES):
        if report.ok:
            break
        numbers = unknowns.halved(numbers)
        unknowns.write(numbers)
        report = ndiff.stability_report(model, dt)
    unknowns.write(unknowns.initial)
    if not report.ok:
        raise ValueError(f"fit: the scene cannot be simulated with dt = {dt:g} s: {first.text}")


def check_read(simulator: Simulator, unknowns: Unknowns) -> None:
    """ValueError for a target that the solver does not read, found by trying a step."""
    model = unknowns.model
    state, after = model.state(), model.state()
    for parameter, place in zip(unknowns.parameters, unknowns.places):
        name = "tet_materials" if place is None else "particle_inv_mass" if place.array == "particle_mass" else place.array
        touching = model.shape_count > 0 and (name in _READ_IN_CONTACT or (
            name == "soft_contact_material" and place.element < _MATERIAL_READ))
        array = nova.as_tensor(getattr(model, name))
        with nova.Tape(keep_values=True) as tape:
            simulator.solver.step(state, after, simulator.control, simulator.contacts, simulator.dt)
        try:
            tangent = nova.tensor(np.zeros(array.shape, np.float32))
            extension("nova")._jvp(tape, [array], [tangent], [ndiff.state_particle_qd_tensor(after)])
        except ValueError:
            if not touching:
                raise ValueError(
                    f"Parameter {parameter.target!r}: {type(simulator.solver).__name__} does not read {name} in this model, so no "
                    "motion can tell it; fit something that the solver reads"
                ) from None
