# SPDX-License-Identifier: Apache-2.0
"""Times the ball through the ordinary Python loop of solver.step; prints one JSON line.

--profile prints what Python's profiler sees of ten rollouts instead.
"""
import cProfile
import json
import pstats
import statistics
import sys
import time

from ball_scene import GRADIENT, LOSS, SUBSTEPS, Ball

RUNS = 31


def median_us(call):
    """Median CPU microseconds of one substep."""
    call()
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds) / SUBSTEPS * 1e6


def forward_backward(ball):
    ball.v0.zero_grad()
    return ball.forward_backward()


ball = Ball()
loss = forward_backward(ball).item()
gradient = ball.v0.grad.numpy()[0]
assert abs(loss - LOSS) < 1e-5 and max(abs(got - want) for got, want in zip(gradient, GRADIENT)) < 1e-4, (loss, gradient)

if "--profile" in sys.argv:
    profile = cProfile.Profile()
    profile.runcall(lambda: [forward_backward(ball) for _ in range(10)])
    pstats.Stats(profile).sort_stats("tottime").print_stats(15)
else:
    print(json.dumps({
        "plain_forward_us": median_us(lambda: ball.steps(ball.plain)),
        "forward_us": median_us(ball.forward),
        "forward_backward_us": median_us(lambda: forward_backward(ball)),
        "loss": loss,
    }))
