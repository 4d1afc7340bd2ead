# SPDX-License-Identifier: Apache-2.0
"""All solvers, from the plugins that are there."""

from ._core import SolverBase
from ._lazy import lazy_module

__getattr__, __dir__ = lazy_module(__name__)
