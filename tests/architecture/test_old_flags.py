# SPDX-License-Identifier: Apache-2.0
"""Switches of the older build, given to CMake: one sentence names the plugin or module that replaces each."""
import subprocess

import pytest
from project_tree import ROOT, modules

REPLACEMENTS = {
    "NOVAPHY_WITH_DIFF": "plugin 'nova_diff'",
    "NOVAPHY_WITH_CUDA": "plugin 'cuda_backend'",
    "NOVAPHY_BUILD_VBD": "plugin 'vbd'",
    "NOVAPHY_WITH_VBD_CUDA": "module 'vbd_cuda'",
    "NOVAPHY_WITH_VBD_DLAN": "module 'vbd_dlan'",
    "NOVAPHY_WITH_COLLISION_CUDA": "module 'collision_cuda'",
    "NOVA_ENABLE_NVRTC": "module 'nova_cuda'",
}


def answer(*definitions):
    result = subprocess.run(["cmake", *definitions, "-P", ROOT / "sdk/cmake/novaphy_old_flags.cmake"],
                            capture_output=True, text=True)
    assert result.returncode == 0, "configuration must go on"
    return (result.stdout + result.stderr).splitlines()


@pytest.mark.parametrize("flag, replacement", REPLACEMENTS.items())
@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_an_old_flag_is_answered_by_one_sentence_that_names_its_replacement(flag, replacement, value):
    name, plugin = replacement.split("'")[1], {"vbd_cuda": "vbd", "vbd_dlan": "vbd", "collision_cuda": "collision",
                                               "nova_cuda": "nova_diff"}.get(replacement.split("'")[1])
    here = f"NOVAPHY_PLUGINS decides whether plugin '{plugin or name}' is built"
    if name not in set(modules()) | {plugin for plugin, _ in modules().values()}:
        here = "this source tree does not hold it yet"
    assert answer(f"-D{flag}={value}") == [f"{flag}={value} is no switch of this build: {replacement} replaces it, and {here}."]


def test_each_of_several_flags_gets_its_own_sentence():
    lines = answer("-DNOVAPHY_WITH_CUDA=ON", "-DNOVA_ENABLE_NVRTC=ON", "-DNOVAPHY_BUILD_VBD=OFF")
    assert sorted(line.split("=")[0] for line in lines) == ["NOVAPHY_BUILD_VBD", "NOVAPHY_WITH_CUDA", "NOVA_ENABLE_NVRTC"]


def test_without_old_flags_nothing_is_said():
    assert answer() == []


def test_the_build_includes_the_answers():
    assert "include(novaphy_old_flags)" in (ROOT / "sdk/cmake/novaphy_project.cmake").read_text()
