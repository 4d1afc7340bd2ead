# SPDX-License-Identifier: Apache-2.0
"""The thrown ball of the README as an object, for the timings: one particle, a wall, the ground, 288 substeps."""
import novaphy
import novaphy.diff as ndiff
from novaphy import nova
from novaphy.solvers import DiffSemiImplicitSolver, SolverSemiImplicit

SUBSTEPS, DT = 288, 1 / 480
LOSS, GRADIENT = 9.105798, (0.0, -4.97276, -0.398628)


class Ball:
    def __init__(self):
        b = novaphy.ModelBuilder()
        b.add_particle(pos=(0, -0.5, 1), vel=(0, 5, -5), mass=1.0)
        cfg = novaphy.ModelBuilder.ShapeConfig(ke=1e4, kf=0, kd=10, mu=0.2)
        b.add_shape_box(body=-1, xform=((0, 2, 1), (0, 0, 0, 1)), hx=1, hy=0.25, hz=1, cfg=cfg)
        b.add_ground_plane(cfg=cfg)
        self.model = model = b.finalize(requires_grad=True)
        model.soft_contact_ke, model.soft_contact_kf, model.soft_contact_kd, model.soft_contact_mu = 1e4, 0, 10, 0.2
        self.recorded, self.plain = DiffSemiImplicitSolver(model), SolverSemiImplicit(model)
        self.states = [model.state() for _ in range(SUBSTEPS + 1)]
        self.control = model.control()
        pipeline = novaphy.CollisionPipeline(model, broad_phase="explicit", soft_contact_margin=10.0)
        self.contacts = pipeline.contacts()
        pipeline.collide(self.states[0], self.contacts)
        self.v0 = ndiff.state_particle_qd_tensor(self.states[0], requires_grad=True)

    def steps(self, solver):
        states, control, contacts = self.states, self.control, self.contacts
        for t in range(SUBSTEPS):
            states[t].clear_forces()
            solver.step(states[t], states[t + 1], control, contacts, DT)

    def loss(self):
        return ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(self.states[SUBSTEPS]), 0, 0.0, -2.0, 1.5)

    def forward(self):
        self.steps(self.recorded)
        return self.loss()

    def forward_backward(self):
        with nova.Tape() as tape:
            self.steps(self.recorded)
            loss = self.loss()
        tape.backward(loss)
        return loss
