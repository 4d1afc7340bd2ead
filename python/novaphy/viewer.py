# SPDX-License-Identifier: Apache-2.0
"""Viewers. ViewerNull draws nothing and needs nothing; ViewerHTML writes a page that plays a rollout; ViewerGL
comes with plugin `viewer`."""

from __future__ import annotations

import time as _time
from typing import Any

from ._lazy import lazy_module
from ._process_bound import ProcessBound as _ProcessBound

_HEADLESS = (
    "; without a window use novaphy.viewer.ViewerHTML(path) or ViewerNull(), or --viewer null or --headless N on a demo's "
    "command line"
)


class ViewerBase(_ProcessBound):
    """What every viewer can be asked; drawing calls do nothing here."""

    def __init__(self, num_frames: int | None = None) -> None:
        self._num_frames = num_frames
        self._frame = 0
        self._closed = False

    def set_model(self, model: Any) -> None:
        self.model = model

    def begin_frame(self, time: float) -> None:
        self.time = float(time)

    def log_state(self, state: Any) -> None: ...
    def log_contacts(self, contacts: Any, state: Any) -> None: ...
    def log_lines(
        self, name: str, starts: Any, ends: Any, colors: Any = None, width: float = 0.01, hidden: bool = False
    ) -> None: ...
    def log_points(self, name: str, points: Any, radii: Any = None, colors: Any = None) -> None: ...
    def log_shapes(
        self, name: str, geo_type: Any, geo_scale: Any, xforms: Any, colors: Any = None
    ) -> None: ...
    def log_mesh(self, name: str, vertices: Any, indices: Any, color: Any = None) -> None: ...
    def log_scalar(self, name: str, value: float) -> None: ...
    def log_trajectory(self, name: str, points: Any, color: Any = None, keep: bool = True) -> None: ...
    def set_camera(self, pos: Any, pitch: float | None = None, yaw: float | None = None) -> None: ...

    def end_frame(self) -> None:
        self._frame += 1

    def is_running(self) -> bool:
        return not self._closed and (self._num_frames is None or self._frame < self._num_frames)

    def is_paused(self) -> bool:
        return False

    def should_step(self) -> bool:
        return True

    def close(self) -> None:
        self._closed = True

    def __enter__(self) -> ViewerBase:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class ViewerNull(ViewerBase):
    """Runs for `num_frames` frames and draws nothing. With benchmark=True `fps` is set when it closes."""

    def __init__(self, num_frames: int | None = 1000, benchmark: bool = False) -> None:
        super().__init__(num_frames)
        self._benchmark = benchmark
        self._start: float | None = None
        self.fps: float | None = None

    def begin_frame(self, time: float) -> None:
        super().begin_frame(time)
        if self._benchmark and self._start is None:
            self._start = _time.perf_counter()

    def close(self) -> None:
        if self._benchmark and self._start is not None and not self._closed:
            self.fps = self._frame / max(_time.perf_counter() - self._start, 1e-9)
        super().close()


def create(name: str, **options: Any) -> ViewerBase:
    """A viewer by its short name: "null", "html" (wants path=) or "gl"."""
    classes = {"null": "ViewerNull", "html": "ViewerHTML", "gl": "ViewerGL"}
    if name not in classes:
        raise ValueError(f"no viewer {name!r}: there are {', '.join(classes)}")
    viewer = globals().get(classes[name]) or __getattr__(classes[name])
    return viewer(**options)


_plugin_attribute, _plugin_names = lazy_module(__name__, advice=_HEADLESS)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name != "ViewerHTML":
        return _plugin_attribute(name)
    from ._html_viewer import ViewerHTML  # here, because it needs NumPy

    ViewerHTML.__module__ = __name__  # where users find it
    globals()[name] = ViewerHTML
    return ViewerHTML


def __dir__() -> list[str]:
    return sorted({*_plugin_names(), "ViewerHTML"})
