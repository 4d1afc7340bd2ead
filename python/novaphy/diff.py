# SPDX-License-Identifier: Apache-2.0
"""Tensor views of the engine's arrays and the generated differentiable operators (import as ndiff)."""

from ._lazy import lazy_module

__getattr__, __dir__ = lazy_module(__name__, home="nova_diff", python={"_rollout": ("Rollout",), "_coverage": ("coverage",)})
