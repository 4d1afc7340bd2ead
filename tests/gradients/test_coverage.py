# SPDX-License-Identifier: Apache-2.0
"""novaphy.diff.coverage(): its tests exist, no operator is forgotten, and the page is what the command writes."""
import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def table():
    import novaphy.diff as ndiff
    return ndiff.coverage()


def cases_of(file):
    text = (ROOT / file).read_text()
    if file.endswith(".py"):
        return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    literals = re.findall(r'TEST_CASE\(\s*((?:"[^"\\]*"\s*)+)\)', text)
    return {"".join(re.findall(r'"([^"]*)"', literal)) for literal in literals}


def test_every_row_names_a_test_that_exists():
    for file, name in {tuple(row.test.split("::")) for row in table()}:
        assert name in cases_of(file), f"{file} has no test '{name}'"


def test_rows_are_complete_and_none_stands_twice():
    rows = table()
    assert {row.status for row in rows} == {"exact", "smooth", "refused"}
    keys = [(row.operation, row.parameter) for row in rows]
    assert len(set(keys)) == len(keys) and len(keys) > 50
    assert all(row.operation and row.parameter for row in rows)


def test_no_generated_operator_and_none_of_its_tensors_is_forgotten():
    import novaphy.diff as ndiff
    manifests = [json.loads(path.read_text()) for path in ROOT.glob("plugins/*/*.novaplugin.json")]
    names = {name for manifest in manifests for module in manifest["modules"]
             for name in module.get("python", {}).get("exports", {}).get("novaphy.diff", ()) if name.endswith("_generated")}
    assert len(names) >= 12
    rows = {(row.operation, row.parameter) for row in table()}
    for name in names:
        signature = getattr(ndiff, name).__doc__.splitlines()[0]
        tensors = re.findall(r"(\w+): [^,)]*?Tensor", signature)
        assert tensors, signature
        for tensor in tensors:
            assert (name, tensor) in rows, f"coverage() has no row for {tensor} of {name}"


def test_every_array_that_the_rollout_test_differentiates_has_a_row_of_the_solver():
    source = (ROOT / "tests/gradients/test_element_rollouts.py").read_text()
    arrays = next(ast.literal_eval(node.value) for node in ast.parse(source).body
                  if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ARRAYS")
    rows = {row.parameter for row in table() if row.operation == "DiffSemiImplicitSolver.step"}
    assert len(arrays) > 10 and set(arrays) <= rows


def test_the_page_is_what_the_command_writes():
    written = subprocess.run([sys.executable, "-m", "novaphy._coverage"], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "python/docs/coverage.md").read_text() == written, (
        "python/docs/coverage.md is stale: python -m novaphy._coverage > python/docs/coverage.md")
