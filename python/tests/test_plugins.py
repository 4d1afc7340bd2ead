# SPDX-License-Identifier: Apache-2.0
"""novaphy.plugins: what is there, settings before the first use, and the reasons for what is not."""

import json
import logging
import re

import pytest

import novaphy
from novaphy import plugins


def test_the_report_has_a_row_for_every_module_and_prints_as_a_table():
    report = plugins.report()
    assert {"camera", "collision", "collision_diff", "nova", "semi_implicit", "semi_implicit_diff", "demos"} <= {
        row.module for row in report
    }
    lines = str(report).splitlines()
    assert lines[0].split() == ["plugin", "module", "version", "state", "reason"]
    assert len(lines) == len(report) + 1
    assert plugins.list() == sorted({row.plugin for row in report})


def test_has_answers_without_raising():
    assert plugins.has("nova") and plugins.has("nova_diff")
    assert not plugins.has("vbd")


def test_info_tells_manifest_path_and_reason():
    info = plugins.info("semi_implicit_diff")
    assert info["name"] == "semi_implicit"
    assert info["manifest"]["name"] == "semi_implicit"
    assert info["path"].endswith("semi_implicit/semi_implicit.novaplugin.json")
    with pytest.raises(novaphy.PluginNotAvailableError, match="vbd"):
        plugins.info("vbd")


def test_an_absent_plugin_is_an_import_error_with_names_and_places():
    with pytest.raises(novaphy.PluginNotAvailableError) as caught:
        plugins.load("vbd")
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, novaphy.NovaPhyError)
    text = str(caught.value)
    assert "'vbd'" in text and "semi_implicit" in text and "searched: " in text
    with pytest.raises(novaphy.PluginNotAvailableError, match=re.escape("novaphy.solvers.SolverVBD: ")):
        from novaphy.solvers import SolverVBD  # noqa: F401
    assert novaphy.load_plugin.__doc__


def test_a_disabled_plugin_says_so_wherever_it_is_missed(run_python):
    out = run_python("""
import novaphy
novaphy.plugins.configure(disable=["nova_diff"])
def reason(ask):
    try:
        ask()
    except novaphy.PluginNotAvailableError as error:
        print(error)
    else:
        print("no error")
def solver():
    from novaphy.solvers import DiffSemiImplicitSolver
reason(solver)
reason(lambda: novaphy.nova.Tape)
builder = novaphy.ModelBuilder()
builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
state = builder.finalize().state()
reason(lambda: state.particle_q.grad)
print("DiffSemiImplicitSolver" in dir(novaphy.solvers), "SolverSemiImplicit" in dir(novaphy.solvers))
from novaphy.solvers import SolverSemiImplicit
after = builder.finalize().state()
SolverSemiImplicit(builder.finalize()).step(state, after, None, None, 0.01)
print(after.particle_qd.tolist())
""").splitlines()
    assert (
        out[0].startswith("novaphy.solvers.DiffSemiImplicitSolver: ")
        and "nova" in out[0]
        and "disabled" in out[0]
    )
    assert out[1].startswith("novaphy.nova.Tape: ") and "disabled" in out[1]
    assert "disabled" in out[2]
    assert out[3] == "False True"
    assert json.loads(out[4])[0][2] == pytest.approx(-0.0981, abs=1e-6)


def test_settings_after_the_first_use_are_refused():
    plugins.report()
    with pytest.raises(novaphy.NovaPhyError):
        plugins.configure(disable=["demos"])
    with pytest.raises(novaphy.NovaPhyError):
        plugins.add_search_path(".")


def test_importing_an_extension_by_hand_asks_the_runtime_first(run_python):
    out = run_python("""
import importlib.util, sys
import novaphy
folder = [row.path for row in novaphy.plugins.report() if row.module == "nova"][0].rpartition("/")[0]
import importlib.machinery
path = f"{folder}/_novaphy_nova{importlib.machinery.EXTENSION_SUFFIXES[0]}"
spec = importlib.util.spec_from_file_location("_novaphy_nova", path)
print("nova" in novaphy.plugins.loaded())
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print("nova" in novaphy.plugins.loaded(), module.Tape.__name__)
""").split()
    assert out == ["False", "True", "Tape"]


def test_an_extension_of_another_pybind11_is_refused_before_any_type_is_touched(run_python):
    out = run_python("""
import novaphy
novaphy._core.pybind_internals = "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1017__"
try:
    novaphy.nova.Tape
except ImportError as error:
    print(error)
""")
    assert out.strip() == (
        "novaphy.nova.Tape: _novaphy_nova was built with pybind11 internals v12, novaphy has v4; rebuild with pybind11 3.1"
    )


def test_two_threads_may_ask_first(run_python):
    out = run_python("""
import threading
import novaphy
found = []
threads = [threading.Thread(target=lambda: found.append(len(novaphy.plugins.report()))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(found)))
""")
    assert out.split() == ["8", "1"]


def test_log_lines_of_the_runtime_reach_python_logging(run_python, tmp_path):
    broken = tmp_path / "plugins" / "broken"
    broken.mkdir(parents=True)
    (broken / "broken.novaplugin.json").write_text("{")
    out = run_python("""
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(name)s %(levelname)s %(message)s", level=5)
import novaphy
novaphy.config.verbose = True
novaphy.plugins.add_search_path("plugins")
report = novaphy.plugins.report()
print(sum(row.state == "rejected" for row in report))
novaphy.plugins.load("collision")
""")
    assert "1" in out.splitlines()
    lines = [line for line in out.splitlines() if line.startswith("novaphy ")]
    assert lines, "no line of the runtime arrived"
    assert all(re.match(r"novaphy (DEBUG|INFO|WARNING|ERROR) ", line) for line in lines)


def test_a_broken_entry_point_is_a_log_line(monkeypatch, caplog):
    from novaphy import _entry_points

    class Broken:
        name, value = "acme", "acme:folder"

        def load(self):
            raise ModuleNotFoundError("No module named 'acme'")

    class Good:
        name, value = "good", "good:folder"

        def load(self):
            return lambda: "/some/folder"

    monkeypatch.setattr(
        _entry_points, "entry_points", lambda group: [Broken(), Good()] if group == "novaphy.plugins" else []
    )
    with caplog.at_level(logging.WARNING, logger="novaphy"):
        assert _entry_points.plugin_folders() == ["/some/folder"]
    assert "entry point acme = acme:folder gave no plugin folder: ModuleNotFoundError" in caplog.text


def test_provenance_names_commit_plugins_tier_threads_and_scene(model):
    from novaphy import nova

    nova.Tape
    record = novaphy.provenance()
    assert set(record) == {"version", "commit", "plugins", "tier", "threads", "scene_hash", "command"}
    assert record["plugins"]["nova"] == novaphy.__version__
    assert record["tier"] == nova.backend()
    assert record["threads"] >= 1
    assert record["scene_hash"] == novaphy.scene_hash(model)
    model.soft_contact_ke = 5.0
    other = novaphy.scene_hash(model)
    assert other != record["scene_hash"]
    model.particle_grid = novaphy.ParticleGrid()
    assert novaphy.scene_hash(model) != other
    model.particle_grid = None
    assert novaphy.scene_hash(model) == other
    model.particle_max_velocity = 10.0
    assert novaphy.scene_hash(model) != other


def test_one_name_or_folder_needs_no_list_around_it(run_python):
    out = run_python("""
import novaphy
novaphy.plugins.configure(disable="nova_diff", paths="more")
print({row.module: row.state for row in novaphy.plugins.report()}["nova"])
print([place["path"] for place in novaphy._core.runtime.search_places()][0])
""").split()
    assert out[0] == "disabled" and out[1].endswith("/more")


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"disable": [3]}, "plugins.configure: disable wants names of plugins or modules, got 3"),
        ({"paths": [3]}, "plugins.configure: paths wants folders, got 3"),
        ({"config": 3}, "plugins.configure: config wants a dict or the path of a file, got 3"),
    ],
)
def test_settings_of_a_wrong_type_are_named(settings, message):
    with pytest.raises(TypeError) as caught:
        plugins.configure(**settings)
    assert str(caught.value) == message
