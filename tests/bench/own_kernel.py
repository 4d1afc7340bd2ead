# SPDX-License-Identifier: Apache-2.0
"""A user's own kernel in one process: from its definition to its first gradient, cold and warm, and a call of it."""
import json
import statistics
import time

import numpy as np

from novaphy import nova

nova.Tensor, nova.kernel  # the plugin and the front end are loaded before the clock starts
ENDS = nova.tensor(np.array([[0, 1], [1, 2]], np.int32))
POINTS = [[0, 0, 0], [1.5, 0, 0], [1.5, 1.25, 0]]
CALLS = 2000


def define():
    @nova.kernel
    def spring_force(x: nova.rows[nova.vec3], v: nova.rows[nova.vec3], ij: nova.rows[nova.ivec2],
                     ke: nova.uniform[float], kd: nova.uniform[float], f: nova.scatter[nova.vec3]):
        i, j = ij
        d = x[i] - x[j]
        length = nova.norm(d)
        u = nova.where(length > 0, d / length, 0.0)
        force = u * (ke * (length - 1) + kd * nova.dot(u, v[i] - v[j]))
        f[i] -= force
        f[j] += force
    return spring_force


def first_gradient():
    """Milliseconds."""
    x, v, f, seed = nova.tensor(POINTS, requires_grad=True), nova.zeros((3, 3)), nova.zeros((3, 3)), nova.ones((3, 3))
    start = time.process_time()
    kernel = define()
    with nova.Tape() as tape:
        kernel(x, v, ENDS, 40.0, 0.5, out=f)
    tape.backward(f, grad=seed)
    taken = 1e3 * (time.process_time() - start)
    if not np.abs(f.numpy() - [[20, 0, 0], [-20, 10, 0], [0, -10, 0]]).max() < 1e-3:
        raise SystemExit(f"the kernel gave {f.numpy()}")
    return kernel, taken


kernel, cold = first_gradient()
warm = statistics.median(first_gradient()[1] for _ in range(20))
x, v, f = nova.tensor(POINTS), nova.zeros((3, 3)), nova.zeros((3, 3))
start = time.process_time()
for _ in range(CALLS):
    kernel(x, v, ENDS, 40.0, 0.5, out=f)
print(json.dumps({"cold_ms": cold, "warm_ms": warm, "call_us": 1e6 * (time.process_time() - start) / CALLS}))
