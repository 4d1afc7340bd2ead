# SPDX-License-Identifier: Apache-2.0
"""Where a result comes from: build_info() for bug reports, provenance() for every file that is written."""

from __future__ import annotations

from typing import Any

from . import _core


def build_info() -> dict[str, Any]:
    """What this package was built from and what it runs on."""
    import platform
    import sys

    return {
        "version": _core.__version__,
        "commit": _core.commit,
        "compiler": _core.compiler,
        "build_type": _core.build_type,
        "pybind11": _core.pybind_version,
        "python": platform.python_version(),
        "platform": _core.runtime.platform(),
        "executable": sys.executable,
        "plugins": {
            f"{row['plugin']}/{row['module']}": f"{row['version']} {row['state']}"
            for row in _core.runtime.report()
        },
    }


def scene_hash(model: Any) -> str:
    """16 hexadecimal digits that name a model's numbers: equal models have equal hashes everywhere."""
    import hashlib

    digest = hashlib.sha256()
    for name in sorted(model.array_names()):
        array = getattr(model, name)
        digest.update(f"{name}:{array.dtype}:{array.shape};".encode())
        digest.update(array.numpy().tobytes())
    digest.update(f"{model.particle_max_velocity!r};{model.particle_grid is not None}".encode())
    return digest.hexdigest()[:16]


def provenance(model: Any = None) -> dict[str, Any]:
    """Version, commit, loaded plugins, tier of generated kernels, threads, scene hash and command.

    The scene is `model`, or the model that was finalized last if it still lives.
    """
    import os
    import shlex
    import sys

    model = _core.last_model() if model is None else model
    rows = [row for row in _core.runtime.report() if row["state"] == "loaded"]
    tier = None
    if any(row["module"] == "nova" for row in rows):
        from . import nova

        tier = nova.backend()
    return {
        "version": _core.__version__,
        "commit": _core.commit,
        "plugins": {row["module"]: row["version"] for row in rows},
        "tier": tier,
        "threads": _core.thread_count(),
        "scene_hash": None if model is None else scene_hash(model),
        "command": shlex.join([os.path.basename(sys.orig_argv[0]), *sys.orig_argv[1:]]),
    }
