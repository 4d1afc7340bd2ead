# SPDX-License-Identifier: Apache-2.0
"""sdk/docs/first_plugin.md, followed to the letter in an empty folder against the installed package."""
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from installed_sdk import run
from project_tree import ROOT
from readme_commands import as_script, is_shown, steps

DOCS = ROOT / "sdk/docs"
PAGE = DOCS / "first_plugin.md"


@pytest.fixture(scope="module")
def place(installed_sdk, installed_package, tmp_path_factory):
    """An empty folder, and the environment of a reader who installed the package."""
    folder = tmp_path_factory.mktemp("reader")
    programs = folder / ".programs"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')  # a link would leave its environment
    (programs / "python").chmod(0o755)
    (programs / "novaphy-host").symlink_to(installed_package / "novaphy/bin/novaphy-host")
    (folder / "home").mkdir()
    environment = installed_sdk.environment(PYTHONPATH=installed_package, HOME=folder / "home", PYTHONWARNINGS="error",
                                            PATH=f"{programs}:{os.environ['PATH']}")
    compilers = {"CMAKE_C_COMPILER": "CC", "CMAKE_CXX_COMPILER": "CXX"}
    for argument in installed_sdk.arguments:
        name, _, value = argument[2:].partition("=")
        environment[compilers.get(name, name)] = value  # CMake takes launchers from the environment too
    (folder / "work").mkdir()
    return folder / "work", environment


@pytest.fixture(scope="module")
def printed(place):
    """What each step of the page printed."""
    folder, environment = place
    done = subprocess.run(["bash", "-c", as_script(steps(PAGE))], cwd=folder, env=environment, capture_output=True, text=True)
    outputs = done.stdout.split("\f")
    assert done.returncode == 0, (f"step {len(outputs)}:\n{steps(PAGE)[len(outputs) - 1].text}\n"
                                  f"printed\n{outputs[-1]}\n{done.stderr[-3000:]}")
    return outputs[:-1]


@pytest.mark.slow
def test_the_guide_leads_from_nothing_to_a_shipped_plugin(printed):
    assert len(printed) == len(steps(PAGE)) >= 14
    for step, output in zip(steps(PAGE), printed):
        if step.shown is not None:
            assert is_shown(step.shown, output), f"{step.text}\nprinted\n{output}\nthe page shows\n{step.shown}"


@pytest.mark.slow
def test_the_guides_tests_and_checks_passed(printed):
    tested = [output for output in printed if "tests passed" in output]
    assert len(tested) == 2 and all("100% tests passed, 0 tests failed out of 2" in output for output in tested)
    assert any("# all checks passed" in output for output in printed)
    assert any(re.search(r"^acme_air +acme_air +0\.1\.0 +ready ", output, re.MULTILINE) for output in printed)


@pytest.mark.slow
def test_the_guides_wheel_is_built_without_network(place, printed, tmp_path):
    if subprocess.run([sys.executable, "-c", "import scikit_build_core"], capture_output=True).returncode:
        pytest.skip("the interpreter has no scikit-build-core, with which wheels are built")
    folder, environment = place
    source = tmp_path / "acme_air"
    shutil.copytree(folder / "acme_air", source, ignore=shutil.ignore_patterns("build"))
    sdk = Path(environment["PYTHONPATH"]) / "novaphy/lib/cmake/NovaPhySDK"
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps", "-w", tmp_path, source, folder=tmp_path,
        environment=environment | {"NovaPhySDK_DIR": str(sdk), "PYTHONWARNINGS": "default"})
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert {"acme_air/__init__.py", "acme_air/lib/novaphy/plugins/acme_air/libnovaphy_acme_air.so",
            "acme_air/lib/novaphy/plugins/acme_air/acme_air.novaplugin.json"} <= set(names)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_the_pages_that_a_page_links_are_there(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_pages_are_installed_with_the_sdk(installed_sdk):
    assert {path.name for path in DOCS.glob("*.md")} <= {path.name for path in (installed_sdk.prefix / "share/doc/novaphy").iterdir()}
