# SPDX-License-Identifier: Apache-2.0
"""A sheet of cloth learns its throw: a program for Newton as a user ports it (`# Newton:` was, `# here` is)."""
# Newton: import newton
# Newton: import warp as wp
import novaphy as newton  # here
import novaphy.diff as ndiff  # here
from novaphy import from_warp as wp  # here

# Newton: @wp.kernel
# Newton: def add_to_centre(positions: wp.array[wp.vec3], count: int, centre: wp.array[wp.vec3]):
# Newton:     tid = wp.tid()
# Newton:     wp.atomic_add(centre, 0, positions[tid] / float(count))
# Newton: @wp.kernel
# Newton: def squared_distance(centre: wp.array[wp.vec3], target: wp.vec3, loss: wp.array[float]):
# Newton:     delta = centre[0] - target
# Newton:     loss[0] = wp.dot(delta, delta)
# Newton: @wp.kernel
# Newton: def descend(x: wp.array[wp.vec3], grad: wp.array[wp.vec3], rate: float):
# Newton:     tid = wp.tid()
# Newton:     x[tid] = x[tid] - grad[tid] * rate


class Example:
    def __init__(self):
        self.sim_steps, self.sim_substeps = 120, 16
        self.sim_dt = 1.0 / 60 / self.sim_substeps
        self.train_rate = 5.0
        self.target = (0.0, 8.0, 0.0)
        # Newton: self.com = wp.zeros(1, dtype=wp.vec3, requires_grad=True)
        self.loss = wp.zeros(1, dtype=wp.float32, requires_grad=True)
        self.loss_history = []

        scene = newton.ModelBuilder()
        scene.default_particle_radius = 0.01
        scene.add_cloth_grid(
            pos=wp.vec3(0.0, 0.0, 0.0),
            vel=wp.vec3(0.0, 0.1, 0.1),
            rot=wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), -wp.pi * 0.75),
            dim_x=16,
            dim_y=16,
            cell_x=1.0 / 16,
            cell_y=1.0 / 16,
            mass=1.0,
            tri_ke=10000.0,
            tri_ka=10000.0,
            tri_kd=100.0,
            tri_lift=10.0,
            tri_drag=5.0,
        )
        self.model = scene.finalize(requires_grad=True)
        # Newton: self.solver = newton.solvers.SolverSemiImplicit(self.model)
        # Newton: self.solver.enable_tri_contact = False
        config = newton.solvers.DiffSolverConfig(enable_tri_contact=False)  # here
        self.solver = newton.solvers.DiffSemiImplicitSolver(self.model, config)  # here
        self.states = [self.model.state() for _ in range(self.sim_steps * self.sim_substeps + 1)]
        self.control = self.model.control()
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
            self.solver.step(self.states[t], self.states[t + 1], self.control, None, self.sim_dt)
        positions = self.states[-1].particle_q
        # Newton: self.com.zero_()
        # Newton: wp.launch(add_to_centre, dim=len(positions), inputs=[positions, len(positions), self.com])
        # Newton: wp.launch(squared_distance, dim=1, inputs=[self.com, self.target, self.loss])
        self.loss = ndiff.vec3_point_loss_generated(ndiff.particle_centroid_generated(positions), *self.target)  # here
        return self.loss

    def step(self):
        # Newton: wp.capture_launch(self.graph)
        self.forward_backward()  # here
        x = self.states[0].particle_qd
        # Newton: wp.launch(descend, dim=len(x), inputs=[x, x.grad, self.train_rate])
        x.assign(x.numpy() - self.train_rate * x.grad.numpy())  # here
        self.tape.zero()
        self.loss_history.append(self.loss.numpy()[0])
