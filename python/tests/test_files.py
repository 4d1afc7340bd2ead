# SPDX-License-Identifier: Apache-2.0
"""Files, settings and the null viewer."""

import json

import numpy as np
import pytest

import novaphy


def test_a_rollout_comes_back_with_its_provenance(tmp_path, model):
    path = tmp_path / "rollout"
    q = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    novaphy.io.dump_states(path, particle_q=q, meta={"note": "ours"})
    stored = novaphy.io.load_states(path)
    assert np.array_equal(stored["particle_q"], q) and stored["particle_q"].dtype == np.float32
    assert stored["meta"]["note"] == "ours" and stored["meta"]["scene_hash"] == novaphy.scene_hash(model)
    assert set(stored["meta"]) >= {"version", "commit", "plugins", "tier", "threads", "scene_hash", "command"}
    with pytest.raises(TypeError, match="dump_states: particle_q must be float32, is float64"):
        novaphy.io.dump_states(path, particle_q=q.astype(float))


def test_a_file_that_is_no_npz_is_a_parse_error(tmp_path):
    path = tmp_path / "text.npz"
    path.write_text("hello")
    with pytest.raises(novaphy.ParseError, match="text.npz is no NPZ file"):
        novaphy.io.load_states(path)
    np.save(tmp_path / "lone.npy", np.zeros(3))
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    for name in ("lone.npy", "cut.npz"):
        with pytest.raises(novaphy.ParseError, match=f"{name} is no NPZ file of dump_states"):
            novaphy.io.load_states(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        novaphy.io.load_states(tmp_path / "absent.npz")


def test_states_are_saved_and_read_back(tmp_path, model):
    state = model.state()
    state.particle_q = [[7, 8, 9]]
    state.save_npz(tmp_path / "state.npz")
    other = model.state()
    other.load_npz(tmp_path / "state.npz")
    assert other.particle_q.tolist() == [[7, 8, 9]]


def test_states_check_and_assign(model):
    state, other = model.state(), model.state()
    state.particle_qd[0, 1] = float("nan")
    with pytest.raises(novaphy.NovaPhyError, match="particle_qd"):
        state.check_finite()
    state.assign(other)
    state.check_finite()
    state.particle_f.fill_(3)
    state.clear_forces()
    assert state.particle_f.tolist() == [[0, 0, 0]]


def test_contacts_of_a_model_without_a_pipeline_of_its_own(model):
    state = model.state()
    contacts = model.collide(state)
    assert contacts.soft_contact_max == 2 and contacts.soft_contact_count.tolist() == [0]
    state.particle_q = [[0, 0, 0.05]]
    assert model.collide(state, contacts) is contacts
    (point,) = contacts.points()
    assert (point.particle, point.shape) == (0, 1) and point.normal == pytest.approx((0, 0, 1))
    contacts.clear()
    assert contacts.points() == [] and contacts.soft_contact_tids.tolist() == [-1, -1]


def test_the_null_viewer_runs_its_frames_and_can_not_be_pickled():
    import pickle

    with novaphy.viewer.create("null", num_frames=3, benchmark=True) as viewer:
        frames = 0
        while viewer.is_running():
            viewer.begin_frame(frames / 60)
            viewer.log_points("p", np.zeros((1, 3), np.float32))
            viewer.end_frame()
            frames += 1
    assert frames == 3 and viewer.fps > 0 and not viewer.is_running()
    with pytest.raises(TypeError, match="cannot pickle 'ViewerNull'"):
        pickle.dumps(viewer)
    with pytest.raises(ValueError, match="no viewer 'opengl': there are null, html, gl"):
        novaphy.viewer.create("opengl")
    with pytest.raises(novaphy.PluginNotAvailableError, match="ViewerGL.*'viewer'.*--headless N"):
        novaphy.viewer.create("gl")


def test_settings_are_checked():
    assert novaphy.config.deterministic is True
    with pytest.raises(ValueError, match="config.progress is 'loud': want one of auto, bar, off"):
        novaphy.config.progress = "loud"
    with pytest.raises(AttributeError):
        novaphy.config.verbos = True


def test_build_info_is_plain_data():
    info = novaphy.build_info()
    assert info["version"] == novaphy.__version__ and info["pybind11"].startswith("3.")
    json.dumps(info)
