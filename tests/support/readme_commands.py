# SPDX-License-Identifier: Apache-2.0
"""The shell commands and files that a page shows, for tests that execute them."""
import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
# a block that is a file begins after a line that is its name: "`acme_air/src/x.cpp`:"
FILE_NAME = re.compile(r"(?:\A|\n)`([\w./-]+)`:\s*\Z")


@dataclass
class Step:
    """bash: commands, of which `shown` is what they print ("..." stands for any lines or characters); file: its text,
    for `name`; diff: a patch."""
    kind: str
    text: str
    name: str = ""
    shown: str | None = None


def blocks(page, language):
    """The code blocks of a language, in order."""
    return [text for found, text in FENCE.findall(Path(page).read_text()) if found == language]


def commands(page):
    """The shell blocks of a page, in order: each is one text that a shell runs."""
    return blocks(page, "bash")


def steps(page):
    """Everything that a reader does, in order. Blocks of language `sh` are for the reader's own place and are no step;
    nor is a block of code that no line above names as a file."""
    text, found = Path(page).read_text(), []
    for block in FENCE.finditer(text):
        language, content = block.groups()
        if language in ("bash", "diff"):
            found.append(Step(language, content))
        elif language == "text" and found and found[-1].kind == "bash":
            found[-1].shown = content
        elif name := FILE_NAME.search(text[:block.start()]):
            found.append(Step("file", content, name[1]))
    return found


def as_script(page_steps):
    """One bash script that does the steps and prints \\f after each."""
    lines = ["set -euo pipefail"]
    for number, step in enumerate(page_steps):
        mark = f"END_OF_BLOCK_{number}"
        if step.kind == "bash":
            lines.append(step.text)
        elif step.kind == "diff":
            lines.append(f"git apply --whitespace=nowarn <<'{mark}'\n{step.text}{mark}")
        else:
            lines.append(f"mkdir -p \"$(dirname '{step.name}')\"\ncat >'{step.name}' <<'{mark}'\n{step.text}{mark}")
        lines.append("printf '\\f'")
    return "\n".join(lines)


def is_shown(shown, printed):
    """Whether a page shows what was printed; "..." stands for anything."""
    pattern = ".*".join(re.escape(part) for part in shown.strip().split("..."))
    return re.fullmatch(pattern, printed.strip(), flags=re.DOTALL) is not None
