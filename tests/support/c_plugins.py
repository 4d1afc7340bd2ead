# SPDX-License-Identifier: Apache-2.0
"""Plugins for tests, written in C and compiled on the spot: they load, and may take their time for it."""
import subprocess
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[2] / "sdk/include"
SOURCE = """
#include <stdlib.h>
#include <time.h>
#include "novaphy/abi.h"
static novaphy_status load(const novaphy_host* host, novaphy_error* error) {
  (void)host, (void)error;
  const struct timespec pause = {0, %d * 1000000L};
  nanosleep(&pause, 0);
  %s;
  return NOVAPHY_OK;
}
const novaphy_plugin* novaphy_plugin_entry(void) {
  static const novaphy_plugin plugin = {sizeof(novaphy_plugin), NOVAPHY_ABI_MAJOR, NOVAPHY_ABI_MINOR, 0,
                                        "%s", "0.1.0", 0, load, 0};
  return &plugin;
}
"""
MANIFEST = """{ "schema": 1, "name": "%s", "version": "0.1.0",
  "modules": [ { "name": "%s", "library": "libnovaphy_%s.so", "abi": "1.0"%s } ] }
"""


def make_c_plugin(place, name, sleep_ms=0, more="", body=""):
    """Makes plugin `name` in a new folder below `place`, which sleeps below a second while it loads and then does
    `body`; `more` goes into its module's manifest. Returns the folder to search, which nobody else may write."""
    search = Path(place) / "plugins"
    folder = search / name
    folder.mkdir(parents=True)
    source = Path(place) / f"{name}.c"
    source.write_text(SOURCE % (sleep_ms, body, name))
    (folder / f"{name}.novaplugin.json").write_text(MANIFEST % (name, name, name, more))
    library = folder / f"libnovaphy_{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", HEADERS, "-o", library, source], check=True)
    for path, mode in ((search, 0o755), (folder, 0o755), *((file, 0o644) for file in folder.iterdir())):
        path.chmod(mode)
    return str(search)
