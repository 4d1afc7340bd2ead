# SPDX-License-Identifier: Apache-2.0
"""The semi-implicit particle step with static contacts in NumPy: forward, branches, and its adjoint by hand.

`rollout` in float32 repeats the engine's operations one by one (every product and sum rounded once, contacts summed in
record order), so results are compared bit for bit. In float64 it is the twin. `adjoint` differentiates a recorded
rollout in float64 at the recorded states and with the recorded branches (contact, approach, sliding, speed limit);
contact points and normals are constants, as they are for the recorded solver.
"""
from dataclasses import dataclass, fields, replace

import numpy as np

from twin_shapes import ACTIVE, Records, divide_rows, dot, generate, length


@dataclass
class Arrays:
    """What the particle step reads of a model, as plain arrays; floats are float32 or float64, all the same."""
    particle_q: np.ndarray          # (P,3) m
    particle_qd: np.ndarray         # (P,3) m/s
    particle_inv_mass: np.ndarray   # (P) 1/kg
    particle_radius: np.ndarray     # (P) m
    particle_flags: np.ndarray      # (P)
    particle_world: np.ndarray      # (P) -1 = all worlds
    shape_type: np.ndarray          # (S)
    shape_transform: np.ndarray     # (S,7)
    shape_scale: np.ndarray         # (S,3) m
    shape_flags: np.ndarray         # (S)
    shape_margin: np.ndarray        # (S) m
    shape_world: np.ndarray         # (S)
    shape_material_ke: np.ndarray   # (S) N/m
    shape_material_kd: np.ndarray   # (S) N s/m
    shape_material_kf: np.ndarray   # (S) N s/m
    shape_material_mu: np.ndarray   # (S)
    soft_contact_material: np.ndarray  # (4) ke, kd, kf, mu
    gravity: np.ndarray             # (W,3) m/s^2
    particle_adhesion: np.floating  # m; a contact acts up to this gap
    particle_max_velocity: np.floating

    def astype(self, dtype):
        """A copy with all floating arrays in `dtype`."""
        cast = lambda a: a.astype(dtype) if np.asarray(a).dtype.kind == "f" else a.copy()
        return Arrays(**{f.name: cast(getattr(self, f.name)) for f in fields(self)})

    def select(self, chosen):
        """The same model with only the particles `chosen` (may repeat)."""
        rows = {f.name: getattr(self, f.name)[chosen] for f in fields(self)
                if f.name.startswith("particle_") and getattr(self, f.name).ndim}
        return replace(self, **rows)

    @property
    def particle_count(self):
        return len(self.particle_radius)


MATERIALS = ("ke", "kd", "kf", "mu")


def mixed_material(model, s):
    """Arithmetic mean of the model's and the shape's ke, kd, kf, mu."""
    half = model.gravity.dtype.type(0.5)
    return [half * (model.soft_contact_material[k] + getattr(model, "shape_material_" + name)[s])
            for k, name in enumerate(MATERIALS)]


@dataclass
class Branches:
    """Of the records of one shape in one step: the rows that touch, and for those rows which arm was taken."""
    rows: np.ndarray      # record rows with gap <= adhesion
    approach: np.ndarray  # normal speed < 0
    sliding: np.ndarray   # kf |vt| below the friction cap
    negative: np.ndarray  # mu c ke < 0, the sign inside the cap
    moving: np.ndarray    # tangential speed > 0; at 0 the direction and its derivative are 0

    def same(self, other):
        return len(self.rows) == len(other.rows) and all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))


def contact_terms(model, s, record, x, v, rows):
    """The quantities of the contact law for the record rows `rows` of shape s."""
    particles, points, normals = record
    i, n = particles[rows], normals[rows]
    c = dot(n, x[i] - points[rows]) - model.particle_radius[i]
    vn = dot(n, v[i])
    vt = v[i] - n * vn[:, None]
    l = length(vt)
    return i, n, c, vn, vt, l


def contact_force(model, records, x, v, f):
    """(f minus the contact forces, one Branches a shape). Adds in shape order, which is the record order."""
    f = f.copy()
    branches = []
    zero = x.dtype.type(0)
    for s, record in enumerate(records.by_shape):
        particles, points, normals = record
        gap = dot(normals, x[particles] - points) - model.particle_radius[particles]
        rows = np.nonzero(gap <= model.particle_adhesion)[0]
        i, n, c, vn, vt, l = contact_terms(model, s, record, x, v, rows)
        ke, kd, kf, mu = mixed_material(model, s)
        elastic = (mu * c) * ke
        slide, cap = kf * l, np.abs(elastic)
        force_n = (n * c[:, None]) * ke
        force_d = (n * np.minimum(vn, zero)[:, None]) * kd
        force_t = divide_rows(vt, l) * np.minimum(slide, cap)[:, None]
        f[i] = f[i] - (force_n + (force_d + force_t))
        branches.append(Branches(rows, vn < 0, slide < cap, elastic < 0, l > 0))
    return f, branches


def gravity_rows(model):
    return np.maximum(model.particle_world, 0)


def integrate(model, x, v, f, dt):
    """(x', v', particles whose speed was limited). An inactive particle keeps its position and velocity."""
    one = x.dtype.type(1)
    w = model.particle_inv_mass[:, None]
    moves = np.where(w > 0, one, x.dtype.type(0))
    v1 = v + (f * w + model.gravity[gravity_rows(model)] * moves) * dt
    speed = length(v1)
    limited = speed > model.particle_max_velocity
    factor = np.where(limited, model.particle_max_velocity / np.where(limited, speed, one), one)
    v1 = np.where(limited[:, None], v1 * factor[:, None], v1)
    x1 = x + v1 * dt
    active = ((model.particle_flags & ACTIVE) != 0)[:, None]
    return np.where(active, x1, x), np.where(active, v1, v), limited


@dataclass
class Rollout:
    """A recorded rollout: states 0..N, and for each step the total force, the records and the branches taken."""
    model: Arrays
    dt: float
    q: np.ndarray    # (N+1,P,3)
    qd: np.ndarray
    f: np.ndarray    # (N,P,3) total force
    records: list
    branches: list
    limited: list

    @property
    def steps(self):
        return len(self.f)


def rollout(model, steps, dt, margin=None, every_step=False, records=None, external=None):
    """Steps `model` from its start values. Contacts are collided once or in every step with `margin`, or given as
    `records` (one Records, or a list of one a step). `external` (P,3) acts in every step."""
    dtype = model.particle_q.dtype
    dt = dtype.type(np.float32(dt))
    x, v = model.particle_q.copy(), model.particle_qd.copy()
    outside = np.zeros_like(x) if external is None else external.astype(dtype)
    if records is None and not every_step:
        records = generate(model, x, margin)
    out = Rollout(model, dt, np.empty((steps + 1, *x.shape), dtype), np.empty((steps + 1, *x.shape), dtype),
                  np.empty((steps, *x.shape), dtype), [], [], [])
    out.q[0], out.qd[0] = x, v
    for k in range(steps):
        if isinstance(records, list):
            now = records[k]
        elif records is not None:
            now = records
        else:
            now = generate(model, x, margin)
        f, branches = contact_force(model, now, x, v, outside)
        x, v, limited = integrate(model, x, v, f, dt)
        out.q[k + 1], out.qd[k + 1], out.f[k] = x, v, f
        out.records.append(now)
        out.branches.append(branches)
        out.limited.append(limited)
    return out


def particles_with_equal_branches(a, b):
    """Mask of the particles that took the same branches in all steps of two rollouts with the same records."""
    same = np.ones(a.model.particle_count, bool)
    for k in range(a.steps):
        same &= a.limited[k] == b.limited[k]
        for s, (p, q) in enumerate(zip(a.branches[k], b.branches[k])):
            if not p.same(q):
                same &= branch_code(p, a.records[k].by_shape[s][0], len(same)) == \
                    branch_code(q, b.records[k].by_shape[s][0], len(same))
    return same


def branch_code(branches, particles, count):
    code = np.zeros(count, int)
    code[particles[branches.rows]] = 1 + 2 * branches.approach + 4 * branches.sliding + 8 * branches.negative \
        + 16 * branches.moving
    return code


@dataclass
class Gradients:
    """Of a loss with respect to everything that a rollout reads, in float64, and the adjoints of all states."""
    particle_q: np.ndarray
    particle_qd: np.ndarray
    particle_inv_mass: np.ndarray
    particle_radius: np.ndarray
    soft_contact_material: np.ndarray
    shape_material_ke: np.ndarray
    shape_material_kd: np.ndarray
    shape_material_kf: np.ndarray
    shape_material_mu: np.ndarray
    gravity: np.ndarray
    external: np.ndarray   # of the same external force in every step
    adjoint_q: np.ndarray  # (N+1,P,3)
    adjoint_qd: np.ndarray


def adjoint(run, seed_q, seed_qd=None):
    """Gradients of the loss whose derivative at the last state is (seed_q, seed_qd): float64, at the states of `run`."""
    model = run.model.astype(np.float64)
    dt = np.float64(run.dt)
    ax = np.array(seed_q, np.float64)
    av = np.zeros_like(ax) if seed_qd is None else np.array(seed_qd, np.float64)
    shapes, count = len(model.shape_type), model.particle_count
    g = Gradients(None, None, np.zeros(count), np.zeros(count), np.zeros(4), *[np.zeros(shapes) for _ in range(4)],
                  np.zeros_like(model.gravity), np.zeros_like(ax), np.empty((run.steps + 1, count, 3)),
                  np.empty((run.steps + 1, count, 3)))
    g.adjoint_q[-1], g.adjoint_qd[-1] = ax, av
    for k in range(run.steps - 1, -1, -1):
        ax, av = step_adjoint(run, k, model, dt, ax, av, g)
        g.adjoint_q[k], g.adjoint_qd[k] = ax, av
    g.particle_q, g.particle_qd = ax, av
    return g


def step_adjoint(run, k, model, dt, ax, av, g):
    """Cotangents of the state before step k; parameters' cotangents are added to g."""
    x, v, f = (a[k].astype(np.float64) for a in (run.q, run.qd, run.f))
    active = ((model.particle_flags & ACTIVE) != 0)[:, None]
    w = model.particle_inv_mass[:, None]
    moves = np.where(w > 0, 1.0, 0.0)
    rows = gravity_rows(model)
    b = av + ax * dt
    limited = run.limited[k]
    if limited.any():
        free = v + (f * w + model.gravity[rows] * moves) * dt
        speed = length(free)[limited]
        u = free[limited] / speed[:, None]
        part = b[limited]
        b[limited] = (part - u * dot(u, part)[:, None]) * (model.particle_max_velocity / speed)[:, None]
    b = np.where(active, b, 0.0)
    fbar = b * w * dt
    g.particle_inv_mass += dot(f, b) * dt
    np.add.at(g.gravity, rows, b * moves * dt)
    g.external += fbar
    gx = ax.copy()
    gv = np.where(active, b, av)
    for s, branches in enumerate(run.branches[k]):
        if len(branches.rows):
            contact_adjoint(model, s, run.records[k].by_shape[s], branches, x, v, -fbar, gx, gv, g)
    return gx, gv


def contact_adjoint(model, s, record, branches, x, v, cotangent, gx, gv, g):
    """Adds the adjoint of shape s's contacts; `cotangent` belongs to the sum of the contact terms (before the minus)."""
    record = (record[0], record[1].astype(np.float64), record[2].astype(np.float64))
    i, n, c, vn, vt, l = contact_terms(model, s, record, x, v, branches.rows)
    ke, kd, kf, mu = mixed_material(model, s)
    t = cotangent[i]
    along = dot(n, t)
    l = np.where(branches.moving, l, 0.0)
    u = divide_rows(vt, l)
    sign = np.where(branches.negative, -1.0, 1.0)
    size = np.where(branches.sliding, kf * l, sign * mu * c * ke)
    size_bar = dot(u, t)
    cap_bar = np.where(branches.sliding, 0.0, sign * size_bar)
    slide_bar = np.where(branches.sliding, size_bar, 0.0)
    approach = branches.approach
    c_bar = ke * along + cap_bar * mu * ke
    u_bar = t * size[:, None]
    vt_bar = divide_rows(u_bar - u * dot(u, u_bar)[:, None], l) + u * (kf * slide_bar)[:, None]
    vn_bar = np.where(approach, kd * along, 0.0) - dot(n, vt_bar)
    gx[i] += n * c_bar[:, None]
    gv[i] += vt_bar + n * vn_bar[:, None]
    g.particle_radius[i] -= c_bar
    means = (c * along + cap_bar * mu * c, np.where(approach, vn, 0.0) * along, l * slide_bar, cap_bar * c * ke)
    for m, (name, bar) in enumerate(zip(MATERIALS, means)):
        total = 0.5 * bar.sum()
        g.soft_contact_material[m] += total
        getattr(g, "shape_material_" + name)[s] += total
