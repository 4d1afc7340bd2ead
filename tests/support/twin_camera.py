# SPDX-License-Identifier: Apache-2.0
"""The camera's law once more in float64, written from its formulas: every pixel against every primitive."""
import numpy as np

FAINTEST = -np.log(2.0**20)


class Twin:
    def __init__(self, camera):
        forward = np.subtract(camera.target, camera.position, dtype=np.float64)
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        if np.linalg.norm(right) < 1e-6:
            right = np.cross(forward, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        self.axes = np.stack([right, np.cross(forward, right), forward])
        self.position = np.array(camera.position, np.float64)
        self.focal = 0.5 * camera.height / np.tan(np.radians(np.float64(camera.fov)) / 2)
        self.centre = np.array([camera.width, camera.height]) / 2
        self.near = camera.near
        rows, columns = np.mgrid[0 : camera.height, 0 : camera.width]
        self.pixels = np.stack([columns + 0.5, rows + 0.5], -1).reshape(-1, 2)
        self.shape = (camera.height, camera.width)

    def corners(self, points):
        """(..., 3): u, v [px], z [m]."""
        local = (np.asarray(points, np.float64) - self.position) @ self.axes.T
        return np.concatenate([self.centre + self.focal * local[..., :2] / local[..., 2:], local[..., 2:]], -1)

    def triangle(self, c, sigma):
        """(exponent, depth) of every pixel; c (3, 3) are the corners."""
        p, points = self.pixels, c[:, :2]
        squared, inverse = [], []
        for k in range(3):
            a, b = points[k], points[(k + 1) % 3]
            edge = b - a
            length = edge @ edge
            t = np.clip((p - a) @ edge / length, 0, 1) if length > 1e-12 else np.zeros(len(p))
            squared.append(((p - a - t[:, None] * edge) ** 2).sum(1))
            inverse.append((1 - t) / c[k, 2] + t / c[(k + 1) % 3, 2])
        squared, inverse = np.array(squared), np.array(inverse)
        edge = squared.argmin(0)
        squared, inverse = squared[edge, np.arange(len(p))], inverse[edge, np.arange(len(p))]
        matrix = np.vstack([points.T, np.ones(3)])
        inside = np.zeros(len(p), bool)
        if abs(np.linalg.det(matrix)) > 2e-6:
            weights = np.linalg.solve(matrix, np.vstack([p.T, np.ones(len(p))]))
            inside = (weights > 0).all(0)
            inverse = np.where(inside, (weights / c[:, 2:]).sum(0), inverse)
        return np.where(inside, squared, -squared) / sigma, 1 / inverse

    def sphere(self, c, radius, sigma):
        rim = self.focal * radius / c[2]
        squared = ((self.pixels - c[:2]) ** 2).sum(1)
        s = rim - np.sqrt(squared)
        return s * abs(s) / sigma, c[2] - radius * np.maximum(0, 1 - squared / rim**2)

    def covers(self, points, sigma, triangles=None, radius=None):
        """(D, depth), one row for each primitive that is seen."""
        found = []
        if triangles is not None:
            for row in self.corners(points)[triangles]:
                if (row[:, 2] >= self.near).all():
                    found.append(self.triangle(row, sigma))
        else:
            for row, r in zip(self.corners(points), np.broadcast_to(radius, len(points))):
                if row[2] - r >= self.near:
                    found.append(self.sphere(row, r, sigma))
        x, z = (np.array(part).reshape(-1, len(self.pixels)) for part in zip(*found)) if found else (np.zeros((0, len(self.pixels))),) * 2
        return np.where(x >= FAINTEST, 1 / (1 + np.exp(-np.clip(x, -700, 700))), 0), z

    def silhouette(self, points, sigma=1.0, **what):
        return (1 - np.prod(1 - self.covers(points, sigma, **what)[0], axis=0)).reshape(self.shape)

    def depth(self, points, sigma=1.0, background=0.0, **what):
        cover, z = self.covers(points, sigma, **what)
        order = np.argsort(z, axis=0, kind="stable")
        cover, z = np.take_along_axis(cover, order, 0), np.take_along_axis(z, order, 0)
        clear = np.cumprod(np.vstack([np.ones((1, cover.shape[1])), 1 - cover]), axis=0)
        return ((clear[:-1] * cover * z).sum(0) + clear[-1] * background).reshape(self.shape)
