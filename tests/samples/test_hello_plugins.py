# SPDX-License-Identifier: Apache-2.0
"""The two smallest samples: built against the installed SDK, found and run by its novaphy-host."""
import re
import shutil

import pytest
from installed_sdk import run
from project_tree import ROOT
from readme_commands import commands


@pytest.fixture(scope="module")
def hello(installed_sdk):
    return installed_sdk.sample("hello_plugin")


def test_the_stone_learns_to_land_on_the_mark(installed_sdk, hello):
    printed = installed_sdk.host("run", "hello", "--set", "target=40", plugins=hello).stdout
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", printed)]
    assert len(losses) == 9 and all(later < 0.2 * earlier for earlier, later in zip(losses, losses[1:]))
    assert losses[0] == pytest.approx((40 - 5 * (2 * 20 / 9.81) ** 0.5) ** 2, rel=1e-5)


def test_an_option_that_does_not_exist_is_refused_with_those_that_do(installed_sdk, hello):
    done = installed_sdk.host("run", "hello", "--set", "mark=40", plugins=hello, expect=None)
    assert done.returncode != 0
    assert "hello: there is no option 'mark'; there is target, the place of the mark in m" in done.stderr


def test_the_stamped_manifest_names_library_and_abi(hello):
    manifest = (hello.plugins / "hello_plugin/hello_plugin.novaplugin.json").read_text()
    assert '"abi" : "1.0"' in manifest and '"library" : "libnovaphy_hello_plugin.so"' in manifest


def shows_the_c_plugin(installed_sdk, plugins):
    listed = installed_sdk.host("--no-lazy", "list", plugins=plugins)
    assert re.search(r"^hello_c_plugin +hello_c_plugin +0\.1\.0 +loaded ", listed.stdout, re.MULTILINE)


def test_the_c_plugin_builds_without_a_cpp_compiler_and_loads(installed_sdk):
    built = installed_sdk.sample("hello_c_plugin")
    assert "CMAKE_CXX_COMPILER_ID" not in (built.build / "CMakeCache.txt").read_text()
    assert not list((built.build / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake"))
    shows_the_c_plugin(installed_sdk, built)


def test_the_c_plugin_needs_one_header_and_a_c_compiler(installed_sdk, tmp_path):
    """The readme's commands, with a prefix that holds nothing but abi.h."""
    prefix = tmp_path / "headers"
    (prefix / "include/novaphy").mkdir(parents=True)
    shutil.copy(installed_sdk.prefix / "include/novaphy/abi.h", prefix / "include/novaphy")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "samples/hello_c_plugin", source)
    for command in commands(source / "README.md"):
        run("bash", "-euc", command, folder=source, environment=installed_sdk.environment(PREFIX=prefix))
    shows_the_c_plugin(installed_sdk, source / "plugins")
