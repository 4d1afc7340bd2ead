# SPDX-License-Identifier: Apache-2.0
"""A ball learns its throw; the code is novaphy/examples/diffsim_ball.py."""

import sys

from novaphy.examples.diffsim_ball import main

if __name__ == "__main__":
    sys.exit(main())
