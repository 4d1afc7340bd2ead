# SPDX-License-Identifier: Apache-2.0
"""Arrows of the architecture: sdk <- runtime <- plugins <- python. An include or a link only goes left, and from module
to module only where the manifest requires it."""
import importlib.util
import re
import subprocess
from pathlib import Path

import pytest
from project_tree import CPP, ROOT, closure, code_files, found, lines_of, modules, modules_of

STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional future
initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location
span sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread tuple
type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version stddef.h stdint.h
stdbool.h""".split())
OPERATING_SYSTEM = (r'#\s*include\s*<(sys/|linux/|netinet/|arpa/|unistd\.h|dlfcn\.h|fcntl\.h|link\.h|elf\.h|spawn\.h|pwd\.h|'
                    r'grp\.h|poll\.h|dirent\.h|signal\.h|pthread\.h|sched\.h|semaphore\.h|termios\.h|windows\.h|mach/)')
PUBLIC = ("sdk/include", "runtime/include")
GENERATED = {"novaphy_commit.hpp"}  # written into the build folder


def includes(path):
    """(line number, '<' or '"', header) of every include."""
    for number, line in enumerate(lines_of(path), 1):
        if match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line):
            yield number, match[1], match[2]


def resolve(path, header):
    """The project's file that an include means, or None for one from outside."""
    roots = [path.parent, *map(Path, PUBLIC), Path("runtime/src"), Path("python/src"), Path("tests")]
    if path.parts[0] == "plugins":
        roots[1:1] = [Path(*path.parts[:2]), Path("plugins")]
    if path.parts[0] == "samples":
        roots[1:1] = [Path(*path.parts[:2]), Path(*path.parts[:2], "include")]
    if path.is_relative_to("sdk/template"):
        roots[1:1] = [Path("sdk/template"), Path("sdk/template/include"), Path("sdk/template/src")]
    roots += sorted(folder.relative_to(ROOT) for folder in (ROOT / "plugins").glob("*/include"))
    for root in roots:
        candidate = (ROOT / root / header).resolve()
        if candidate.is_file() and candidate.is_relative_to(ROOT):
            return candidate.relative_to(ROOT)
    return None


def objection(path, target):
    """Why the file may not include the target; None where it may."""
    layer, other = path.parts[0], target.parts[0]
    if "tests" in path.parts or path.is_relative_to("sdk/template"):  # a test may use everything; a template is a plugin
        return None
    if layer == "sdk":
        return None if other == "sdk" else "a public header includes public headers alone"
    if layer == "runtime":
        return None if other in ("sdk", "runtime") else "the runtime knows no plugin"
    if layer == "plugins":
        if other == "sdk" or target.parts[:2] in (("runtime", "include"), path.parts[:2]):
            return None
        if other == "plugins" and target.parts[2] == "include":
            allowed = {modules()[name][0] for name in closure(modules_of(path))}
            return None if target.parts[1] in allowed else f"no manifest entry requires a module of '{target.parts[1]}'"
        return "a plugin sees public headers, its own files and include/ of plugins that it requires"
    if layer == "samples":
        installed = target.parts[:2] in (("sdk", "include"), ("runtime", "include")) or (
            other == "plugins" and target.parts[2] == "include")
        own = target.parts[:2] == path.parts[:2]
        return None if installed or own else "a sample sees its own files and headers that are installed"
    if layer == "python":
        return None if target.parts[:2] != ("runtime", "src") else "the bindings see public headers"
    return None


def test_includes_point_left_and_to_required_modules_only():
    wrong = []
    for path in code_files(CPP):
        for number, _, header in includes(path):
            target = resolve(path, header)
            if target and (reason := objection(path, target)):
                wrong.append(f"{path}:{number}: includes {target}: {reason}")
    assert not wrong, "\n".join(wrong)


def test_every_quoted_include_is_a_file_of_the_project():
    missing = [f"{path}:{number}: {header}" for path in code_files(CPP) for number, kind, header in includes(path)
               if kind == '"' and header not in GENERATED and not resolve(path, header)]
    assert not missing, "\n".join(missing)


def test_public_headers_need_the_standard_library_alone():
    wrong = []
    for path in code_files(CPP):
        public = path.is_relative_to("sdk/include") or path.is_relative_to("runtime/include") or (
            path.parts[0] == "plugins" and path.parts[2] == "include")
        if not public or path.name.startswith("python"):  # python*.hpp are for authors of pybind11 extensions
            continue
        wrong += [f"{path}:{number}: <{header}>" for number, kind, header in includes(path)
                  if kind == "<" and header not in STANDARD and not resolve(path, header)]
    assert not wrong, "\n".join(wrong)


def test_operating_system_headers_are_included_in_the_platform_folder_alone():
    files = [path for path in code_files(CPP) if path.parts[0] in ("sdk", "runtime", "plugins", "python")
             and not path.is_relative_to("runtime/src/platform") and "tests" not in path.parts]
    wrong = found(OPERATING_SYSTEM, files)
    assert not wrong, "\n".join(wrong)


# what was built ---------------------------------------------------------------------------------------------------------

def installed_folders():
    spec = importlib.util.find_spec("novaphy")
    assert spec, "the package novaphy is not installed in this environment"
    return [Path(folder) for folder in spec.submodule_search_locations]


def installed_libraries():
    """The project's own; what a wheel brings of others is checked in tests/packaging."""
    libraries = sorted({path.resolve() for folder in installed_folders() for path in folder.rglob("*.so*")
                        if not path.name.startswith("libtbb.")})
    assert libraries, f"no library in {installed_folders()}"
    return libraries


def needed(library):
    output = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output), re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", output)


SYSTEM = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libdl|librt|libpthread|ld-linux[-\w]*)\.so(\.\d+)*$")
RUNTIME = "libnovaphy_runtime.so.0"


def allowed_libraries(library):
    """What a library of the installed package may need, besides the system's."""
    if library.name == RUNTIME:
        return {"libtbb.so.12"}
    if library.name.startswith("_core."):
        return {RUNTIME}
    if extension := re.match(r"_novaphy_(\w+?)\.", library.name):
        names = closure({extension[1]})
    else:
        names = closure({re.fullmatch(r"libnovaphy_(\w+)\.so.*", library.name)[1]})
    return {RUNTIME} | {f"libnovaphy_{name}.so" for name in names}


def test_every_library_needs_only_the_system_the_runtime_and_modules_that_it_requires():
    wrong = []
    for library in installed_libraries():
        allowed = allowed_libraries(library)
        wrong += [f"{library.name} needs {name}" for name in needed(library)[0]
                  if not SYSTEM.match(name) and re.sub(r"\.so\.\d.*", ".so", name) not in
                  {re.sub(r"\.so\.\d.*", ".so", item) for item in allowed}]
    assert not wrong, "\n".join(wrong)


def test_no_library_carries_an_absolute_search_path():
    wrong = [f"{library.name}: {path}" for library in installed_libraries() for path in needed(library)[1]
             if any(not part.startswith("$ORIGIN") for part in path.split(":") if part)]
    assert not wrong, "\n".join(wrong)


def test_every_module_library_of_the_package_stands_in_a_manifest():
    names = {re.fullmatch(r"libnovaphy_(\w+)\.so.*", path.name)[1] for path in installed_libraries()
             if path.name.startswith("libnovaphy_")} - {"runtime"}
    assert names <= set(modules()), f"libraries without a manifest: {sorted(names - set(modules()))}"
    assert names, "the package holds no module at all"


@pytest.mark.parametrize("source, target, word", [
    ("runtime/src/core/log.cpp", "plugins/collision/include/novaphy/collision/x.hpp", "knows no plugin"),
    ("sdk/include/novaphy/log.hpp", "runtime/include/novaphy/runtime.hpp", "public headers alone"),
    ("plugins/collision/src/x.cpp", "plugins/semi_implicit/include/novaphy/semi_implicit/x.hpp", "requires a module"),
    ("plugins/collision/src/x.cpp", "runtime/src/core/x.hpp", "sees public headers"),
    ("plugins/semi_implicit/src/x.cpp", "plugins/collision/src/x.hpp", "sees public headers"),
    ("samples/custom_solver/src/x.cpp", "plugins/semi_implicit/src/x.hpp", "headers that are installed"),
    ("samples/custom_solver/src/x.cpp", "samples/embed_host/src/x.hpp", "headers that are installed"),
    ("python/src/x.cpp", "runtime/src/model/x.hpp", "see public headers"),
])
def test_the_rule_itself_refuses_an_arrow_to_the_right(source, target, word):
    assert word in objection(Path(source), Path(target))
