# SPDX-License-Identifier: Apache-2.0
"""Importing the package: what it may not load, and what the lazy modules hold."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import novaphy


def test_importing_loads_no_plugin_and_no_numpy(run_python):
    out = run_python("""
import sys
import novaphy
started = novaphy._core.runtime.started()
maps = open("/proc/self/maps").read()
print(started, "numpy" in sys.modules, "/novaphy/plugins/" in maps)
""")
    assert out.split() == ["False", "False", "False"]


def test_importing_imports_few_modules(run_python):
    """Each costs up to a millisecond; how many milliseconds they all take is a figure of the benchmark."""
    out = run_python("""
import sys
before = set(sys.modules)
import novaphy
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - {"novaphy"}))
""")
    assert len(out.split()) < 30 and not {"numpy", "difflib", "json", "inspect", "logging"} & set(out.split()), out


def test_asking_for_names_loads_no_library(run_python):
    out = run_python("""
import novaphy
from novaphy import nova, diff, solvers, collision, viewer, plugins
names = dir(nova), dir(diff), dir(solvers), dir(collision)
plugins.report(), plugins.has("nova"), plugins.list()
print("/novaphy/plugins/" in open("/proc/self/maps").read(), "Tape" in names[0], plugins.loaded())
""")
    assert out.split(" ", 2) == ["False", "True", "[]\n"]


def test_a_name_loads_the_modules_that_it_needs_and_no_more(run_python):
    out = run_python("""
import novaphy
novaphy.CollisionPipeline
print(novaphy.plugins.loaded())
""")
    assert out.strip() == "['collision']"


def test_differentiable_solvers_are_not_names_of_the_package():
    assert not hasattr(novaphy, "DiffSemiImplicitSolver")
    with pytest.raises(AttributeError, match="it is novaphy.solvers.DiffSemiImplicitSolver"):
        novaphy.DiffSemiImplicitSolver


@pytest.mark.parametrize("name", ["collision_nova", "sim_nova"])
def test_modules_of_the_old_tree_do_not_exist(name):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"novaphy.{name}")
    assert not hasattr(novaphy, name)


def test_every_public_name_can_be_reached():
    for name in novaphy.__all__:
        assert getattr(novaphy, name) is not None
    assert novaphy.State is novaphy.SimState
    assert novaphy.ShapeType is novaphy.GeoType
    assert novaphy.CollisionPipeline is novaphy.collision.CollisionPipeline
    assert novaphy.version() == novaphy.__version__


@pytest.mark.parametrize("module", ["nova", "diff", "solvers", "collision", "camera", "viewer"])
def test_every_listed_name_of_a_lazy_module_exists_and_says_where_it_lives(module):
    public = importlib.import_module(f"novaphy.{module}")
    assert public.__all__ == dir(public)
    for name in public.__all__:
        value = getattr(public, name)
        if not name.startswith("Solver" + "Base"):
            assert getattr(value, "__module__", public.__name__) == public.__name__, name


def test_a_misspelt_name_gets_the_nearest_one():
    with pytest.raises(
        AttributeError, match="module 'novaphy.nova' has no attribute 'Tpae'; did you mean 'Tape'"
    ):
        novaphy.nova.Tpae
    with pytest.raises(
        AttributeError, match="module 'novaphy' has no attribute 'ModelBuidler'; did you mean 'ModelBuilder'"
    ):
        novaphy.ModelBuidler


def test_a_star_import_takes_what_can_load():
    names = {}
    exec("from novaphy.solvers import *", names)
    assert "SolverSemiImplicit" in names and "DiffSemiImplicitSolver" in names


def test_the_source_folder_says_that_it_is_not_compiled(tmp_path):
    source = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", "import novaphy"],
        cwd=source,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: novaphy: {source / 'novaphy'} is the source folder, without the compiled part; install it "
        "(pip install .) and start Python in another folder"
    )


def test_a_folder_of_the_same_name_does_not_shadow_the_package(run_python, tmp_path):
    (tmp_path / "novaphy").mkdir()
    assert run_python("import novaphy; print(novaphy.version())").strip() == novaphy.__version__


FIRST_USES = [
    "novaphy.camera.Camera(width=4, height=4).particle_silhouette(state.particle_q, 0.1)",
    "novaphy.diff.eval_static_particle_shape_contact_forces_generated("
    "model, state.particle_q, state.particle_qd, state.particle_f)",
    "novaphy.diff.integrate_particles_generated(model, state.particle_q, state.particle_qd, state.particle_f, 0.01)",
]


@pytest.mark.parametrize("first", FIRST_USES, ids=["camera", "collision_diff", "semi_implicit_diff"])
def test_an_operator_takes_arrays_of_the_engine_before_anything_of_nova_was_used(run_python, first):
    program = f"""
import novaphy
builder = novaphy.ModelBuilder()
builder.add_particle(pos=(0, 0, 1), vel=(0, 0, 0), mass=1.0)
model = builder.finalize()
state = model.state()
result = {first}
print(*map(type, result if isinstance(result, (tuple, list)) else (result,)))
"""
    assert set(run_python(program).split()) == {"<class", "'novaphy.nova.Tensor'>"}
