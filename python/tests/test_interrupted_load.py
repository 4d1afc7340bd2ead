# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM while a plugin loads under Python: the exception comes after the load, and nobody is blamed."""
import os
import signal
import subprocess
import sys

import pytest
from c_plugins import make_c_plugin

PROGRAM = """
import os, signal, sys, threading, time
import novaphy
novaphy.plugins.add_search_path(sys.argv[1])
novaphy.plugins.report()
begin = time.monotonic()
threading.Timer(0.2, os.kill, (os.getpid(), int(sys.argv[2]))).start()
try:
    novaphy.plugins.load("slow")
    time.sleep(5)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 4)
print([row.state for row in novaphy.plugins.report() if row.plugin == "slow"])
"""


@pytest.fixture
def interrupt(tmp_path):
    """Runs the program, which sends itself a signal while it loads a plugin that takes 0.9 s."""
    folder = make_c_plugin(tmp_path, "slow", sleep_ms=900)

    def run(number):
        # a shell starts jobs in the background with Ctrl-C ignored, and Python then leaves it so
        return subprocess.run([sys.executable, "-c", PROGRAM, folder, str(int(number))], capture_output=True, text=True,
                              timeout=60, env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    yield run
    assert list((tmp_path / "state/novaphy/loading").iterdir()) == []  # nobody is in quarantine


def test_ctrl_c_comes_after_the_load_as_a_keyboard_interrupt(interrupt):
    done = interrupt(signal.SIGINT)
    assert done.stdout == "interrupted True\n['loaded']\n", done.stderr


def test_sigterm_ends_the_process_at_once_and_the_plugin_is_not_in_quarantine(interrupt):
    done = interrupt(signal.SIGTERM)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "", "")
