# SPDX-License-Identifier: Apache-2.0
"""Rules that hold for every file: length, licence line, what may not stand anywhere."""
import re
from pathlib import Path

from project_tree import CODE, CPP, ROOT, code_files, found, lines_of, project_files

THIS = Path(__file__).resolve().relative_to(ROOT)
LONGEST = 450
AT_THE_ROOT = set("""CMakeLists.txt CMakePresets.json bootstrap.sh README.md LICENSE NOTICE CHANGELOG.md CITATION.cff
environment.yml pyproject.toml .clang-format .gitignore .gitattributes""".split())
BINARY = {".png", ".npz", ".f32", ".jpg", ".gz"}


def text_files():
    return [path for path in project_files() if path.suffix not in BINARY and path != THIS]


def test_no_file_of_code_is_longer_than_450_lines():
    long = [f"{path}: {count} lines" for path in code_files() if path.suffix != ".pyi" and (count := len(lines_of(path))) > LONGEST]
    assert not long, "\n".join(long)


def test_every_file_of_code_begins_with_the_licence_line():
    mark = "SPDX-License-Identifier: Apache-2.0"
    wrong = []
    for path in code_files():
        if path.suffix == ".pyi":  # generated
            continue
        lines = lines_of(path)
        first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
        if not first or mark not in first[0]:
            wrong.append(str(path))
    assert not wrong, "without the SPDX line: " + ", ".join(wrong)


def test_every_header_may_be_included_twice():
    guard = re.compile(r"#pragma once|#ifndef NOVAPHY_\w+_H")  # the latter in the headers that plain C reads too
    wrong = [str(path) for path in code_files({".h", ".hpp", ".cuh"}) if not any(map(guard.match, lines_of(path)))]
    assert not wrong, "without #pragma once: " + ", ".join(wrong)


def test_no_code_is_chosen_by_a_build_switch():
    wrong = found(r"#\s*(if|ifdef|ifndef|elif)\b.*\b(NOVAPHY_WITH_|NOVAPHY_BUILD_(?!TYPE)|NOVA_ENABLE_)", code_files(CPP))
    assert not wrong, "\n".join(wrong)


def test_arithmetic_is_never_relaxed():
    flags = "|".join(("-ffast" + "-math", "-O" + "fast", "-ffp-contract=" + "(fast|on)", "-f?open" + "mp", "-march=" + "native"))
    wrong = found(rf"(?<!\w)({flags})", [path for path in text_files() if path.suffix in CODE | {".json", ".toml", ".txt"}])
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_to_do_in_a_comment():
    wrong = found(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b", code_files())
    assert not wrong, "\n".join(wrong)


def test_no_header_opens_a_namespace_for_its_readers():
    wrong = found(r"^\s*using namespace\b", code_files({".h", ".hpp", ".cuh"}))
    assert not wrong, "\n".join(wrong)


def test_the_python_package_and_demos_hold_no_float64_array():
    files = [path for path in code_files({".py"}) if path.is_relative_to("python/novaphy") or path.is_relative_to("python/demos")
             or (path.parts[0] == "plugins" and "tests" not in path.parts)]
    assert files, "no Python file of the package was found"
    wrong = found(r"(?<![a-z_])float64|np\.(double|longdouble)\b|dtype=float\b|astype\(float\)|dtype=['\"](<?f8|d)['\"]", files)
    assert not wrong, "\n".join(wrong)


def test_nothing_depends_on_the_removed_compatibility_packages():
    files = [path for path in code_files() if path.suffix not in {".pyi"} and "tests" not in path.parts]
    wrong = found(r"(import|include|find_package|add_subdirectory)\b.*\b(collision_nova|sim_nova)\b", files)
    assert not wrong, "\n".join(wrong)
    assert not [path for path in project_files() if {"collision_nova", "sim_nova"} & {Path(part).stem for part in path.parts}]


def test_no_text_names_a_folder_of_one_machine():
    folders = "|".join(("work", "tmp", "farm", "root", "home", "opt"))
    wrong = found(rf"(?<![\w.~}}$)\]-])/({folders})/", text_files())
    assert not wrong, "\n".join(wrong)


def test_the_root_holds_what_a_newcomer_expects_and_nothing_else():
    strangers = [str(path) for path in project_files() if len(path.parts) == 1 and path.name not in AT_THE_ROOT]
    assert not strangers, f"at the root: {strangers}"
    missing = sorted(name for name in AT_THE_ROOT - {".gitattributes"} if not (ROOT / name).is_file())
    assert not missing, f"missing at the root: {missing}"


def test_continuous_integration_runs_the_readmes_command():
    assert re.search(r"^exec \./bootstrap\.sh test$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    readme = (ROOT / "README.md").read_text()
    assert "./bootstrap.sh demo" in readme and "./bootstrap.sh test" in readme
