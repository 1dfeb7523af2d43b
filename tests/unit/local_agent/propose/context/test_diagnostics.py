"""What tools print, read as places in files."""

from __future__ import annotations

import json
import time

import pytest

from local_agent.propose.context.diagnostics import (
    MAX_DIAGNOSTICS,
    MAX_MESSAGE_BYTES,
    Diagnostic,
    parse_diagnostics,
    render,
)
from tests.each import each

HOME = "/home/zhang/shop"

ESLINT = [
    {
        "filePath": f"{HOME}/web/a.js",
        "messages": [
            {"line": 3, "column": 7, "severity": 2, "message": "'a' is not defined."},
            {"line": 9, "column": 1, "severity": 1, "message": "Unexpected console."},
        ],
    }
]
CARGO = {
    "reason": "compiler-message",
    "message": {
        "level": "error",
        "message": "mismatched types",
        "spans": [
            {"file_name": "src/lib.rs", "line_start": 4, "column_start": 2, "is_primary": False},
            {"file_name": "src/main.rs", "line_start": 7, "column_start": 5, "is_primary": True},
        ],
    },
}
RUFF = [
    {
        "filename": f"{HOME}/a.py",
        "location": {"row": 2, "column": 5},
        "code": "F401",
        "message": "unused",
    }
]


def read(text: str) -> list[Diagnostic]:
    return list(parse_diagnostics(text, workspace=HOME))


def places(text: str) -> list[tuple[str, int, int]]:
    return [(one.path, one.line, one.column) for one in read(text)]


@each(
    "line, expected",
    [
        ("src/a.py:3:5: F401 `os` imported but unused", ("src/a.py", 3, 5)),  # ruff, flake8
        ("src/a.py:10: error: Incompatible types  [assignment]", ("src/a.py", 10, 0)),  # mypy
        ("src/a.py:3:0: C0114: Missing module docstring", ("src/a.py", 3, 0)),  # pylint
        ("./src/a.c:4:2: warning: unused variable 'y'", ("src/a.c", 4, 2)),  # gcc
        ("vet: ./main.go:3:2: undeclared name: x", ("main.go", 3, 2)),  # go vet
        ("src/a.ts(3,5): error TS2304: Cannot find name 'x'.", ("src/a.ts", 3, 5)),  # tsc
        ("src/a.ts:3:5 - error TS2304: Cannot find name 'x'.", ("src/a.ts", 3, 5)),  # tsc --pretty
        (f"{HOME}/web/a.js:3:7: 'a' is not defined. [Error/no-undef]", ("web/a.js", 3, 7)),
        ("FAILED tests/test_a.py::test_b - assert 1 == 2", ("tests/test_a.py", 0, 0)),
        ("tests/test_a.py:12: AssertionError", ("tests/test_a.py", 12, 0)),
        (f'  File "{HOME}/src/e.py", line 10, in load', ("src/e.py", 10, 0)),
        ('  File "src/my dir/e.py", line 10', ("src/my dir/e.py", 10, 0)),
        ("  --> src/main.rs:2:5", ("src/main.rs", 2, 5)),  # rustc
        ("src/main.rs:2:5: error[E0308]: mismatched types", ("src/main.rs", 2, 5)),  # rustc short
        (f"[ERROR] {HOME}/src/App.java:[3,8] cannot find symbol", ("src/App.java", 3, 8)),  # maven
        ("src/App.java:3: error: cannot find symbol", ("src/App.java", 3, 0)),  # javac
        ("    at load (src/app.ts:3:7)", ("src/app.ts", 3, 7)),  # node, jest
        ("    at async Object.<anonymous> (src/app.test.ts:3:7)", ("src/app.test.ts", 3, 7)),
        ("    at src/app.ts:3:7", ("src/app.ts", 3, 7)),
        ("\tat com.shop.App.main(App.java:12)", ("App.java", 12, 0)),  # java
        ("\tcmd/main.go:12 +0x1d", ("cmd/main.go", 12, 0)),  # go
        ("why does src/a.py:44 fail?", ("src/a.py", 44, 0)),
        ("为什么在 src/a.py:44 报错", ("src/a.py", 44, 0)),
        ("请看“src/a.py:44”", ("src/a.py", 44, 0)),
        ("\x1b[1msrc/a.py\x1b[0m:3:5: F401", ("src/a.py", 3, 5)),
        ("src\\win\\a.cs(3,5): error CS0103: x", ("src/win/a.cs", 3, 5)),
    ],
)
def test_each_tool_is_read(line: str, expected: tuple[str, int, int]) -> None:
    assert places(f"before\n{line}\nafter\n") == [expected]


def test_stylish_eslint_names_the_file_above() -> None:
    text = f"{HOME}/web/a.js\n  3:7   error    'a' is not defined  no-undef\n  9:1  warning  x  y\n"
    assert read(text) == [
        Diagnostic("web/a.js", 3, 7, "error", "'a' is not defined no-undef"),
        Diagnostic("web/a.js", 9, 1, "warning", "x y"),
    ]


def test_json_is_read() -> None:
    assert [(one.path, one.line, one.level) for one in read(json.dumps(ESLINT))] == [
        ("web/a.js", 3, "error"),
        ("web/a.js", 9, "warning"),
    ]
    lines = "\n".join(map(json.dumps, [CARGO, {"reason": "build-finished"}]))
    assert read(lines) == [Diagnostic("src/main.rs", 7, 5, "error", "mismatched types")]
    assert read(json.dumps(RUFF)) == [Diagnostic("a.py", 2, 5, "error", "F401 unused")]


@each(
    "document",
    [
        [1, None, "x"],
        {"messages": 3},
        [{"filePath": "a.js", "messages": [None, 3]}],
        [{"filePath": 3, "messages": [{"line": "x"}]}],
        {"message": {"spans": [None, {"is_primary": True, "file_name": None}]}},
        {"message": {"spans": "x"}},
        {"path": "a.py", "line": "9" * 5000, "message": ["x"]},
        {"path": "a.py", "line": True, "message": None},
    ],
)
def test_json_of_another_shape_does_no_harm(document: object) -> None:
    assert all(one.line == 0 for one in read(json.dumps(document)))


def test_broken_json_is_read_as_lines() -> None:
    assert places('{"a": \nsrc/a.py:3: error: x\n') == [("src/a.py", 3, 0)]
    assert read("[" * 100_000) == []


@pytest.mark.requirement("R52")
@each(
    "path",
    [
        "/etc/passwd.conf",
        "../up.py",
        "a/../../up.py",
        "https://example.com/a.py",
        f"{HOME}-other/a.py",
        "a\u202eb.py",
    ],
)
def test_a_place_outside_is_dropped(path: str) -> None:
    assert read(f"{path}:3: error: x\n") == []


def test_a_place_is_told_once_and_with_a_message_where_there_is_one() -> None:
    assert read("see a.py:3\na.py:3: error: broken\na.py:3: error: again\n") == [
        Diagnostic("a.py", 3, 0, "error", "broken")
    ]


def test_there_are_bounds() -> None:
    found = read("".join(f"a.py:{line}: error: {'x' * 5000}\n" for line in range(1, 1000)))
    assert len(found) == MAX_DIAGNOSTICS
    assert all(len(one.message.encode()) <= MAX_MESSAGE_BYTES for one in found)


@each(
    "line",
    [
        "at " + "a." * 900,
        "：a.b" * 500,
        "a.py:" * 400,
        " " * 2000,
        '"(' * 900,
        'File "' + "a" * 1900,
        "[ERROR] " + "a.a" * 600,
        "-->" * 600,
        "(a.py" * 400,
    ],
)
def test_hostile_output_is_read_in_time(line: str) -> None:
    text = f"{line}\n" * (512 * 1024 // len(line))
    begun = time.process_time()
    parse_diagnostics(text, workspace=HOME)
    assert time.process_time() - begun < 2


@pytest.mark.requirement("R54")
def test_a_secret_that_is_cut_with_its_message_is_not_told_in_part() -> None:
    message = "x" * (MAX_MESSAGE_BYTES - 30) + " ghp_" + "A1b2" * 9
    (found,) = read(f"src/app.py:12:5: {message}")
    assert "ghp_" not in found.message


def test_they_are_told_one_a_line() -> None:
    text = render([Diagnostic("a.py", 3, 5, "error", "broken"), Diagnostic("b\nc.py")])
    assert text == "a.py:3:5: error: broken\nb c.py: error\n"
