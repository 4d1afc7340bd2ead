# SPDX-License-Identifier: Apache-2.0
"""Signed distances of the four primitive shapes and the contact records made from them, in NumPy.

Vectorised over particles, shape by shape. Works in float32 (the same roundings as the engine, bit for bit) and in
float64 (the twin): the dtype of the arrays decides. Vectors are rows, quaternions are x, y, z, w.
"""
from dataclasses import dataclass

import numpy as np

PLANE, SPHERE, CAPSULE, BOX = 1, 3, 4, 7
COLLIDE_PARTICLES = 1 << 2
ACTIVE = 1 << 0


def dot(a, b):
    """Left to right, as the engine sums."""
    return (a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]) + a[..., 2] * b[..., 2]


def length(a):
    return np.sqrt(dot(a, a))


def divide_rows(a, l):
    """Rows of `a` divided by `l`, zero where `l` is zero."""
    safe = np.where(l > 0, l, np.ones_like(l))
    return np.where((l > 0)[..., None], a / safe[..., None], np.zeros_like(a))


def rotate(q, x):
    """Rotates the rows of x by one unit quaternion."""
    qx, qy, qz, qw = q
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    c = (2 * qw) * qw - 1
    d = 2 * ((qx * x0 + qy * x1) + qz * x2)
    return np.stack([
        (x0 * c + qx * d) + ((qy * x2 - qz * x1) * qw) * 2,
        (x1 * c + qy * d) + ((qz * x0 - qx * x2) * qw) * 2,
        (x2 * c + qz * d) + ((qx * x1 - qy * x0) * qw) * 2], -1)


def plane_distance(x, scale):
    """The half space below z = 0; a sheet without inside when width and length are given."""
    normal = np.zeros_like(x)
    normal[:, 2] = 1
    if scale[0] > 0 and scale[1] > 0:
        over_x = np.abs(x[:, 0]) - scale[0] / 2
        over_y = np.abs(x[:, 1]) - scale[1] / 2
        return np.maximum(np.maximum(over_x, over_y), np.abs(x[:, 2])), normal
    return x[:, 2].copy(), normal


def radial_normal(u, l, fallback_z):
    """u / |u|, and (0, 0, fallback_z) where |u| <= 1e-8."""
    fallback = np.zeros_like(u)
    fallback[:, 2] = fallback_z
    return np.where((l > u.dtype.type(1e-8))[:, None], divide_rows(u, l), fallback)


def sphere_distance(x, scale):
    l = length(x)
    return l - scale[0], radial_normal(x, l, 1)


def capsule_distance(x, scale):
    """Axis z; scale holds radius and half height."""
    z, half = x[:, 2], scale[1]
    u = x.copy()
    u[:, 2] = np.where(z > half, z - half, np.where(z < -half, z + half, np.zeros_like(z)))
    l = length(u)
    return l - scale[0], radial_normal(u, l, np.where(z < -half, -1, 1).astype(x.dtype))


def box_distance(x, half):
    """Outside: distance to the nearest point. Inside: to the nearest face, whose axis gives the normal."""
    q = np.abs(x) - half
    qx, qy, qz = q[:, 0], q[:, 1], q[:, 2]
    zero = np.zeros_like(qx)
    outer = length(np.maximum(q, 0))
    distance = outer + np.minimum(np.maximum(qx, np.maximum(qy, qz)), zero)
    away = x - np.minimum(np.maximum(-half, x), half)
    outside = (qx > 0) | (qy > 0) | (qz > 0)
    first_x = ((qx > qy) & (qx > qz)) | ((qy == 0) & (qz == 0))
    first_y = ~first_x & (((qy > qx) & (qy > qz)) | ((qx == 0) & (qz == 0)))
    axis = np.where(first_x, 0, np.where(first_y, 1, 2))
    inner = np.zeros_like(x)
    rows = np.arange(len(x))
    inner[rows, axis] = np.where(x[rows, axis] < 0, -1, 1)
    return distance, np.where(outside[:, None], divide_rows(away, length(away)), inner)


DISTANCES = {PLANE: plane_distance, SPHERE: sphere_distance, CAPSULE: capsule_distance, BOX: box_distance}


@dataclass
class Records:
    """Contact records in shape-major order: for each shape the particles, the points and the normals (world axes)."""
    by_shape: list

    @property
    def count(self):
        return sum(len(particles) for particles, _, _ in self.by_shape)

    def flat(self):
        """(particle, shape, point, normal) of all records in order."""
        particles = [r[0] for r in self.by_shape]
        shapes = [np.full(len(r[0]), s, np.int32) for s, r in enumerate(self.by_shape)]
        empty = np.zeros((0, 3), np.float32)
        join = lambda rows, none: np.concatenate(rows) if rows else none
        return (join(particles, np.zeros(0, np.int64)), join(shapes, np.zeros(0, np.int32)),
                join([r[1] for r in self.by_shape], empty), join([r[2] for r in self.by_shape], empty))

    def select(self, chosen, particle_count):
        """The records of particles `chosen` (may repeat), renumbered 0, 1, ... in that order."""
        out = []
        for particles, points, normals in self.by_shape:
            slot = np.full(particle_count, -1)
            slot[particles] = np.arange(len(particles))
            wanted = slot[chosen]
            rows = np.nonzero(wanted >= 0)[0]
            out.append((rows, points[wanted[rows]], normals[wanted[rows]]))
        return Records(out)

    def astype(self, dtype):
        return Records([(p, b.astype(dtype), n.astype(dtype)) for p, b, n in self.by_shape])


def generate(model, x, margin):
    """Records of all particles within `margin` + shape margin + radius of a shape of their world; `model` is Arrays."""
    dtype = x.dtype
    margin = dtype.type(np.float32(margin))
    active = (model.particle_flags & ACTIVE) != 0
    out = []
    for s in range(len(model.shape_type)):
        world = model.shape_world[s]
        meet = active & ((world < 0) | (model.particle_world < 0) | (model.particle_world == world))
        if not model.shape_flags[s] & COLLIDE_PARTICLES:
            meet = np.zeros_like(meet)
        rows = np.nonzero(meet)[0]
        position, rotation = model.shape_transform[s, :3], model.shape_transform[s, 3:]
        back = rotation * np.array([-1, -1, -1, 1], dtype)
        local = -rotate(back, position) + rotate(back, x[rows])
        distance, normal = DISTANCES[int(model.shape_type[s])](local, model.shape_scale[s])
        hit = distance < (margin + model.shape_margin[s]) + model.particle_radius[rows]
        rows, local, distance, normal = rows[hit], local[hit], distance[hit], normal[hit]
        point = position + rotate(rotation, local - normal * distance[:, None])
        out.append((rows, point, rotate(rotation, normal)))
    return Records(out)
