# SPDX-License-Identifier: Apache-2.0
"""What a wheel holds: the files that the build installs, put into a new folder, work there without anything else."""
import json
import os
import shutil
import subprocess
import sys

import pytest
from project_tree import ROOT, modules

BUILD = ROOT / "build/release"
PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
import novaphy
before = sorted(name for name in sys.modules if name == "numpy" or name.startswith("_novaphy_"))
maps = open("/proc/self/maps").read()
print(json.dumps({{"file": novaphy.__file__, "early": before, "mapped": "libnovaphy_nova" in maps,
                  "report": [[row.module, row.state, row.path] for row in novaphy.plugins.report()]}}))
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the package as a wheel lays it out."""
    folder = tmp_path_factory.mktemp("a site with spaces")
    shutil.copytree(ROOT / "python/novaphy", folder / "novaphy", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "novaphy"], check=True, stdout=subprocess.DEVNULL)
    return folder


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("NOVAPHY_", "PYTHON", "LD_"))}


@pytest.fixture(scope="module")
def imported(site, tmp_path_factory):
    """What an interpreter without any other package says about it, from another folder."""
    result = subprocess.run([sys.executable, "-S", "-E", "-c", PROGRAM.format(folder=str(site))], capture_output=True,
                            text=True, cwd=tmp_path_factory.mktemp("elsewhere"), env=clean_environment())
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_the_package_is_imported_from_where_it_was_put(site, imported):
    assert imported["file"] == str(site / "novaphy/__init__.py")


def test_importing_it_needs_no_numpy_and_loads_no_plugin(imported):
    assert imported["early"] == [] and not imported["mapped"]


def test_every_module_of_the_project_is_inside_and_ready(site, imported):
    assert {name for name, _, _ in imported["report"]} == set(modules())
    for name, state, path in imported["report"]:
        assert state == "ready", (name, state)
        assert path.startswith(str(site / "novaphy/lib/novaphy/plugins")), (name, path)


def test_the_host_inside_finds_the_same_modules(site):
    result = subprocess.run([site / "novaphy/bin/novaphy-host", "list"], capture_output=True, text=True, cwd="/",
                            env=clean_environment())
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout for name in modules())


def test_it_holds_no_symbolic_link_and_no_test(site):
    assert not [path for path in site.rglob("*") if path.is_symlink()], "a wheel cannot hold symbolic links"
    template = site / "novaphy/share/novaphy/template"  # a new plugin has tests
    assert not [path for path in site.rglob("*") if "test" in path.name.lower() and not path.is_relative_to(template)]


def test_the_environment_has_the_host_too():
    host = os.path.join(os.path.dirname(sys.executable), "novaphy-host")
    result = subprocess.run([sys.executable, host, "list"], capture_output=True, text=True, cwd="/", env=clean_environment())
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout for name in modules())
