# SPDX-License-Identifier: Apache-2.0
"""Command lines of the examples that go wrong: one line that says what to do, before any work is done."""

import pytest

from novaphy import examples
from novaphy.examples import _command_line, _trained_scene, diffsim_ball


def refused(capsys, *arguments):
    """The last line on standard error of a command line that argparse refuses."""
    with pytest.raises(SystemExit) as ended:
        diffsim_ball.main([str(argument) for argument in arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("option", ["--headless", "--seed"])
@pytest.mark.parametrize("value", ["x", "-1", "1.5"])
def test_counts_are_whole_numbers(capsys, option, value):
    assert refused(capsys, f"{option}={value}") == (
        f"diffsim_ball: error: argument {option}: wants a whole number of at least 0, got '{value}'"
    )


@pytest.mark.parametrize("option", ["--dump-states", "--plot"])
def test_files_that_cannot_be_written_are_refused_first(capsys, tmp_path, option):
    pytest.importorskip("matplotlib")
    start = f"diffsim_ball: error: argument {option}: "
    assert refused(capsys, option, tmp_path / "absent" / "x.png") == (
        f"{start}the folder {tmp_path / 'absent'} does not exist"
    )
    (tmp_path / "folder.png").mkdir()
    assert refused(capsys, option, tmp_path / "folder.png") == (
        f"{start}wants the name of a file, got '{tmp_path / 'folder.png'}'"
    )


def test_an_unwritable_folder_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(_command_line.os, "access", lambda path, mode: False)  # root may write everywhere
    assert refused(capsys, "--dump-states", tmp_path / "x.npz") == (
        f"diffsim_ball: error: argument --dump-states: {tmp_path / 'x.npz'} cannot be written"
    )


def test_a_picture_needs_matplotlib_and_a_known_ending(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    line = refused(capsys, "--plot", tmp_path / "x.foo")
    assert line.startswith(f"diffsim_ball: error: argument --plot: '{tmp_path / 'x.foo'}' ends in none of ")
    monkeypatch.setattr(_command_line, "can_draw", lambda: False)
    assert refused(capsys, "--plot", tmp_path / "x.png") == (
        "diffsim_ball: error: argument --plot: needs matplotlib: pip install 'novaphy[plot]'"
    )


def test_without_matplotlib_the_default_picture_is_left_out(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_command_line, "can_draw", lambda: False)
    monkeypatch.setattr(diffsim_ball.Example, "iterations", 1)
    assert diffsim_ball.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "no picture: matplotlib is not installed; pip install 'novaphy[plot]'"
    )
    assert not list(tmp_path.iterdir())


def test_devices_are_refused_by_name_or_for_want_of_a_plugin(capsys):
    assert refused(capsys, "--device", "gpu") == (
        "diffsim_ball: error: argument --device: device is 'gpu': want \"cpu\", \"cuda\" or \"cuda:N\" with N "
        "the number of the GPU"
    )
    assert diffsim_ball.main(["--headless", "0", "--device", "cuda"]) == 1
    assert "cuda_backend" in capsys.readouterr().err


def test_a_full_disk_and_an_interrupt_are_one_line(capsys, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(diffsim_ball.novaphy.io, "dump_states", full)
    assert diffsim_ball.main(["--headless", "0", "--dump-states", str(tmp_path / "x.npz")]) == 1
    assert capsys.readouterr().err == "[Errno 28] No space left on device\n"

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_trained_scene, "train", interrupted)
    assert diffsim_ball.main(["--headless", "1"]) == 130
    assert capsys.readouterr().err == "interrupted; nothing was written\n"


def test_names_that_are_not_ascii_work(tmp_path, capsys):
    folder = tmp_path / "würfe"
    folder.mkdir()
    assert diffsim_ball.main(["--headless", "0", "--dump-states", str(folder / "ö.npz")]) == 0
    assert (folder / "ö.npz").exists()


@pytest.mark.parametrize("name", ["_ball_picture", "__main__", "--foo", ""])
def test_what_is_no_example_is_told_the_list(name):
    with pytest.raises(ValueError) as caught:
        examples.load(name)
    assert str(caught.value) == f"no example '{name}'; there are: {', '.join(examples.names())}"
