# SPDX-License-Identifier: Apache-2.0
"""The guide pages run: what a page's programs print is what it shows."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = ("own_kernel.md", "exactness.md")

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
    return re.findall(r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```)?", (DOCS / page).read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_pages_programs_print_is_what_it_shows(page, run_python):
    shown = [output for _, output in programs(page)]
    assert len(shown) >= 3
    printed = run_python(RUN, str(DOCS / page)).split("\f")[:-1]
    assert printed == shown


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_linked_from_the_readme(page):
    assert f"python/docs/{page}" in (DOCS.parents[1] / "README.md").read_text()
