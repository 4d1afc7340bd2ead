# SPDX-License-Identifier: Apache-2.0
"""A soft cube learns its stiffness: a program for Newton as a user ports it (`# Newton:` was, `# here` is)."""
# Newton: import newton
# Newton: import warp as wp
# Newton: import warp.optim
import novaphy as newton  # here
import novaphy.diff as ndiff  # here
from novaphy import from_warp as wp  # here

# Newton: @wp.kernel
# Newton: def set_materials(params: wp.array[float], materials: wp.array2d[float]):
# Newton:     tid = wp.tid()
# Newton:     first = 2 * tid % params.shape[0]
# Newton:     materials[tid, 0] = params[first]
# Newton:     materials[tid, 1] = params[first + 1]
# Newton: @wp.kernel
# Newton: def add_to_centre(positions: wp.array[wp.vec3], centre: wp.array[wp.vec3]):
# Newton:     tid = wp.tid()
# Newton:     wp.atomic_add(centre, 0, positions[tid] / float(positions.shape[0]))
# Newton: @wp.kernel
# Newton: def squared_distance(centre: wp.array[wp.vec3], target: wp.vec3, loss: wp.array[float]):
# Newton:     delta = centre[0] - target
# Newton:     loss[0] = wp.dot(delta, delta)
# Newton: @wp.kernel
# Newton: def keep_within(low: float, high: float, x: wp.array[float]):
# Newton:     tid = wp.tid()
# Newton:     x[tid] = wp.clamp(x[tid], low, high)


class Example:
    def __init__(self, material_behavior="anisotropic"):
        self.sim_steps, self.sim_substeps = 60, 16
        self.sim_dt = 1.0 / 60 / self.sim_substeps
        self.train_rate = 1e7
        self.target = wp.vec3(0.0, -1.0, 1.5)
        # Newton: self.com = wp.zeros(1, dtype=wp.vec3, requires_grad=True)
        self.loss = wp.zeros(1, dtype=wp.float32, requires_grad=True)
        self.loss_history = []
        self.model = self.create_model()
        # Newton: self.solver = newton.solvers.SolverSemiImplicit(self.model)
        self.solver = newton.solvers.DiffSemiImplicitSolver(self.model)  # here
        self.states = [self.model.state() for _ in range(self.sim_steps * self.sim_substeps + 1)]
        self.control = self.model.control()
        self.pipeline = newton.CollisionPipeline(
            self.model, broad_phase="explicit", soft_contact_gap=0.001, requires_grad=True
        )
        materials = self.model.tet_materials.numpy()[:, :2]
        if material_behavior != "anisotropic":
            materials = materials[0]
            self.train_rate *= 2 / self.model.tet_count
        self.params = wp.array(materials.flatten(), dtype=wp.float32, requires_grad=True)
        # Newton: self.optimizer = warp.optim.SGD([self.params], lr=self.train_rate, nesterov=False)
        self.optimizer = wp.optim.SGD([self.params], lr=self.train_rate, bounds=(500.0, 4e6))  # here
        # Newton: with wp.ScopedCapture() as capture:
        # Newton:     self.forward_backward()
        # Newton: self.graph = capture.graph

    def create_model(self):
        scene = newton.ModelBuilder()
        scene.default_particle_radius = 0.0005
        young, poisson = 1.5e4, 0.3
        scene.add_soft_grid(
            pos=wp.vec3(-0.1, -0.5, 1.0),
            rot=wp.quat_identity(),
            vel=wp.vec3(0.0, 6.0, -6.0),
            dim_x=2,
            dim_y=2,
            dim_z=2,
            cell_x=0.1,
            cell_y=0.1,
            cell_z=0.1,
            density=0.2 / 27 / 0.1**3,
            k_mu=0.5 * young / (1.0 + poisson),
            k_lambda=young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
            k_damp=0.0,
            tri_ke=1e-4,
            tri_ka=1e-4,
            tri_kd=1e-4,
        )
        surface = newton.ModelBuilder.ShapeConfig(ke=1.0e3, kf=0.0, kd=1.0, mu=0.2)
        scene.add_shape_box(
            body=-1,
            xform=wp.transform(wp.vec3(0.0, 2.0, 1.0), wp.quat_identity()),
            hx=1.0,
            hy=0.25,
            hz=1.0,
            cfg=surface,
        )
        scene.add_ground_plane(cfg=surface)
        model = scene.finalize(requires_grad=True)
        model.soft_contact_ke = 1.0e3
        model.soft_contact_kf = 0.0
        model.soft_contact_kd = 1.0
        model.soft_contact_mu = 0.2
        model.soft_contact_restitution = 1.0
        return model

    def forward_backward(self):
        self.tape = wp.Tape()
        with self.tape:
            self.forward()
        self.tape.backward(self.loss)

    def forward(self):
        materials, count = self.model.tet_materials, self.model.tet_count
        # Newton: wp.launch(set_materials, dim=count, inputs=(self.params,), outputs=(materials,))
        ndiff.assign(materials, ndiff.assign_tet_materials_generated(self.params, materials, count))  # here
        for t in range(self.sim_steps * self.sim_substeps):
            self.states[t].clear_forces()
            contacts = self.pipeline.contacts()
            self.pipeline.collide(self.states[t], contacts)
            self.solver.step(self.states[t], self.states[t + 1], self.control, contacts, self.sim_dt)
        positions = self.states[-1].particle_q
        # Newton: wp.launch(add_to_centre, dim=len(positions), inputs=(positions,), outputs=(self.com,))
        # Newton: wp.launch(squared_distance, dim=1, inputs=(self.com, self.target), outputs=(self.loss,))
        self.loss = ndiff.vec3_point_loss_generated(ndiff.particle_centroid_generated(positions), *self.target)  # here
        return self.loss

    def step(self):
        # Newton: wp.capture_launch(self.graph)
        self.forward_backward()  # here
        self.optimizer.step([self.params.grad])
        # Newton: wp.launch(keep_within, dim=len(self.params), inputs=(500.0, 4e6), outputs=(self.params,))
        self.loss_history.append(self.loss.numpy()[0])
        self.tape.zero()
        # Newton: self.loss.zero_()
        # Newton: self.com.zero_()
