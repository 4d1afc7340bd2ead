# SPDX-License-Identifier: Apache-2.0
"""A soft cube learns its stiffness; the code is novaphy/examples/diffsim_soft_body.py."""

import sys

from novaphy.examples.diffsim_soft_body import main

if __name__ == "__main__":
    sys.exit(main())
