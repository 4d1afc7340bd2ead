# SPDX-License-Identifier: Apache-2.0
"""C10 of 'novaphy-host check': what it says about Python extensions that are wrong."""
import json
import os
import shutil
import sys

import pytest


@pytest.fixture(scope="module")
def checked(installed_sdk, tmp_path_factory):
    """Runs C10 on a plugin whose extension is a Python file with the given text."""
    folder = tmp_path_factory.mktemp("careless")
    installed_sdk.host("new-plugin", "careless", folder)
    built = installed_sdk.build(folder / "careless", "CMAKE_CXX_FLAGS_RELEASE=-O0")

    def check(text):
        place = tmp_path_factory.mktemp("place")
        shutil.copytree(built.plugins / "careless", place / "careless")
        path = place / "careless/careless.novaplugin.json"
        manifest = json.loads(path.read_text())
        manifest["modules"][0]["python"] = {"module": "_careless", "exports": {"novaphy.solvers": ["SolverCareless"]}}
        path.write_text(json.dumps(manifest))
        if text is not None:
            (place / "_careless.py").write_text(text)
        python_path = ":".join(filter(None, [str(place), os.environ.get("PYTHONPATH")]))
        done = installed_sdk.host("check", "--json", "--only", "C10", "--python", sys.executable, path, expect=None,
                                  PYTHONPATH=python_path)
        found = json.loads(done.stdout)["plugins"][0]["checks"][0]
        assert done.returncode == (4 if found["state"] == "failed" else 0)
        found["text"] = found["text"].replace(str(place), "PLACE")
        return found

    return check


def test_an_extension_that_never_asks_the_runtime_is_found(checked):
    found = checked("class SolverCareless: pass\n")
    assert found["state"] == "failed"
    assert found["text"] == ("module 'careless': _careless can be imported while module 'careless' is disabled; "
                             "define it with NOVAPHY_PYTHON_MODULE")


def test_an_extension_that_is_not_there_is_no_refusal(checked):
    found = checked(None)
    assert found["state"] == "failed"
    assert found["text"] == ("module 'careless': _careless cannot be found, neither as a file in PLACE/careless nor as a "
                             "module that can be imported; build it, or correct 'python' in the manifest")


def test_an_extension_without_the_promised_name_is_found(checked):
    found = checked("from novaphy import plugins\nplugins.load('careless')\n")
    assert found["state"] == "failed"
    assert found["text"] == ("module 'careless': _careless has no SolverCareless, which the manifest exports to "
                             "novaphy.solvers")


def test_an_extension_that_keeps_both_rules_passes(checked):
    found = checked("from novaphy import plugins\nplugins.load('careless')\nclass SolverCareless: pass\n")
    assert found["state"] == "ok", found["text"]
