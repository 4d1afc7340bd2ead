# SPDX-License-Identifier: Apache-2.0
"""The public interface does not change unless CHANGELOG.md says so."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import interface_digest as digest  # noqa: E402

WHAT_TO_DO = f"write in CHANGELOG.md what a user has to do about it, then run: {digest.COMMAND}"


def test_headers_and_stubs_are_those_that_the_change_log_names():
    files = digest.digests()
    different = digest.changed(files, json.loads(digest.STORED.read_text(encoding="utf-8")))
    assert not different, "the public interface changed:\n  " + "\n  ".join(different) + f"\n{WHAT_TO_DO}"
    section = digest.newest_section(digest.CHANGELOG.read_text(encoding="utf-8"))
    named = digest.LINE.search(section)
    assert named, f"the newest section of CHANGELOG.md has no line 'Interface DIGEST: ...'; {WHAT_TO_DO}"
    assert named["digest"] == digest.overall(files), f"CHANGELOG.md names another interface; {WHAT_TO_DO}"


def test_the_digest_covers_headers_of_every_kind_and_the_stubs():
    names = digest.digests().keys()
    for part in ("sdk/include/novaphy/abi.h", "sdk/include/novaphy/solver.hpp", "runtime/include/novaphy/runtime.hpp",
                 "plugins/nova_diff/include/novaphy/nova/expr.hpp", "python/novaphy/solvers.pyi"):
        assert part in names, part


def test_comments_and_layout_are_no_change_and_everything_else_is(tmp_path):
    def essence(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return digest.essence(path)

    plain = essence("a.hpp", 'int f(int a);\nconst char* g = "// no comment";')
    assert plain == essence("b.hpp", '/// Adds.\nint f(int a);  /* so */\n\n  const char* g = "// no comment";\n')
    assert plain != essence("c.hpp", 'int f(long a);\nconst char* g = "// no comment";')
    assert plain != essence("d.hpp", 'int f(int a);\nconst char* g = "// comment";')
    stub = essence("a.pyi", 'class A:\n    def f(self, x: int) -> None:\n        """Sets."""\n')
    assert stub == essence("b.pyi", '# told\nclass A:\n    def f(self, x: int) -> None:\n        """Sets x\n        anew."""\n')
    assert stub != essence("c.pyi", 'class A:\n    def f(self, x: str) -> None:\n        """Sets."""\n')


def test_what_changed_is_told_by_file():
    assert digest.changed({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["new: a", "changed: b", "gone: c"]
