# SPDX-License-Identifier: Apache-2.0
"""sdk/docs/host.md: its commands run, its configuration is accepted, its tables name what the program has."""
import json
import re
import sys
from pathlib import Path

from installed_sdk import run
from project_tree import ROOT
from readme_commands import blocks, commands

PAGE = ROOT / "sdk/docs/host.md"


def environment(installed_sdk):
    folder = installed_sdk.prefix / "bin"
    values = installed_sdk.environment()
    return values | {"PATH": f"{folder}:{Path(sys.executable).parent}:{values['PATH']}", "PREFIX": str(installed_sdk.prefix), "CI": "1"}


def test_the_commands_of_the_page_run_from_top_to_bottom(installed_sdk, tmp_path):
    script = "set -euo pipefail\n" + "\n".join(commands(PAGE))
    done = run("bash", "-c", script, folder=tmp_path, environment=environment(installed_sdk))
    assert "all checks passed" in done.stdout and "100% tests passed" in done.stdout
    assert (tmp_path / "states/states.json").is_file()


def test_the_configuration_of_the_page_is_accepted(installed_sdk, tmp_path):
    (tmp_path / "novaphy.host.json").write_text(blocks(PAGE, "json")[0])
    listed = installed_sdk.host("--json", "--config", tmp_path / "novaphy.host.json", "list")
    states = {row["module"]: row["state"] for row in json.loads(listed.stdout)["modules"]}
    assert states["semi_implicit"] == "ready" and states["demos"] == "disabled"


def test_the_page_names_every_verb_and_flag(installed_sdk):
    page = PAGE.read_text()
    text = installed_sdk.host("--help").stdout
    verbs = re.findall(r"^  ([a-z][\w-]+)  ", text.split("Subcommands:")[1], re.MULTILINE)
    assert len(verbs) == 10
    for verb in verbs:
        assert f"| `{verb}" in page, verb
        for flag in re.findall(r"^ +(--[a-z-]+)", installed_sdk.host(verb, "--help").stdout, re.MULTILINE):
            assert flag in page, f"{verb} {flag}"
    for flag in re.findall(r"^ +(--[a-z-]+)", text, re.MULTILINE):
        assert flag in page, flag


def test_the_json_of_the_page_is_what_the_program_answers(installed_sdk):
    rows = dict(re.findall(r"^\| `(list|why|run|check|doctor|errors)` \| (.*) \|$", PAGE.read_text().split("## JSON")[1], re.MULTILINE))
    answers = {"list": ["list"], "why": ["why", "collision"], "run": ["run", "diffsim_ball", "--iterations", "0"],
               "check": ["check", "--only", "C01", "collision"], "doctor": ["doctor"], "errors": ["errors", "NP203"]}
    assert set(rows) == set(answers)
    for verb, arguments in answers.items():
        for key in json.loads(installed_sdk.host(*arguments, "--json").stdout):
            assert f"`{key}`" in rows[verb], f"{verb}: {key}"
