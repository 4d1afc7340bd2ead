# SPDX-License-Identifier: Apache-2.0
"""PyTorch (CPU): ball and soft-body rollouts, eager or torch.compile.  usage: torch_diff.py ball | soft NX NY NZ [--substeps K] [--compile]"""
import argparse, os, time
T0 = time.process_time()
ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["ball", "soft"])
ap.add_argument("cells", nargs="*", type=int)
ap.add_argument("--substeps", type=int, default=32)
ap.add_argument("--compile", action="store_true", help="torch.compile one substep")
ap.add_argument("--checkpoint", action="store_true")
a = ap.parse_args()
from common import *
t = clock()
import torch
torch.set_num_threads(1)
t_import = clock() - t
f32 = torch.float32
G = torch.tensor([0.0, 0.0, -9.81])

if a.what == "ball":
    K, ntet, nv = B_STEPS, 0, 1
    n_g, box_c, box_h = torch.tensor([0.0, 0.0, 1.0]), torch.tensor([0.0, 2.0, 1.0]), torch.tensor([1.0, 0.25, 1.0])
    def contact(n, c, v):
        vn = torch.dot(n, v)
        vt = v - n * vn
        fn, fd = B_KE * c, B_KD * torch.clamp(vn, max=0.0)
        l = torch.sqrt(torch.dot(vt, vt) + 1e-12)
        ft = vt / l * torch.minimum(B_KF * l, B_MU * torch.abs(fn + fd))
        return torch.where(c > 0.0, torch.zeros(3), -(n * (fn + fd) + ft))
    def step(x, v):
        f = contact(n_g, x[2] - B_RADIUS, v)
        q = x - box_c
        d = torch.abs(q) - box_h
        o = torch.clamp(d, min=0.0)
        l = torch.sqrt(torch.dot(o, o) + 1e-12)
        mx = torch.max(d)
        n = torch.where(l > 1e-5, torch.sign(q) * o / l, torch.where(d == mx, torch.sign(q), torch.zeros(3)))
        f = f + contact(n, l + torch.clamp(mx, max=0.0) - B_RADIUS, v)
        v = v + (f + G) * B_DT
        return x + v * B_DT, v
    x0, v0 = torch.tensor(B_X0), torch.tensor(B_V0)
    tgt = torch.tensor(B_TARGET)
    loss_of = lambda x: torch.sum((x - tgt) ** 2)
else:
    X, T, BM, VOL, MINV = grid(*a.cells)
    K, ntet, nv = a.substeps, len(T), len(X)
    x0, v0 = torch.tensor(X), torch.zeros(nv, 3)
    Tj = torch.tensor(T, dtype=torch.int64)
    i0, i1, i2, i3 = (Tj[:, k].contiguous() for k in range(4))
    minv = torch.tensor(MINV)[:, None]
    Bm, vol = torch.tensor(BM), torch.tensor(VOL)
    BmT = Bm.transpose(1, 2).contiguous()
    alpha = 1.0 + MU / LAM - MU / (4.0 * LAM)
    live = (minv > 0).float()
    def step(x, v):
        p0, p1, p2, p3 = x[i0], x[i1], x[i2], x[i3]
        w0, w1, w2, w3 = v[i0], v[i1], v[i2], v[i3]
        e1, e2, e3 = p1 - p0, p2 - p0, p3 - p0
        F = torch.bmm(torch.stack([e1, e2, e3], -1), Bm)
        Fd = torch.bmm(torch.stack([w1 - w0, w2 - w0, w3 - w0], -1), Bm)
        Ic = (F * F).sum((1, 2))
        P = F * (MU * vol * (1.0 - 1.0 / (Ic + 1.0)))[:, None, None] + Fd * (DAMP * vol)[:, None, None]
        H = torch.bmm(P, BmT)
        sc = (1.0 / (6.0 * vol))[:, None]
        c23 = torch.linalg.cross(e2, e3)
        d1, d2, d3 = c23 * sc, torch.linalg.cross(e3, e1) * sc, torch.linalg.cross(e1, e2) * sc
        J = (e1 * d1).sum(1)
        ft = ((J - alpha) * (LAM * vol) + ((d1 * w1).sum(1) + (d2 * w2).sum(1) + (d3 * w3).sum(1)) * (DAMP * vol))[:, None]
        f1, f2, f3 = H[:, :, 0] + d1 * ft, H[:, :, 1] + d2 * ft, H[:, :, 2] + d3 * ft
        f = torch.zeros_like(x).index_add(0, i0, f1 + f2 + f3).index_add(0, i1, -f1).index_add(0, i2, -f2).index_add(0, i3, -f3)
        v = v + (f * minv + G * live) * DT
        return x + v * DT, v
    tgt = torch.tensor(TARGET)
    loss_of = lambda x: ((x - tgt) ** 2).sum(-1).mean()

st = torch.compile(step, dynamic=False) if a.compile else step
def roll(x, v, k):
    for _ in range(k):
        if a.checkpoint:
            x, v = torch.utils.checkpoint.checkpoint(st, x, v, use_reentrant=False)
        else:
            x, v = st(x, v)
    return loss_of(x)
def fwd():
    with torch.no_grad():
        return roll(x0, v0, K)
def fb(k=K):
    x, v = x0.clone().requires_grad_(), v0.clone().requires_grad_()
    l = roll(x, v, k)
    l.backward()
    return l, v.grad
t = clock()
with torch.no_grad():
    st(x0, v0)
t1 = clock() - t; p1 = clock() - T0
t = clock(); fb(1); t2 = clock() - t; p2 = clock() - T0
f_s, g_s = timeit(fwd), timeit(fb)
l, gv = fb()
out = dict(peer="torch", version=torch.__version__, workload=a.what, cells=a.cells, tets=ntet, particles=nv, substeps=K, compile=a.compile, checkpoint=a.checkpoint,
           import_s=t_import, first_step_s=t1, first_grad_s=t2, process_to_first_step_s=p1, process_to_first_grad_s=p2,
           fwd_us_per_substep=f_s / K * 1e6, fwdbwd_us_per_substep=g_s / K * 1e6, loss=float(l.detach()), grad_v0_norm=float(gv.double().norm()))
if ntet:
    out["fwd_ns_per_tet"] = out["fwd_us_per_substep"] * 1e3 / ntet
    out["fwdbwd_ns_per_tet"] = out["fwdbwd_us_per_substep"] * 1e3 / ntet
emit(**out)
