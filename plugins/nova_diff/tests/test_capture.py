# SPDX-License-Identifier: Apache-2.0
"""nova.ScopedCapture from Python: a training step over generated operators of the engine, and refusals by line."""
import gc
import threading

import numpy as np
import pytest

import novaphy
from novaphy import nova
from novaphy import diff as ndiff

AT_ONCE = (": this thread captures a graph, which runs nothing before its launch, and this acts at once; do it before or "
           "after the capture")


def particles():
    """A model with two particles over a ground plane, and a state."""
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 0.15), vel=(1, 0, -1), mass=1.0, radius=0.1)
    builder.add_particle(pos=(1, 0, 0.5), vel=(0, 1, 0), mass=2.0, radius=0.1)
    builder.add_ground_plane()
    model = builder.finalize(requires_grad=True)
    return model, model.state()


def roll(model, state, steps=10):
    """Ten generated steps with contact; the loss is the squared distance of particle 0 to a target."""
    q, qd, f = (nova.Tensor(a) for a in (state.particle_q, state.particle_qd, state.particle_f))
    for _ in range(steps):
        q, qd = ndiff.integrate_particles_with_static_contacts_generated(model, q, qd, f, 0.5, 1 / 240)
    return ndiff.particle_point_loss_generated(q, 0, 0.5, 0.0, 0.3)


def gradient_step(model, state):
    with nova.Tape() as tape:
        loss = roll(model, state)
    tape.backward(loss)
    return loss


def captured(model, state):
    with nova.ScopedCapture() as capture:
        loss = gradient_step(model, state)
    return capture.graph, loss


@pytest.mark.parametrize("make", [lambda p: nova.optim.SGD(p, lr=0.05), lambda p: nova.optim.Adam(p, lr=0.02)],
                         ids=["SGD", "Adam"])
def test_a_captured_training_step_of_the_engines_operators_equals_an_uncaptured_one_over_50_iterations(make):
    runs = []
    for capture_it in (False, True):
        model, state = particles()
        parameters = [nova.Tensor(state.particle_qd), nova.Tensor(model.particle_inv_mass)]
        optimiser = make(parameters)

        def train():
            optimiser.zero_grad()
            loss = gradient_step(model, state)
            optimiser.step()
            return loss

        if capture_it:
            with nova.ScopedCapture() as capture:
                loss = train()
        bits = []
        for _ in range(50):
            if capture_it:
                capture.graph.launch()
            else:
                loss = train()
            bits.append(b"".join(t.numpy().tobytes() for t in (loss, *parameters)))
        runs.append(bits)
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][49]


def test_new_start_values_in_the_same_arrays_give_the_uncaptured_result():
    model, state = particles()
    graph, loss = captured(model, state)
    start = np.array([[0.3, 0.2, 0.11], [0, 0, 1]], np.float32)
    state.particle_q = start
    graph.launch()
    other_model, other = particles()
    other.particle_q = start
    want = gradient_step(other_model, other)
    assert loss.numpy().tobytes() == want.numpy().tobytes()
    assert state.particle_qd.grad.numpy().tobytes() == other.particle_qd.grad.numpy().tobytes()


def test_a_replaced_state_is_an_error():
    model, state = particles()
    graph, _ = captured(model, state)
    graph.launch()
    state = model.state()
    gc.collect()
    with pytest.raises(novaphy.CaptureError) as raised:
        graph.launch()
    assert " of state #0 is held by nobody but the graph any more, so it was replaced" in str(raised.value)


def test_frozen_numbers_are_shown():
    model, state = particles()
    graph, _ = captured(model, state)
    assert ("integrate_with_static_contacts", "dt", pytest.approx(1 / 240)) in graph.numbers
    assert "integrate_with_static_contacts" in repr(graph) and "dt = " in str(graph)


def test_a_uniform_may_change_between_launches_and_a_number_of_a_kernel_is_shown():
    @nova.kernel
    def scaled(x: nova.rows[float], c: nova.uniform[float]):
        return c * x

    x, c = nova.tensor([1.0, 2.0]), nova.uniform(3.0)
    with nova.ScopedCapture() as capture:
        live, frozen = scaled(x, c), scaled(x, 5.0)
    capture.graph.launch()
    assert live.numpy().tolist() == [3, 6] and frozen.numpy().tolist() == [5, 10]
    c.assign([4.0])
    capture.graph.launch()
    assert live.numpy().tolist() == [4, 8] and frozen.numpy().tolist() == [5, 10]
    assert capture.graph.numbers == [("scaled", "c", 5.0)]


def test_three_replays_without_clearing_add_up_as_backward_does():
    model, state = particles()
    graph, _ = captured(model, state)
    for _ in range(3):
        graph.launch()
    other_model, other = particles()
    for _ in range(3):
        gradient_step(other_model, other)
    assert state.particle_qd.grad.numpy().tobytes() == other.particle_qd.grad.numpy().tobytes()
    model, state = particles()
    graph, _ = captured(model, state)
    graph.launch()
    once = state.particle_qd.grad.numpy().copy()
    nova.Tensor(state.particle_qd).zero_grad()
    graph.launch()
    assert once.tobytes() == state.particle_qd.grad.numpy().tobytes()


def test_what_cannot_be_captured_is_refused_at_its_line():
    model, state = particles()
    other = model.state()
    pipeline = novaphy.CollisionPipeline(model)
    contacts = pipeline.contacts()
    solver, forward = novaphy.solvers.DiffSemiImplicitSolver(model), novaphy.solvers.SolverSemiImplicit(model)
    x = nova.zeros(3)
    assert not solver.supports_graph_capture
    refused = {
        lambda: solver.step(state, other, None, None, 0.01):
            "DiffSemiImplicitSolver.step (supports_graph_capture is False)",
        lambda: forward.step(state, other, None, None, 0.01):
            "SolverSemiImplicit.step (supports_graph_capture is False)",
        lambda: pipeline.collide(state, contacts): "CollisionPipeline.collide",
        lambda: x.numpy(): "numpy(), the values of an array on the host",
        lambda: np.asarray(x): "__array_interface__, the values of an array on the host",
        lambda: state.particle_q[0]: "numpy(), the values of an array on the host",
        lambda: x.__dlpack__(): "__dlpack__, the values of an array for another library",
        lambda: nova.zeros(1).item(): "nova.Tensor.item",
        lambda: nova.tensor([1.0]): "a write from the host into a tensor",
        lambda: setattr(state, "particle_q", np.zeros((2, 3))): "a write from the host into 'particle_q' of state #0",
        lambda: state.clear_forces(): "a write from the host into 'particle_f' of state #0",
        lambda: x.assign(np.ones(3)): "a write from the host into a tensor",
    }
    with nova.ScopedCapture():
        assert nova.is_capturing()
        for action, who in refused.items():
            with pytest.raises(novaphy.CaptureError) as raised:
                action()
            assert str(raised.value) == who + AT_ONCE
    assert not nova.is_capturing()
    np.testing.assert_array_equal(state.particle_q.numpy(), model.state().particle_q.numpy())


def test_an_error_inside_leaves_no_graph_and_no_capture():
    x = nova.ones(2)
    capture = nova.ScopedCapture()
    with pytest.raises(KeyError):
        with capture:
            raise KeyError("stop")
    assert not nova.is_capturing()
    with pytest.raises(novaphy.CaptureError) as raised:
        capture.graph
    assert str(raised.value) == (
        "nova.ScopedCapture.graph: there is none before the 'with' block ends without an error")
    with capture:  # the failed attempt left nothing
        x.fill_(3)
    with pytest.raises(novaphy.CaptureError) as raised:
        with capture:
            pass
    assert str(raised.value) == "nova.ScopedCapture: this capture was used already; make a new one"
    assert x.numpy().tolist() == [1, 1]


def test_tensors_made_inside_start_anew_at_each_launch():
    x = nova.tensor([2.0, 3.0])
    with nova.ScopedCapture() as capture:
        ones = nova.ones(2)
        ones.assign(x)
        filled = nova.full(2, 7.0)
        copy = filled.detach()
        filled.fill_(0)
    for _ in range(2):
        nova.capture_launch(capture.graph)
        assert copy.numpy().tolist() == [7, 7] and filled.numpy().tolist() == [0, 0] and ones.numpy().tolist() == [2, 3]


def test_a_graph_launched_inside_a_recording_carries_its_gradient():
    model, state = particles()
    with nova.ScopedCapture() as capture:
        loss = roll(model, state)
    with nova.Tape() as tape:
        capture.graph.launch()
    tape.backward(loss)
    other_model, other = particles()
    gradient_step(other_model, other)
    assert state.particle_qd.grad.numpy().tobytes() == other.particle_qd.grad.numpy().tobytes()


def test_graphs_and_what_they_own_are_freed():
    import resource

    def rounds(count):
        for _ in range(count):
            model, state = particles()
            graph, loss = captured(model, state)
            graph.launch()

    rounds(50)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rounds(100)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024  # KB


def test_a_capture_ends_on_the_thread_that_began_it():
    x, told = nova.ones(2), []

    def end(capture):
        try:
            capture.__exit__(None, None, None)
        except novaphy.CaptureError as error:
            told.append(str(error))

    with nova.ScopedCapture() as capture:
        other = threading.Thread(target=end, args=(capture,))
        other.start()
        other.join()
        y = x * 3.0
    capture.graph.launch()
    assert y.numpy().tolist() == [3, 3] and not nova.is_capturing()
    assert told == ["nova.ScopedCapture: another thread captures with it; end it on that thread"]


def test_a_capture_that_is_forgotten_open_is_held_and_not_freed_under_its_thread():
    def forget():
        nova.ScopedCapture().__enter__()
        gc.collect()
        held.append(nova.is_capturing())

    held = []
    thread = threading.Thread(target=forget)
    thread.start()
    thread.join()
    assert held == [True] and not nova.is_capturing()
