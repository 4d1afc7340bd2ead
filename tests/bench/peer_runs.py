# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts in peers/ in an environment of their own and gives back what they print."""
import subprocess
import sys

from processes import HERE, ROOT, json_of

ENVIRONMENT = ROOT / "build/bench-env"
PEERS = ("newton", "jax", "torch", "taichi")
SUBSTEPS = {4000: 32, 40000: 16}


def install():
    """Makes build/bench-env hold what peers/requirements.txt names."""
    python, requirements = ENVIRONMENT / "bin/python", HERE / "peers/requirements.txt"
    mark, wanted = ENVIRONMENT / "requirements", requirements.read_text()
    if mark.is_file() and mark.read_text() == wanted:
        return
    print("bench: installing the peers into build/bench-env (minutes) ...", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
    mark.write_text(wanted)


def run(peer, *arguments):
    """The JSON that one peer's script prints. Newton's kernels come from its disk cache, as in a second run."""
    return json_of(ENVIRONMENT / "bin/python", HERE / f"peers/{peer}.py", *arguments,
                   WARP_CACHE_PATH=str(ENVIRONMENT / "kernels"))


def measure(grids):
    """{"ball" and "soft_body": Newton's figures, "soft": {tets: {peer: figures}}} for the grids {tets: (nx, ny, nz)}."""
    install()
    print("bench: compiling Newton's kernels, where they are not yet ...", flush=True)
    run("newton_diff", "ball", "--latency-only")
    print("bench: timing newton (ball) ...", flush=True)
    out = {"ball": run("newton_diff", "ball"), "soft": {}}
    print("bench: timing newton (its soft-body example) ...", flush=True)
    out["soft_body"] = run("newton_soft_body")
    for tets, cells in grids.items():
        out["soft"][tets] = {}
        for peer in PEERS:
            print(f"bench: timing {peer} ({tets} tetrahedra) ...", flush=True)
            out["soft"][tets][peer] = run(f"{peer}_diff", "soft", *cells, "--substeps", SUBSTEPS[tets])
    return out


def best_of(figures, key):
    """Newton's captured graph where it has one, else the script's own figure; ns a tetrahedron and substep."""
    graph = figures.get(f"graph_{key}_us_per_substep")
    return graph * 1e3 / figures["tets"] if graph else figures[f"{key}_ns_per_tet"]
