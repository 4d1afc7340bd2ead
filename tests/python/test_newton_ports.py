# SPDX-License-Identifier: Apache-2.0
"""Newton's ball, soft body, cloth and spring cage as a user ports them: what had to change, and that they train alike.

The programs in ports/ hold both forms: a line that ends in `# here` replaced the lines marked `# Newton:` above it.
"""
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

PORTS = Path(__file__).resolve().parent / "ports"
PAGE = Path(__file__).resolve().parents[2] / "python/docs/from_newton.md"
NAMES = sorted(path.stem for path in PORTS.glob("*.py"))
REFERENCES = {"ball": "newton_ball", "cloth": "newton_cloth", "spring_cage": "newton_spring_cage",
              "soft_body": "newton_soft_body_anisotropic"}


def text_of(name):
    return (PORTS / f"{name}.py").read_text()


def new_lines(name):
    """The lines of a port that are not its imports and would not run in Newton."""
    marked = [line.removesuffix("# here").strip() for line in text_of(name).splitlines() if line.endswith("# here")]
    return [line for line in marked if not re.match(r"(import|from) ", line)]


def as_written_for_newton(name):
    """The program before it was ported."""
    kept = (line for line in text_of(name).splitlines() if not line.endswith("# here"))
    return "\n".join(line.replace("# Newton: ", "") for line in kept) + "\n"


def load(name, path=None):
    spec = importlib.util.spec_from_file_location(f"port_{name}", path or PORTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def train(example, iterations):
    for _ in range(iterations):
        example.step()
    return np.array(example.loss_history)


def reference_losses(data, name, iterations):
    return np.load(data / f"{REFERENCES[name]}.npz")["train_loss"][:iterations]


def test_all_four_examples_are_ported():
    assert NAMES == sorted(REFERENCES)


@pytest.mark.parametrize("name", NAMES)
def test_a_port_changes_its_imports_and_at_most_five_other_lines(name):
    lines = new_lines(name)
    assert 1 <= len(lines) <= 5, lines


@pytest.mark.parametrize("name", NAMES)
def test_the_page_lists_every_line_that_is_new(name):
    page = PAGE.read_text()
    missing = [line for line in new_lines(name) if line not in page]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_the_unported_program_is_whole_and_speaks_to_newton_alone(name):
    before = as_written_for_newton(name)
    compile(before, f"{name}.py", "exec")
    assert "import newton\n" in before and "novaphy" not in before and "ndiff" not in before


@pytest.mark.parametrize("name, iterations", [("ball", 10), ("spring_cage", 10), ("soft_body", 10), ("cloth", 2)])
def test_a_ported_example_trains_as_in_newton(name, iterations, data):
    losses = train(load(name).Example(), iterations)
    assert losses == pytest.approx(reference_losses(data, name, iterations), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name, iterations", [("ball", 5), ("spring_cage", 5), ("soft_body", 3), ("cloth", 2)])
def test_the_unported_program_runs_in_newton_and_trains_alike(name, iterations, data, tmp_path):
    pytest.importorskip("newton", reason="the program before it was ported wants Newton")
    (tmp_path / "unported.py").write_text(as_written_for_newton(name))
    losses = train(load(name, tmp_path / "unported.py").Example(), iterations)
    assert losses == pytest.approx(reference_losses(data, name, iterations), rel=1e-5)
