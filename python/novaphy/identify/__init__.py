# SPDX-License-Identifier: Apache-2.0
"""Constants of a model from its observed motion: estimates, error bars, and what the motion does not tell.

    report = fit(model, "motion.npz", [Parameter("tet_materials[:,0]"), Parameter("tet_materials[:,1]")], dt=1 / 20400)
    print(report)

The model is simulated over short windows that start from observed states, and its constants are moved until the
windows end where the motion does. `python/docs/find_a_material.md` walks through an example.
"""

from ._fit import fit
from ._moduli import Moduli, tet_materials_of, true_moduli
from ._observed import load_observed, save_observed
from ._parameters import Parameter
from ._report import FitReport, Window

__all__ = [
    "FitReport",
    "Moduli",
    "Parameter",
    "Window",
    "fit",
    "load_observed",
    "save_observed",
    "tet_materials_of",
    "true_moduli",
]
