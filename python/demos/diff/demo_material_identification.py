# SPDX-License-Identifier: Apache-2.0
"""A soft block's constants from its motion; the code is novaphy/examples/material_identification.py."""

import sys

from novaphy.examples.material_identification import main

if __name__ == "__main__":
    sys.exit(main())
