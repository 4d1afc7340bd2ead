# SPDX-License-Identifier: Apache-2.0
"""The laws of springs, triangles, bending edges and tetrahedra in NumPy, in the engine's order of evaluation, over any float type.

With float32 arrays they give the engine's bits (products of 3x3 matrices are chains of fused multiply-adds, nothing else
is fused); with float64 arrays they are the reference for gradients. Formulas: Newton 1.8.0's semi-implicit solver.
"""
import numpy as np


def dot(a, b):
    return (a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]) + a[..., 2] * b[..., 2]


def cross(a, b):
    return np.stack([a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
                     a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]], -1)


def length(a):
    return np.sqrt(dot(a, a))


def determinant(m):
    return dot(m[..., 0, :], cross(m[..., 1, :], m[..., 2, :]))


def fma(a, b, c):
    """a * b + c rounded once. float32 operands: their product is exact in float64, and the two roundings of the sum agree
    with one except in halfway cases that random data does not hit."""
    if a.dtype == np.float32:
        return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float32)
    return a * b + c


def matrix_product(a, b):
    out = np.zeros(a.shape[:-1] + b.shape[-1:], a.dtype)
    for i in range(3):
        for j in range(3):
            total = np.zeros(a.shape[:-2], a.dtype)
            for k in range(3):
                total = fma(a[..., i, k], b[..., k, j], total)
            out[..., i, j] = total
    return out


def scatter(force, indices, corners, sign):
    """force rows += sign * corners, element by element and corner by corner."""
    np.add.at(force, indices.reshape(-1), (sign * corners).reshape(-1, 3))
    return force


def spring_forces(x, v, f, indices, ke, kd, rest_length):
    """f plus the forces of all springs; indices (S, 2)."""
    one = x.dtype.type(1)
    i, j = indices.T
    d = x[i] - x[j]
    l = length(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        direction = np.where(l[:, None] > 0, d * (one / l)[:, None], 0)
    size = ke * (l - rest_length) + kd * dot(direction, v[i] - v[j])
    force = direction * size[:, None]
    return scatter(f.copy(), indices, np.stack([force, -force], 1), -1)


def tetrahedron_forces(x, v, f, indices, rest, activation, material):
    """f plus the forces of all tetrahedra; indices (T, 4), rest (T, 3, 3), material (T, 3)."""
    number = x.dtype.type
    corner = lambda a, k: a[indices[:, k]]
    of = lambda scalar: scalar[:, None]
    mu, lam, damp = material.T
    x10, x20, x30 = (corner(x, k) - corner(x, 0) for k in (1, 2, 3))
    rate = np.stack([corner(v, k) - corner(v, 0) for k in (1, 2, 3)], -1)
    inverse_volume = determinant(rest) * number(6)
    volume = number(1) / inverse_volume
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = (number(1) + mu / lam) - mu / (number(4) * lam)
    gradient, rate = matrix_product(np.stack([x10, x20, x30], -1), rest), matrix_product(rate, rest)
    squared = [dot(gradient[:, :, k], gradient[:, :, k]) for k in range(3)]
    shear = number(1) - number(1) / (((squared[0] + squared[1]) + squared[2]) + number(1))
    stress = gradient * (mu * volume)[:, None, None] * shear[:, None, None] + rate * (damp * volume)[:, None, None]
    h = matrix_product(stress, np.swapaxes(rest, 1, 2))
    scale = of(inverse_volume / number(6))
    j1, j2, j3 = cross(x20, x30) * scale, cross(x30, x10) * scale, cross(x10, x20) * scale
    with np.errstate(invalid="ignore"):
        elastic = np.where(lam == 0, number(0), ((determinant(gradient) - alpha) + activation) * (lam * volume))
    damping = ((dot(j1, corner(v, 1)) + dot(j2, corner(v, 2))) + dot(j3, corner(v, 3))) * (damp * volume)
    pressure = of(elastic + damping)
    f1, f2, f3 = h[:, :, 0] + j1 * pressure, h[:, :, 1] + j2 * pressure, h[:, :, 2] + j3 * pressure
    return scatter(f.copy(), indices, np.stack([-((f1 + f2) + f3), f1, f2, f3], 1), -1)


def triangle_forces(x, v, f, indices, rest, activation, material):
    """f plus the forces of all triangles; indices (F, 3), rest (F, 2, 2), material (F, 5). acos is NumPy's, so with lift
    the bits are not the engine's."""
    number = x.dtype.type
    corner = lambda a, k: a[indices[:, k]]
    of = lambda scalar: scalar[:, None]
    mu, lam, damp, drag, lift = material.T
    x10, x20 = corner(x, 1) - corner(x, 0), corner(x, 2) - corner(x, 0)
    v10, v20 = corner(v, 1) - corner(v, 0), corner(v, 2) - corner(v, 0)
    inverse_area = (rest[:, 0, 0] * rest[:, 1, 1] - rest[:, 1, 0] * rest[:, 0, 1]) * number(2)
    area = number(1) / inverse_area
    mu, lam, damp = mu * area, lam * area, damp * area
    d00, d01, d10, d11 = of(rest[:, 0, 0]), of(rest[:, 0, 1]), of(rest[:, 1, 0]), of(rest[:, 1, 1])
    p1 = (x10 * d00 + x20 * d10) * of(mu) + (v10 * d00 + v20 * d10) * of(damp)
    p2 = (x10 * d01 + x20 * d11) * of(mu) + (v10 * d01 + v20 * d11) * of(damp)
    f1, f2 = p1 * d00 + p2 * d01, p1 * d10 + p2 * d11
    normal = cross(x10, x20)
    area_now = length(normal) * number(0.5)
    normal = unit(normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = number(1) + mu / lam
    stretch = area_now * inverse_area - alpha + activation
    q, r = cross(x20, normal) * of(inverse_area) * number(0.5), cross(normal, x10) * of(inverse_area) * number(0.5)
    total = of(lam * stretch + damp * ((dot(q, corner(v, 1)) + dot(r, corner(v, 2))) - dot(q + r, corner(v, 0))))
    f1, f2 = np.where(of(lam) > 0, f1 + q * total, f1), np.where(of(lam) > 0, f2 + r * total, f2)
    mean = ((corner(v, 0) + corner(v, 1)) + corner(v, 2)) * number(np.float32(0.3333))
    wind = mean * of(drag * area_now * np.abs(dot(normal, mean)))
    attack = number(np.float32(np.pi / 2)) - np.arccos(np.clip(dot(normal, unit(mean)), -1, 1))
    rise = normal * of(lift * area_now * attack) * of(dot(mean, mean))
    f0, f1, f2 = f1 + f2 - wind - rise, f1 + wind + rise, f2 + wind + rise
    return scatter(f.copy(), indices, np.stack([f0, -f1, -f2], 1), 1)


def unit(a):
    l = length(a)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(l > 0, a / l, 0)


def bending_forces(x, v, f, indices, material, rest_angle):
    """f plus the forces of all bending edges; indices (E, 4), material (E, 2) = ke, kd. atan2 is NumPy's."""
    of = lambda scalar: scalar[:, None]
    x1, x2, x3, x4 = (x[indices[:, k]] for k in range(4))
    n1, n2, e = cross(x3 - x1, x4 - x1), cross(x4 - x2, x3 - x2), x4 - x3
    is_edge = (length(n1) >= 1e-6) & (length(n2) >= 1e-6) & (length(e) >= 1e-6)
    edge = length(e)
    n1, n2, e = unit(n1), unit(n2), unit(e)
    angle = np.arctan2(dot(cross(n1, n2), e), dot(n1, n2))
    d = [-n1 * of(edge), -n2 * of(edge), -n1 * of(dot(x1 - x4, e)) - n2 * of(dot(x2 - x4, e)),
         -n1 * of(dot(x3 - x1, e)) - n2 * of(dot(x3 - x2, e))]
    rate = sum(dot(d[k], v[indices[:, k]]) for k in range(4))
    force = -edge * (material[:, 0] * (angle - rest_angle) + material[:, 1] * rate)
    return scatter(f.copy(), indices, np.stack([np.where(of(is_edge), d[k] * of(force), 0) for k in range(4)], 1), 1)
