# SPDX-License-Identifier: Apache-2.0
"""novaphy-host new-plugin: what it writes builds against the installed SDK, passes its tests and passes 'check'."""
import itertools
import json
import re

import pytest
from installed_sdk import run
from project_tree import ROOT

PARTS = ("python", "solver", "force", "demo")
OFTEN = [(), PARTS]
RARELY = [chosen for count in range(1, len(PARTS) + 1) for chosen in itertools.combinations(PARTS, count) if chosen not in OFTEN]


def new_plugin(installed_sdk, folder, name, parts, expect=0):
    flags = ["--with", ",".join(parts)] if parts else []
    return installed_sdk.host("new-plugin", name, *flags, folder, expect=expect)


def named(parts):
    return "-".join(parts) or "nothing"


@pytest.mark.parametrize("parts", [pytest.param(parts, id=named(parts)) for parts in OFTEN]
                         + [pytest.param(parts, id=named(parts), marks=pytest.mark.slow) for parts in RARELY])
def test_a_new_plugin_builds_and_passes_its_tests_and_check(installed_sdk, tmp_path, parts):
    new_plugin(installed_sdk, tmp_path, "acme_air", parts)
    source = tmp_path / "acme_air"
    build, _ = installed_sdk.configure(source, "CMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
    run("cmake", "--build", build, environment=installed_sdk.environment())
    tested = run("ctest", "--test-dir", build, "--output-on-failure", environment=installed_sdk.environment())
    names = set(re.findall(r"Test +#\d+: (\S+) \.+ +Passed", tested.stdout))
    assert names == {"acme_air", "check.acme_air"} | ({"python.acme_air"} if "python" in parts else set()), tested.stdout
    plugins = build / "lib/novaphy/plugins"
    checked = json.loads(installed_sdk.host("check", "--json", "acme_air", plugins=plugins).stdout)
    states = {check["id"]: check["state"] for check in checked["plugins"][0]["checks"]}
    assert checked["passed"] and len(states) == 11
    assert states["C08"] == ("ok" if {"python", "solver", "force", "demo"} & set(parts) else "skipped")
    if "demo" in parts:
        shown = installed_sdk.host("run", "acme_air_fall", "--set", "time=4", plugins=plugins).stdout
        assert float(re.findall(r"loss (\S+)", shown)[-1]) < 1e-6, shown
    if "force" in parts:
        installed_sdk.python(
            "import novaphy\n"
            "b = novaphy.ModelBuilder(gravity=(0.0, 0.0, 0.0)); b.add_particle(pos=(0, 0, 0), vel=(1, 0, 0), mass=2.0)\n"
            "m = b.finalize(); s = novaphy.solvers.SolverSemiImplicit(m, forces=['acme_air_drag'])\n"
            "a, c = m.state(), m.state(); s.step(a, c, None, None, 0.5)\n"
            "assert abs(c.particle_qd.numpy()[0, 0] - 0.95) < 1e-6, c.particle_qd.numpy()", plugins=plugins)


def test_what_a_new_plugins_test_throws_is_a_sentence(installed_sdk, tmp_path):
    new_plugin(installed_sdk, tmp_path, "acme_air", ())
    test = tmp_path / "acme_air/tests/acme_air_test.cpp"
    test.write_text(test.read_text().replace("void run_all() {\n", "void run_all() {\n  novaphy::fail(novaphy::ErrorKind::value, "
                                             "\"acme_air: drag has no value; give one\");\n"))
    build, _ = installed_sdk.configure(tmp_path / "acme_air", "CMAKE_CXX_FLAGS_RELEASE=-O0")
    run("cmake", "--build", build, environment=installed_sdk.environment())
    done = run("ctest", "--test-dir", build, "--output-on-failure", "-R", "^acme_air$", expect=8,
               environment=installed_sdk.environment())
    assert "\nacme_air: drag has no value; give one\n" in done.stdout
    assert "terminate called" not in done.stdout


def test_a_new_plugin_has_the_folders_of_a_bundled_one(installed_sdk, tmp_path):
    new_plugin(installed_sdk, tmp_path, "acme_air", PARTS)
    folder = tmp_path / "acme_air"
    for name in ("acme_air.novaplugin.json", "CMakeLists.txt", "README.md", "include/acme_air/formula", "src/module.cpp",
                 "python/bindings.cpp", "tests/acme_air_test.cpp", "tests/test_acme_air.py"):
        assert (folder / name).exists(), name
    for name in ("README.md", "CMakeLists.txt", "include", "src", "python", "tests"):
        assert (ROOT / "plugins/semi_implicit" / name).exists()
    assert json.loads((folder / "acme_air.novaplugin.json").read_text())["runtime"] == ">=0.1 <0.2"
    left = [str(path) for path in folder.rglob("*") if path.is_file() and re.search(r"@\w+@|@if |@end@", path.read_text())]
    assert not left
    assert not any("@" in path.name for path in folder.rglob("*"))


def test_parts_that_were_not_chosen_leave_no_file(installed_sdk, tmp_path):
    new_plugin(installed_sdk, tmp_path, "acme_air", ())
    written = {str(path.relative_to(tmp_path / "acme_air")) for path in (tmp_path / "acme_air").rglob("*") if path.is_file()}
    assert written == {".gitignore", "CMakeLists.txt", "README.md", "acme_air.novaplugin.json",
                       "include/acme_air/formula/drag.h", "include/acme_air/options.hpp", "src/module.cpp",
                       "src/options.cpp", "tests/acme_air_test.cpp"}


@pytest.mark.parametrize("name", ["Acme", "a", "9lives", "acme-air", "a" * 33])
def test_a_bad_name_is_refused_with_the_manifests_rule(installed_sdk, tmp_path, name):
    done = new_plugin(installed_sdk, tmp_path, name, (), expect=2)
    assert done.stderr == f"novaphy-host: NP109 command line: '{name}' must match [a-z][a-z0-9_]{{1,31}}\n"
    assert not list(tmp_path.iterdir())


def test_a_folder_that_exists_and_a_part_that_does_not_are_refused(installed_sdk, tmp_path):
    (tmp_path / "acme_air").mkdir()
    done = new_plugin(installed_sdk, tmp_path, "acme_air", (), expect=2)
    assert done.stderr == f"novaphy-host: {tmp_path / 'acme_air'} exists already; choose another name or another folder\n"
    done = new_plugin(installed_sdk, tmp_path, "acme_sea", ["solvr"], expect=2)
    assert done.stderr == ("novaphy-host: --with solvr: there is no such part; did you mean 'solver'? "
                           "There are: python, solver, force, demo\n")
    (tmp_path / "file").write_text("")
    done = new_plugin(installed_sdk, tmp_path / "file", "acme_sea", (), expect=1)
    assert done.stderr.startswith(f"novaphy-host: cannot write {tmp_path / 'file'}"), done.stderr
