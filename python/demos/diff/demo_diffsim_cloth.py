# SPDX-License-Identifier: Apache-2.0
"""A cloth learns its throw; the code is novaphy/examples/diffsim_cloth.py."""

import sys

from novaphy.examples.diffsim_cloth import main

if __name__ == "__main__":
    sys.exit(main())
