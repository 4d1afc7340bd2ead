# SPDX-License-Identifier: Apache-2.0
"""Files: rollouts and states as NPZ, each with novaphy.provenance() inside, and meshes."""

from __future__ import annotations

import json as _json
import os as _os
import zipfile as _zipfile
from typing import Any

import numpy as _np

from ._core import ParseError
from ._meshes import load_mesh as load_mesh
from ._provenance import provenance as _provenance

_META = "meta"


def _float32(name: str, value: Any) -> _np.ndarray:
    array = _np.asarray(value)
    if array.dtype != _np.float32:
        raise TypeError(f"dump_states: {name} must be float32, is {array.dtype}")
    return _np.ascontiguousarray(array)


def _write(
    path: str | _os.PathLike[str], arrays: dict[str, _np.ndarray], meta: dict[str, Any] | None
) -> None:
    record = {**_provenance(), **(meta or {})}
    with open(path, "wb") as file:  # numpy.savez would add .npz to a name that lacks it
        _np.savez(file, **arrays, **{_META: _np.array(_json.dumps(record, sort_keys=True))})


def dump_states(
    path: str | _os.PathLike[str],
    *,
    particle_q: Any,
    particle_q_substeps: Any = None,
    body_q: Any = None,
    joint_q: Any = None,
    meta: dict[str, Any] | None = None,
) -> None:
    """Writes a rollout, all float32: particle_q (frames + 1, P, 3), particle_q_substeps (substeps + 1, P, 3)
    and others.

    `meta` is stored with novaphy.provenance() as JSON text under "meta".
    """
    given = {
        "particle_q": particle_q,
        "particle_q_substeps": particle_q_substeps,
        "body_q": body_q,
        "joint_q": joint_q,
    }
    _write(path, {name: _float32(name, value) for name, value in given.items() if value is not None}, meta)


def load_states(path: str | _os.PathLike[str]) -> dict[str, Any]:
    """The arrays of dump_states() by name, and its meta as a dict under "meta"."""
    try:
        with _zipfile.ZipFile(path):  # numpy.load would also take a lone array
            pass
        with _np.load(path, allow_pickle=False) as file:
            out: dict[str, Any] = {name: file[name] for name in file.files}
        if _META in out:
            out[_META] = _json.loads(str(out[_META]))
    except (ValueError, EOFError, _zipfile.BadZipFile) as error:
        raise ParseError(f"load_states: {_os.fspath(path)} is no NPZ file of dump_states(): {error}") from None
    return out


def save_state(state: Any, path: str | _os.PathLike[str]) -> None:
    """Writes every array of a state; the same as state.save_npz(path)."""
    _write(path, {name: getattr(state, name).numpy() for name in state.array_names()}, None)


def load_state(state: Any, path: str | _os.PathLike[str]) -> None:
    """Reads the arrays of save_state() into a state of the same model; the same as state.load_npz(path)."""
    stored = load_states(path)
    for name in state.array_names():
        if name not in stored:
            raise ParseError(
                f"load_state: {_os.fspath(path)} holds no array '{name}'; it was not written by save_state()"
            )
        getattr(state, name).assign(stored[name])
