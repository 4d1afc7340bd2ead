#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The digest of the public interface: headers and stubs, without comments and spaces. CHANGELOG.md names it in one line, so
that no change of the interface goes unsaid.

After a change: write in CHANGELOG.md what a user must do, then run

    python tests/abi/interface_digest.py --update
"""
import argparse
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "sdk" / "interface_digest.json"
CHANGELOG = ROOT / "CHANGELOG.md"
COMMAND = "python tests/abi/interface_digest.py --update"
LINE = re.compile(r"^Interface (?P<digest>[0-9a-f]{12}): .*$", re.MULTILINE)
PLACES = {"sdk/include": ("*.h", "*.hpp", "*.inc"), "runtime/include": ("*.hpp",), "plugins": ("include/**/*.h*",),
          "python/novaphy": ("*.pyi",)}


def public_files():
    found = set()
    for place, patterns in PLACES.items():
        for pattern in patterns:
            found.update((ROOT / place).rglob(pattern))
    return sorted(path for path in found if path.is_file())


def essence(path):
    """What a compiler or type checker reads: no comments, no empty space but one blank."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pyi":
        text = re.sub(r'\s*"""(?:.|\n)*?"""', "", text)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    else:
        text = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*(?:.|\n)*?\*/', lambda match: match[1] or " ", text)
    return re.sub(r"\s+", " ", text).strip()


def digests():
    """Path below the repository -> digest of its essence."""
    return {str(path.relative_to(ROOT)): hashlib.sha256(essence(path).encode()).hexdigest()[:12] for path in public_files()}


def overall(files):
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:12]


def changed(files, stored):
    """What differs, one line a file."""
    return [f"{'new' if path not in stored else 'gone' if path not in files else 'changed'}: {path}"
            for path in sorted(files.keys() | stored.keys()) if files.get(path) != stored.get(path)]


def newest_section(text):
    """The part of the change log that tells of the release being made."""
    parts = re.split(r"(?m)^(?=## )", text)
    assert len(parts) > 1, "CHANGELOG.md has no section '## VERSION'"
    return parts[1]


def update():
    files = digests()
    STORED.write_text(json.dumps(files, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    text = CHANGELOG.read_text(encoding="utf-8")
    section = newest_section(text)
    line = f"Interface {overall(files)}: headers and stubs as this section tells."
    told = LINE.sub(line, section, count=1) if LINE.search(section) else section.rstrip() + f"\n\n{line}\n" + (
        "\n" if section is not text and not text.endswith(section) else "")
    CHANGELOG.write_text(text.replace(section, told, 1), encoding="utf-8")
    print(f"CHANGELOG.md: {line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the digest and CHANGELOG.md's line")
    if parser.parse_args().update:
        update()
    else:
        print(overall(digests()))
