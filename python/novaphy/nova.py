# SPDX-License-Identifier: Apache-2.0
"""Nova, the tensor and differentiation library of plugin `nova_diff`: tensors, Tape, kernels, optimisers."""

from ._lazy import lazy_module

__getattr__, __dir__ = lazy_module(
    __name__,
    home="nova_diff",
    python={
        "_derivatives": ("GradReport", "check_grad", "hvp", "jacobian", "jvp"),
        "_kernel": ("Kernel", "kernel", "rows", "static", "scatter", "table", "uniform"),
        "_bridges": ("jax", "torch"),
    },
)
