# SPDX-License-Identifier: Apache-2.0
"""The soft grid of peers/common.py through generated operators on a tape: `soft_python.py NX NY NZ [--substeps K]`.

Tetrahedra and semi-implicit Euler only, the left face fixed, as every peer does; prints one JSON line as they do.
"""
import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from common import CELL, DAMP, DENSITY, DT, LAM, MU, TARGET, cur_rss_mb, emit, timeit  # noqa: E402

import novaphy  # noqa: E402
import novaphy.diff as ndiff  # noqa: E402
from novaphy import nova  # noqa: E402


def make_model(cells):
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 0), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=cells[0], dim_y=cells[1], dim_z=cells[2],
                          cell_x=CELL, cell_y=CELL, cell_z=CELL, density=DENSITY, k_mu=MU, k_lambda=LAM, k_damp=DAMP,
                          fix_left=True)
    return builder.finalize()


def kept_mb(record, few=16, many=64):
    """Resident MB a substep that a recording holds: of the second, while the first holds all memory that lay about."""
    tapes, used = [], []
    for count in (few, many):
        with nova.Tape() as tape:
            record(count)
        tapes.append(tape)
        used.append(cur_rss_mb())
    return (used[1] - used[0]) / many


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cells", nargs=3, type=int)
    parser.add_argument("--substeps", type=int, default=32)
    parser.add_argument("--interpreter", action="store_true", help="no compiled kernels")
    arguments = parser.parse_args()
    nova.set_jit_enabled(not arguments.interpreter)
    model, steps = make_model(arguments.cells), arguments.substeps
    shape = (model.particle_count, 3)
    start = np.array(model.particle_q.numpy()), np.zeros(shape, np.float32)
    target = nova.tensor(np.broadcast_to(np.float32(TARGET), shape).copy())
    activation, material = ndiff.model_tet_activation_tensor(model), ndiff.model_tet_material_tensor(model)
    none = nova.zeros(shape)

    def rollout(q, qd, count=steps):
        for _ in range(count):
            f = ndiff.eval_tetrahedra_forces_generated(model, q, qd, none, activation, material)
            q, qd = ndiff.integrate_particles_generated(model, q, qd, f, DT)
        d = q - target
        return nova.sum(d * d) * (1.0 / model.particle_count)

    q0, v0 = nova.tensor(start[0], requires_grad=True), nova.tensor(start[1], requires_grad=True)

    def forward():
        rollout(q0, v0).item()

    def forward_backward():
        q0.zero_grad(), v0.zero_grad()
        with nova.Tape() as tape:
            loss = rollout(q0, v0)
        tape.backward(loss)
        return loss

    kept = kept_mb(lambda count: rollout(q0, v0, count))
    forward_seconds, both_seconds = timeit(forward), timeit(forward_backward)
    loss = forward_backward()
    tets = model.tet_count
    emit(peer="novaphy", version=novaphy.__version__, backend=nova.backend(), workload="soft", cells=arguments.cells,
         tets=tets, particles=model.particle_count, substeps=steps, loss=loss.item(),
         grad_v0_norm=float(np.linalg.norm(v0.grad.numpy().astype(np.float64))),
         fwd_us_per_substep=forward_seconds / steps * 1e6, fwdbwd_us_per_substep=both_seconds / steps * 1e6,
         fwd_ns_per_tet=forward_seconds / steps / tets * 1e9, fwdbwd_ns_per_tet=both_seconds / steps / tets * 1e9,
         kept_mb_per_substep=kept)


if __name__ == "__main__":
    main()
