# SPDX-License-Identifier: Apache-2.0
"""Each sample builds against an installed SDK only: no file of the checkout is read, and what is built needs none."""
import json
import re

import pytest
from installed_sdk import build_folder, run
from project_tree import ROOT

FOLDERS = sorted(path for path in (ROOT / "samples").iterdir() if path.is_dir())
BUILT = [path.name for path in FOLDERS if (path / "CMakeLists.txt").is_file()]
# its extension is built where its wheel is
WITHOUT_PYTHON = {"python_wheel_plugin": ("NOVAPHY_BUILD_PYTHON=OFF",)}
OURS = (str(ROOT), str(build_folder()))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_is_explained_in_a_short_readme_and_has_a_test(folder):
    lines = (folder / "README.md").read_text().splitlines()
    assert lines[0].startswith(f"# {folder.name}: ") and 8 <= len(lines) <= 30
    tests = "".join(path.read_text() for path in (ROOT / "tests/samples").glob("test_*.py") if path.name != "test_samples_stand_alone.py")
    assert folder.name in tests


@pytest.mark.parametrize("name", BUILT)
def test_no_compiler_command_and_no_file_that_it_reads_names_the_checkout(installed_sdk, name):
    built = installed_sdk.sample(name, *WITHOUT_PYTHON.get(name, ()))
    commands = json.loads((built.build / "compile_commands.json").read_text())
    assert commands
    wrong = [entry["command"] for entry in commands if any(folder in entry["command"] for folder in OURS)]
    assert not wrong, "\n".join(wrong)
    if not (built.build / "build.ninja").is_file():
        pytest.skip("which files were read is asked of ninja, and this build has another generator")
    read = run("ninja", "-C", built.build, "-t", "deps").stdout
    assert "novaphy/abi.h" in read or "novaphy/runtime.hpp" in read
    assert not re.findall("|".join(map(re.escape, OURS)), read)


@pytest.mark.parametrize("name", BUILT)
def test_what_is_installed_names_neither_the_checkout_nor_the_sdks_place(installed_sdk, name):
    """Relocatable: no absolute search path in a library or program, no path in a manifest."""
    built = installed_sdk.sample(name, *WITHOUT_PYTHON.get(name, ()))
    files = [path for path in built.prefix.rglob("*") if path.is_file()]
    assert files
    for path in files:
        if path.suffix == ".json":
            assert str(installed_sdk.prefix) not in path.read_text()
        elif ".so" in path.name or path.parent.name == "bin":
            dynamic = run("readelf", "-d", path).stdout
            paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
            assert all(part.startswith("$ORIGIN") for value in paths for part in value.split(":") if part), path
