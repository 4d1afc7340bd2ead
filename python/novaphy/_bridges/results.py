# SPDX-License-Identifier: Apache-2.0
"""What a bridged function gives back."""

from __future__ import annotations

from typing import Any, Callable

from .. import _lazy


def results_of(bridge: str, fn: Callable[..., Any], inputs: list[Any]) -> tuple[bool, tuple[Any, ...]]:
    """Whether `fn` gave one tensor, and what it gave as a tuple. A result that is an input becomes a copy."""
    nova = _lazy.extension("nova")
    given = fn(*inputs)
    single = not isinstance(given, (tuple, list))
    results = (given,) if single else tuple(given)
    for result in results:
        if not isinstance(result, nova.Tensor):
            name = getattr(fn, "__name__", type(fn).__name__)
            raise TypeError(
                f"{bridge}: {name} gave a {type(result).__name__}; it returns a nova.Tensor or a tuple of them"
            )
    of_inputs = {tensor.ptr for tensor in inputs}
    return single, tuple(result.clone() if result.ptr in of_inputs else result for result in results)
