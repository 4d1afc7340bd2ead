# SPDX-License-Identifier: Apache-2.0
"""Materials as parameters: losses that are 0, shared and own materials, clamps, cut horizons, losses on forces."""
import numpy as np
import pytest

from compare import assert_close_to_largest


def soft_grid(cells, mu=1000.0, lam=1000.0, cell=0.1, density=1000.0, gravity=None, requires_grad=False, **more):
    import novaphy
    builder = novaphy.ModelBuilder() if gravity is None else novaphy.ModelBuilder(gravity=gravity)
    builder.add_soft_grid(pos=(0, 0, 1), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=cells[0], dim_y=cells[1], dim_z=cells[2],
                          cell_x=cell, cell_y=cell, cell_z=cell, density=density, k_mu=mu, k_lambda=lam, k_damp=1.0, particle_radius=1e-3, **more)
    return builder.finalize(requires_grad=requires_grad)


# A grid is stretched and let go ------------------------------------------------------------------------------------------

STEPS, DT, FRAME = 40, 5e-4, 8


def rollout(model, states):
    from novaphy.solvers import DiffSemiImplicitSolver
    solver = DiffSemiImplicitSolver(model)
    for now, then in zip(states, states[1:]):
        now.clear_forces()
        solver.step(now, then, None, None, DT)


def stretched(model):
    states = [model.state() for _ in range(STEPS + 1)]
    start = model.particle_q.numpy().copy()
    start[:, 0] *= 1.2
    states[0].particle_q = start
    return states


def plain_distances(mu, target):
    """(loss, d loss / d mu) of the sum of distances, not squared, of all particles at frames 0, 1, ..; frame 0 coincides."""
    import novaphy.diff as ndiff
    from novaphy import nova
    model = soft_grid((4, 4, 4))
    states = stretched(model)
    params = nova.tensor(np.float32([mu, 1000.0]), requires_grad=True)
    base = nova.tensor(model.particle_tet_material.numpy())

    @nova.kernel
    def distance(q: nova.rows[nova.vec3], p: nova.rows[nova.vec3]):
        return nova.sum(nova.norm(q - p))
    with nova.Tape() as tape:
        ndiff.assign(ndiff.model_tet_material_tensor(model), ndiff.assign_tet_materials_generated(params, base, model.tet_count))
        rollout(model, states)
        loss = None
        for frame, state in enumerate(states[::FRAME]):
            term = distance(ndiff.state_particle_q_tensor(state), nova.tensor(target[frame]))
            loss = term if loss is None else loss + term
    tape.backward(loss)
    return loss.item(), float(params.grad.numpy()[0])


@pytest.fixture(scope="module")
def observed():
    """The same motion with the modulus 3000."""
    model = soft_grid((4, 4, 4), mu=3000.0)
    states = stretched(model)
    rollout(model, states)
    return np.stack([state.particle_q.numpy() for state in states[::FRAME]])


def test_a_loss_of_plain_distances_has_a_finite_gradient_where_two_motions_coincide(observed):
    """In frame 0 every distance is exactly 0. From 1000 the gradient points to 3000; at 3000 it is 0."""
    loss, gradient = plain_distances(1000.0, observed)
    assert np.isfinite(gradient) and loss > 0 and gradient < 0
    loss, gradient = plain_distances(3000.0, observed)
    assert loss == 0 and gradient == 0


# A clamped beam of 20 tetrahedra under gravity ---------------------------------------------------------------------------

BEAM_STEPS = 200


class Beam:
    def __init__(self):
        import novaphy
        from novaphy.solvers import DiffSemiImplicitSolver
        builder = novaphy.ModelBuilder()
        builder.add_soft_grid(pos=(0, 0, 1), rot=(0, 0, 0, 1), vel=(0, 0, 0), dim_x=4, dim_y=1, dim_z=1, cell_x=0.1, cell_y=0.1,
                              cell_z=0.1, density=100.0, k_mu=3000.0, k_lambda=3000.0, k_damp=0.5, fix_left=True,
                              particle_radius=1e-3)
        self.model = builder.finalize()
        assert self.model.tet_count == 20
        self.solver = DiffSemiImplicitSolver(self.model)
        self.states = [self.model.state() for _ in range(BEAM_STEPS + 1)]
        self.tip = int(self.model.particle_q.numpy()[:, 0].argmax())
        self.target = (self.model.particle_q.numpy()[self.tip] + [0, 0, -0.02]).tolist()

    def record(self, materials_of, target=None):
        """Loss of the tip with materials_of() recorded before the steps; differentiated."""
        import novaphy.diff as ndiff
        from novaphy import nova
        with nova.Tape() as tape:
            ndiff.assign(ndiff.model_tet_material_tensor(self.model), materials_of())
            for now, then in zip(self.states, self.states[1:]):
                now.clear_forces()
                self.solver.step(now, then, None, None, 1e-3)
            loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(self.states[-1]), self.tip, *(target or self.target))
        tape.backward(loss)
        return loss.item()

    def expanded(self, params):
        import novaphy.diff as ndiff
        from novaphy import nova
        base = nova.tensor(np.tile(np.float32([1, 1, 0.5]), (20, 1)))
        return lambda: ndiff.assign_tet_materials_generated(params, base, 20)

    def tip_after(self, mu, lam):
        from novaphy import nova
        with nova.no_grad():
            self.model.particle_tet_material = np.tile(np.float32([mu, lam, 0.5]), (20, 1))
            for now, then in zip(self.states, self.states[1:]):
                now.clear_forces()
                self.solver.step(now, then, None, None, 1e-3)
        return self.states[-1].particle_q.numpy()[self.tip].astype(np.float64)


def test_the_gradient_of_a_shared_material_is_the_sum_of_the_elements_and_its_logarithm_scales_it():
    """Also against differences of the forward steps, whose float32 loss limits them to a part in a hundred."""
    from novaphy import nova
    beam = Beam()
    shared = nova.tensor(np.float32([2000, 2500]), requires_grad=True)
    loss = beam.record(beam.expanded(shared))
    each = nova.tensor(np.tile(np.float32([2000, 2500]), (20, 1)), requires_grad=True)
    assert beam.record(beam.expanded(each)) == loss
    logarithm = nova.tensor(np.log(np.float64([2000, 2500])).astype(np.float32), requires_grad=True)
    beam.record(lambda: beam.expanded(nova.exp(logarithm))())
    own = each.grad.numpy().astype(np.float64)
    assert (np.abs(own) > 0).all()
    assert_close_to_largest(shared.grad.numpy(), own.sum(0), 1e-4, "shared")
    assert_close_to_largest(logarithm.grad.numpy(), own.sum(0) * [2000, 2500], 1e-4, "logarithm")
    target = np.array(beam.target)
    value = lambda mu, lam: ((beam.tip_after(mu, lam) - target) ** 2).sum()
    differences = [(value(2100, 2500) - value(1900, 2500)) / 200, (value(2000, 2625) - value(2000, 2375)) / 250]
    assert_close_to_largest(shared.grad.numpy(), differences, 1e-2, "differences")


def test_a_projected_update_keeps_its_range_and_leaves_a_bound_again():
    """The derivative of the clamp is 1 inside, and 0 outside and on the bounds. A rate that would make the modulus negative ends on the bound, and the next small step leaves it."""
    import novaphy.diff as ndiff
    from novaphy import nova
    x = nova.tensor(np.float32([499, 500, 1000, 4e6, 5e6]), requires_grad=True)
    with nova.Tape() as tape:
        y = ndiff.clamp_f32_generated(x, 500.0, 4e6)
    tape.backward(y, grad=nova.tensor(np.ones(5, np.float32)))
    assert x.grad.numpy().tolist() == [0, 0, 1, 0, 0]
    assert y.numpy().tolist() == [500, 500, 1000, 4e6, 4e6]
    huge, small = np.float32(1e9), np.float32(10)
    stepped = ndiff.clamp_f32_generated(nova.tensor(np.float32([1000]) - huge), 500.0, 4e6).numpy()
    assert stepped.tolist() == [500]
    assert ndiff.clamp_f32_generated(nova.tensor(stepped + small), 500.0, 4e6).numpy().tolist() == [510]


@pytest.mark.parametrize("column, name", [(0, "k_mu"), (1, "k_lambda"), (2, "k_damp")])
def test_a_negative_modulus_does_not_reach_a_step(column, name):
    from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit
    model = soft_grid((1, 1, 1))
    material = model.particle_tet_material.numpy().copy()
    material[3, column] = -20.0
    model.particle_tet_material = material
    now, then = model.state(), model.state()
    for kind in (SolverSemiImplicit, DiffSemiImplicitSolver):
        with pytest.raises(ValueError, match=rf"{kind.__name__}.step: tetrahedron 3 has {name} = -20; give a number of at least "
                                             r"0, or keep the parameter in its range \(ndiff.clamp_f32_generated\)"):
            kind(model).step(now, then, None, None, 1e-3)


def test_a_modulus_of_3000_is_found_from_1000_within_2_percent():
    """The documented recipe: the logarithm as the parameter, the loss divided by its start value, Adam."""
    from novaphy import nova
    beam = Beam()
    target = beam.tip_after(3000, 3000).tolist()
    logarithm = nova.tensor(np.float32([np.log(1000)]), requires_grad=True)
    optimizer = nova.optim.Adam([logarithm], lr=0.1)
    lam = nova.tensor(np.float32([3000]))

    @nova.kernel
    def materials(mu: nova.uniform[float], lam: nova.uniform[float], base: nova.rows[float]):
        return nova.vec3(mu, lam, base)
    base = nova.tensor(np.full(20, 0.5, np.float32))
    for iteration in range(100):
        beam.record(lambda: materials(nova.exp(logarithm), lam, base), target)
        optimizer.step()
        optimizer.zero_grad()
        if abs(np.exp(float(logarithm.numpy()[0])) / 3000 - 1) < 0.005:
            break
    assert np.exp(float(logarithm.numpy()[0])) == pytest.approx(3000, rel=0.02)


# A cart on a rail, cut in the middle ------------------------------------------------------------------------------------


def cart_gradients(cut):
    """d(last x)/du of 20 steps of 0.1 s with a force each on a mass of 1."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
    builder.add_particle(pos=(0, 0, 0), vel=(0, 0, 0), mass=1.0)
    model = builder.finalize()
    solver = DiffSemiImplicitSolver(model)
    states = [model.state() for _ in range(21)]
    forces = [ndiff.state_particle_f_tensor(state, requires_grad=True) for state in states[:20]]
    with nova.Tape() as tape:
        for k in range(20):
            now = states[k]
            if k == cut:
                now = model.state()
                with nova.no_grad():
                    now.particle_q, now.particle_qd = states[k].particle_q, states[k].particle_qd
                forces[k] = ndiff.state_particle_f_tensor(now, requires_grad=True)
            solver.step(now, states[k + 1], None, None, 0.1)
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[20]), 0, -0.5, 0.0, 0.0)
    tape.backward(loss)
    return np.array([0.0 if f.grad is None else f.grad.numpy()[0, 0] for f in forces])


def test_a_cut_at_a_horizon_stops_the_gradient_there_exactly():
    """dL/du_t = dt^2 (20 - t) with the loss (x + 0.5)^2 at x = 0; after a cut at step 10 it is 0 before it."""
    whole = cart_gradients(cut=None)
    want = np.array([0.01 * (20 - t) for t in range(20)])
    assert np.allclose(whole, want, rtol=1e-5) and whole[0] == pytest.approx(0.2) and whole[9] == pytest.approx(0.11)
    cut = cart_gradients(cut=10)
    assert (cut[:10] == 0).all()
    assert np.allclose(cut[10:], want[10:], rtol=1e-5)


# A loss on contact forces ------------------------------------------------------------------------------------------------


def test_a_loss_on_the_force_of_a_resting_contact_differentiates_by_the_mass():
    """2 kg on a plane: 19.62 N, and 9.81 N more for each kg, from the mean over the last 100 of 1000 steps."""
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    builder = novaphy.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_particle(pos=(0, 0, 0.1), vel=(0, 0, 0), mass=2.0, radius=0.1)
    builder.add_ground_plane()
    model = builder.finalize(requires_grad=True)
    model.shape_material_ke = model.shape_material_ke.numpy() * 0 + 1000
    model.shape_material_kd = model.shape_material_kd.numpy() * 0 + 50
    model.soft_contact_ke, model.soft_contact_kd = 1000.0, 50.0
    solver = DiffSemiImplicitSolver(model)
    pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=0.05)
    contacts = pipeline.contacts()
    states = [model.state() for _ in range(1001)]
    with nova.Tape() as tape:
        total = None
        for k, (now, then) in enumerate(zip(states, states[1:])):
            pipeline.collide(now, contacts)
            solver.step(now, then, None, contacts, 1e-3)
            if k >= 900:
                force = ndiff.state_particle_f_tensor(now)
                total = force if total is None else total + force
        loss = nova.sum(total[:, 2:]) * 0.01
    tape.backward(loss)
    assert loss.item() == pytest.approx(19.62, rel=2e-3)
    by_mass = -float(model.particle_inv_mass.grad.numpy()[0]) / 2.0 ** 2
    assert by_mass == pytest.approx(9.81, rel=0.02)
