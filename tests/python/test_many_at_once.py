# SPDX-License-Identifier: Apache-2.0
"""Many threads and processes that import, build, step and differentiate at once, one of them killed half-way, and homes
that cannot be written: everybody gets the same bits, and nothing is left behind that a later run trips over."""
import os
import resource
import signal
import subprocess
import sys
import textwrap

import pytest

from c_plugins import make_c_plugin

SCENE = """
def run(half_way=lambda: None):
    import hashlib
    import novaphy
    import novaphy.diff as ndiff
    from novaphy import nova
    from novaphy.solvers import DiffSemiImplicitSolver
    builder = novaphy.ModelBuilder()
    for k in range(20):
        builder.add_particle(pos=(0.1 * k, 0.2, 0.05 * k), vel=(1, 0, -1), mass=1.0)
    builder.add_ground_plane()
    model = builder.finalize(requires_grad=True)
    solver = DiffSemiImplicitSolver(model)
    pipeline = novaphy.CollisionPipeline(model)
    contacts, states = pipeline.contacts(), [model.state() for _ in range(11)]
    with nova.Tape() as tape:
        for step, (now, then) in enumerate(zip(states, states[1:])):
            now.clear_forces()
            pipeline.collide(now, contacts)
            solver.step(now, then, None, contacts, 1 / 480)
            if step == 4:
                half_way()
        loss = ndiff.particle_point_loss_generated(ndiff.state_particle_q_tensor(states[-1]), 0, 0.0, 0.0, 0.0)
    tape.backward(loss)
    if novaphy.plugins.has("foreign"):
        novaphy.plugins.load("foreign")
    bits = states[-1].particle_q.numpy().tobytes() + states[0].particle_qd.grad.numpy().tobytes()
    return hashlib.sha256(bits).hexdigest()
"""
ONE = SCENE + """
import sys
print("ready", flush=True)
sys.stdin.readline()
print(run(), flush=True)
"""
HALF = SCENE + """
import sys
def half_way():
    print("half", flush=True)
    sys.stdin.readline()
print("ready", flush=True)
sys.stdin.readline()
run(half_way)
"""
THREADS = SCENE + """
import threading
start, found = threading.Barrier(8), []
def work():
    start.wait()
    found.append(run())
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), *set(found))
"""


def start(program, environment, **more):
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=environment, **more)


def finish(process):
    """The hash that a process prints, and its lines on stderr."""
    out, errors = process.communicate("go\n", timeout=120)
    assert process.returncode == 0, errors
    return out.split()[-1], errors.splitlines()


@pytest.fixture
def environment(tmp_path):
    """An empty home, and a plugin of somebody else, which is loaded with more care than ours."""
    home = tmp_path / "home"
    home.mkdir()
    names = {"HOME": home, "XDG_DATA_HOME": home / "data", "XDG_STATE_HOME": home / "state",
             "XDG_CACHE_HOME": home / "cache", "TMPDIR": tmp_path,
             "NOVAPHY_PLUGIN_PATH": make_c_plugin(tmp_path, "foreign", sleep_ms=20)}
    return {**os.environ, **{name: str(value) for name, value in names.items()}}


def test_eight_threads_that_import_build_step_and_differentiate_at_once_get_the_same_bits(environment):
    alone, _ = finish(start(ONE, environment))
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["8", alone]


def test_eight_processes_at_once_get_the_same_bits_and_a_killed_one_leaves_nothing_to_clean(environment):
    processes = [start(ONE, environment) for _ in range(7)]
    victim = start(HALF, environment)
    for process in (*processes, victim):
        assert process.stdout.readline() == "ready\n"
    for process in (victim, *processes):  # all of them begin now
        process.stdin.write("go\n")
        process.stdin.flush()
    assert victim.stdout.readline() == "half\n"
    victim.kill()
    found = {finish(process)[0] for process in processes}
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL and len(found) == 1
    again, errors = finish(start(ONE, environment))
    assert {again} == found and errors == []


@pytest.mark.parametrize("after_ms", [80, *(pytest.param(ms, marks=pytest.mark.slow) for ms in (20, 40, 120, 160, 250))])
def test_a_process_that_is_killed_at_any_moment_leaves_nothing_to_clean(after_ms, environment):
    victim = start(ONE, environment)
    assert victim.stdout.readline() == "ready\n"
    victim.stdin.write("go\n")
    victim.stdin.flush()
    try:
        victim.wait(after_ms / 1000)
    except subprocess.TimeoutExpired:
        victim.kill()
    victim.communicate()
    one, two = start(ONE, environment), start(ONE, environment)
    assert finish(one) == finish(two)


def no_file_grows():
    """What a full disk does to every write."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("homes", ["read-only", "a file in the way", "no folder", "full"])
def test_a_home_that_cannot_be_written_costs_at_most_one_warning(homes, environment, tmp_path):
    place = tmp_path / "unwritable"
    if homes == "a file in the way":
        place.write_text("")
    elif homes != "no folder":
        place.mkdir(mode=0o500)
    if homes == "no folder":
        place = "/proc/novaphy"  # where not even root can make one
    wanted, _ = finish(start(ONE, environment))
    names = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    if homes != "full":
        environment = {**environment, **{name: str(place) for name in names}}
    processes = [start(ONE, environment, preexec_fn=no_file_grows if homes == "full" else None) for _ in range(2)]
    for process in processes:
        found, errors = finish(process)
        assert found == wanted
        assert len(errors) <= 1 and all("novaphy" in line for line in errors), errors


# forked and spawned workers

POOL = """
import multiprocessing, sys
__SCENE__
def worker(_):
    import novaphy
    return run(), novaphy._core.thread_count()
if __name__ == "__main__":
    import novaphy
    novaphy._core.set_thread_count(4)
    here = run()
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        found = pool.map(worker, range(4))
    print({bits for bits, _ in found} == {here}, {threads for _, threads in found} == {1})
""".replace("__SCENE__", SCENE)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_pools_workers_step_and_differentiate_whatever_starts_them(method, environment, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(POOL)
    done = subprocess.run([sys.executable, program, method], capture_output=True, text=True, timeout=240,
                          env={**environment, "NOVAPHY_NUM_THREADS": "2"})
    assert done.returncode == 0, done.stderr
    # a forked worker has one thread, a process of its own has those that it asks for
    assert done.stdout.split() == ["True", str(method == "fork")]


FORKS = """
import faulthandler, os, sys, threading, time
import numpy as np
import novaphy
from novaphy import nova
novaphy._core.set_thread_count(4)
@nova.kernel
def wave(x: nova.rows[float]):
    return nova.sin(x) * x
values = np.linspace(0, 1, 100_000, dtype=np.float32)
def work():
    x = nova.tensor(values)
    x.requires_grad = True
    with nova.Tape() as tape:
        loss = nova.sum(wave(x))
    tape.backward(loss)
    return x.grad.numpy().tobytes()
wanted, stop = work(), False
def busy():
    while not stop: work()
threads = [threading.Thread(target=busy) for _ in range(3)]
if sys.argv[1] == "load": threads.append(threading.Thread(target=novaphy.plugins.load, args=("slow",)))
for thread in threads: thread.start()
results = []
for k in range(4):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(60, exit=True)
        ok = work() == wanted and novaphy.plugins.report() and novaphy._core.thread_count() == 1
        try:
            novaphy._core.set_thread_count(4)
            ok = False
        except novaphy.NovaPhyError as error:
            ok = ok and str(error) == (
                "thread count: this process was forked and works on one thread, as its parent's others do not exist "
                "here; start it anew instead, in Python with multiprocessing's 'spawn'")
        if k % 2: os._exit(0 if ok else 1)
        sys.exit(0 if ok else 1)  # with all that runs at exit
    results.append(os.waitpid(child, 0)[1])
stop = True
for thread in threads: thread.join()
print(*results)
"""


@pytest.mark.parametrize("meanwhile", ["work", "load"])
def test_a_child_that_is_forked_while_other_threads_work_or_load_works_on_one_thread(meanwhile, environment, tmp_path):
    search = make_c_plugin(tmp_path / "slow", "slow", sleep_ms=300)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(FORKS), meanwhile], capture_output=True, text=True,
                          timeout=240, env={**environment, "NOVAPHY_PLUGIN_PATH": search})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0"] * 4, done.stderr
