# SPDX-License-Identifier: Apache-2.0
"""The table of error codes, the codes in the sources, and the texts that tests assert are one and the same."""
import ast
import re

from project_tree import CPP, ROOT, code_files

TABLE = "runtime/src/manifest/error_codes.inc"
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'


def unescaped(text):
    return ast.literal_eval(f'"{text}"') if "\\" in text else text


def table():
    """Code -> example of its text."""
    rows = {}
    for call in re.findall(r"^NOVAPHY_ERROR_CODE\((.*?)\)$", (ROOT / TABLE).read_text(), re.MULTILINE | re.DOTALL):
        # neighbouring literals are one; commas stand between arguments
        arguments = ["".join(map(unescaped, re.findall(LITERAL, part))) for part in re.split(r'(?<="),\s', call)]
        assert len(arguments) == 5, call
        rows[arguments[0]] = arguments[4]
    return rows


def literals(path):
    """All text of a C++ or Python file's string literals, neighbours joined; raw strings too."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.suffix == ".py":
        return "\n".join(node.value for node in ast.walk(ast.parse(text))
                         if isinstance(node, ast.Constant) and isinstance(node.value, str))
    raw = "\n".join(re.findall(r'R"(?:\w*)\((.*?)\)(?:\w*)"', text, re.DOTALL))
    text = re.sub(r"^\s*(//.*|TEST_CASE\(.*)$", "", text, flags=re.MULTILINE)  # titles assert nothing
    joined = re.sub(r'(?<!\\)"\s*\n\s*"', "", text)
    return "\n".join(re.findall(LITERAL, joined)).replace('\\"', '"').replace("\\\\", "\\") + raw


def test_every_code_in_the_sources_stands_in_the_table():
    rows = table()
    for path in code_files(CPP | {".py"}):
        if path.parts[0] in ("runtime", "python", "plugins", "sdk") and "tests" not in path.parts:
            for code in re.findall(r"\bNP[1-9]\d\d\b", (ROOT / path).read_text(encoding="utf-8")):
                assert code in rows, f"{path} uses {code}, which {TABLE} does not hold; add its row"


def test_every_code_of_the_table_is_used_by_the_runtime():
    used = "".join((ROOT / path).read_text() for path in code_files(CPP) if path.parts[0] == "runtime" and str(path) != TABLE)
    unused = sorted(code for code in table() if f'"{code}' not in used)
    assert not unused, f"no source of the runtime raises {unused}; raise them or remove their rows"


def test_every_codes_example_is_asserted_by_a_test():
    folders = ("runtime", "python", "abi", "samples", "host")
    tests = [path for path in code_files(CPP | {".py"}) if path.parts[0] == "tests" and path.parts[1] in folders]
    texts = {path: literals(path) for path in tests}
    lacking = []
    for code, example in table().items():
        pieces = [piece for piece in example.removeprefix("#").split("...") if piece]
        where_named = [text for text in texts.values() if code in text]
        if not any(all(piece in text for piece in pieces) for text in where_named):
            lacking.append(code)
    assert not lacking, "no test asserts " + "\n".join(f"{code}: {table()[code]}" for code in lacking)
