# SPDX-License-Identifier: Apache-2.0
"""A small differentiable camera, from plugin `camera`, and PNG and GIF files of its pictures."""

from ._lazy import lazy_module

__getattr__, __dir__ = lazy_module(__name__, home="camera", python={"_picture_files": ("save_gif", "save_png")})
