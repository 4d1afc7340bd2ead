# SPDX-License-Identifier: Apache-2.0
"""Shared set-up of the Python tests: `--all`, which adds the slow tests, and the folder of the reference data."""
import os
from pathlib import Path

import pytest
from installed_sdk import installed_package, installed_sdk  # noqa: F401  fixtures

TESTS = Path(__file__).resolve().parent


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    os.environ["XDG_STATE_HOME"] = "/dev/null/none"  # plugins that tests load leave no trace in the user's journal of loads
    config.addinivalue_line("markers", "slow: runs only with --all")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture(scope="session")
def data():
    """The folder with the reference data."""
    return TESTS / "data"
