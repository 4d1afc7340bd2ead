# SPDX-License-Identifier: Apache-2.0
"""Command lines of the examples beside the ball: what they print and write."""

import re
from pathlib import Path

import numpy as np
import pytest

from novaphy import examples

DEMOS = Path(__file__).resolve().parents[1] / "demos" / "diff"
SHAPES = {
    "diffsim_cloth": ((121, 289, 3), (1921, 289, 3)),
    "diffsim_soft_body": ((61, 27, 3), (961, 27, 3)),
    "diffsim_spring_cage": ((31, 9, 3), (31, 9, 3)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_an_example_trains_and_writes_its_states_its_page_and_its_picture(name, tmp_path, capsys):
    states, page, picture = tmp_path / "states.npz", tmp_path / "page.html", tmp_path / "picture.png"
    arguments = ["--headless", 2, "--dump-states", states, "--html", page, "--plot", picture]
    assert examples.load(name).main([str(argument) for argument in arguments]) == 0
    out = capsys.readouterr().out
    losses = [float(loss) for loss in re.findall(r"^iteration +\d+   loss (\S+) ", out, re.M)]
    assert len(losses) == 2 and losses[1] < losses[0]
    assert "gradient of the recorded steps of DiffSemiImplicitSolver" in out
    with np.load(states, allow_pickle=False) as file:
        assert (file["particle_q"].shape, file["particle_q_substeps"].shape) == SHAPES[name]
    assert f"<title>{name}</title>" in page.read_text(encoding="utf-8")
    assert b'"scene_hash"' in picture.read_bytes()


def test_each_tetrahedrons_own_material_is_trained_when_asked(capsys):
    assert examples.load("diffsim_soft_body").main(["--headless", "1", "--per-tet"]) == 0
    assert re.search(r"^iteration +0   loss 0\.73298\d+   mean mu \d+\.\d Pa", capsys.readouterr().out, re.M)


def test_a_seed_moves_the_start_the_same_way_each_time(capsys):
    outputs = []
    for seed in ("1", "1", "2"):
        assert examples.load("diffsim_spring_cage").main(["--headless", "0", "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


def test_every_example_has_its_demo():
    assert {path.stem.removeprefix("demo_") for path in DEMOS.glob("demo_*.py")} == set(examples.names())
