# SPDX-License-Identifier: Apache-2.0
"""Velocity Verlet for NovaPhy's particles: installed beside novaphy, it is novaphy.solvers.SolverVerlet."""
from pathlib import Path


def plugin_folder() -> Path:
    """The folder with this package's plugin. novaphy asks for it when it plans; nothing is imported for that."""
    return Path(__file__).parent / "lib/novaphy/plugins"
