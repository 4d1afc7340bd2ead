# SPDX-License-Identifier: Apache-2.0
"""From the start of a process to a first gradient, as a user's script does it; the caller takes the CPU time."""
from ball_scene import Ball

ball = Ball()
ball.forward_backward()
print(ball.v0.grad.numpy())
