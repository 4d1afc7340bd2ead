# SPDX-License-Identifier: Apache-2.0
"""The same bits: on 1, 2 and 7 threads, in ten runs, in a fresh process, and from debug and release builds."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scenes import random_scene
from state_hash import run_hash

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tests" / "support" / "state_hash.py"


@pytest.fixture
def threads():
    """Sets the number of threads; the machine's own number is back afterwards."""
    from novaphy import nova
    yield nova.set_num_threads
    nova.set_num_threads(os.cpu_count())


@pytest.fixture(scope="module")
def crowd():
    return random_scene(77, particles=10_000, steps=20, margin=0.02)


@pytest.mark.parametrize("every_step", [False, True], ids=["once", "every step"])
def test_1_2_and_7_threads_give_the_same_bits_on_10000_particles(threads, crowd, every_step):
    hashes = {}
    for count in (1, 2, 7):
        threads(count)
        hashes[count] = run_hash(crowd, every_step)
    assert len(set(hashes.values())) == 1, hashes


def test_ten_runs_give_the_same_bits(threads):
    scene = random_scene(78, particles=2000, steps=20, margin=0.02)
    threads(7)
    assert len({run_hash(scene) for _ in range(10)}) == 1


def hash_in_a_process(*arguments, **environment):
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fresh_processes_give_the_same_bits():
    assert hash_in_a_process("1") == hash_in_a_process("3")


def other_builds():
    """Python packages in build folders of this checkout, one a preset."""
    return sorted(p.parents[1] for p in ROOT.glob("build/*/python/novaphy") if any(p.glob("_core*.so")))


@pytest.mark.slow
@pytest.mark.parametrize("build", other_builds(), ids=lambda b: b.parent.name)
def test_every_build_in_this_checkout_gives_the_same_bits(build):
    assert hash_in_a_process("2", PYTHONPATH=str(build)) == hash_in_a_process("2")
