# SPDX-License-Identifier: Apache-2.0
"""NOTICE, the texts in licenses/ and the lists of tools name the same libraries."""
import re

from project_tree import ROOT, code_files, lines_of

# what CMake's find_package or find_library asks for, and its text; empty where nothing of it gets into a build
TEXTS = {"Boost": "boost", "nlohmann_json": "nlohmann_json", "TBB": "onetbb", "spdlog": "spdlog", "fmt": "fmt",
         "Eigen3": "eigen", "CLI11": "cli11", "pybind11": "pybind11", "NOVAPHY_LIBMD": "libmd", "Threads": "",
         "Python": "", "doctest": "", "NovaPhySDK": ""}


def asked_for():
    files = [path for path in code_files({".cmake"}) + [path for path in code_files() if path.name == "CMakeLists.txt"]
             if path.parts[0] in ("runtime", "sdk", "plugins", "python", "tests")]
    return {match[1] for path in files for line in lines_of(path)
            if (match := re.match(r"\s*find_(?:package|library)\((\w+)", line))}


def test_every_library_that_a_build_asks_for_has_its_text_and_stands_in_the_notice():
    assert asked_for() <= set(TEXTS), f"say in TEXTS what becomes of: {asked_for() - set(TEXTS)}"
    texts = {TEXTS[name] for name in asked_for()} - {""}
    assert texts == {path.stem for path in (ROOT / "licenses").glob("*.txt")}
    notice = (ROOT / "NOTICE").read_text()
    assert set(re.findall(r"licenses/(\w+)\.txt", notice)) == texts


def test_every_text_is_a_whole_licence():
    for path in (ROOT / "licenses").glob("*.txt"):
        text = path.read_text()
        assert "Copyright" in text and re.search("WARRANT(Y|IES)|[Ww]arranties", text) and len(text) > 900, path.name
    assert "END OF TERMS AND CONDITIONS" in (ROOT / "licenses/onetbb.txt").read_text()
    assert "Exhibit B" in (ROOT / "licenses/eigen.txt").read_text()


def test_both_lists_of_tools_hold_every_library():
    conda = {"libboost-dev": "libboost-headers", "nlohmann-json3-dev": "nlohmann_json", "libtbb-dev": "tbb-devel",
             "libspdlog-dev": "spdlog", "libfmt-dev": "fmt", "libcli11-dev": "cli11", "libeigen3-dev": "eigen",
             "doctest-dev": "doctest", "libmd-dev": "libmd"}
    script = (ROOT / "bootstrap.sh").read_text()
    listed = set(re.search(r"debian_packages=\(([^)]*)\)", script)[1].split())
    wanted = {name for name in listed if name.endswith("-dev") and not name.startswith("python3")}
    assert wanted == set(conda), "say which conda package it is"
    environment = (ROOT / "environment.yml").read_text()
    for name in conda.values():
        assert re.search(rf"^  - {name}([>=].*)?$", environment, re.MULTILINE), f"environment.yml lacks {name}"


def test_release_and_licence_are_the_same_everywhere():
    release = re.search(r"project\(NovaPhy VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {release}\n" in citation and "\nlicense: Apache-2.0\n" in citation
    assert f"\n## {release}" in (ROOT / "CHANGELOG.md").read_text()
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text()
