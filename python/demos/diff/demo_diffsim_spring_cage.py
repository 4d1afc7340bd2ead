# SPDX-License-Identifier: Apache-2.0
"""Springs learn their rest lengths; the code is novaphy/examples/diffsim_spring_cage.py."""

import sys

from novaphy.examples.diffsim_spring_cage import main

if __name__ == "__main__":
    sys.exit(main())
