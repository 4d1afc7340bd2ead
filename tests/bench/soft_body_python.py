# SPDX-License-Identifier: Apache-2.0
"""Times the demo diffsim_soft_body, whole rollouts of 960 substeps with contacts found in each; prints one JSON line.

--profile prints what Python's profiler sees of ten rollouts instead; --repeat N only runs N rollouts, for perf.
"""
import argparse
import cProfile
import pstats
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from common import emit, timeit  # noqa: E402

import novaphy  # noqa: E402
from novaphy import nova  # noqa: E402
from novaphy.examples.diffsim_soft_body import Example  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--repeat", type=int)
    arguments = parser.parse_args()
    scene = Example(per_tet=True)

    def forward():
        scene.forward().item()

    if arguments.profile or arguments.repeat:
        profile = cProfile.Profile(timeunit=1e-6)
        call = lambda: [scene.gradient() for _ in range(arguments.repeat or 10)]  # noqa: E731
        profile.runcall(call) if arguments.profile else call()
        if arguments.profile:
            pstats.Stats(profile).sort_stats("tottime").print_stats(15)
        return
    forward_seconds, both_seconds = timeit(forward), timeit(scene.gradient)
    loss, gradient = scene.gradient()
    emit(peer="novaphy", version=novaphy.__version__, backend=nova.backend(), workload="soft body example",
         substeps=len(scene.states) - 1, particles=scene.model.particle_count, tets=scene.model.tet_count, loss=loss,
         grad_norm=float(np.linalg.norm(gradient.astype(np.float64))), fwd_s=forward_seconds, fwdbwd_s=both_seconds)


if __name__ == "__main__":
    main()
