# SPDX-License-Identifier: Apache-2.0
"""NovaPhy: a differentiable physics engine whose parts are plugins.

Importing this package loads no plugin and does not import NumPy. Solvers, Nova's tensors and the viewers
live in `novaphy.solvers`, `novaphy.nova`, `novaphy.diff`, `novaphy.collision`, `novaphy.camera` and
`novaphy.viewer`, whose names come from the manifests of the plugins that are there.
`novaphy.plugins.report()` says what is there, and why something is not.
"""

import importlib as _importlib

from . import _main_interpreter as _main_interpreter  # before anything that is compiled
from . import _core

if _core.__file__ is None:  # only stubs: this is the source folder, found because it is the current one
    raise ImportError(
        f"novaphy: {__path__[0]} is the source folder, without the compiled part; install it (pip install .) and "
        "start Python in another folder"
    )

from ._config import config
from ._core import (
    Axis,
    BodyFlags,
    CaptureError,
    Contacts,
    Control,
    DegenerateElementError,
    Device,
    DeviceArray,
    DeviceMismatchError,
    DeviceType,
    DomainCheckError,
    GeoType,
    GradientNotReadyError,
    JointTargetMode,
    JointType,
    Model,
    ModelBuilder,
    NovaPhyError,
    ParseError,
    ParticleFlags,
    ParticleGrid,
    PluginNotAvailableError,
    ShapeFlags,
    ShapeMismatchError,
    SimState,
    StaleRecordError,
    TraceError,
    Transform,
    UnsupportedFeatureError,
    get_device,
    set_device,
    synchronize,
)
from ._core import __version__
from ._provenance import build_info, provenance, scene_hash

State = SimState
ShapeType = GeoType

_SUBMODULES = ("camera", "collision", "diff", "examples", "identify", "io", "nova", "plugins", "solvers", "viewer")

#: Names whose modules import NumPy, by module: loaded when they are first asked for.
_NEEDING_NUMPY = {"Mesh": "_meshes", "TetMesh": "_meshes", "MeshQuality": "_mesh_quality", "mesh_quality": "_mesh_quality"}

__all__ = [
    "Axis",
    "BodyFlags",
    "CaptureError",
    "CollisionPipeline",
    "Contacts",
    "Control",
    "DegenerateElementError",
    "Device",
    "DeviceArray",
    "DeviceMismatchError",
    "DeviceType",
    "DomainCheckError",
    "GeoType",
    "GradientNotReadyError",
    "JointTargetMode",
    "JointType",
    "Mesh",
    "MeshQuality",
    "Model",
    "ModelBuilder",
    "NovaPhyError",
    "ParseError",
    "ParticleFlags",
    "ParticleGrid",
    "PluginNotAvailableError",
    "ShapeFlags",
    "ShapeMismatchError",
    "ShapeType",
    "SimState",
    "StaleRecordError",
    "State",
    "TetMesh",
    "TraceError",
    "Transform",
    "UnsupportedFeatureError",
    "build_info",
    "config",
    "get_device",
    "load_plugin",
    "mesh_quality",
    "provenance",
    "scene_hash",
    "sdk_cmake_dir",
    "set_device",
    "synchronize",
    "version",
    *_SUBMODULES,
]


def version() -> str:
    """The release, such as "0.1.0"."""
    return __version__


def sdk_cmake_dir() -> str:
    """The folder with NovaPhySDKConfig.cmake, for those who build plugins against this package:
    `cmake -S . -B build -DNovaPhySDK_DIR=$(python -c "import novaphy; print(novaphy.sdk_cmake_dir())")`.
    NovaPhyError where the package holds no SDK."""
    import os

    folders = [os.path.join(folder, "lib", "cmake", "NovaPhySDK") for folder in __path__]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "NovaPhySDKConfig.cmake")):
            return folder
    raise NovaPhyError(
        f"novaphy.sdk_cmake_dir: there is no SDK in {', '.join(folders)}; it belongs to an installed package "
        "(pip install .) or prefix (cmake --install), not to a build folder"
    )


def load_plugin(name: str) -> None:
    """The same as novaphy.plugins.load()."""
    from . import plugins

    plugins.load(name)


def __getattr__(name: str):
    if name in _SUBMODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name == "CollisionPipeline":
        from .collision import CollisionPipeline

        return CollisionPipeline
    if name in _NEEDING_NUMPY:
        value = getattr(_importlib.import_module(f".{_NEEDING_NUMPY[name]}", __name__), name)
        value.__module__ = __name__
        globals()[name] = value
        return value
    from ._lazy import no_attribute, public_module_of

    if not name.startswith("_") and (home := public_module_of(name)):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'; it is {home}.{name}", name=name)
    raise no_attribute(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
