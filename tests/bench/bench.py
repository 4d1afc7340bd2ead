# SPDX-License-Identifier: Apache-2.0
"""Timings of the ball with their targets: `./bootstrap.sh bench [--with-peers]`.

Every figure is a median of CPU time on one core, and a ratio is only taken within one run. With --with-peers Newton runs
the same scene in an environment of its own (build/bench-env). Prints a table; everything goes into build/bench/bench.json.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build/release"
PEER_ENVIRONMENT = ROOT / "build/bench-env"


def json_of(*command, **environment):
    """The last line that a program prints, as JSON."""
    result = subprocess.run([str(part) for part in command], env=os.environ | environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed:\n{result.stdout}{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])


def cpu_seconds_of(*command, runs=9):
    """Median CPU seconds of a whole process, from its start to its end."""
    seconds = []
    for run in range(runs + 1):
        child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"bench: {' '.join(map(str, command))} failed with exit code {child.returncode}")
        if run:  # the first one reads files from disk
            seconds.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds)


def measure_ours():
    subprocess.run(["cmake", "--build", BUILD, "--target", "novaphy_ball_loop"], check=True, stdout=subprocess.DEVNULL)
    return {
        "python": json_of(sys.executable, HERE / "ball_python.py"),
        "host": json_of(BUILD / "bench/novaphy_ball_loop"),
        "first_gradient_s": cpu_seconds_of(sys.executable, HERE / "first_gradient.py"),
        "python_alone_s": cpu_seconds_of(sys.executable, "-c", "import numpy"),
    }


def measure_newton():
    """Newton with its kernels compiled before, as a second run of a user's script finds them."""
    python, requirements = PEER_ENVIRONMENT / "bin/python", HERE / "peers/requirements.txt"
    mark, wanted = PEER_ENVIRONMENT / "requirements", requirements.read_text()
    if not mark.is_file() or mark.read_text() != wanted:
        print("bench: installing the peer into build/bench-env ...", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", PEER_ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
        mark.write_text(wanted)
    script, cache = HERE / "peers/newton_diff.py", {"WARP_CACHE_PATH": str(PEER_ENVIRONMENT / "kernels")}
    print("bench: compiling the peer's kernels, where they are not yet ...", flush=True)
    json_of(python, script, "ball", "--latency-only", **cache)
    print("bench: timing the peer ...", flush=True)
    return json_of(python, script, "ball", **cache)


def table(ours, newton):
    """(what, unit, ours, target, Newton's figure or None)"""
    peer = newton or {}
    python, host = ours["python"], ours["host"]
    forward, both = peer.get("graph_fwd_us_per_substep"), peer.get("graph_fwdbwd_us_per_substep")
    return [
        ("forward, Python loop", "us a substep", python["forward_us"], 2.0, forward),
        ("forward + backward, Python loop", "us a substep", python["forward_backward_us"], 6.0, both),
        ("forward, the host's C++ loop", "us a substep", host["forward_us"], 0.6, forward),
        ("forward + backward, the host's C++ loop", "us a substep", host["forward_backward_us"], 2.5, both),
        ("process start to first gradient", "s", ours["first_gradient_s"], 0.3, peer.get("process_to_first_grad_s")),
        (f"discovery of all {host['modules']} modules, none loaded", "ms", host["discovery_ms"], 5.0, None),
    ]


def print_table(rows):
    print(f"\n{'':45}{'unit':>14}{'measured':>10}{'target':>8}  {'':7}{'Newton':>9}{'ratio':>8}")
    for what, unit, value, target, peer in rows:
        verdict = "met" if value <= target else "MISSED"
        versus = f"{peer:9.3g}{peer / value:7.1f}x" if peer else f"{'-':>9}{'-':>8}"
        print(f"{what:45}{unit:>14}{value:10.3g}{target:8.3g}  {verdict:7}{versus}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--with-peers", action="store_true", help="time Newton 1.8.0 on the same scene too")
    parser.add_argument("--output", type=Path, default=ROOT / "build/bench/bench.json", help="where the JSON goes")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, for every child too

    print("bench: timing ours ...", flush=True)
    ours = measure_ours()
    newton = measure_newton() if arguments.with_peers else None
    rows = table(ours, newton)
    print_table(rows)
    print(f"\nof the first gradient's time, {ours['python_alone_s']:.2g} s are the start of Python with NumPy; "
          f"the plain forward solver takes {ours['python']['plain_forward_us']:.3g} us a substep from Python")
    if newton:
        print(f"Newton's figures are its captured graph; launches from Python take {newton['fwd_us_per_substep']:.3g} and "
              f"{newton['fwdbwd_us_per_substep']:.3g} us a substep")

    import novaphy
    record = {"provenance": novaphy.provenance(), "machine": {"platform": platform.platform(), "processor": processor()},
              "table": [dict(zip(("what", "unit", "measured", "target", "newton"), row)) for row in rows],
              "ours": ours, "newton": newton}
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
