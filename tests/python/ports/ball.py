# SPDX-License-Identifier: Apache-2.0
"""A ball learns its throw: a program for Newton as a user ports it (`# Newton:` was, `# here` is)."""
# Newton: import newton
# Newton: import warp as wp
import novaphy as newton  # here
import novaphy.diff as ndiff  # here
from novaphy import from_warp as wp  # here

# Newton: @wp.kernel
# Newton: def squared_distance(pos: wp.array[wp.vec3], target: wp.vec3, loss: wp.array[float]):
# Newton:     delta = pos[0] - target
# Newton:     loss[0] = wp.dot(delta, delta)
# Newton: @wp.kernel
# Newton: def descend(x: wp.array[wp.vec3], grad: wp.array[wp.vec3], rate: float):
# Newton:     tid = wp.tid()
# Newton:     x[tid] = x[tid] - grad[tid] * rate


class Example:
    def __init__(self):
        self.sim_steps, self.sim_substeps = 36, 8
        self.sim_dt = 1.0 / 60 / self.sim_substeps
        self.train_rate = 0.02
        self.target = (0.0, -2.0, 1.5)
        self.loss = wp.zeros(1, dtype=wp.float32, requires_grad=True)
        self.loss_history = []

        scene = newton.ModelBuilder(up_axis=newton.Axis.Z)
        scene.add_particle(pos=wp.vec3(0.0, -0.5, 1.0), vel=wp.vec3(0.0, 5.0, -5.0), mass=1.0)
        surface = newton.ModelBuilder.ShapeConfig(ke=1.0e4, kf=0.0, kd=1.0e1, mu=0.2)
        scene.add_shape_box(
            body=-1,
            xform=wp.transform(wp.vec3(0.0, 2.0, 1.0), wp.quat_identity()),
            hx=1.0,
            hy=0.25,
            hz=1.0,
            cfg=surface,
        )
        scene.add_ground_plane(cfg=surface)
        self.model = scene.finalize(requires_grad=True)
        self.model.soft_contact_ke = 1.0e4
        self.model.soft_contact_kf = 0.0
        self.model.soft_contact_kd = 1.0e1
        self.model.soft_contact_mu = 0.2
        self.model.soft_contact_restitution = 1.0

        # Newton: self.solver = newton.solvers.SolverSemiImplicit(self.model)
        self.solver = newton.solvers.DiffSemiImplicitSolver(self.model)  # here
        self.states = [self.model.state() for _ in range(self.sim_steps * self.sim_substeps + 1)]
        self.control = self.model.control()
        self.pipeline = newton.CollisionPipeline(
            self.model, broad_phase="explicit", soft_contact_gap=10.0, requires_grad=True
        )
        self.contacts = self.pipeline.contacts()
        self.pipeline.collide(self.states[0], self.contacts)
        # Newton: with wp.ScopedCapture() as capture:
        # Newton:     self.forward_backward()
        # Newton: self.graph = capture.graph

    def forward_backward(self):
        self.tape = wp.Tape()
        with self.tape:
            self.forward()
        self.tape.backward(self.loss)

    def forward(self):
        for t in range(self.sim_steps * self.sim_substeps):
            self.states[t].clear_forces()
            self.solver.step(self.states[t], self.states[t + 1], self.control, self.contacts, self.sim_dt)
        # Newton: inputs = [self.states[-1].particle_q, self.target, self.loss]
        # Newton: wp.launch(squared_distance, dim=1, inputs=inputs)
        self.loss = ndiff.particle_point_loss_generated(self.states[-1].particle_q, 0, *self.target)  # here
        return self.loss

    def step(self):
        # Newton: wp.capture_launch(self.graph)
        self.forward_backward()  # here
        x = self.states[0].particle_qd
        # Newton: wp.launch(descend, dim=len(x), inputs=[x, x.grad, self.train_rate])
        x.assign(x.numpy() - self.train_rate * x.grad.numpy())  # here
        self.tape.zero()
        self.loss_history.append(self.loss.numpy()[0])
