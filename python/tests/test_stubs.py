# SPDX-License-Identifier: Apache-2.0
"""The shipped type stubs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import novaphy

SOURCE = Path(__file__).resolve().parents[1]


def test_the_shipped_stubs_are_those_of_the_bindings(tmp_path):
    done = subprocess.run(
        [sys.executable, SOURCE / "src" / "stubs.py", "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_stub_is_python_and_lies_in_the_package():
    folder = Path(novaphy.__file__).parent
    names = ["_core/__init__.pyi", "nova.pyi", "diff.pyi", "solvers.pyi", "collision.pyi"]
    assert (folder / "py.typed").exists()
    for name in names:
        ast.parse((folder / name).read_text())


def test_every_public_name_of_a_lazy_module_stands_in_its_stub():
    for module in ("nova", "diff", "solvers", "collision"):
        tree = ast.parse((SOURCE / "novaphy" / f"{module}.pyi").read_text())
        defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        defined |= {a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname}
        assert set(getattr(novaphy, module).__all__) == defined
