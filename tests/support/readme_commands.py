# SPDX-License-Identifier: Apache-2.0
"""The shell commands and files that a page shows, for tests that execute them."""
import re
from pathlib import Path


def blocks(page, language):
    """The code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", Path(page).read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(page):
    """The shell blocks of a page, in order: each is one text that a shell runs."""
    return blocks(page, "bash")
