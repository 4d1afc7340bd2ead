# SPDX-License-Identifier: Apache-2.0
"""Taichi (CPU, one thread): ball and soft-body rollouts with kernel-level autodiff and one field slice per substep.
usage: taichi_diff.py ball | soft NX NY NZ [--substeps K]"""
import argparse, os, time
T0 = time.process_time()
ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["ball", "soft"])
ap.add_argument("cells", nargs="*", type=int)
ap.add_argument("--substeps", type=int, default=32)
ap.add_argument("--offline-cache", action="store_true")
a = ap.parse_args()
from common import *
t = clock()
import taichi as ti
ti.init(arch=ti.cpu, cpu_max_num_threads=1, offline_cache=a.offline_cache, default_fp=ti.f32, log_level=ti.WARN, fast_math=True)
t_import = clock() - t
if a.what == "ball":
    K, ntet, nv, dt = B_STEPS, 0, 1, B_DT
else:
    X, T, BM, VOL, MINV = grid(*a.cells)
    K, ntet, nv, dt = a.substeps, len(T), len(X), DT
V3 = ti.types.vector(3, ti.f32)
x = ti.Vector.field(3, ti.f32, shape=(K + 1, nv), needs_grad=True)
v = ti.Vector.field(3, ti.f32, shape=(K + 1, nv), needs_grad=True)
f = ti.Vector.field(3, ti.f32, shape=(K + 1, nv), needs_grad=True)
loss = ti.field(ti.f32, shape=(), needs_grad=True)

if a.what == "ball":
    @ti.func
    def contact(n, c, vel):
        vn = n.dot(vel)
        vt = vel - n * vn
        fn = B_KE * c
        fd = B_KD * ti.min(vn, 0.0)
        l = ti.sqrt(vt.dot(vt) + 1e-12)
        ft = vt / l * ti.min(B_KF * l, B_MU * ti.abs(fn + fd))
        r = V3(0.0)
        if c <= 0.0:
            r = -(n * (fn + fd) + ft)
        return r
    @ti.kernel
    def force(t: ti.i32):
        for i in range(nv):
            p, u = x[t, i], v[t, i]
            r = contact(V3(0.0, 0.0, 1.0), p[2] - B_RADIUS, u)
            q = p - V3(0.0, 2.0, 1.0)
            d = ti.abs(q) - V3(1.0, 0.25, 1.0)
            o = ti.max(d, 0.0)
            l = ti.sqrt(o.dot(o) + 1e-12)
            mx = ti.max(d[0], d[1], d[2])
            s = V3(0.0)
            for k in ti.static(range(3)):
                s[k] = ti.select(q[k] > 0.0, 1.0, -1.0)
            n = V3(0.0)
            for k in ti.static(range(3)):
                n[k] = ti.select(l > 1e-5, s[k] * o[k] / l, ti.select(d[k] == mx, s[k], 0.0))
            r += contact(n, l + ti.min(mx, 0.0) - B_RADIUS, u)
            f[t, i] += r
    @ti.kernel
    def advance(t: ti.i32):
        for i in range(nv):
            v[t + 1, i] = v[t, i] + (f[t, i] + V3(0.0, 0.0, -9.81)) * dt
            x[t + 1, i] = x[t, i] + v[t + 1, i] * dt
    tgt, scale = B_TARGET, 1.0
    x0, v0 = np.array([B_X0], np.float32), np.array([B_V0], np.float32)
else:
    tet = ti.Vector.field(4, ti.i32, shape=ntet); tet.from_numpy(T)
    Bm = ti.Matrix.field(3, 3, ti.f32, shape=ntet); Bm.from_numpy(BM)
    vol = ti.field(ti.f32, shape=ntet); vol.from_numpy(VOL)
    minv = ti.field(ti.f32, shape=nv); minv.from_numpy(MINV)
    par = ti.field(ti.f32, shape=2, needs_grad=True); par[0] = MU; par[1] = LAM
    @ti.kernel
    def force(t: ti.i32):
        for e in range(ntet):
            i = tet[e]
            B = Bm[e]
            vo = vol[e]
            mu = par[0]; lam = par[1]
            alpha = 1.0 + mu / lam - mu / (4.0 * lam)
            e1 = x[t, i[1]] - x[t, i[0]]; e2 = x[t, i[2]] - x[t, i[0]]; e3 = x[t, i[3]] - x[t, i[0]]
            w1 = v[t, i[1]] - v[t, i[0]]; w2 = v[t, i[2]] - v[t, i[0]]; w3 = v[t, i[3]] - v[t, i[0]]
            F = ti.Matrix.cols([e1, e2, e3]) @ B
            Fd = ti.Matrix.cols([w1, w2, w3]) @ B
            Ic = F.norm_sqr()
            P = F * (mu * vo * (1.0 - 1.0 / (Ic + 1.0))) + Fd * (DAMP * vo)
            H = P @ B.transpose()
            sc = 1.0 / (6.0 * vo)
            d1 = e2.cross(e3) * sc; d2 = e3.cross(e1) * sc; d3 = e1.cross(e2) * sc
            ft = (F.determinant() - alpha) * (lam * vo) + (d1.dot(v[t, i[1]]) + d2.dot(v[t, i[2]]) + d3.dot(v[t, i[3]])) * (DAMP * vo)
            f1 = V3(H[0, 0], H[1, 0], H[2, 0]) + d1 * ft
            f2 = V3(H[0, 1], H[1, 1], H[2, 1]) + d2 * ft
            f3 = V3(H[0, 2], H[1, 2], H[2, 2]) + d3 * ft
            f[t, i[0]] += f1 + f2 + f3
            f[t, i[1]] += -f1
            f[t, i[2]] += -f2
            f[t, i[3]] += -f3
    @ti.kernel
    def advance(t: ti.i32):
        for i in range(nv):
            g = ti.select(minv[i] > 0.0, -9.81, 0.0)
            v[t + 1, i] = v[t, i] + (f[t, i] * minv[i] + V3(0.0, 0.0, g)) * dt
            x[t + 1, i] = x[t, i] + v[t + 1, i] * dt
    tgt, scale = TARGET, 1.0 / nv
    x0, v0 = X, np.zeros_like(X)
@ti.kernel
def loss_k(t: ti.i32):
    for i in range(nv):
        d = x[t, i] - V3(tgt[0], tgt[1], tgt[2])
        loss[None] += d.dot(d) * scale
@ti.kernel
def set0(a0: ti.types.ndarray(), b0: ti.types.ndarray()):
    for i in range(nv):
        for k in ti.static(range(3)):
            x[0, i][k] = a0[i, k]; v[0, i][k] = b0[i, k]
set0(x0, v0)
def steps(k):
    for t in range(k):
        force(t); advance(t)
def fwd():
    f.fill(0.0); loss[None] = 0.0
    steps(K); loss_k(K); ti.sync(); return loss[None]
def fb(k=K):
    f.fill(0.0); loss[None] = 0.0
    with ti.ad.Tape(loss):   # clears gradients on entry
        steps(k); loss_k(k)
    ti.sync(); return loss[None]
t = clock(); steps(1); ti.sync(); t1 = clock() - t; p1 = clock() - T0
t = clock(); fb(1); t2 = clock() - t; p2 = clock() - T0
f_s, g_s = timeit(fwd), timeit(fb)
l = fb()
gv = v.grad.to_numpy()[0].astype(np.float64)
out = dict(peer="taichi", version=".".join(map(str, ti.__version__)), workload=a.what, cells=a.cells, tets=ntet, particles=nv, substeps=K,
           import_s=t_import, first_step_s=t1, first_grad_s=t2, process_to_first_step_s=p1, process_to_first_grad_s=p2,
           fwd_us_per_substep=f_s / K * 1e6, fwdbwd_us_per_substep=g_s / K * 1e6, loss=float(l), grad_v0_norm=float(np.linalg.norm(gv)))
if ntet:
    out["fwd_ns_per_tet"] = out["fwd_us_per_substep"] * 1e3 / ntet
    out["fwdbwd_ns_per_tet"] = out["fwdbwd_us_per_substep"] * 1e3 / ntet
emit(**out)
