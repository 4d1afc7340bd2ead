# SPDX-License-Identifier: Apache-2.0
"""Sample embed_host: the runtime inside another program, with the SDK's plugins and with a third party's."""
import re

import pytest
from installed_sdk import run


@pytest.fixture(scope="module")
def embed_host(installed_sdk):
    built = installed_sdk.sample("embed_host")

    def start(*arguments, plugins=(), expect=0):
        return run(built.build / "embed_host", *arguments, expect=expect, folder="/",
                   environment=installed_sdk.environment(plugins))
    return start


def height(printed):
    return float(re.search(r"particle 0 is (\S+) m above", printed)[1])


def test_it_lists_the_solvers_and_steps_one_with_contacts(embed_host):
    printed = embed_host().stdout
    assert "solver semi_implicit: particles, springs, triangles, bending edges and tetrahedra under gravity" in printed
    assert 0.05 < height(printed) < 0.2  # its radius is 0.1: it lies on the ground
    assert printed.splitlines()[0] == "NovaPhy 0.1.0"


def test_a_third_partys_solver_is_made_by_its_factory_with_options(embed_host, installed_sdk):
    plugins = installed_sdk.sample("custom_solver")
    printed = embed_host("acme_pbd", '{"iterations": 4}', plugins=plugins).stdout
    assert "solver acme_pbd: position-based particles" in printed
    assert height(printed) == pytest.approx(0.1, abs=2e-3)
    wrong = embed_host("acme_pbd", '{"sweeps": 4}', plugins=plugins, expect=1)
    assert "embed_host: SolverPBD: there is no option 'sweeps'; there are iterations, stiffness, damping" in wrong.stderr


def test_a_solver_that_is_not_there_is_the_whole_reason_and_a_code_of_its_own(embed_host):
    said = embed_host("acme_pbd", expect=3).stderr
    assert "no novaphy.ISolverFactory/1 is named 'acme_pbd'; there are: semi_implicit, semi_implicit_diff; searched:" in said
