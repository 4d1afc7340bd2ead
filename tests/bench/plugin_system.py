# SPDX-License-Identifier: Apache-2.0
"""What the plugin system costs: planning, the first use of a plugin, memory and the size of its library.

`python tests/bench/plugin_system.py [BUILD]` prints these rows alone."""
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import ROOT, json_of

PLUGINS = (50, 500)
PROCESSES = 9


def median_of(key, *command):
    """Of several processes: memory, and what is done for the first time, is measured once in each."""
    return statistics.median(json_of(*command)[key] for _ in range(PROCESSES))


def stripped_mb(library):
    """The library as a package carries it, without the table of its own symbols."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / library.name
        subprocess.run(["strip", "--strip-unneeded", "-o", stripped, library], check=True)
        return stripped.stat().st_size / 1e6


def measure(build):
    program = build / "bench/novaphy_plugin_system"
    resident = median_of("resident_mb", program, "memory")
    return {
        "plan_ms": {count: json_of(program, "plan", count)["plan_ms"] for count in PLUGINS},
        "first_lookup_ms": median_of("first_lookup_ms", program, "lookup"),
        "later_lookup_ns": median_of("later_lookup_ns", program, "lookup"),
        "resident_mb": resident - median_of("resident_mb", build / "bench/novaphy_empty_program"),
        "library_mb": stripped_mb((build / "lib/libnovaphy_runtime.so").resolve()),
    }


def rows(figures):
    """(what, unit, ours, target, None)"""
    planned = [(f"{count} plugins of two modules read and planned", "ms", figures["plan_ms"][count], count / 10, None)
               for count in PLUGINS]
    return planned + [
        ("first lookup: collision's library is loaded", "ms", figures["first_lookup_ms"], 5.0, None),
        ("later lookup", "ns", figures["later_lookup_ns"], 1000.0, None),
        ("bare runtime over an empty C++ program", "MB resident", figures["resident_mb"], 6.0, None),
        ("libnovaphy_runtime, stripped", "MB", figures["library_mb"], 1.5, None),
    ]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/release"
    for what, unit, value, target, _ in rows(measure(folder)):
        print(f"{what:53}{unit:>14}{value:10.3g}{target:8.3g}  {'met' if value <= target else 'MISSED'}")
