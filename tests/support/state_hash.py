# SPDX-License-Identifier: Apache-2.0
"""Prints one hash of the states, contacts and gradients of a fixed random scene: `python state_hash.py [threads]`.

Run under two builds (PYTHONPATH) or with other thread counts, it must print the same line.
"""
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from engine import PARAMETERS, gradient, recorded  # noqa: E402
from scenes import random_scene  # noqa: E402


def run_hash(scene, every_step=True):
    """SHA-256 over positions, velocities and forces of all steps, numbers of contacts, and all gradients."""
    import numpy as np
    weights = np.random.default_rng(1).normal(size=scene.q.shape)
    run, _ = recorded(scene, weights, every_step)
    total = hashlib.sha256()
    for array in (run.q, run.qd, run.f, run.contact_counts):
        total.update(np.ascontiguousarray(array).tobytes())
    for array in (run.states[0].particle_q, run.states[0].particle_qd, *(getattr(run.model, n) for n in PARAMETERS)):
        total.update(gradient(array).tobytes())
    return total.hexdigest()


def main():
    from novaphy import nova
    if len(sys.argv) > 1:
        nova.set_num_threads(int(sys.argv[1]))
    print(run_hash(random_scene(77, particles=2000, steps=40, margin=0.02)))


if __name__ == "__main__":
    main()
