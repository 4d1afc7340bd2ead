#!python
# SPDX-License-Identifier: Apache-2.0
"""The `novaphy-host` of a Python environment: hands over to the program inside the installed package.

The package itself is not imported, so this costs an interpreter's start and nothing else.
"""
import importlib.util
import os
import sys

package = importlib.util.find_spec("novaphy")
for folder in package.submodule_search_locations if package else ():
    host = os.path.join(folder, "bin", "novaphy-host")
    if os.path.exists(host):
        os.execv(host, [host, *sys.argv[1:]])
sys.exit("novaphy-host: the package novaphy of this Python environment holds no bin/novaphy-host; install it again with "
         f"'{sys.executable} -m pip install .'")
