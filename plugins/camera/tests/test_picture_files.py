# SPDX-License-Identifier: Apache-2.0
"""save_png and save_gif: what is in the files, and what they refuse."""
import json
import sys

import numpy as np
import pytest

import novaphy
from novaphy.camera import save_gif, save_png

IMAGE = np.float32([[0, 0.5, 1], [-1, 0.2, 2]])


def test_a_png_holds_the_rows_from_the_top_and_the_provenance(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    save_png(tmp_path / "a.png", IMAGE)
    with Image.open(tmp_path / "a.png") as read:
        assert np.asarray(read).tolist() == [[0, 128, 255], [0, 51, 255]]
        assert json.loads(read.text["Description"]) == novaphy.provenance()
    save_png(tmp_path / "b.png", IMAGE * 10, low=-10, high=20)
    with Image.open(tmp_path / "b.png") as read:
        assert np.asarray(read).tolist() == [[85, 128, 170], [0, 102, 255]]
    save_png(tmp_path / "c.png", np.stack([IMAGE, 1 - IMAGE, IMAGE], -1))
    with Image.open(tmp_path / "c.png") as read:
        assert read.mode == "RGB" and np.asarray(read)[0, 0].tolist() == [0, 255, 0]


def test_a_gif_holds_every_frame_its_pace_and_the_provenance(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    frames = [np.full((4, 5), level, np.float32) for level in (0.0, 0.5, 1.0)]
    save_gif(tmp_path / "a.gif", frames, fps=20)
    with Image.open(tmp_path / "a.gif") as read:
        assert read.n_frames == 3 and read.info["loop"] == 0 and read.size == (5, 4)
        assert json.loads(read.info["comment"]) == novaphy.provenance()
        for i, level in enumerate((0, 128, 255)):
            read.seek(i)
            assert read.info["duration"] == 50
            assert np.asarray(read.convert("L")).tolist() == np.full((4, 5), level).tolist()


REFUSED = [
    (lambda p: save_png(p, np.zeros(3)), "save_png: the image has shape (3,); (height, width) or (height, width, 3) is wanted"),
    (lambda p: save_png(p, np.float32([[0, np.nan]])), "save_png: the image holds a value that is not finite, first at [0, 1]"),
    (lambda p: save_png(p, IMAGE, low=1), "save_png: low is 1 and high is 1.0; give low < high"),
    (lambda p: save_gif(p, []), "save_gif: there are no images; give at least one"),
    (lambda p: save_gif(p, [IMAGE], fps=0), "save_gif: fps is 0; give more than 0 and at most 50 frames a second"),
    (lambda p: save_gif(p, [IMAGE, IMAGE[:1]]), "save_gif: image 1 has shape (1, 3), the first has (2, 3); want one shape"),
]


@pytest.mark.parametrize("call, said", REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_a_file_that_cannot_be_written_is_refused_in_one_sentence(call, said, tmp_path):
    pytest.importorskip("PIL")
    with pytest.raises(ValueError) as caught:
        call(tmp_path / "x")
    assert str(caught.value) == said and not (tmp_path / "x").exists()


@pytest.mark.parametrize("save, name", [(save_png, "save_png"), (save_gif, "save_gif")])
def test_without_pillow_the_extra_is_named(save, name, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError) as caught:
        save(tmp_path / "x", IMAGE)
    assert str(caught.value) == f"{name}: needs Pillow: pip install 'novaphy[plot]'"
