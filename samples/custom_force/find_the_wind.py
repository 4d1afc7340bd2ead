# SPDX-License-Identifier: Apache-2.0
"""Finds the wind that carried a balloon to where it was seen half a second later."""
import novaphy
import novaphy.diff as ndiff
import novaphy.nova as nova
from novaphy.solvers import DiffSemiImplicitSolver

builder = novaphy.ModelBuilder(gravity=(0, 0, 0))
builder.add_particle(pos=(0, 0, 0), vel=(0, 0, 0), mass=0.01, radius=0.15)
model = builder.finalize()
solver = DiffSemiImplicitSolver(model, forces=["wind"])  # adds the arrays of the force to the model
wind = nova.as_tensor(model.wind_velocity, requires_grad=True)  # (3,), the memory of the model
wind.assign(nova.tensor([1.0, 1.0, 0.0]))
optimizer = nova.optim.Adam([wind], lr=0.2)

states = [model.state() for _ in range(51)]  # after the solver: states have the arrays of its forces too
for attempt in range(150):
    with nova.Tape() as tape:
        for state, following in zip(states, states[1:]):
            state.clear_forces()
            solver.step(state, following, None, None, 0.01)
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, 2.0, -0.5, 0.0)
    tape.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
print(f"distance {loss.item() ** 0.5:.4f} m, wind {model.wind_velocity.numpy()} m/s")
