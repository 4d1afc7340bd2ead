# SPDX-License-Identifier: Apache-2.0
"""Runs a program and reads the JSON line that it prints, or times it from its start to its end."""
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


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
