# SPDX-License-Identifier: Apache-2.0
"""Loading from Python: what foreign packages and plugins cannot break, what goes on while a library loads, and what
functions of novaphy.plugins say to arguments of the wrong kind."""

import os
import re

import pytest

import novaphy
from c_plugins import make_c_plugin
from novaphy import plugins

@pytest.fixture
def make_plugin(tmp_path):
    return lambda name, **options: make_c_plugin(tmp_path, name, **options)


@pytest.fixture
def package(tmp_path):
    """Puts a distribution with entry points of group novaphy.plugins on the path of run_python."""
    site = tmp_path / "site"

    def make(entry_points, code=""):
        info = site / "acme-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        (site / "acme.py").write_text(code)
        return {"PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])}

    return make


BUILDS = """
builder = novaphy.ModelBuilder()
builder.add_particle((0, 0, 1), (0, 0, 0), 1.0)
model = builder.finalize()
a, b = model.state(), model.state()
novaphy.solvers.SolverSemiImplicit(model).step(a, b, None, None, 0.01)
print("stepped", b.particle_qd.numpy()[0, 2] < 0)
"""


# foreign code cannot break it

ASKED = "NovaPhyError: novaphy.plugins: asked by an entry point of group novaphy.plugins, before the plugins are planned"
ENTRY_POINTS = {
    "asks": ("def asks():\n    import novaphy\n    return novaphy.plugins.report()", ASKED),
    "uses": ("def uses():\n    from novaphy.solvers import SolverSemiImplicit", ASKED),
    "configures": ("def configures():\n    import novaphy\n    novaphy.plugins.configure(disable=['semi_implicit'])", ASKED),
    "mute": ("class Mute(Exception):\n    def __str__(self): raise SystemExit(4)\ndef mute(): raise Mute",
             "Mute: its text cannot be read"),
    "exits": ("def exits(): raise SystemExit(3)", "SystemExit: 3"),
    "stops": ("class Stop(BaseException): pass\ndef stops(): raise Stop('now')", "Stop: now"),
    "generator": ("def generator(): raise GeneratorExit", "GeneratorExit: "),
    "nothing": ("def nothing(): return None", "TypeError: "),
    "relative": ("def relative(): return 'plugins'", "ValueError: 'plugins' is relative: want the absolute path of a folder"),
    "no_text": ("def no_text(): return b'/caf\\xe9'", "UnicodeEncodeError: "),
    "cut": ("def cut(): return '/plugins\\0more'", "ValueError: '/plugins\\x00more' holds a NUL character, which no path has"),
    "no_function": ("no_function = 3", "TypeError: 'int' object is not callable"),
}


def test_entry_points_that_raise_anything_are_notes_and_the_others_count(run_python, package, make_plugin):
    folder = make_plugin("acme")
    code = "\n".join([*(code for code, _ in ENTRY_POINTS.values()), f"def good(): return {folder!r}"])
    lines = [f"{name} = acme:{name}" for name in [*ENTRY_POINTS, "good", "absent"]] + ["missing = acme_gone:folder"]
    environment = package("[novaphy.plugins]\n" + "\n".join(lines) + "\n", code)
    out = run_python(
        "import novaphy\nprint(novaphy.plugins.has('acme'))\nprint(novaphy.plugins.report())\n" + BUILDS,
        environment=environment,
    )
    assert out.startswith("True\n") and "stepped True" in out
    for name, (_, said) in ENTRY_POINTS.items():
        assert f"note: entry point {name} = acme:{name} gave no plugin folder: {said}" in out
    assert "note: entry point absent = acme:absent gave no plugin folder: AttributeError: " in out
    assert "note: entry point missing = acme_gone:folder gave no plugin folder: ModuleNotFoundError: " in out


def test_an_entry_point_that_asks_on_another_thread_and_waits_for_it_gets_an_answer(run_python, package, make_plugin):
    folder = make_plugin("acme")
    code = f"""
import threading
heard = []
def asks():
    import novaphy
    def ask():
        try:
            novaphy.plugins.report()
        except Exception as error:
            heard.append(str(error))
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return {folder!r}
"""
    environment = package("[novaphy.plugins]\nasks = acme:asks\n", code)
    out = run_python("import novaphy, acme\nprint(novaphy.plugins.has('acme'))\nprint(*acme.heard)",
                     environment=environment)
    assert out == (
        "True\nnovaphy.plugins: another thread has been reading the entry points of group novaphy.plugins for 5 s, now "
        "asks = acme:asks; ask again when it is done, and never in an entry point, which only returns its folder\n")


def test_metadata_of_a_package_that_cannot_be_read_breaks_nothing(run_python, package):
    environment = package("[novaphy.plugins]\nthis is no entry point\n= = =\n\x00")
    out = run_python("import novaphy\nprint('report', len(novaphy.plugins.report()) > 3)\n" + BUILDS, environment=environment)
    assert out == "report True\nstepped True\n"


def test_a_broken_manifest_is_a_row_and_breaks_nothing(run_python, tmp_path):
    folder = tmp_path / "more" / "broken"
    folder.mkdir(parents=True)
    (folder / "broken.novaplugin.json").write_text('{ "schema": 1, "name": ')
    out = run_python(
        "import novaphy\nnovaphy.plugins.add_search_path('more')\n"
        "print([row.state for row in novaphy.plugins.report() if row.plugin == 'broken'])\n" + BUILDS
    )
    assert out == "['rejected']\nstepped True\n"


EXTENSIONS = {
    "raise SystemExit(3)": "SystemExit: 3",
    "raise ImportError('libfoo.so.1: cannot open shared object file')": "libfoo.so.1: cannot open shared object file",
    "import acme_gone": "No module named 'acme_gone'",
    "1 / 0": "ZeroDivisionError: division by zero",
}


@pytest.mark.parametrize("code", EXTENSIONS)
def test_an_extension_whose_import_raises_is_one_sentence_and_the_rest_works(code, run_python, make_plugin, package):
    python = """, "python": { "module": "acme", "exports": { "novaphy.solvers": ["SolverAcme"] } }"""
    folder = make_plugin("acme", more=python)
    program = f"""
import novaphy
novaphy.plugins.add_search_path({folder!r})
print("SolverAcme" in dir(novaphy.solvers))
try:
    novaphy.solvers.SolverAcme
except novaphy.PluginNotAvailableError as error:
    print(error)
"""
    out = run_python(program + BUILDS, environment=package("", code)).splitlines()
    assert out == [
        "True",
        f"novaphy.solvers.SolverAcme: extension 'acme' cannot be imported: {EXTENSIONS[code]}",
        "stepped True",
    ]


def test_a_promised_name_that_the_extension_lacks_names_the_plugin(run_python, make_plugin, package):
    python = """, "python": { "module": "acme", "exports": { "novaphy.solvers": ["SolverAcme"] } }"""
    folder = make_plugin("acme", more=python)
    out = run_python(
        f"import novaphy\nnovaphy.plugins.add_search_path({folder!r})\n"
        "try: from novaphy.solvers import SolverAcme\nexcept ImportError as error: print(error)",
        environment=package("", ""),
    )
    assert out.strip() == (
        "novaphy.solvers.SolverAcme: the manifest of plugin 'acme' promises it, and extension 'acme' does not hold it; "
        "report this to the plugin's author"
    )


def test_a_wrong_host_configuration_is_said_when_a_name_is_asked_for_and_not_by_completion(run_python):
    out = run_python("""
import novaphy
novaphy.plugins.configure(disable=["vdb"])
print("SolverSemiImplicit" in dir(novaphy.solvers), novaphy.plugins.has("nova"))
try:
    novaphy.solvers.SolverSemiImplicit
except novaphy.NovaPhyError as error:
    print(error)
""").splitlines()
    assert out[0] == "False False"
    assert re.match(r"NP4\d\d .*'vdb'", out[1])


# while a library loads

def test_other_threads_run_and_ask_while_a_plugin_loads(run_python, make_plugin):
    folder = make_plugin("slow", sleep_ms=400)
    out = run_python(f"""
import threading
import novaphy
novaphy.plugins.add_search_path({folder!r})
novaphy.plugins.report()
loading = threading.Thread(target=novaphy.plugins.load, args=("slow",))
asked = threading.Thread(target=novaphy.plugins.report)
loading.start()
asked.start()  # waits until the plugin is loaded, and lets this thread go on
count = 0
while loading.is_alive():
    count += 1
asked.join()
print(count, novaphy.plugins.loaded())
""")
    count, loaded = out.split(maxsplit=1)
    assert int(count) > 10_000, "the loading thread kept the interpreter's lock"
    assert loaded == "['slow']\n"


# functions

def text_of(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize("function", ["load", "has", "info", "require"])
@pytest.mark.parametrize("name", [None, 3, ["nova"], b"nova"])
def test_what_is_no_name_is_refused_with_what_was_given(function, name):
    assert text_of(TypeError, lambda: getattr(plugins, function)(name)) == (
        f"plugins.{function}: wants the name of a plugin or module, got {name!r}"
    )


def test_load_plugin_is_the_same_function():
    assert text_of(TypeError, lambda: novaphy.load_plugin(3)) == (
        "plugins.load: wants the name of a plugin or module, got 3"
    )


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"enable": 3}, "plugins.configure: enable wants names of plugins or modules, got 3"),
        ({"disable": None}, "plugins.configure: disable wants names of plugins or modules, got None"),
        ({"paths": None}, "plugins.configure: paths wants folders, got None"),
        ({"paths": [b"/x"]}, "plugins.configure: paths wants folders, got b'/x'"),
        ({"allow_writable": 3}, "plugins.configure: allow_writable wants folders, got 3"),
        ({"probe": "yes"}, "plugins.configure: probe wants True, False or None, got 'yes'"),
        ({"safe": 1}, "plugins.configure: safe wants True, False or None, got 1"),
        ({"config": ["x"]}, "plugins.configure: config wants a dict or the path of a file, got ['x']"),
        ({"config": {3: {}}}, "plugins.configure: config wants {'plugin': {'option': value}}, got {} for 3"),
        ({"config": {"vbd": 3}}, "plugins.configure: config wants {'plugin': {'option': value}}, got 3 for 'vbd'"),
        (
            {"config": {"vbd": {"tolerance": float("nan")}}},
            "plugins.configure: config: option 'tolerance' of 'vbd' wants what JSON knows (a finite number, text, True, "
            "False, None, lists and dicts of these), got nan",
        ),
    ],
)
def test_settings_of_a_wrong_kind_are_named_with_their_value(settings, message):
    assert text_of(TypeError, lambda: plugins.configure(**settings)) == message


def test_a_folder_that_is_no_utf_8_is_named():
    assert text_of(ValueError, lambda: plugins.add_search_path("/caf\udce9")) == (
        "plugins.configure: paths: '/caf\\udce9' is no UTF-8; rename the folder"
    )


def test_safe_leaves_out_everything_but_the_folder_beside_the_runtime(run_python, make_plugin):
    folder = make_plugin("foreign")
    out = run_python(f"""
import novaphy
novaphy.plugins.configure(paths={folder!r}, safe=True)
print(novaphy.plugins.has("foreign"), novaphy.plugins.has("nova"))
""", environment={"NOVAPHY_PLUGIN_PATH": folder})
    assert out.split() == ["False", "True"]


@pytest.mark.parametrize("body, said", [("exit(0)", "exit"), ("abort()", "SIGABRT|signal 6|abort")])
def test_a_probed_plugin_that_ends_its_process_is_a_row_of_the_report(body, said, run_python, make_plugin, tmp_path):
    folder = make_plugin("deadly", body=body)
    out = run_python(f"""
import novaphy
novaphy.plugins.configure(paths={folder!r}, probe=True)
try:
    novaphy.plugins.load("deadly")
except novaphy.PluginNotAvailableError as error:
    print(error)
print(*[row.state for row in novaphy.plugins.report() if row.plugin == "deadly"])
""" + BUILDS, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    sentence, state, stepped = out.splitlines()
    assert "'deadly' isn't loaded" in sentence and re.search(said, sentence), sentence
    assert (state, stepped) == ("failed", "stepped True")


def test_require_loads_what_lies_in_the_range_and_tells_both_versions_of_what_does_not():
    release = ".".join(novaphy.version().split(".")[:2])
    plugins.require("collision", f">={release}")
    plugins.require("collision", ">=0.0, <100")
    plugins.require("collision")
    assert "collision" in plugins.loaded()
    path = plugins.info("collision")["path"]
    assert text_of(novaphy.PluginNotAvailableError, lambda: plugins.require("collision", ">=7 <8")) == (
        f"plugin 'collision' is of version {novaphy.version()}, and '>=7 <8' is wanted; install another release of it "
        f"(this one is {path})"
    )
    assert text_of(novaphy.PluginNotAvailableError, lambda: plugins.require("colision", ">=0.1")).startswith(
        "no plugin or module is named 'colision'; did you mean 'collision'?"
    )
    assert text_of(ValueError, lambda: plugins.require("collision", "new")) == (
        "require: 'new' is no range of versions: want comparators such as '>=0.1 <0.2', or '*'"
    )
    assert text_of(TypeError, lambda: plugins.require("collision", 0.1)) == (
        "plugins.require: version wants a range such as '>=0.1 <0.2', got 0.1"
    )


def test_the_modules_names_are_listed_and_a_misspelt_one_gets_the_nearest():
    assert dir(plugins) == sorted(plugins.__all__)
    assert all(hasattr(plugins, name) for name in plugins.__all__)
    assert text_of(AttributeError, lambda: plugins.laod) == (
        "module 'novaphy.plugins' has no attribute 'laod'; did you mean 'load'?"
    )


def test_the_report_is_a_table_for_a_notebook_too():
    report = plugins.report()
    table = report._repr_html_()
    assert table.count("<tr>") == len(report) + 1
    assert "<td>semi_implicit_diff</td>" in table
    hostile = plugins.Report([plugins.Row("<b>", "m", "1.0.0", "failed", "/p", "", "a < b", [], [])], ["<note>"])
    assert "<td>&lt;b&gt;</td>" in hostile._repr_html_() and "note: &lt;note&gt;" in hostile._repr_html_()


# interpreters

def test_a_subinterpreter_is_refused_at_once_and_the_main_interpreter_goes_on(run_python):
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            __import__(name)
            break
        except ImportError:
            continue
    else:
        pytest.skip("this Python was built without subinterpreters")
    out = run_python(f"""
import sys
import {name} as interpreters
other = interpreters.create()
interpreters.run_string(other, '''
import sys
sys.path[:] = %r
try:
    import novaphy
except ImportError as error:
    print(error, flush=True)
''' % sys.path)
interpreters.destroy(other)
import novaphy
print(len(novaphy.plugins.report()) > 3)
""")
    assert out.splitlines() == [
        "novaphy works in the main interpreter of a process only, and this is a subinterpreter; use threads, or "
        "processes made by multiprocessing's 'spawn'",
        "True",
    ]
