# SPDX-License-Identifier: Apache-2.0
"""newton/warp (CPU): differentiable rollouts.  usage: newton_diff.py ball | soft NX NY NZ [--substeps K] [--fresh-cache]"""
import argparse, os, sys, tempfile, time
T0 = time.process_time()
ap = argparse.ArgumentParser()
ap.add_argument("what", choices=["ball", "soft"])
ap.add_argument("cells", nargs="*", type=int)
ap.add_argument("--substeps", type=int, default=32)
ap.add_argument("--fresh-cache", action="store_true")
ap.add_argument("--latency-only", action="store_true")
ap.add_argument("--no-graph", action="store_true")
a = ap.parse_args()
if a.fresh_cache:
    os.environ["WARP_CACHE_PATH"] = tempfile.mkdtemp(prefix="wpcache")
from common import *
t = clock()
import warp as wp
wp.config.quiet = True
import newton
t_import = clock() - t


@wp.kernel
def loss_k(q: wp.array(dtype=wp.vec3), target: wp.vec3, scale: float, loss: wp.array(dtype=float)):
    d = q[wp.tid()] - target
    wp.atomic_add(loss, 0, wp.dot(d, d) * scale)


wp.set_device("cpu")
t = clock()
if a.what == "ball":
    K, dt = B_STEPS, B_DT
    b = newton.ModelBuilder(up_axis=newton.Axis.Z)
    b.add_particle(pos=wp.vec3(*B_X0), vel=wp.vec3(*B_V0), mass=1.0)
    cfg = newton.ModelBuilder.ShapeConfig(ke=B_KE, kf=B_KF, kd=B_KD, mu=B_MU)
    b.add_shape_box(body=-1, xform=wp.transform(wp.vec3(0.0, 2.0, 1.0), wp.quat_identity()), hx=1.0, hy=0.25, hz=1.0, cfg=cfg)
    b.add_ground_plane(cfg=cfg)
    model = b.finalize(requires_grad=True)
    model.soft_contact_ke, model.soft_contact_kf, model.soft_contact_kd, model.soft_contact_mu = B_KE, B_KF, B_KD, B_MU
    target, scale = wp.vec3(*B_TARGET), 1.0
else:
    K, dt = a.substeps, DT
    b = newton.ModelBuilder(up_axis=newton.Axis.Z)
    b.add_soft_grid(pos=wp.vec3(0, 0, 0), rot=wp.quat_identity(), vel=wp.vec3(0, 0, 0), dim_x=a.cells[0], dim_y=a.cells[1], dim_z=a.cells[2],
                    cell_x=CELL, cell_y=CELL, cell_z=CELL, density=DENSITY, k_mu=MU, k_lambda=LAM, k_damp=DAMP, fix_left=True)
    # the tet force only, as in the other peers: no surface triangle or edge terms, no self contact
    b.tri_indices.clear() if hasattr(b.tri_indices, "clear") else None
    for n in dir(b):
        if n.startswith("tri_") or n.startswith("edge_"):
            v = getattr(b, n)
            if isinstance(v, list):
                v.clear()
    model = b.finalize(requires_grad=True)
    model.particle_grid = None
    target, scale = wp.vec3(*TARGET), 1.0 / model.particle_count
solver = newton.solvers.SolverSemiImplicit(model)
control = model.control()
contacts = None
states = [model.state() for _ in range(K + 1)]
if a.what == "ball":
    cp = newton.CollisionPipeline(model, broad_phase="explicit", soft_contact_gap=10.0, requires_grad=True)
    contacts = cp.contacts()
    cp.collide(states[0], contacts)
loss = wp.zeros(1, dtype=float, requires_grad=True)
t_setup = clock() - t


def forward(k=K):
    loss.zero_()
    for i in range(k):
        states[i].clear_forces()
        solver.step(states[i], states[i + 1], control, contacts, dt)
    wp.launch(loss_k, dim=model.particle_count, inputs=[states[k].particle_q, target, scale], outputs=[loss])


def fwdbwd(k=K):
    tape = wp.Tape()
    with tape:
        forward(k)
    tape.backward(loss)
    return tape


t = clock(); forward(1); t_first_step = clock() - t
t = clock(); tape = fwdbwd(1); t_first_grad = clock() - t
tape.zero()
out = dict(peer="newton", version=f"newton {newton.__version__} / warp {wp.__version__}", workload=a.what, cells=a.cells,
           tets=int(model.tet_count), particles=int(model.particle_count), substeps=K,
           import_s=t_import, model_setup_s=t_setup, first_step_s=t_first_step, first_grad_s=t_first_grad,
           process_to_first_grad_s=clock() - T0)
if not a.latency_only:
    def fb():
        tp = fwdbwd(); tp.zero()
    f, g = timeit(forward), timeit(fb)
    out.update(fwd_us_per_substep=f / K * 1e6, fwdbwd_us_per_substep=g / K * 1e6, loss=float(loss.numpy()[0]))
    tp = fwdbwd(); g0 = states[0].particle_qd.grad.numpy().copy(); tp.zero()
    out["grad_v0_norm"] = float((g0.astype(np.float64) ** 2).sum() ** 0.5)
    if not a.no_graph:
        try:
            with wp.ScopedCapture() as cap:
                forward()
            gf = cap.graph
            tp = wp.Tape()
            with wp.ScopedCapture() as cap:
                with tp:
                    forward()
                tp.backward(loss)
            gb = cap.graph
            if gf is None:
                raise RuntimeError("capture gave no graph on cpu")
            f = timeit(lambda: wp.capture_launch(gf))
            def gg():
                wp.capture_launch(gb)
            g = timeit(gg)
            out.update(graph_fwd_us_per_substep=f / K * 1e6, graph_fwdbwd_us_per_substep=g / K * 1e6)
        except Exception as e:
            out["graph_error"] = repr(e)[:200]
    if model.tet_count:
        out["fwd_ns_per_tet"] = out["fwd_us_per_substep"] * 1e3 / model.tet_count
        out["fwdbwd_ns_per_tet"] = out["fwdbwd_us_per_substep"] * 1e3 / model.tet_count
emit(**out)
