# SPDX-License-Identifier: Apache-2.0
"""What bootstrap.sh says to a machine that lacks something: run as a copy in an empty folder, with stand-ins for the tools."""
import os
import re
import shutil
import subprocess

import pytest
from project_tree import ROOT

SCRIPT = (ROOT / "bootstrap.sh").read_text()
PACKAGES = re.search(r"debian_packages=\(([^)]*)\)", SCRIPT)[1].split()


class Machine:
    """A folder with the script and, first on PATH, small scripts in the place of real tools."""

    def __init__(self, folder):
        self.folder, self.tools = folder, folder / "tools"
        self.tools.mkdir(parents=True)
        shutil.copy(ROOT / "bootstrap.sh", folder)

    def tool(self, name, *lines):
        path = self.tools / name
        path.write_text("\n".join(("#!/bin/bash", *lines)) + "\n")
        path.chmod(0o755)
        return path

    def run(self, *arguments, **environment):
        env = {name: value for name, value in os.environ.items() if name not in ("CXX", "PYTHON", "NOVAPHY_NO_APT")}
        env |= {"PATH": f"{self.tools}:{env['PATH']}"} | environment
        return subprocess.run(["./bootstrap.sh", *arguments], cwd=self.folder, env=env, capture_output=True, text=True)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "a folder with spaces")


def test_a_machine_that_has_everything_is_told_so(machine):
    result = machine.run("check")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("bootstrap: the tools of this machine are new enough; Python is ")


@pytest.mark.parametrize("name, lines, sentence", [
    ("cmake", ["echo cmake version 3.20.1"], "CMake 3.20.1 is too old; NovaPhy needs CMake 3.25 or newer."),
    ("cmake", ["exit 127"], "CMake was not found; NovaPhy needs CMake 3.25 or newer."),
    ("c++", ["echo __clang_major__ 11"], "g++ 11 is too old; NovaPhy needs g++ 12 or newer."),
    ("c++", ["echo 13 4"], "clang 13 is too old; NovaPhy needs clang 14 or newer."),
    ("c++", ["""if grep -q boost; then echo '"1_71"'; else echo __clang_major__ 12; fi"""],
     "Boost 1.71 is too old; NovaPhy needs Boost 1.74 or newer."),
    ("c++", ["""grep -q boost || echo __clang_major__ 12"""], "Boost was not found; NovaPhy needs Boost 1.74 or newer."),
])
def test_a_tool_that_is_too_old_or_absent_is_one_sentence_with_both_versions(machine, name, lines, sentence):
    machine.tool(name, *lines)
    result = machine.run("check")
    assert (result.returncode, result.stderr) == (1, f"bootstrap: {sentence}\n")


def test_a_python_that_is_too_old_is_one_sentence_with_both_versions(machine):
    old = machine.tool("python-old", '[ "$1" = -c ] && echo 3.9.2 || exit 1')
    result = machine.run("check", PYTHON=str(old))
    assert (result.returncode, result.stderr) == (1, "bootstrap: Python 3.9.2 is too old; NovaPhy needs Python 3.10 or newer.\n")


def test_a_python_without_headers_is_told_what_to_install(machine):
    bare = machine.tool("python-bare", '[ "$1" = -c ] && echo 3.12.1 || exit 1')
    result = machine.run("check", PYTHON=str(bare))
    assert result.returncode == 1
    assert "Python 3.12.1 lacks its headers or its module venv; install python3-dev and python3-venv" in result.stderr


def test_without_root_the_missing_packages_are_one_line_to_run(machine):
    machine.tool("id", "echo 1000")
    machine.tool("sudo", "exit 1")
    machine.tool("dpkg-query", '[ "${@: -1}" = cmake ] && echo -n installed')
    result = machine.run("build")
    assert result.returncode == 1
    missing = " ".join(name for name in PACKAGES if name != "cmake")
    assert result.stderr == ("bootstrap: missing packages; install them as root, then run this again:\n"
                             f"  apt-get install {missing}\n")


@pytest.mark.parametrize("root", [True, False], ids=["as root", "through sudo"])
def test_only_the_missing_packages_are_installed(machine, root):
    machine.tool("id", f"echo {0 if root else 1000}")
    machine.tool("sudo", '[ "$1" = -n ] && shift', '"$@"')
    machine.tool("dpkg-query", '[[ "${@: -1}" = libboost-dev || "${@: -1}" = ccache ]] || echo -n installed')
    machine.tool("apt-get", f"echo $* >>'{machine.folder}/asked'")
    machine.tool("cmake", "echo cmake version 3.1")  # so that it stops after the packages
    result = machine.run("build")
    assert (machine.folder / "asked").read_text().splitlines() == [
        "update", "install -y --no-install-recommends ccache libboost-dev"]
    assert "CMake 3.1 is too old" in result.stderr


def test_a_machine_with_all_packages_asks_for_none(machine):
    machine.tool("dpkg-query", "echo -n installed")
    machine.tool("apt-get", f"touch '{machine.folder}/asked'")
    machine.tool("cmake", "echo cmake version 3.1")
    machine.run("build")
    assert not (machine.folder / "asked").exists()


def test_a_step_that_fails_shows_the_end_of_its_log_and_its_exit_code(machine):
    machine.tool("id", "echo 0")
    machine.tool("dpkg-query", "exit 1")
    machine.tool("apt-get", "echo E: no route to the archive >&2", "exit 100")
    result = machine.run("build")
    assert result.returncode == 1
    assert "E: no route to the archive" in result.stderr
    assert "reading the list of Debian packages failed with exit code 100; the whole log is build/logs/apt-update.log" in result.stderr


def test_an_unknown_command_prints_the_usage_and_fails(machine):
    result = machine.run("tset")
    assert result.returncode == 2
    assert result.stderr.startswith("usage: ./bootstrap.sh COMMAND")
    assert machine.run("--help").returncode == 0
