# SPDX-License-Identifier: Apache-2.0
"""Shared pieces for the peer measurements: timing, the tetrahedral grid, JSON output.

Every peer script prints one JSON line.  The soft-body workload is fixed here so that all peers do the
same arithmetic: a grid of nx*ny*nz cells of 0.1 m, five tets a cell, stable Neo-Hookean with damping,
semi-implicit Euler, left face fixed, gravity, no contact; loss = mean |x_T - target|^2.
"""
import json, os, resource, statistics, sys, time
import numpy as np

DT = 1.0 / 60.0 / 16.0
MU, LAM, DAMP, DENSITY, CELL = 1.0e3, 1.0e3, 1.0, 100.0, 0.1
TARGET = (1.0, 0.5, 0.5)
# the single-particle workload
B_DT, B_KE, B_KD, B_KF, B_MU = 1.0 / 60.0 / 8.0, 1.0e4, 1.0e1, 0.0, 0.2
B_X0, B_V0, B_TARGET = (0.0, -0.5, 1.0), (0.0, 5.0, -5.0), (0.0, -2.0, 1.5)
B_RADIUS, B_STEPS = 0.1, 288


def rss_mb():
    """Peak resident memory of this process image.

    VmHWM and not ru_maxrss: on Linux ru_maxrss survives exec, so a small process started by a large
    parent reports the parent's peak.
    """
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def cur_rss_mb():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024.0


def clock():
    """CPU seconds of this process and its ended children.

    The machine is shared, so wall time counts other people's work.  Every peer here runs on one core, where CPU
    time equals the wall time of an otherwise idle core.
    """
    c = os.times()
    return time.process_time() + c.children_user + c.children_system


def timeit(fn, runs=7, warm=1, budget=12.0):
    """Median CPU seconds of fn(), stopping early when the time budget is spent (at least 3 runs)."""
    for _ in range(warm):
        fn()
    t, t0 = [], time.perf_counter()
    for i in range(runs):
        s = time.process_time()
        fn()
        t.append(time.process_time() - s)
        if i >= 2 and time.perf_counter() - t0 > budget:
            break
    return statistics.median(t)


def grid(nx, ny, nz):
    """Vertices, tets (five per cell, alternating parity), inverse rest edge matrices, masses, fixed mask."""
    xs, ys, zs = np.meshgrid(range(nx + 1), range(ny + 1), range(nz + 1), indexing="ij")
    idx = lambda i, j, k: (i * (ny + 1) + j) * (nz + 1) + k
    x = np.stack([xs, ys, zs], -1).reshape(-1, 3).astype(np.float64) * CELL
    tets = []
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                c = [idx(i + a, j + b, k + d) for a in (0, 1) for b in (0, 1) for d in (0, 1)]
                if (i + j + k) % 2 == 0:
                    cell = [(0, 4, 2, 1), (6, 2, 4, 7), (5, 4, 1, 7), (3, 1, 2, 7), (1, 4, 2, 7)]
                else:
                    cell = [(4, 5, 0, 6), (2, 0, 3, 6), (1, 0, 5, 3), (7, 5, 6, 3), (0, 5, 3, 6)]
                for t in cell:
                    v = [c[q] for q in t]
                    e = np.stack([x[v[1]] - x[v[0]], x[v[2]] - x[v[0]], x[v[3]] - x[v[0]]], -1)
                    if np.linalg.det(e) < 0:
                        v[2], v[3] = v[3], v[2]
                    tets.append(v)
    tets = np.array(tets, np.int32)
    D = np.stack([x[tets[:, a]] - x[tets[:, 0]] for a in (1, 2, 3)], -1)
    vol = np.linalg.det(D) / 6.0
    Bm = np.linalg.inv(D)
    m = np.full(len(x), DENSITY * CELL ** 3)  # the same mass for every vertex, as newton's add_soft_grid gives
    fixed = x[:, 0] < 1e-9
    minv = np.where(fixed, 0.0, 1.0 / m)
    f32 = np.float32
    return x.astype(f32), tets, Bm.astype(f32), vol.astype(f32), minv.astype(f32)


def emit(**kw):
    kw.setdefault("peak_rss_mb", round(rss_mb(), 1))
    for k, v in kw.items():
        if isinstance(v, float):
            kw[k] = float(f"{v:.6g}")
    print(json.dumps(kw), flush=True)
