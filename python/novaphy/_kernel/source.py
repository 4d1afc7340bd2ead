# SPDX-License-Identifier: Apache-2.0
"""Errors of a traced function, told with the line of the user's source that they belong to."""

from __future__ import annotations

import ast
import linecache
import re
import textwrap
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator

from .._core import TraceError

_HERE = str(Path(__file__).parent)
_TRUTH = "'if', 'while', 'and', 'or' and 'not' need a number now"
_ADVICE = {
    "if": "use nova.where(cond, a, b)",
    "while": "use nova.loop with a fixed count and nova.where",
    "and": "use (a) & (b)",
    "or": "use (a) | (b)",
    "not": "use ~(a)",
    "assert": "check the numbers before the call",
    "a < b < c": "use (a < b) & (b < c)",
    "min()": "use nova.min(a, b)",
    "max()": "use nova.max(a, b)",
}


def _users_frame(trace: TracebackType | None) -> tuple[str, int, Any] | None:
    """File, line and position of the innermost frame that is not ours."""
    found = None
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_HERE):
            found = code.co_filename, trace.tb_lineno, _position(trace)
        trace = trace.tb_next
    return found


def _position(trace: TracebackType) -> Any:
    """(first line, last line, first column, last column) of what runs; from Python 3.11 on."""
    positions = getattr(trace.tb_frame.f_code, "co_positions", None)
    if positions is None or trace.tb_lasti < 0:
        return None
    for index, position in enumerate(positions()):
        if index == trace.tb_lasti // 2:
            return position
    return None


def _asks(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Everything in the source that asks a value for its truth, and the value."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)):
            yield "if", node.test
        elif isinstance(node, ast.While):
            yield "while", node.test
        elif isinstance(node, ast.Assert):
            yield "assert", node.test
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield "and" if isinstance(node.op, ast.And) else "or", value
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield "not", node.operand
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            yield "a < b < c", node
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield "if", test
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            yield f"{node.func.id}()", node


def _who_asked(file: str, line: int, position: Any) -> str | None:
    """`if`, `while`, `and` ...: what needed a truth value on this line."""
    lines = linecache.getlines(file)
    try:
        asks = list(_asks(ast.parse("".join(lines))))
    except SyntaxError:
        return None
    if position is not None and None not in position:
        first, last, begin, end = position
        exact = [
            what for what, value in asks
            if (value.lineno, value.end_lineno, value.col_offset, value.end_col_offset) == (first, last, begin, end)
        ]  # fmt: skip
        if exact:
            return exact[-1]
        around = [
            (value.end_col_offset or 0) - value.col_offset for what, value in asks if value.lineno == line
        ]
        if not around:
            return None
    near = [what for what, value in asks if value.lineno <= line <= (value.end_lineno or value.lineno)]
    return near[0] if near else None


def _shorter(text: str) -> str:
    """pybind11's refusal of arguments in one sentence, and class names as users know them."""
    match = re.match(r"(\w+)\(\): incompatible (?:function|constructor) arguments", text)
    if match:
        ways = re.findall(r"^\s+\d+\. (?:\w+)?\((.*)\) -> .*$", text, flags=re.M)
        got = re.search(r"Invoked with: (.*?)(?:\n|$)", text)
        known = " or ".join(dict.fromkeys(f"({_types(way)})" for way in ways))
        text = f"nova.{match[1]} takes {known}, got ({got[1] if got else ''})"
    return text.replace("_novaphy_nova.", "")


def _types(signature: str) -> str:
    short = re.sub(r"(?:[\w.]+\.)?(\w+) \| collections\.abc\.Sequence\[typing\.Any\]", r"\1", signature)
    return re.sub(r"\w+: (?:[\w.]+\.)?", "", short)


def told(name: str, error: BaseException) -> TraceError | None:
    """The error as a TraceError with the user's line; None for one that is the user's own."""
    about_a_value = isinstance(error, (TypeError, AttributeError)) and "_novaphy_nova" in str(error)
    if not isinstance(error, (TraceError, TypeError)) and not about_a_value:
        return None
    text = textwrap.dedent(str(error))
    frame = _users_frame(error.__traceback__)
    if frame is None:
        return TraceError(f"{name}: {_shorter(text)}")
    file, line, position = frame
    if text.startswith(_TRUTH):
        what = _who_asked(file, line, position)
        if what is not None:
            text = f"'{what}' needs a number now; {_ADVICE[what]}"
    return TraceError(f"{name} line {line}: {_shorter(text)} ({Path(file).name})")
