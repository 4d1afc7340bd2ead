# SPDX-License-Identifier: Apache-2.0
"""Central differences of the float64 twin, all particles at once: the check of its hand-written adjoint."""
from dataclasses import replace

import numpy as np

from twin_contact import particles_with_equal_branches, rollout


class Differences:
    """Differences of sum(weights * last positions) about one rollout, with its contact records kept fixed."""

    def __init__(self, run, weights, chosen):
        self.chosen = np.asarray(chosen)
        self.weights = np.asarray(weights, np.float64)[self.chosen]
        self.model = run.model.select(self.chosen).astype(np.float64)
        self.dt, self.steps = run.dt, run.steps
        cache = {}
        for r in run.records:
            if id(r) not in cache:
                cache[id(r)] = r.select(self.chosen, run.model.particle_count).astype(np.float64)
        self.records = [cache[id(r)] for r in run.records]
        self.base = self.run(self.model)

    def run(self, model):
        return rollout(model, self.steps, self.dt, records=self.records)

    def of(self, name, entry, eps):
        """(difference quotient of each particle's loss, mask of the particles that kept their branches). `entry` indexes
        the array from its second axis on for particle arrays, and the whole array for the others."""
        values = getattr(self.model, name)
        at = (slice(None), *entry) if name.startswith("particle_") else entry
        losses, same = [], np.ones(len(self.chosen), bool)
        for sign in (1, -1):
            moved = values.copy()
            moved[at] += sign * eps
            run = self.run(replace(self.model, **{name: moved}))
            losses.append((self.weights * run.q[-1]).sum(1))
            same &= particles_with_equal_branches(self.base, run)
        return (losses[0] - losses[1]) / (2 * eps), same
