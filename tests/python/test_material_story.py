# SPDX-License-Identifier: Apache-2.0
"""The mistakes of a script that wants a material from a motion: each is caught, or explained in the sentence that its
user reads first."""
import logging
import re

import numpy as np
import pytest

DT = 1 / 60 / 340
STEPS = 6


def block(k_mu=1000.0, particle_radius=0.001):
    """The builder of the story's soft block, of fewer cells."""
    import novaphy
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 0.05), rot=(0, 0, 0, 1), vel=(-2, 0, 0), dim_x=4, dim_y=2, dim_z=2, cell_x=0.01,
                          cell_y=0.005, cell_z=0.01, density=10, k_mu=k_mu, k_lambda=1000, k_damp=1,
                          particle_radius=particle_radius)
    return builder


class Training:
    """Model, solver, a state for each substep, the constant as a tensor and the wanted end positions."""

    def __init__(self):
        import novaphy.diff as ndiff
        from novaphy import nova
        from novaphy.solvers import DiffSemiImplicitSolver
        self.model = block().finalize()
        self.solver = DiffSemiImplicitSolver(self.model)
        self.states = [self.model.state() for _ in range(STEPS + 1)]
        self.material = ndiff.model_tet_material_tensor(self.model, requires_grad=True)
        self.goal = nova.tensor(Target().end())

    def roll(self):
        for now, after in zip(self.states, self.states[1:]):
            now.clear_forces()
            self.solver.step(now, after, None, None, DT)
        return self.states[-1]

    def loss(self, goal=None):
        import novaphy.diff as ndiff
        from novaphy import nova
        d = ndiff.state_particle_q_tensor(self.roll()) - (self.goal if goal is None else goal)
        return nova.sum(d * d)

    def gradient(self):
        """Of the constants, from one recording done right."""
        from novaphy import nova
        with nova.Tape() as tape:
            loss = self.loss()
        tape.backward(loss)
        gradient = self.material.grad.numpy().copy()
        self.material.zero_grad()
        return gradient


class Target:
    """The block whose constant is another, with two states that take turns."""

    def __init__(self):
        from novaphy.solvers import DiffSemiImplicitSolver
        self.model = block(k_mu=3000.0).finalize()
        self.solver = DiffSemiImplicitSolver(self.model)
        self.now, self.after = self.model.state(), self.model.state()

    def roll(self):
        for _ in range(STEPS):
            self.now.clear_forces()
            self.solver.step(self.now, self.after, None, None, DT)
            self.now, self.after = self.after, self.now
        return self.now

    def end(self):
        from novaphy import nova
        with nova.no_grad():
            return self.roll().particle_q.numpy().copy()


@pytest.fixture
def training():
    return Training()


# attributes of the model

@pytest.mark.parametrize("name, text", [
    ("ground", "'Model' has no attribute 'ground'; the ground is a shape: builder.add_ground_plane()"),
    ("tet_material", "'Model' has no attribute 'tet_material'; did you mean 'tet_materials'?"),
    ("quite_another_thing", "'Model' has no attribute 'quite_another_thing'"),
])
def test_an_attribute_that_a_model_does_not_have_cannot_be_set(training, name, text):
    with pytest.raises(AttributeError) as raised:
        setattr(training.model, name, True)
    assert str(raised.value) == text


def test_a_ground_is_added_before_finalize(training):
    with pytest.raises(AttributeError) as raised:
        training.model.add_ground_plane()
    assert str(raised.value) == ("'Model' has no attribute 'add_ground_plane'; call it on the ModelBuilder, before "
                                 "finalize()")


# states and gradients

def test_two_states_that_take_turns_are_refused_with_the_remedy(training):
    import novaphy
    from novaphy import nova
    training.states = [training.states[0], training.states[1]] * (STEPS // 2)
    with nova.Tape() as tape:
        loss = training.loss()
    with pytest.raises(novaphy.StaleRecordError, match=r"'particle_q' of state #\d+ was written at launch \d+ .* Keep one state "
                                                       r"per substep, or use novaphy.diff.Rollout"):
        tape.backward(loss)
    assert training.material.grad is None


def test_a_gradient_that_is_read_inside_the_recording_is_refused(training):
    import novaphy
    from novaphy import nova
    with nova.Tape():
        training.loss()
        with pytest.raises(novaphy.GradientNotReadyError, match="read it after Tape.backward"):
            training.material.grad


# the target

def test_a_target_with_two_states_stepped_inside_the_recording_is_refused(training):
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    target = Target()
    with nova.Tape() as tape:
        loss = training.loss(goal=ndiff.state_particle_q_tensor(target.roll()))
    with pytest.raises(novaphy.StaleRecordError, match="Keep one state per substep"):
        tape.backward(loss)


def test_a_target_stepped_inside_the_recording_without_recording_it_changes_no_gradient(training):
    import novaphy.diff as ndiff
    from novaphy import nova
    target = Target()
    right = training.gradient()
    with nova.Tape() as tape:
        with nova.no_grad():
            end = target.roll()
        loss = training.loss(goal=ndiff.state_particle_q_tensor(end))
    tape.backward(loss)
    assert np.abs(right[:, 0]).max() > 0
    assert np.array_equal(training.material.grad.numpy(), right)


def test_a_target_that_goes_on_instead_of_starting_anew_is_a_row_of_the_guides_table():
    """No engine can know that the motion of another model should have been the same as before."""
    from pathlib import Path
    import novaphy
    page = Path(__file__).resolve().parents[2] / "python/docs/find_a_material.md"
    assert re.search(r"\| the target is simulated on the same tape, or not set back \|.*recorded once", page.read_text())


# the loss

@pytest.mark.parametrize("how", ["a running sum", "one array"])
def test_a_loss_that_adds_up_from_recording_to_recording_is_told_once(training, caplog, how):
    import novaphy.diff as ndiff
    from novaphy import nova
    total = nova.zeros((1,))
    for _ in range(3):
        with nova.Tape() as tape:
            if how == "a running sum":
                total += training.loss()
            else:
                ndiff.assign(total, total + training.loss())
        with caplog.at_level(logging.WARNING, logger="novaphy"):
            tape.backward(total)
    told = [record.getMessage() for record in caplog.records if "loss adds up" in record.getMessage()]
    assert len(told) == 1, caplog.text
    assert re.fullmatch(r"Tape.backward: the loss adds up: launch \d+ \(add\) adds to .*, the loss of an earlier recording, so "
                        r"values grow from one recording to the next; begin the loss anew inside each recording", told[0])


def test_losses_that_begin_anew_or_are_divided_by_the_first_one_are_no_sum(training, caplog):
    from novaphy import nova
    first = None
    for _ in range(3):
        with nova.Tape() as tape:
            total = nova.zeros((1,))
            total += training.loss()
            if first is not None:
                total = total / first
        with caplog.at_level(logging.WARNING, logger="novaphy"):
            tape.backward(total)
        first = total
    assert "loss adds up" not in caplog.text


# the parameter

def test_an_update_in_place_reaches_the_model(training):
    """`material -= ...` would otherwise give the name another tensor, and the model its old constants for ever."""
    from novaphy import nova
    losses, kept = [], training.material
    for _ in range(4):
        with nova.Tape() as tape:
            loss = training.loss()
        tape.backward(loss)
        losses.append(loss.item())
        scale = np.zeros(training.material.shape, np.float32)
        scale[:, 0] = 100 / np.abs(training.material.grad.numpy()[:, 0]).max()
        training.material -= nova.tensor(scale) * training.material.grad
        training.material.zero_grad()
    assert training.material is kept and training.material.requires_grad
    assert training.model.tet_materials.numpy()[:, 0].max() > 1200
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.95 * losses[0]


def test_every_operator_that_updates_keeps_the_tensor_and_has_its_value():
    from novaphy import nova
    x = nova.tensor([6.0, 8.0], requires_grad=True)
    kept = x
    x += 2
    x *= nova.tensor([2.0, 1.0])
    x -= 4.0
    x /= 2
    assert x is kept and x.requires_grad
    assert x.numpy().tolist() == [6.0, 3.0]


def test_inside_a_recording_an_update_makes_a_new_tensor_with_its_gradient():
    from novaphy import nova
    x = nova.tensor([3.0], requires_grad=True)
    kept = x
    with nova.Tape() as tape:
        x *= 5.0
        loss = nova.sum(x * x)
    tape.backward(loss)
    assert x is not kept
    assert kept.numpy().tolist() == [3.0] and kept.grad.numpy().tolist() == [150.0]


def test_an_array_read_out_is_no_way_to_update_the_model(training):
    with pytest.raises(ValueError, match="read-only"):
        training.model.tet_materials.numpy()[:, 0] -= 1.0


def test_an_optimizer_of_a_copy_says_that_the_loss_does_not_depend_on_it(training):
    from novaphy import nova
    copy = nova.tensor(training.model.tet_materials.numpy(), requires_grad=True)
    with nova.Tape() as tape:
        loss = training.loss()
    tape.backward(loss)
    assert copy.grad is None, "never a plain zero"
    with pytest.raises(ValueError) as raised:
        nova.optim.Adam([copy], lr=0.01).step()
    assert str(raised.value) == (
        "nova.optim.Adam.step: no parameter has a gradient; set requires_grad and call tape.backward first, and give the "
        "tensors that the loss depends on (a copy of a model's array is not that array)")


# the graph

def test_a_graph_that_is_launched_inside_a_recording_carries_its_gradient():
    import novaphy.diff as ndiff
    from novaphy import nova
    x, y = nova.tensor([3.0], requires_grad=True), nova.zeros((1,))
    with nova.ScopedCapture() as capture:
        ndiff.assign(y, x * x)
    with nova.Tape() as tape:
        nova.capture_launch(capture.graph)
        loss = nova.sum(y)
    tape.backward(loss)
    assert x.grad.numpy().tolist() == [6.0]


def test_a_step_of_a_solver_inside_a_capture_is_refused_at_its_line(training):
    import novaphy
    from novaphy import nova
    with pytest.raises(novaphy.CaptureError, match="DiffSemiImplicitSolver.step .supports_graph_capture is False.*do it before or "
                                                  "after the capture"):
        with nova.ScopedCapture():
            training.solver.step(training.states[0], training.states[1], None, None, DT)


# the radius

@pytest.mark.parametrize("solver_name", ["SolverSemiImplicit", "DiffSemiImplicitSolver"])
def test_the_default_radius_is_named_before_the_first_step_with_the_remedy(solver_name, caplog):
    import novaphy.solvers
    for radius, times in ((0.1, 1), (0.001, 0)):
        model = block(particle_radius=radius).finalize()
        assert model.particle_grid is None
        solver, now, after = getattr(novaphy.solvers, solver_name)(model), model.state(), model.state()
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="novaphy"):
            solver.step(now, after, None, None, DT)
        told = [r.getMessage() for r in caplog.records if "less than its radius of 0.1 m" in r.getMessage()]
        assert len(told) == times, caplog.text
        assert all(re.search(r"give a smaller particle_radius, or enable_tri_contact=False", text) for text in told)


# the time step

def users_block(k_mu, **options):
    """The story's block of 20 x 4 x 10 cells."""
    import novaphy
    builder = novaphy.ModelBuilder()
    builder.add_soft_grid(pos=(0, 0, 0.001), rot=(0, 0, 0, 1), vel=(-2, 0, 0), dim_x=20, dim_y=4, dim_z=10, cell_x=0.01,
                          cell_y=0.005, cell_z=0.01, density=10, k_mu=k_mu, k_lambda=1000, k_damp=1, **options)
    return builder.finalize()


@pytest.mark.parametrize("k_mu, elastic, both", [(1000.0, 47, 290), (3000.0, 66, 297)])
def test_32_substeps_a_frame_are_told_to_be_too_few_and_how_many_are_wanted(k_mu, elastic, both):
    import novaphy.diff as ndiff
    report = ndiff.stability_report(users_block(k_mu), 1 / 60 / 32)
    substeps = {name: 1 / 60 / limit for name, limit in report.limits.items()}
    assert not report.ok
    assert substeps["elements"] == pytest.approx(both, abs=1) and substeps["damping"] == pytest.approx(282, abs=1)
    assert substeps["elastic"] == pytest.approx(elastic, abs=1)
    assert report.max_dt == report.limits["elements"]
    for said in (rf"about {both} substeps", r"k_mu < 8 k_lambda", r"radius 0\.1 m", r"tetrahedron \d+", r"Take more substeps"):
        assert re.search(said, report.text), report.text
    assert ndiff.stability_report(users_block(k_mu), 1 / 60 / 340).ok


def test_a_material_that_collapses_is_named_at_any_dt():
    import novaphy.diff as ndiff
    report = ndiff.stability_report(users_block(9000.0), 1 / 60 / 3400)
    assert not report.ok
    assert re.search(r"k_mu = 9000 and k_lambda = 1000", report.text), report.text


@pytest.mark.parametrize("solver_name", ["SolverSemiImplicit", "DiffSemiImplicitSolver"])
def test_the_users_steps_are_warned_of_before_the_first_and_where_they_blow_up(solver_name, caplog):
    import novaphy.solvers
    model = users_block(3000.0, particle_radius=0.001)
    solver = getattr(novaphy.solvers, solver_name)(model)
    now, after = model.state(), model.state()
    with caplog.at_level(logging.WARNING, logger="novaphy"):
        for _ in range(16):
            now.clear_forces()
            solver.step(now, after, None, None, 1 / 60 / 32)
            now, after = after, now
    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith(solver_name) and "about 297 substeps" in told[0], told
    assert len(told) == 2 and re.search(r"at step \d+ of this solver particle \d+ of tetrahedron \d+ .* has blown up", told[1]), told
    assert "novaphy.diff.stability_report(model, dt)" in told[1]


@pytest.mark.parametrize("solver_name", ["SolverSemiImplicit", "DiffSemiImplicitSolver"])
def test_the_first_value_that_is_not_finite_raises_at_its_step_with_its_place(solver_name):
    import novaphy
    import novaphy.solvers
    model = block().finalize()
    solver = getattr(novaphy.solvers, solver_name)(model)
    now, after = model.state(), model.state()
    solver.step(now, after, None, None, DT)
    force = np.zeros(after.particle_f.shape, np.float32)
    force[7, 1] = np.nan
    after.particle_f = force
    with pytest.raises(novaphy.DomainCheckError, match=r"\.step: at step 2 of this solver particle 7 of tetrahedron \d+ got the "
                                                       r"force \(.*nan.*\) N"):
        solver.step(after, now, None, None, DT)
