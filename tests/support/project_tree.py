# SPDX-License-Identifier: Apache-2.0
"""The project's own files, layers and manifests, for the tests of its structure."""
import fnmatch
import functools
import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEVER = {".git", ".venv", "build", "dist", "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache"}
CPP = {".h", ".hpp", ".cpp", ".inc", ".cu", ".cuh"}
CODE = CPP | {".py", ".pyi", ".cmake", ".sh"}


@functools.cache
def project_files():
    """Every file that belongs to the project, as paths relative to its root: what git tracks, or in an unpacked archive
    whatever .gitignore does not name."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return sorted(path for path in map(Path, filter(None, listed.stdout.split("\0"))) if (ROOT / path).is_file())
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().split()]
    files = []
    for path in ROOT.rglob("*"):
        relative = path.relative_to(ROOT)
        if path.is_file() and not NEVER & set(relative.parts) and not any(
                fnmatch.fnmatch(part, pattern) for part in relative.parts for pattern in ignored):
            files.append(relative)
    return sorted(files)


def code_files(suffixes=CODE):
    return [path for path in project_files()
            if path.suffix in suffixes or (suffixes is CODE and path.name == "CMakeLists.txt")]


def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def found(pattern, files):
    """'path:line: text' of every line that matches."""
    pattern = re.compile(pattern)
    return [f"{path}:{number}: {line.strip()}" for path in files for number, line in enumerate(lines_of(path), 1)
            if pattern.search(line)]


@functools.cache
def modules():
    """Module name -> (plugin, names of the modules that it requires), from the manifests below plugins/."""
    table = {}
    for manifest in (ROOT / "plugins").glob("*/*.novaplugin.json"):
        for module in json.loads(manifest.read_text())["modules"]:
            table[module["name"]] = (manifest.parent.name, set(module.get("requires", {})) | set(module.get("optional", {})))
    return table


def closure(names):
    """The modules named and all that they require, directly or not."""
    table, todo, done = modules(), list(names), set()
    while todo:
        name = todo.pop()
        if name in table and name not in done:
            done.add(name)
            todo += table[name][1]
    return done


def modules_of(path):
    """The modules whose code a file below plugins/ may be: src/ is the plugin's own, diff/, cuda/ are `<plugin>_diff`,
    `<plugin>_cuda`; in other folders any module of the plugin."""
    plugin, folder = path.parts[1], path.parts[2]
    own = {name for name, (owner, _) in modules().items() if owner == plugin}
    exact = plugin if folder == "src" else f"{plugin}_{folder}"
    return {exact} if exact in own else own
