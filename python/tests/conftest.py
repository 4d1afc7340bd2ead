# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the package's tests."""

import subprocess
import sys

import pytest

import novaphy


def build_ball(requires_grad=True):
    """One particle, a box and the ground."""
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, -0.5, 1), vel=(0, 5, -5), mass=1.0)
    builder.add_shape_box(body=-1, xform=((0, 2, 1), (0, 0, 0, 1)), hx=1, hy=0.25, hz=1)
    builder.add_ground_plane()
    return builder.finalize(requires_grad=requires_grad)


@pytest.fixture
def model():
    return build_ball()


@pytest.fixture
def run_python(tmp_path):
    """Runs a program in a fresh interpreter, in an empty folder, and returns what it printed."""

    def run(program, *arguments, environment=None):
        import os

        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **(environment or {})},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
