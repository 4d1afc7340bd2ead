# SPDX-License-Identifier: Apache-2.0
"""What find_package(NovaPhySDK) gives: complete, relocatable, and clear about what it cannot do."""
import json
import re
import shutil

import pytest
from installed_sdk import build_folder, run
from project_tree import ROOT, modules

EMPTY = "cmake_minimum_required(VERSION 3.25)\nproject(empty LANGUAGES {languages})\n"


@pytest.fixture
def project(tmp_path):
    """Writes a project of the given lines and returns its folder."""
    def write(*lines, languages="CXX", **files):
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        (folder / "CMakeLists.txt").write_text(EMPTY.format(languages=languages) + "\n".join(lines) + "\n")
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)
        return folder
    return write


def refusal(installed_sdk, source, *definitions):
    """What CMake says when it refuses, on one line."""
    _, done = installed_sdk.configure(source, *definitions, expect=1)
    return " ".join(done.stderr.split())


def test_the_sdk_holds_no_path_of_the_build_or_of_the_checkout(installed_sdk):
    folders = [str(build_folder()).encode(), str(ROOT).encode(), str(installed_sdk.prefix).encode()]
    texts = [path for path in installed_sdk.prefix.rglob("*") if path.is_file() and ".so" not in path.name
             and path.parent.name != "bin"]
    assert len(texts) > 50
    wrong = [str(path) for path in texts if any(folder in path.read_bytes() for folder in folders)]
    assert not wrong, wrong


def test_a_moved_sdk_still_builds_and_runs_a_plugin(installed_sdk, tmp_path):
    moved = tmp_path / "another place"
    shutil.copytree(installed_sdk.prefix, moved, symlinks=True)
    build, _ = installed_sdk.configure(ROOT / "samples/hello_c_plugin", f"CMAKE_PREFIX_PATH={moved}")
    run("cmake", "--build", build)
    listed = run(moved / "bin/novaphy-host", "--no-lazy", "list", environment=installed_sdk.environment(build / "lib/novaphy/plugins"))
    assert str(moved / "lib/novaphy/plugins") in listed.stdout and str(installed_sdk.prefix) + "/" not in listed.stdout
    assert re.search(r"^hello_c_plugin .* loaded ", listed.stdout, re.MULTILINE)


def test_every_public_header_is_installed(installed_sdk):
    folders = [ROOT / "sdk/include", ROOT / "runtime/include", *(ROOT / "plugins").glob("*/include")]
    missing = [str(path) for folder in folders for path in folder.rglob("*")
               if path.is_file() and not (installed_sdk.prefix / "include" / path.relative_to(folder)).is_file()]
    assert not missing, missing


def test_every_module_with_public_headers_is_a_target(installed_sdk, project):
    names = sorted(name for name, (plugin, _) in modules().items() if (ROOT / "plugins" / plugin / "include").is_dir())
    checks = [f'if(NOT TARGET NovaPhy::{name})\n  message(FATAL_ERROR "no {name}")\nendif()'
              for name in ["sdk", "runtime", "host", *names]]
    installed_sdk.configure(project(f"find_package(NovaPhySDK 0.1 REQUIRED COMPONENTS {' '.join(names)})", *checks))


def test_another_minor_version_is_refused_with_both_versions(installed_sdk, project):
    said = refusal(installed_sdk, project("find_package(NovaPhySDK 0.2 REQUIRED)"))
    assert 'compatible with requested version "0.2"' in said and "NovaPhySDKConfig.cmake, version: 0.1.0" in said


def test_a_module_that_the_sdk_lacks_is_named_with_those_that_it_has(installed_sdk, project):
    said = refusal(installed_sdk, project("find_package(NovaPhySDK 0.1 REQUIRED COMPONENTS collison)"))
    assert "this SDK has no module 'collison'; it has: nova, camera, collision," in said


@pytest.mark.parametrize("family, version, sentence", [
    ("GNU", "11.4.0", "g++ 11.4.0 is too old; NovaPhy needs g++ 12 or newer."),
    ("Clang", "13.0.1", "clang 13.0.1 is too old; NovaPhy needs clang 14 or newer.")])
def test_an_old_compiler_is_one_sentence(installed_sdk, project, family, version, sentence):
    source = project(f"set(CMAKE_CXX_COMPILER_ID {family})", f"set(CMAKE_CXX_COMPILER_VERSION {version})",
                     "find_package(NovaPhySDK 0.1 REQUIRED)")
    assert sentence in refusal(installed_sdk, source)


def test_an_old_cmake_is_one_sentence(installed_sdk, project):
    source = project("set(CMAKE_VERSION 3.20.2)", "find_package(NovaPhySDK 0.1 REQUIRED)")
    assert "CMake 3.20.2 is too old; NovaPhySDK needs CMake 3.25 or newer." in refusal(installed_sdk, source)


PLUGIN = {"schema": 1, "name": "probe", "version": "0.1.0", "modules": [{"name": "probe"}]}
SOURCE = """#include "novaphy/plugin.hpp"
static void load(novaphy::PluginContext&) {}
NOVAPHY_PLUGIN(load);
"""


def test_a_missing_pybind11_is_one_sentence_with_the_command_to_install_it(installed_sdk, project, tmp_path):
    python = tmp_path / "bare/bin/python"
    run("python3", "-m", "venv", "--without-pip", tmp_path / "bare")
    source = project("find_package(NovaPhySDK 0.1 REQUIRED)",
                     "novaphy_add_plugin(probe MANIFEST probe.novaplugin.json SOURCES module.cpp)",
                     "novaphy_add_python_module(probe _probe SOURCES module.cpp)",
                     probe__novaplugin__json=json.dumps(PLUGIN), module__cpp=SOURCE)
    said = refusal(installed_sdk, source, f"Python_EXECUTABLE={python}", "CMAKE_DISABLE_FIND_PACKAGE_pybind11=ON")
    assert f"The Python extensions need pybind11 3.1, and {python} has none: install it with" in said
    assert "-m pip install \"pybind11==3.1.*\"', or set NOVAPHY_BUILD_PYTHON=OFF." in said


def test_a_third_party_chooses_its_own_warnings(installed_sdk, project):
    """Our headers are clean under theirs, our own flags are not forced on them, and what matters is."""
    source = project("find_package(NovaPhySDK 0.1 REQUIRED)", "add_compile_options(-Wall -Werror)",
                     "novaphy_add_plugin(probe MANIFEST probe.novaplugin.json SOURCES module.cpp)",
                     probe__novaplugin__json=json.dumps(PLUGIN),
                     module__cpp=SOURCE + "static int shadowed(int x) { { int x = 1; return x + 0.5 > 1; } }\n"
                     "[[maybe_unused]] static int used = shadowed(1);\n")
    build, _ = installed_sdk.configure(source)
    run("cmake", "--build", build)
    command = json.loads((build / "compile_commands.json").read_text())[0]["command"].split()
    assert {"-ffp-contract=off", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-std=c++20"} <= set(command)
    assert not {"-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic"} & set(command)


def test_a_name_that_does_not_agree_with_the_manifest_is_a_configure_error_with_both(installed_sdk, project):
    source = project("find_package(NovaPhySDK 0.1 REQUIRED)",
                     "novaphy_add_plugin(prove MANIFEST probe.novaplugin.json SOURCES module.cpp)",
                     probe__novaplugin__json=json.dumps(PLUGIN), module__cpp=SOURCE)
    assert "probe.novaplugin.json#/name: is 'probe', novaphy_add_plugin() says 'prove'; make them equal" in refusal(
        installed_sdk, source)
