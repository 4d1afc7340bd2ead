# SPDX-License-Identifier: Apache-2.0
"""The environment's `novaphy-host`: hands over to the program inside the installed package."""
import os
import sys


def main():
    import novaphy

    for folder in novaphy.__path__:
        host = os.path.join(folder, "bin", "novaphy-host")
        if os.path.exists(host):
            os.environ.setdefault("NOVAPHY_PYTHON", sys.executable)  # for check and doctor
            os.execv(host, [host, *sys.argv[1:]])
    sys.exit("novaphy-host: the installed package novaphy holds no bin/novaphy-host; install it again with "
             f"'{sys.executable} -m pip install .'")
