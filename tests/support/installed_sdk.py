# SPDX-License-Identifier: Apache-2.0
"""The build under test, installed once a session into a scratch prefix, and projects of third parties built against it.

    def test_it(installed_sdk):
        built = installed_sdk.sample("hello_plugin")
        assert "hello" in installed_sdk.host("list", plugins=built).stdout
"""
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from project_tree import ROOT

PLUGINS = "lib/novaphy/plugins"
# samples are clean under these, with any compiler
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"


def build_folder():
    """The build folder that the imported package comes from: a build tree's own package, or what pip builds in."""
    import novaphy

    for folder in Path(novaphy._core.__file__).resolve().parents:
        if (folder / "CMakeCache.txt").is_file():
            return folder
    return ROOT / "build/release"


def cached(folder, name):
    """A variable of a build folder's cache; None when it has none."""
    found = re.search(rf"^{name}:\w+=(.+)$", (folder / "CMakeCache.txt").read_text(), re.MULTILINE)
    return found[1] if found else None


def run(*command, folder=None, environment=None, expect=0, timeout=600):
    """Runs a command and returns it with its output as text; fails with that output unless it ends as expected
    (expect=None: in any way)."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=folder,
                          env=environment, timeout=timeout)
    if expect is not None and done.returncode != expect:
        pytest.fail(f"exit code {done.returncode} instead of {expect}: {' '.join(map(str, command))}\n"
                    f"{done.stdout}\n{done.stderr}", pytrace=False)
    return done


@dataclass
class Built:
    """A third party's project: its source, build folder and installation."""
    source: Path
    build: Path
    prefix: Path

    @property
    def plugins(self):
        """The folder to search for its installed plugins."""
        return self.prefix / PLUGINS


class InstalledSdk:
    def __init__(self, prefix, scratch):
        self.prefix, self.scratch = prefix, scratch
        self.cmake_dir = prefix / "lib/cmake/NovaPhySDK"
        self.program = prefix / "bin/novaphy-host"
        self.number = 0
        self.built = {}
        folder = build_folder()
        self.arguments = [f"-D{name}={value}" for name in
                          ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER")
                          if (value := cached(folder, name))]
        self.ccache = {}
        if ccache := cached(folder, "NOVAPHY_CCACHE"):
            self.arguments += [f"-DCMAKE_{language}_COMPILER_LAUNCHER={ccache}" for language in ("C", "CXX")]
            self.ccache = {"CCACHE_DIR": run(ccache, "--get-config", "cache_dir").stdout.strip(),
                           "CCACHE_BASEDIR": str(scratch.parent), "CCACHE_NOHASHDIR": "1"}
        self.generator = cached(folder, "CMAKE_GENERATOR")

    def environment(self, plugins=(), **values):
        """This process's environment without what would lead elsewhere: no user folder, no other plugins than those of
        the SDK and of `plugins`, folders or projects that build() made."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("NOVAPHY_", "XDG_", "LD_", "CMAKE_"))}
        folders = [item.plugins if isinstance(item, Built) else item
                   for item in (plugins if isinstance(plugins, (list, tuple)) else [plugins])]
        home = self.scratch / "home"
        home.mkdir(exist_ok=True)
        if path := kept.get("PYTHONPATH"):  # the programs run in another folder
            kept["PYTHONPATH"] = ":".join(map(os.path.abspath, path.split(":")))
        if folders:
            kept["NOVAPHY_PLUGIN_PATH"] = ":".join(map(str, folders))
        if self.generator:  # CMake's own choice is make, which need not be there
            kept["CMAKE_GENERATOR"] = self.generator
        return kept | self.ccache | {"HOME": str(home)} | {name: str(value) for name, value in values.items()}

    def configure(self, source, *definitions, expect=0):
        """(build folder, what CMake said) of `source`; `definitions` as "NAME=value"."""
        self.number += 1
        build = self.scratch / f"{Path(source).name}-{self.number}"
        done = run("cmake", "-S", source, "-B", build, "-G", self.generator, *self.arguments,
                   "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DPython_EXECUTABLE={sys.executable}",
                   "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *(f"-D{definition}" for definition in definitions),
                   environment=self.environment(), expect=expect)
        return build, done

    def build(self, source, *definitions):
        """Configures, builds and installs a project against the SDK, once for the same arguments; a Built."""
        key = (str(source), definitions)
        if key not in self.built:
            build, _ = self.configure(source, *definitions)
            run("cmake", "--build", build, environment=self.environment())
            prefix = build / "installed"
            run("cmake", "--install", build, "--prefix", prefix)
            self.built[key] = Built(Path(source), build, prefix)
        return self.built[key]

    def sample(self, name, *definitions):
        """A folder below samples/, copied out of the checkout and built with warnings as errors (and little optimised,
        which halves the time)."""
        source = self.scratch / "sources" / name
        if not source.exists():
            shutil.copytree(ROOT / "samples" / name, source)
        return self.build(source, f"CMAKE_C_FLAGS={WARNINGS}", f"CMAKE_CXX_FLAGS={WARNINGS}",
                          "CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", *definitions)

    def host(self, *arguments, plugins=(), expect=0, folder=None, **environment):
        """Runs the installed novaphy-host."""
        return run(self.program, *arguments, expect=expect, folder=folder or self.scratch,
                   environment=self.environment(plugins, **environment))

    def python(self, program, *arguments, plugins=(), expect=0, **environment):
        """Runs a program in a fresh interpreter, with the package under test, or with that of PYTHONPATH where it is given
        (-S: an editable installation would come before it)."""
        return run(sys.executable, *(["-S"] if "PYTHONPATH" in environment else []), "-c", program, *arguments, expect=expect, folder=self.scratch,
                   environment=self.environment(plugins, **environment))

    def measure(self, sample, scene):
        """A function that runs a program after `scene`, and after its `first`, with a sample's plugin, and returns what it
        leaves in `result`."""
        built = self.sample(sample)

        def run_scene(program, first="", **environment):
            done = self.python(f"{first}\n{scene}\n{program}\nprint(json.dumps(result))", plugins=built, **environment)
            return json.loads(done.stdout)
        return run_scene


@pytest.fixture(scope="session")
def installed_sdk(tmp_path_factory):
    """The build under test, installed into a prefix of its own."""
    scratch = tmp_path_factory.mktemp("sdk")
    prefix = scratch / "prefix"
    run("cmake", "--install", build_folder(), "--prefix", prefix)
    (scratch / "builds").mkdir()
    return InstalledSdk(prefix, scratch / "builds")


@pytest.fixture(scope="session")
def installed_package(tmp_path_factory):
    """A folder with the package as a wheel lays it out: Python files, and the build installed below novaphy/."""
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "python/novaphy", site / "novaphy", ignore=shutil.ignore_patterns("__pycache__"))
    run("cmake", "--install", build_folder(), "--prefix", site / "novaphy")
    for core in (build_folder() / "python/novaphy").glob("_core.*.so"):  # a build without pip installs all but this
        if not (site / "novaphy" / core.name).exists():
            shutil.copy(core, site / "novaphy")
    return site
