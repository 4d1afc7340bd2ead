# SPDX-License-Identifier: Apache-2.0
"""`@nova.kernel`: a Python function over rows, traced once into a program, with its gradient."""

from .annotations import rows as rows
from .annotations import scatter as scatter
from .annotations import static as static
from .annotations import table as table
from .annotations import uniform as uniform
from .decorator import Kernel as Kernel
from .decorator import kernel as kernel
