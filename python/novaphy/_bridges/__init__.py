# SPDX-License-Identifier: Apache-2.0
"""Functions of Nova in other libraries' graphs. Neither library is imported before its `function` is called."""

from . import jax as jax
from . import torch as torch
