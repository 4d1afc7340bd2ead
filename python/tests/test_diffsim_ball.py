# SPDX-License-Identifier: Apache-2.0
"""The ball example and its command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from novaphy import examples

DEMO = Path(__file__).resolve().parents[1] / "demos" / "diff" / "demo_diffsim_ball.py"


def run(folder, *arguments, expect=0):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MPLCONFIGDIR": str(folder)},
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def test_the_initial_rollout_is_dumped_in_the_documented_shapes(tmp_path):
    out = run(tmp_path, DEMO, "--headless", 0, "--dump-states", "ball.npz")
    assert "loss after 0 iterations: 9.105798" in out
    with np.load(tmp_path / "ball.npz", allow_pickle=False) as file:
        frames, substeps, meta = (
            file["particle_q"],
            file["particle_q_substeps"],
            json.loads(str(file["meta"])),
        )
    assert (frames.shape, substeps.shape) == ((37, 1, 3), (289, 1, 3))
    assert frames.dtype == substeps.dtype == np.float32
    assert np.array_equal(frames, substeps[::8]) and substeps[0, 0].tolist() == [0, -0.5, 1]
    assert meta["command"].endswith("--headless 0 --dump-states ball.npz") and meta["plugins"]["nova"]
    assert os.listdir(tmp_path) == ["ball.npz"]


def test_training_lowers_the_loss_and_dumps_the_learned_throw(tmp_path):
    out = run(
        tmp_path, "-m", "novaphy.examples", "diffsim_ball", "--headless", 5, "--dump-states", "ball.npz"
    )
    losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)   next", out)]
    assert (
        len(losses) == 5
        and losses == sorted(losses, reverse=True)
        and losses[0] == pytest.approx(9.105798, abs=1e-6)
    )
    final = float(re.search(r"loss after 5 iterations: (\d+\.\d+)", out).group(1))
    with np.load(tmp_path / "ball.npz", allow_pickle=False) as file:
        end = file["particle_q"][-1, 0].astype(float)
    assert np.sum((end - [0, -2, 1.5]) ** 2) == pytest.approx(final, rel=1e-5)


@pytest.mark.parametrize("spelling", ["--check-grad", "--check-gradient"])
def test_the_gradient_check_prints_its_table_and_passes(tmp_path, spelling):
    out = run(tmp_path, DEMO, spelling)
    assert re.search(r"^ +y +-4\.97\d+ +-4\.96\d+ ", out, re.M) and out.rstrip().endswith("good")
    assert "iteration" not in out


def test_the_gradient_check_fails_on_a_wrong_gradient(monkeypatch, capsys):
    from novaphy.examples import diffsim_ball

    right = diffsim_ball.Example.gradient

    def wrong(self):
        loss, gradient = right(self)
        return loss, gradient * np.float32(1.01)

    monkeypatch.setattr(diffsim_ball.Example, "gradient", wrong)
    assert diffsim_ball.main(["--check-grad"]) == 1
    assert "WRONG" in capsys.readouterr().out


def test_without_a_window_it_says_so_trains_and_writes_the_picture(tmp_path, monkeypatch, capsys):
    from novaphy.examples import diffsim_ball

    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(diffsim_ball.Example, "iterations", 3)
    assert diffsim_ball.main([]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("No window (") and "'viewer'" in out[0]
    assert out[-1] == f"wrote {tmp_path / 'diffsim_ball.png'}"
    picture = (tmp_path / "diffsim_ball.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and b'"scene_hash"' in picture


def test_options_reach_the_example(tmp_path):
    plain = run(tmp_path, DEMO, "--headless", 1)
    assert (
        run(tmp_path, DEMO, "--headless", 1, "--no-jit", "--device", "cpu").splitlines()[0]
        == plain.splitlines()[0]
    )
    seeded = run(tmp_path, DEMO, "--headless", 1, "--seed", 3)
    assert seeded != plain and seeded == run(tmp_path, DEMO, "--headless", 1, "--seed", 3)
    run(tmp_path, DEMO, "--headless", 0, "--device", "cuda", expect=1)


def test_a_viewer_plays_the_throw(tmp_path):
    assert "loss after 2 iterations" in run(
        tmp_path,
        "-c",
        """
from novaphy.examples import diffsim_ball
diffsim_ball.Example.iterations = 2
diffsim_ball.main(["--viewer", "null", "--plot", "x.png"])
""",
    )


def test_the_list_names_every_example(tmp_path):
    out = run(tmp_path, "-m", "novaphy.examples")
    for name in examples.names():
        assert examples.summary(name) and re.search(rf"^  {name} +{re.escape(examples.summary(name))}$", out, re.M)
    assert {"diffsim_ball", "diffsim_cloth", "diffsim_soft_body", "diffsim_spring_cage"} <= set(examples.names())
    with pytest.raises(ValueError, match="no example 'difsim_ball'; did you mean 'diffsim_ball'"):
        examples.load("difsim_ball")
