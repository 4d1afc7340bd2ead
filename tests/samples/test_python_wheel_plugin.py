# SPDX-License-Identifier: Apache-2.0
"""Sample python_wheel_plugin: a wheel whose solver comes with `pip install` and goes with `pip uninstall`."""
import shutil
import subprocess
import sys
import sysconfig
import zipfile

import pytest
from installed_sdk import run
from project_tree import ROOT

FLIGHT = """
import novaphy
builder = novaphy.ModelBuilder()
builder.add_particle(pos=(0, 0, 10), vel=(3, 0, 0), mass=2.0)
model = builder.finalize()
solver, state, other = novaphy.solvers.SolverVerlet(model), model.state(), model.state()
for _ in range(100):
    state.clear_forces()
    solver.step(state, other, None, None, 0.01)
    state, other = other, state
print(*state.particle_q.numpy()[0], *state.particle_qd.numpy()[0], novaphy.plugins.info("acme_verlet")["path"])
"""
ASK = """
import novaphy
print("SolverVerlet" in dir(novaphy.solvers), novaphy.plugins.has("acme_verlet"))
"""


def test_the_package_says_where_its_sdk_is(installed_sdk, installed_package):
    found = installed_sdk.python("import novaphy; print(novaphy.sdk_cmake_dir())", PYTHONPATH=installed_package).stdout.strip()
    assert found == str(installed_package / "novaphy/lib/cmake/NovaPhySDK")
    build, _ = installed_sdk.configure(ROOT / "samples/hello_c_plugin", "CMAKE_PREFIX_PATH=", f"NovaPhySDK_DIR={found}")
    run("cmake", "--build", build)
    host = run(installed_package / "novaphy/bin/novaphy-host", "--no-lazy", "why", "hello_c_plugin",
               environment=installed_sdk.environment(build / "lib/novaphy/plugins"))
    assert "loaded" in host.stdout


def test_a_build_folder_without_sdk_says_what_to_install(installed_sdk, installed_package, tmp_path):
    bare = tmp_path / "bare"
    shutil.copytree(installed_package / "novaphy", bare / "novaphy", ignore=shutil.ignore_patterns("cmake"))
    said = installed_sdk.python("import novaphy\ntry:\n  novaphy.sdk_cmake_dir()\nexcept novaphy.NovaPhyError as error:\n  print(error)",
                                PYTHONPATH=bare).stdout
    assert said.startswith(f"novaphy.sdk_cmake_dir: there is no SDK in {bare}/novaphy/lib/cmake/NovaPhySDK; it belongs to an installed")


@pytest.fixture(scope="module")
def wheel(installed_sdk, installed_package, tmp_path_factory):
    """The sample's wheel, built by pip without network against the installed package."""
    if subprocess.run([sys.executable, "-c", "import scikit_build_core"], capture_output=True).returncode:
        pytest.skip("the interpreter has no scikit-build-core, with which wheels are built")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "samples/python_wheel_plugin", source)
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-index", "--no-deps", "-w", folder, source, folder=folder,
        environment=installed_sdk.environment(PYTHONPATH=installed_package, CMAKE_ARGS=" ".join(installed_sdk.arguments)))
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_plugin_and_not_the_runtime(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    folder = "acme_verlet/lib/novaphy/plugins/acme_verlet"
    for name in ("acme_verlet.novaplugin.json", "libnovaphy_acme_verlet.so", f"_acme_verlet{sysconfig.get_config_var('EXT_SUFFIX')}"):
        assert f"{folder}/{name}" in names
    assert "acme_verlet/__init__.py" in names and not [name for name in names if "libnovaphy_runtime" in name or name.endswith(".hpp")]


@pytest.mark.slow
def test_installing_the_wheel_brings_its_solver_and_uninstalling_takes_it_away(installed_sdk, installed_package, wheel, tmp_path):
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    # novaphy as installed, and this interpreter's NumPy
    (site / "beside.pth").write_text(f"{installed_package}\n{sysconfig.get_path('purelib')}\n")

    def in_venv(program):
        environment = installed_sdk.environment()
        environment.pop("PYTHONPATH", None)
        return run(python, "-c", program, folder=tmp_path, environment=environment).stdout

    assert in_venv(ASK) == "False False\n"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "--no-index", "--no-deps", wheel, folder=tmp_path)
    assert in_venv(ASK) == "True True\n"
    *numbers, path = in_venv(FLIGHT).split()
    # Verlet is exact here: 1 s of free flight
    assert list(map(float, numbers)) == pytest.approx([3, 0, 10 - 9.81 / 2, 3, 0, -9.81], abs=2e-4)
    assert path.startswith(str(site / "acme_verlet/lib/novaphy/plugins/acme_verlet"))
    run(*pip, "uninstall", "--yes", "acme-verlet", folder=tmp_path)
    assert in_venv(ASK) == "False False\n" and not (site / "acme_verlet").exists()
