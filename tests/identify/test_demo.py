# SPDX-License-Identifier: Apache-2.0
"""The demo of the material story from its command line: what it prints, writes and refuses."""
import json
import subprocess
import sys

import pytest

from novaphy.examples.material_identification import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_a_process(folder, *options):
    return subprocess.run([sys.executable, "-m", "novaphy.examples", "material_identification", *options], cwd=folder,
                          capture_output=True, text=True, timeout=300)


FAST = ("--frames", "5", "--rate", "1275", "--substeps", "16", "--headless", "60")


def test_it_finds_the_constants_and_its_log_folder_holds_pictures(tmp_path):
    done = in_a_process(tmp_path, *FAST, "--log-dir", "log", "--plot", "fit.svg", "--html", "motion.html")
    assert done.returncode == 0, done.stderr
    assert "k_mu = 3000" in done.stdout and "true 3000, off by" in done.stdout and "true small-strain moduli" in done.stdout
    assert (tmp_path / "fit.svg").stat().st_size > 10_000
    assert "<title>material_identification</title>" in (tmp_path / "motion.html").read_text()
    assert sorted(p.name for p in (tmp_path / "log").iterdir()) == ["checkpoint.json", "fit.png", "motion.gif", "motion.png", "report.json"]
    held = json.loads((tmp_path / "log/report.json").read_text())
    assert held["identifiable"] == [True, True] and abs(held["values"][0] / 3000 - 1) < 1e-3 and held["provenance"]["version"]
    from PIL import Image

    with Image.open(tmp_path / "log/motion.gif") as gif:
        assert gif.n_frames == 6 and b"version" in gif.info["comment"]


def test_gradient_descent_and_a_check_of_the_gradient(here, capsys):
    assert main([*FAST[:-1], "2", "--learning-rate", "0.5", "--log-dir", "log"]) == 0
    assert "iteration    1   loss / first loss 0." in capsys.readouterr().out
    assert (here / "log/losses.png").exists()
    assert main([*FAST[:-2], "--check-grad"]) == 0
    assert "k_mu: gradient by its logarithm" in capsys.readouterr().out


@pytest.mark.slow
def test_the_pair_and_a_first_guess_of_ones_own(here, capsys):
    assert main([*FAST, "--params", "E,nu", "--start", "1500,0.2"]) == 0
    out = capsys.readouterr().out
    assert "E = 3068" in out and "nu = -0.318" in out


@pytest.mark.parametrize("options, text", [
    (("--params", "k_nu"), "argument --params: wants some of k_mu,k_lambda,k_damp or E,nu, got 'k_nu'"),
    (("--start", "1"), "--start has 1 numbers for 2 of --params"),
    (("--rate", "0"), "argument --rate: wants a positive number, got '0'"),
    (("--frames", "0"), "argument --frames: wants a whole number of at least 1, got '0'"),
    (("--params", "E,nu", "--check-grad"), "--learning-rate and --check-grad work on k_mu, k_lambda and k_damp"),
])
def test_options_that_make_no_sense_are_told(capsys, options, text):
    with pytest.raises(SystemExit) as ended:
        main(list(options))
    assert ended.value.code == 2 and text in capsys.readouterr().err


def test_a_guess_that_cannot_stand_ends_with_its_sentence(here, capsys):
    assert main([*FAST, "--start", "9000,1000"]) == 1
    assert "without k_mu < 8 k_lambda its rest shape is not stable" in capsys.readouterr().err
