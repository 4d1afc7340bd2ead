# SPDX-License-Identifier: Apache-2.0
@file python@
"""Tests of plugin @name@ from Python. Run by ctest; skipped where novaphy is not installed."""
import sys

try:
    import novaphy
except ImportError:
    sys.exit(77)


def test_a_falling_particle_reaches_its_final_speed():
    builder = novaphy.ModelBuilder()
    builder.add_particle(pos=(0, 0, 1000), vel=(0, 0, 0), mass=1.0)
    model = builder.finalize()
    solver = novaphy.solvers.Solver@Name@(model, drag=2.0)
    state = model.state()
    for _ in range(1000):
        state.clear_forces()
        solver.step(state, state, None, None, 0.01)
    assert abs(state.particle_qd.numpy()[0, 2] + 9.81 / 2) < 1e-4


def test_wrong_options_are_refused():
    model = novaphy.ModelBuilder().finalize()
    try:
        novaphy.solvers.Solver@Name@(model, drag=-1.0)
    except ValueError as error:
        assert str(error).startswith("@name@: drag is -1; give a rate of at least 0"), error
    else:
        raise AssertionError("a negative drag was accepted")


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
