# SPDX-License-Identifier: Apache-2.0
"""Springs learn their rest lengths: a program for Newton as a user ports it (`# Newton:` was, `# here` is)."""
# Newton: import newton
# Newton: import warp as wp
import novaphy as newton  # here
import novaphy.diff as ndiff  # here
from novaphy import from_warp as wp  # here

# Newton: @wp.kernel
# Newton: def squared_distance(pos: wp.array[wp.vec3], target: wp.vec3, loss: wp.array[float]):
# Newton:     loss[0] = wp.length_sq(pos[0] - target)
# Newton: @wp.kernel
# Newton: def descend(grad: wp.array[float], rate: float, x: wp.array[float]):
# Newton:     tid = wp.tid()
# Newton:     x[tid] -= grad[tid] * rate

CORNERS = [
    (0.2, -0.7, 0.8),
    (1.1, 0.0, 0.2),
    (-1.2, 0.1, 0.1),
    (0.4, 0.6, 0.4),
    (-0.2, 0.7, -0.9),
    (0.1, -0.8, -0.8),
    (-0.8, -0.9, 0.2),
    (-0.1, 1.0, 0.4),
]


class Example:
    def __init__(self):
        self.sim_steps = 30
        self.sim_dt = 1.0 / 30
        self.train_rate = 0.5
        self.target = (0.375, 0.125, 0.25)
        self.loss = wp.zeros(1, dtype=wp.float32, requires_grad=True)
        self.loss_history = []

        scene = newton.ModelBuilder()
        scene.add_particle((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
        for corner in CORNERS:
            scene.add_particle(corner, (0.0, 0.0, 0.0), 0.0)
        for i in range(1, scene.particle_count):
            scene.add_spring(0, i, 100.0, 10.0, 0)
        self.model = scene.finalize(requires_grad=True)
        # Newton: self.solver = newton.solvers.SolverSemiImplicit(self.model)
        self.solver = newton.solvers.DiffSemiImplicitSolver(self.model)  # here
        self.states = [self.model.state() for _ in range(self.sim_steps + 1)]
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
        for t in range(self.sim_steps):
            self.states[t].clear_forces()
            self.solver.step(self.states[t], self.states[t + 1], self.control, None, self.sim_dt)
        # Newton: inputs = (self.states[-1].particle_q, self.target)
        # Newton: wp.launch(squared_distance, dim=1, inputs=inputs, outputs=(self.loss,))
        self.loss = ndiff.particle_point_loss_generated(self.states[-1].particle_q, 0, *self.target)  # here
        return self.loss

    def step(self):
        # Newton: wp.capture_launch(self.graph)
        self.forward_backward()  # here
        self.loss_history.append(self.loss.numpy()[0])
        x = self.model.spring_rest_length
        # Newton: wp.launch(descend, dim=len(x), inputs=[x.grad, self.train_rate], outputs=[x])
        x.assign(x.numpy() - self.train_rate * x.grad.numpy())  # here
        self.tape.zero()
