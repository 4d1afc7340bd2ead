# SPDX-License-Identifier: Apache-2.0
"""Newton's own example diffsim_soft_body (CPU): the whole rollout of 960 substeps as its captured graph, as shipped and
with model.particle_grid = None, which changes no result of it: no two particles meet. Prints one JSON line."""
from common import *
from types import SimpleNamespace
import warp as wp
wp.config.quiet = True
wp.set_device("cpu")
import newton
import newton.viewer
from newton.examples.diffsim.example_diffsim_soft_body import Example


def zero():
    """What the example does between two iterations."""
    example.tape.zero()
    for array in (example.loss, example.com, example.pos_error):
        array.zero_()


def captured(call):
    with wp.ScopedCapture() as capture:
        call()
    return capture.graph


def seconds(graph):
    def run():
        zero()
        wp.capture_launch(graph)
    return timeit(run, runs=5)


example = Example(newton.viewer.ViewerNull(num_frames=1), SimpleNamespace(verbose=False, material_behavior="anisotropic"))
out = dict(peer="newton", version=f"newton {newton.__version__} / warp {wp.__version__}", workload="soft body example",
           substeps=example.sim_steps * example.sim_substeps, particles=int(example.model.particle_count),
           tets=int(example.model.tet_count))
for grid in ("grid", "no_grid"):
    if grid == "no_grid":
        example.model.particle_grid = None
    zero()
    forward = captured(example.forward)
    both = captured(example.forward_backward)
    out[f"{grid}_fwd_s"], out[f"{grid}_fwdbwd_s"] = seconds(forward), seconds(both)
    zero()
    wp.capture_launch(both)
    out["loss"] = float(example.loss.numpy()[0])
    out["grad_norm"] = float(np.linalg.norm(example.material_params.grad.numpy().astype(np.float64)))
emit(**out)
