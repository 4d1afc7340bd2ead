# SPDX-License-Identifier: Apache-2.0
"""The observed motion: what was seen and when, from a mapping or an NPZ file, and the states that windows start from."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

import numpy as np

_KINDS = {"particles": "particle_q", "centroid": "centroid", "silhouette": "silhouettes"}
_KNOWN = {"times", "indices", "camera", "sigma", "particle_qd", "meta", *_KINDS.values()}


def load_observed(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The mapping that fit() takes, from an NPZ file; `camera`, a JSON text in the file, becomes a dictionary."""
    with np.load(path, allow_pickle=False) as file:
        out = {name: file[name] for name in file.files}
    for name in ("camera", "meta"):
        if name in out and out[name].dtype.kind in "US":
            out[name] = json.loads(str(out[name]))
    return out


def save_observed(path: str | os.PathLike[str], observed: Mapping[str, Any]) -> None:
    """Writes a motion as the NPZ file that fit() takes, float32, with novaphy.provenance() as `meta`."""
    from .. import provenance

    Observed(observed)
    out: dict[str, Any] = {}
    for name, value in observed.items():
        if name == "camera":
            out[name] = json.dumps(value if isinstance(value, dict) else value.parameters)
        elif name != "meta":
            out[name] = np.asarray(value, np.int32 if name == "indices" else np.float32)
    np.savez_compressed(path, meta=json.dumps(provenance()), **out)


class Observed:
    """One observed motion, checked.

    times (K) [s]: in a double's precision if they are given so, since they are divided by dt once.
    kind: "particles", "centroid" or "silhouette"; data (K, ...) float32.
    """

    def __init__(self, observed: Any, loss: str | None = None, particle_count: int | None = None) -> None:
        if isinstance(observed, (str, os.PathLike)):
            observed = load_observed(observed)
        if not isinstance(observed, Mapping):
            raise TypeError(f"fit: observed is a {type(observed).__name__}; give a mapping or the path of an NPZ file")
        unknown = sorted(set(observed) - _KNOWN)
        if unknown:
            raise ValueError(f"fit: observed holds {unknown[0]!r}; it may hold {', '.join(sorted(_KNOWN - {'meta'}))}")
        self.kind = _kind_of(observed, loss)
        self.data = self._array(observed, _KINDS[self.kind])
        self.times = np.asarray(observed["times"] if "times" in observed else ())
        if self.times.ndim != 1 or self.times.size != len(self.data) or self.times.size < 2:
            raise ValueError(
                f"fit: observed has times of shape {self.times.shape} and {_KINDS[self.kind]} of {self.data.shape}; "
                "give at least 2 times, one for each"
            )
        if not np.all(np.diff(self.times) > 0):
            raise ValueError("fit: the observed times do not rise; sort them")
        self.camera = observed.get("camera")
        if self.kind == "silhouette" and self.camera is None:
            raise ValueError("fit: silhouettes were observed without a camera; add observed['camera']")
        self.sigma = None if observed.get("sigma") is None else float(observed["sigma"])
        self.indices = None
        if observed.get("indices") is not None:
            self.indices = np.asarray(observed["indices"], np.int32)
        self.q = self.qd = None
        if "particle_q" in observed and self.indices is None:
            self.q = self._array(observed, "particle_q")
        if "particle_qd" in observed and self.indices is None:
            self.qd = self._array(observed, "particle_qd")
        if particle_count is not None:
            self._check_shapes(particle_count)

    @staticmethod
    def _array(observed: Mapping[str, Any], name: str) -> np.ndarray:
        array = np.ascontiguousarray(observed[name], np.float32)
        if not np.all(np.isfinite(array)):
            raise ValueError(f"fit: observed {name} holds a value that is not finite, first at {np.argwhere(~np.isfinite(array))[0].tolist()}")
        return array

    def _check_shapes(self, particles: int) -> None:
        if self.indices is not None:
            wrong = [i for i in self.indices.ravel().tolist() if not 0 <= i < particles]
            if self.indices.ndim != 1 or wrong or not self.indices.size:
                raise ValueError(
                    f"fit: observed indices have shape {self.indices.shape}" + (f" and hold {wrong[0]}" if wrong else "")
                    + f"; give a list of numbers from 0 to {particles - 1}"
                )
        seen = particles if self.indices is None else self.indices.size
        count = len(self.times)
        wanted = {"particles": (count, seen, 3), "centroid": (count, 3)}.get(self.kind)
        for name, array, shape in ((_KINDS[self.kind], self.data, wanted), ("particle_q", self.q, (count, particles, 3)),
                                   ("particle_qd", self.qd, (count, particles, 3))):
            if array is not None and shape is not None and array.shape != shape:
                raise ValueError(f"fit: observed {name} has shape {array.shape}; {shape} is wanted")
        if self.kind == "silhouette" and self.data.ndim != 3:
            raise ValueError(f"fit: observed silhouettes have shape {self.data.shape}; (times, height, width) is wanted")

    @property
    def has_states(self) -> bool:
        """Whether windows can start from what was seen: all particles were."""
        return self.q is not None

    def resolution(self) -> float:
        """What float32 itself leaves open in one observed number."""
        return max(float(np.abs(self.data).max()), 1e-6) * 2.0**-24

    def start(self, i: int, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities at time i, the latter estimated where they were not measured.

        The solver's velocity at a state is (x - x before) / dt, so the estimate is the central difference at dt/2
        before the time; from frames dt apart it is exact.
        """
        if self.qd is not None:
            return self.q[i], self.qd[i]
        before, after = self.times[i] - self.times[i - 1], self.times[i + 1] - self.times[i]
        back, ahead = (self.q[i] - self.q[i - 1]) / before, (self.q[i + 1] - self.q[i]) / after
        slope = (ahead - back) / ((before + after) / 2)
        middle = (back * after + ahead * before) / (before + after)
        return self.q[i], (middle - slope * (dt / 2)).astype(np.float32)

    def velocity_error(self, i: int) -> float:
        """About how wrong such a velocity is, rms m/s: the next term of the series, from the third difference."""
        if not 1 < i < len(self.times) - 2:
            return float("nan")
        third = self.q[i + 2] - 2 * self.q[i + 1] + 2 * self.q[i - 1] - self.q[i - 2]
        step = (self.times[i + 2] - self.times[i - 2]) / 4
        return float(np.sqrt(np.mean((third / (12 * step)) ** 2)))

    def starts(self) -> range:
        """Indices of times that a window can start from."""
        if not self.has_states:
            return range(1)
        return range(len(self.times) - 1) if self.qd is not None else range(1, len(self.times) - 1)


def _kind_of(observed: Mapping[str, Any], loss: str | None) -> str:
    if loss is None:
        kinds = [kind for kind, name in _KINDS.items() if name in observed]
        if not kinds:
            raise ValueError(f"fit: observed holds none of {', '.join(_KINDS.values())}")
        return kinds[0]
    if loss not in _KINDS:
        raise ValueError(f"fit: loss is {loss!r}; give {', '.join(map(repr, _KINDS))} or None")
    if _KINDS[loss] not in observed:
        raise ValueError(f"fit: loss is {loss!r} and observed holds no {_KINDS[loss]}")
    return loss
