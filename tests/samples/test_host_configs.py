# SPDX-License-Identifier: Apache-2.0
"""Sample host_configs: what each novaphy.host.json does, seen through novaphy-host and through Python."""
import hashlib
import json
import shutil

import pytest
from project_tree import ROOT

CONFIGS = ROOT / "samples/host_configs"


def config(name):
    return CONFIGS / f"{name}.novaphy.host.json"


@pytest.fixture
def states(installed_sdk):
    """Module -> state, as the host lists them under a configuration."""
    def listed(name, **arguments):
        done = installed_sdk.host("--config", config(name), "--json", "list", **arguments)
        return {row["module"]: row["state"] for row in json.loads(done.stdout)["modules"]}
    return listed


def test_every_configuration_is_explained_and_tested():
    names = sorted(path.name.split(".")[0] for path in CONFIGS.glob("*.json"))
    readme = (CONFIGS / "README.md").read_text()
    assert names and all(f"`{name}.novaphy.host.json`" in readme for name in names)
    text = open(__file__).read()
    assert all(f'"{name}"' in text for name in names)


def test_minimal_enables_what_it_lists_and_what_that_requires(states):
    found = states("minimal")
    assert found["semi_implicit"] == found["collision"] == "ready"
    assert found["demos"] == "disabled"


def test_without_derivatives_everything_else_works_and_the_rest_says_why(states, installed_sdk):
    found = states("without_derivatives")
    assert found["nova"] == "disabled" and found["semi_implicit"] == found["collision"] == "ready"
    assert {found[name] for name in ("collision_diff", "semi_implicit_diff", "demos")} == {"blocked"}
    said = installed_sdk.python(f"""
import novaphy
novaphy.plugins.configure(config={str(config("without_derivatives"))!r})
print(novaphy.solvers.SolverSemiImplicit.__name__)
try:
    novaphy.solvers.DiffSemiImplicitSolver
except novaphy.PluginNotAvailableError as error:
    print(error)
""").stdout
    assert said.startswith("SolverSemiImplicit\n")
    assert "which is disabled by" in said and "without_derivatives.novaphy.host.json#/disable/0" in said


def test_own_plugins_lie_beside_the_configuration_and_take_its_options(installed_sdk, tmp_path):
    built = installed_sdk.sample("custom_solver")
    shutil.copy(config("own_plugins"), tmp_path / "novaphy.host.json")
    shutil.copytree(built.plugins, tmp_path / "my_plugins")
    said = installed_sdk.python(f"""
import novaphy
novaphy.plugins.configure(config={str(tmp_path / "novaphy.host.json")!r})
builder = novaphy.ModelBuilder()
builder.add_particle(pos=(0, 0, 0), vel=(0, 0, 0), mass=1.0)
solver = novaphy.solvers.SolverPBD(builder.finalize())
print(solver.iterations, solver.stiffness, novaphy.plugins.info("acme_pbd")["path"])
""").stdout
    assert said.split() == ["50", "springs", str(tmp_path / "my_plugins/acme_pbd/acme_pbd.novaplugin.json")]


def test_pinned_loads_the_library_with_the_pinned_digest_and_no_other(installed_sdk, tmp_path):
    shutil.copytree(installed_sdk.sample("hello_plugin").plugins, tmp_path / "my_plugins")
    library = tmp_path / "my_plugins/hello_plugin/libnovaphy_hello_plugin.so"
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    other, text = tmp_path / "other.host.json", config("pinned").read_text()
    other.write_text(text)
    refused = installed_sdk.host("--config", other, "run", "hello", expect=1)
    assert "NP317" in refused.stderr and digest in refused.stderr and "other.host.json#/sha256/hello_plugin wants 0000" in refused.stderr
    pinned = tmp_path / "pinned.host.json"
    pinned.write_text(text.replace("0" * 64, digest))
    assert "after 8 iterations" in installed_sdk.host("--config", pinned, "run", "hello").stdout


def test_strict_refuses_to_run_without_a_listed_plugin(installed_sdk, tmp_path):
    assert "after 1 iterations" in installed_sdk.host("--config", config("strict"), "run", "diffsim_ball",
                                                      "--iterations", "1").stdout
    text = json.loads(config("strict").read_text())
    text["disable"] = ["nova_diff"]
    (tmp_path / "novaphy.host.json").write_text(json.dumps(text))
    done = installed_sdk.host("--config", tmp_path / "novaphy.host.json", "run", "diffsim_ball", expect=1)
    assert "NP407" in done.stderr and "required plugin 'demos' failed" in done.stderr
