# SPDX-License-Identifier: Apache-2.0
"""python -m novaphy.examples [NAME] [options]"""

import sys

from . import load, names, summary


def main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "-l", "--list"):
        print("usage: python -m novaphy.examples NAME [options]     (NAME --help shows the options)\n")
        width = max(map(len, names()))
        for name in names():
            print(f"  {name:<{width}}  {summary(name)}")
        return 0
    try:
        example = load(argv[0])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return example.main(argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
