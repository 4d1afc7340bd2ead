# SPDX-License-Identifier: Apache-2.0
"""The README and the guide pages run: what a page's programs print is what it shows."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
README = DOCS.parents[1] / "README.md"
PAGES = (README, DOCS / "own_kernel.md", DOCS / "exactness.md", DOCS / "find_a_material.md", DOCS / "pictures.md")

RUN = """
import re, sys
from pathlib import Path
page = Path(sys.argv[1])
names = {"__name__": "__main__"}
for number, program in enumerate(re.findall(r"^```python\\n(.*?)^```", page.read_text(), flags=re.M | re.S)):
    program_file = Path(f"{page.stem}.py")
    program_file.write_text(program)
    exec(compile(program, str(program_file), "exec"), names)
    print("\\f", end="")
"""


def programs(page):
    """(program, what it prints) in the order of the page."""
    return re.findall(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```)?", page.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_pages_programs_print_is_what_it_shows(page, run_python):
    shown = [output for _, output in programs(page)]
    assert len(shown) >= 3
    printed = run_python(RUN, str(page)).split("\f")[:-1]
    assert printed == shown


def test_the_programs_of_the_page_on_plugins_run(run_python):
    assert run_python(RUN, str(DOCS / "plugins.md")).count("\f") == len(programs(DOCS / "plugins.md")) > 0


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_a_guide_page_is_linked_from_the_readme(page):
    assert f"(python/docs/{page.name})" in README.read_text()
