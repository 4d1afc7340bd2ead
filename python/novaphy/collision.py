# SPDX-License-Identifier: Apache-2.0
"""Contact generation, from plugin `collision`."""

from ._lazy import lazy_module

__getattr__, __dir__ = lazy_module(__name__, home="collision")
