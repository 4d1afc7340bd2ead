# SPDX-License-Identifier: Apache-2.0
"""Prediction: what an observer would see of a simulated state, as tensors that are differentiated."""

from __future__ import annotations

from typing import Any

from .. import diff as ndiff
from .. import nova
from ._observed import Observed


@nova.kernel
def chosen_particles(x: nova.rows[nova.vec3], particle: nova.rows[int]):
    """Positions of some particles."""
    return x[particle]


@nova.kernel
def squared_distance(x: nova.rows[nova.vec3], y: nova.rows[nova.vec3]):
    """The sum of squared distances."""
    d = x - y
    return nova.sum(nova.dot(d, d))


@nova.kernel
def squared_difference(x: nova.rows[float], y: nova.rows[float]):
    """The sum of squared differences."""
    d = x - y
    return nova.sum(d * d)


class Prediction:
    """prediction(state): a tensor of the shape that was observed at one time."""

    def __init__(self, observed: Observed, model: Any) -> None:
        self._observed, self._model = observed, model
        self._chosen = None if observed.indices is None else nova.tensor(observed.indices)
        self._camera = _camera(observed.camera) if observed.kind == "silhouette" else None
        self._softness = {} if observed.sigma is None else {"sigma": observed.sigma}

    def __call__(self, state: Any) -> Any:
        q = ndiff.state_particle_q_tensor(state)
        if self._observed.kind == "centroid":
            return ndiff.particle_centroid_generated(q)
        if self._camera is not None:
            return self._camera.silhouette(q, self._model, **self._softness)
        return q if self._chosen is None else chosen_particles(q, self._chosen)

    def squared(self, state: Any, index: int) -> Any:
        """The sum of squared residuals at an observed time, a tensor of one number."""
        predicted, seen = self(state), nova.tensor(self._observed.data[index])
        if self._camera is not None:
            return squared_difference(predicted.reshape((-1,)), seen.reshape((-1,)))
        return squared_distance(predicted.reshape((-1, 3)), seen.reshape((-1, 3)))


def _camera(given: Any) -> Any:
    """The camera of novaphy.camera that a mapping describes, or the one that was given."""
    if not isinstance(given, dict):
        return given
    from ..camera import Camera

    return Camera(**given)
