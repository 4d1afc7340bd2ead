# SPDX-License-Identifier: Apache-2.0
"""JAX (CPU): the same ball and soft-body rollouts, jit + lax.scan.  usage: jax_diff.py ball | soft NX NY NZ [--substeps K] [--remat]"""
import argparse, os, time
T0 = time.process_time()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["ball", "soft"])
ap.add_argument("cells", nargs="*", type=int)
ap.add_argument("--substeps", type=int, default=32)
ap.add_argument("--remat", action="store_true", help="checkpoint each substep body")
ap.add_argument("--unroll", type=int, default=1)
a = ap.parse_args()
from common import *
t = clock()
import jax, jax.numpy as jnp
jax.devices()
t_import = clock() - t
G = jnp.array([0.0, 0.0, -9.81], jnp.float32)


def ball_step(s, _):
    x, v = s
    def contact(n, c, v):  # n: normal, c: signed gap
        vn = jnp.dot(n, v)
        vt = v - n * vn
        fn = B_KE * c
        fd = B_KD * jnp.minimum(vn, 0.0)
        vtn = jnp.sqrt(jnp.dot(vt, vt) + 1e-12)
        ft = vt / vtn * jnp.minimum(B_KF * vtn, B_MU * jnp.abs(fn + fd))
        return jnp.where(c > 0.0, 0.0, -(n * (fn + fd) + ft))
    f = contact(jnp.array([0.0, 0.0, 1.0], jnp.float32), x[2] - B_RADIUS, v)
    # box at (0,2,1), half extents (1,.25,1)
    q = x - jnp.array([0.0, 2.0, 1.0], jnp.float32)
    h = jnp.array([1.0, 0.25, 1.0], jnp.float32)
    d = jnp.abs(q) - h
    outside = jnp.maximum(d, 0.0)
    l = jnp.sqrt(jnp.dot(outside, outside) + 1e-12)
    sd = l + jnp.minimum(jnp.max(d), 0.0)
    n = jnp.where(l > 1e-5, jnp.sign(q) * outside / l, jnp.where(d == jnp.max(d), jnp.sign(q), 0.0))
    f = f + contact(n, sd - B_RADIUS, v)
    v = v + (f + G) * B_DT
    return (x + v * B_DT, v), None


if a.what == "ball":
    K, ntet, nv = B_STEPS, 0, 1
    x0, v0 = jnp.array(B_X0, jnp.float32), jnp.array(B_V0, jnp.float32)
    body = ball_step
    def loss_of(x):
        d = x - jnp.array(B_TARGET, jnp.float32)
        return jnp.dot(d, d)
    args = (x0, v0)
    def step_with(params, s, _):
        return body(s, _)
    params = ()
else:
    X, T, BM, VOL, MINV = grid(*a.cells)
    K, ntet, nv = a.substeps, len(T), len(X)
    x0, v0 = jnp.array(X), jnp.zeros_like(jnp.array(X))
    Tj, minv = jnp.array(T), jnp.array(MINV)
    # structure of arrays over tets: scalars as (ntet,) vectors, which XLA:CPU fuses best
    B = [[jnp.array(BM[:, i, j]) for j in range(3)] for i in range(3)]
    vol = jnp.array(VOL)
    alpha = 1.0 + MU / LAM - MU / (4.0 * LAM)
    def force(x, v, mu, lam):
        X4, V4 = x[Tj], v[Tj]
        D = [[X4[:, c + 1, r] - X4[:, 0, r] for c in range(3)] for r in range(3)]
        W = [[V4[:, c + 1, r] - V4[:, 0, r] for c in range(3)] for r in range(3)]
        mul = lambda P, Q: [[P[i][0] * Q[0][j] + P[i][1] * Q[1][j] + P[i][2] * Q[2][j] for j in range(3)] for i in range(3)]
        F, Fd = mul(D, B), mul(W, B)
        Ic = sum(F[i][j] * F[i][j] for i in range(3) for j in range(3))
        s = mu * vol * (1.0 - 1.0 / (Ic + 1.0))
        P = [[F[i][j] * s + Fd[i][j] * (DAMP * vol) for j in range(3)] for i in range(3)]
        H = mul(P, [[B[j][i] for j in range(3)] for i in range(3)])
        det = lambda M: M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) - M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) + M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0])
        J = det(F)
        e = [[D[r][c] for r in range(3)] for c in range(3)]
        cr = lambda p, q: [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
        sc = 1.0 / (6.0 * vol)
        dJ = [[q * sc for q in cr(e[1], e[2])], [q * sc for q in cr(e[2], e[0])], [q * sc for q in cr(e[0], e[1])]]
        fd = sum(dJ[c][r] * V4[:, c + 1, r] for c in range(3) for r in range(3)) * (DAMP * vol)
        ft = (J - alpha) * (lam * vol) + fd
        f = jnp.stack([jnp.stack([H[r][c] + dJ[c][r] * ft for r in range(3)], -1) for c in range(3)], 1)
        f0 = -(f[:, 0] + f[:, 1] + f[:, 2])
        all4 = jnp.concatenate([f0[:, None], f], 1)
        return jnp.zeros_like(x).at[Tj.reshape(-1)].add(-all4.reshape(-1, 3))
    def step_with(params, s, _):
        x, v = s
        f = force(x, v, *params)
        v = v + (f * minv[:, None] + G * (minv[:, None] > 0)) * DT
        return (x + v * DT, v), None
    params = (jnp.float32(MU), jnp.float32(LAM))
    tg = jnp.array(TARGET, jnp.float32)
    def loss_of(x):
        return jnp.mean(jnp.sum((x - tg) ** 2, -1))


def rollout(k):
    def run(x, v, params):
        f = lambda s, _: step_with(params, s, _)
        if a.remat:
            f = jax.checkpoint(f)
        (x, v), _ = jax.lax.scan(f, (x, v), None, length=k, unroll=a.unroll)
        return loss_of(x)
    return run


t = clock(); one = jax.jit(lambda x, v, p: step_with(p, (x, v), None)[0]); jax.block_until_ready(one(x0, v0, params)); t_first_step = clock() - t
t_p1 = clock() - T0
fwd = jax.jit(rollout(K)); g = jax.jit(jax.value_and_grad(rollout(K), argnums=(0, 1, 2) if params else (0, 1)))
t = clock(); l, gr = g(x0, v0, params); jax.block_until_ready(gr); t_first_grad = clock() - t
t_p2 = clock() - T0
f_s = timeit(lambda: fwd(x0, v0, params).block_until_ready())
g_s = timeit(lambda: jax.block_until_ready(g(x0, v0, params)))
out = dict(peer="jax", version=jax.__version__, workload=a.what, cells=a.cells, tets=ntet, particles=nv, substeps=K, remat=a.remat, unroll=a.unroll,
           import_s=t_import, first_step_s=t_first_step, first_grad_s=t_first_grad, process_to_first_step_s=t_p1, process_to_first_grad_s=t_p2,
           fwd_us_per_substep=f_s / K * 1e6, fwdbwd_us_per_substep=g_s / K * 1e6, loss=float(l),
           grad_v0_norm=float(np.linalg.norm(np.asarray(gr[1], np.float64))))
if ntet:
    out["fwd_ns_per_tet"] = out["fwd_us_per_substep"] * 1e3 / ntet
    out["fwdbwd_ns_per_tet"] = out["fwdbwd_us_per_substep"] * 1e3 / ntet
emit(**out)
