# SPDX-License-Identifier: Apache-2.0
"""Timings with their targets: `./bootstrap.sh bench [--with-peers]`.

Every figure is a median of CPU time on one core (the rows of two cores: the shortest wall time), and a ratio is only taken within one
run. With --with-peers Newton, JAX, torch and Taichi run the same scenes in an environment of their own (build/bench-env).
Prints tables; everything goes into build/bench/bench.json.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import peer_runs
import plugin_system
from processes import HERE, ROOT, cpu_seconds_of, json_of

BUILD = ROOT / "build/release"
GRIDS = {4000: (10, 10, 8), 40000: (20, 20, 20)}
# ns a tetrahedron and substep: forward, forward and backward
SOFT_TARGETS = {"compiled": (8.0, 24.0), "interpreter": (30.0, 90.0)}
# ms of the soft-body demo's rollout, an eighth of the 79 and 192 that the better of Newton's graphs takes on the same core
ROLLOUT_TARGETS = (9.9, 24.0)


def measure_ours(cores):
    programs = ("novaphy_ball_loop", "novaphy_tetrahedron_bench", "novaphy_plugin_system", "novaphy_empty_program")
    subprocess.run(["cmake", "--build", BUILD, "--target", *programs], check=True, stdout=subprocess.DEVNULL)
    soft = {}
    for tets, cells in GRIDS.items():
        command = (sys.executable, HERE / "soft_python.py", *cells, "--substeps", peer_runs.SUBSTEPS[tets])
        soft[tets] = {"compiled": json_of(*command), "interpreter": json_of(*command, "--interpreter")}
    return {
        "python": json_of(sys.executable, HERE / "ball_python.py"),
        "host": json_of(BUILD / "bench/novaphy_ball_loop"),
        "first_gradient_s": cpu_seconds_of(sys.executable, HERE / "first_gradient.py"),
        "import_s": cpu_seconds_of(sys.executable, "-c", "import novaphy") - cpu_seconds_of(sys.executable, "-c", "pass"),
        "python_alone_s": cpu_seconds_of(sys.executable, "-c", "import numpy"),
        "own_kernel": json_of(sys.executable, HERE / "own_kernel.py"),
        "soft": soft,
        "soft_body": json_of(sys.executable, HERE / "soft_body_python.py"),
        "kernels": measure_kernels(cores),
        "plugins": plugin_system.measure(BUILD),
    }


def measure_kernels(cores):
    """The kernels of tetrahedra alone, on one core and, the shortest times of three runs, on two."""
    program = BUILD / "tests/novaphy_tetrahedron_bench"
    figures = {1: json_of(program, NOVAPHY_NUM_THREADS="1")}
    if len(cores) > 1:
        pair = ",".join(str(core) for core in sorted(cores)[:2])
        runs = [json_of("taskset", "-c", pair, program, NOVAPHY_NUM_THREADS="2") for _ in range(3)]
        figures[2] = {name: min(run[name] for run in runs) for name in runs[0]}
    return figures


def kernel_rows(figures):
    """Without the particle update and the loop around it. Two cores: their share of one core's time."""
    one, rows = figures[1], []
    for tier, targets in (("compiled", SOFT_TARGETS["compiled"]), ("interpreted", SOFT_TARGETS["interpreter"])):
        for tets in GRIDS:
            for key, words, target in zip(("force", "both"), ("force", "force + adjoint"), targets):
                rows.append((f"{tets} tetrahedra, {words} alone, {tier}", "ns", one[f"tets_{tets}_{tier}_{key}_ns"], target, None))
    if 2 in figures:
        for key, words in (("force", "force"), ("both", "force + adjoint")):
            name = f"tets_40000_compiled_{key}_ns"
            rows.append((f"40000 tetrahedra, {words} alone, two cores", "of one's time", figures[2][name] / one[name], 1 / 1.7, None))
    rows.append(("own kernel, from definition to first gradient", "ms", one["own_kernel_first_gradient_ms"], 20.0, None))
    return rows


def ball_rows(ours, newton):
    """(what, unit, ours, target, Newton's figure or None)"""
    peer = newton or {}
    python, host = ours["python"], ours["host"]
    forward, both = peer.get("graph_fwd_us_per_substep"), peer.get("graph_fwdbwd_us_per_substep")
    return [
        ("ball, forward, Python loop", "us a substep", python["forward_us"], 2.0, forward),
        ("ball, forward + backward, Python loop", "us a substep", python["forward_backward_us"], 6.0, both),
        ("ball, forward, the host's C++ loop", "us a substep", host["forward_us"], 0.6, forward),
        ("ball, forward + backward, the host's C++ loop", "us a substep", host["forward_backward_us"], 2.5, both),
        ("process start to first gradient", "s", ours["first_gradient_s"], 0.3, peer.get("process_to_first_grad_s")),
        ("import novaphy", "ms", ours["import_s"] * 1e3, 60.0, None),
        ("own kernel in Python, definition to gradient", "ms", ours["own_kernel"]["cold_ms"], 20.0, None),
        (f"discovery of all {host['modules']} modules, none loaded", "ms", host["discovery_ms"], 5.0, None),
    ]


def soft_rows(ours, peers):
    """The same for tetrahedra; a peer's figure is that of Newton's captured graph."""
    rows = []
    for tets, tiers in ours["soft"].items():
        newton = peers["soft"][tets]["newton"] if peers else None
        for tier, figures in tiers.items():
            for key, words, target in zip(("fwd", "fwdbwd"), ("forward", "forward + backward"), SOFT_TARGETS[tier]):
                rows.append((f"{tets} tetrahedra, {words}, {tier}", "ns", figures[f"{key}_ns_per_tet"], target,
                             peer_runs.best_of(newton, key) if newton else None))
    kept = ours["soft"][40000]["compiled"]["kept_mb_per_substep"]
    rows.append(("40000 tetrahedra, kept for backward", "MB a substep", kept, 0.25, None))
    return rows


def rollout_rows(ours, newton):
    """The soft-body demo's rollout; Newton's figure is the better of its captured graph with and without its grid."""
    rows = []
    for key, words, target in zip(("fwd", "fwdbwd"), ("forward", "forward + backward"), ROLLOUT_TARGETS):
        peer = min(newton[f"grid_{key}_s"], newton[f"no_grid_{key}_s"]) * 1e3 if newton else None
        rows.append((f"soft-body demo, 960 substeps, {words}", "ms", ours["soft_body"][f"{key}_s"] * 1e3, target, peer))
    return rows


def check_agreement(ours, peers):
    """Loss and gradient of every peer are ours, so all timed the same arithmetic."""
    if peers:
        agree("newton", peers["soft_body"], ours["soft_body"], ("loss", "grad_norm"), "the soft-body demo")
    for tets, tiers in ours["soft"].items():
        mine = tiers["compiled"]
        for name, figures in (peers["soft"][tets] if peers else tiers).items():
            agree(name, figures, mine, ("loss", "grad_v0_norm"), f"{tets} tetrahedra")


def agree(name, figures, ours, keys, where):
    """Ends the program when a peer computed something else."""
    for key in keys:
        if abs(figures[key] - ours[key]) > 1e-3 * abs(ours[key]):
            sys.exit(f"bench: {name} has {key} {figures[key]}, ours is {ours[key]} ({where})")


def print_table(rows):
    print(f"\n{'':53}{'unit':>14}{'measured':>10}{'target':>8}  {'':7}{'Newton':>9}{'ratio':>8}")
    for what, unit, value, target, peer in rows:
        verdict = "met" if value <= target else "MISSED"
        versus = f"{peer:9.3g}{peer / value:7.1f}x" if peer else f"{'-':>9}{'-':>8}"
        print(f"{what:53}{unit:>14}{value:10.3g}{target:8.3g}  {verdict:7}{versus}")


def print_peers(ours, peers):
    """Everybody's tetrahedra."""
    print(f"\nns a tetrahedron and substep {'forward':>40}{'forward + backward':>22}")
    for tets, tiers in ours["soft"].items():
        for name, figures in (tiers | peers["soft"][tets]).items():
            forward, both = (peer_runs.best_of(figures, key) for key in ("fwd", "fwdbwd"))
            label = f"novaphy {figures['version']} ({name})" if name in tiers else f"{name} {figures['version']}"
            print(f"  {tets:6} {label:44}{forward:16.1f}{both:22.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with-peers", action="store_true", help="time Newton, JAX, torch and Taichi on the same scenes too")
    parser.add_argument("--output", type=Path, default=ROOT / "build/bench/bench.json", help="where the JSON goes")
    arguments = parser.parse_args()
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # one core, for every child too

    print("bench: timing ours ...", flush=True)
    ours = measure_ours(cores)
    peers = peer_runs.measure(GRIDS) if arguments.with_peers else None
    check_agreement(ours, peers)
    newton = peers["ball"] if peers else None
    rows = ball_rows(ours, newton) + rollout_rows(ours, peers and peers["soft_body"]) + soft_rows(ours, peers) + kernel_rows(ours["kernels"]) + plugin_system.rows(ours["plugins"])
    print_table(rows)
    print(f"\nof the first gradient's time, {ours['python_alone_s']:.2g} s are the start of Python with NumPy; "
          f"the plain forward solver takes {ours['python']['plain_forward_us']:.3g} us a substep from Python")
    if peers:
        print(f"Newton's figures are its captured graph; launches from Python take {newton['fwd_us_per_substep']:.3g} and "
              f"{newton['fwdbwd_us_per_substep']:.3g} us a substep of the ball")
        print_peers(ours, peers)

    import novaphy
    record = {"provenance": novaphy.provenance(), "machine": {"platform": platform.platform(), "processor": processor()},
              "table": [dict(zip(("what", "unit", "measured", "target", "newton"), row)) for row in rows],
              "ours": ours, "peers": peers}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(record, indent=2, default=str) + "\n")
    print(f"bench: all figures are in {arguments.output}")


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
