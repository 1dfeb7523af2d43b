"""Questions and diffs as JSON: of every action, in both languages, with nothing hidden."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from common.diff.parse import parse_diff
from common.errors import AuthError, CodexBridgeError
from common.seal import Seal, short_code
from local_agent.actions.registry import ACTIONS
from local_agent.faces.page.rendered import (
    MAX_LINE,
    MAX_ROWS,
    Asked,
    _changed,
    file_rows,
    proposed_files,
    revealed,
)
from local_agent.views import from_json, to_json
from local_agent.views.page import PageFile, PageQuestion
from local_agent.views.question import ChangedFile, Text
from tests import windows
from tests.each import each

ANSWER = "The login is tried three times.\n登录重试三次。"
ALL: dict[str, tuple[Seal, bytes | None, dict[str, Any]]] = {
    "run_command": (*windows.a_command(), {}),
    "run_command in a shell": (*windows.a_command(script="make test | tee log"), {}),
    "apply_diff": (*windows.a_change(), {}),
    "undo": (*windows.an_undo(), {}),
    "git_sync": (*windows.a_sync(), {}),
    "disclose": (windows.a_release(ANSWER), None, {"answer": ANSWER}),
    "steps": (*windows.steps(), {"run": windows.RUN}),
    "steps, a gate": (windows.a_gate(), None, {"run": windows.RUN | {"steps": []}}),
}


def asked(name: str, **told: Any) -> Asked:
    seal, diff, more = ALL[name]
    return Asked(windows.an_order(seal, **more | told).shown, diff)


def texts(value: Any) -> list[dict[str, str]]:
    """Return every text in both languages that is somewhere in JSON."""
    if isinstance(value, dict):
        if value.keys() == {"en", "zh"}:
            return [value]
        return [text for one in value.values() for text in texts(one)]
    return [text for one in value for text in texts(one)] if isinstance(value, list) else []


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []


def test_every_action_is_among_these() -> None:
    assert {name.partition(",")[0].partition(" ")[0] for name in ALL} == ACTIONS.keys()


@each("name", ALL)
def test_a_question_of_every_action_is_read_back_as_it_was(name: str) -> None:
    question = asked(name, risk="high", reasons=("git-hooks",)).question()
    told = json.loads(json.dumps(to_json(question), ensure_ascii=False))
    again = from_json(PageQuestion, told)
    assert json.loads(json.dumps(to_json(again))) == told
    assert again.action == name.partition(",")[0].partition(" ")[0]
    assert again.code == short_code(windows.an_order(ALL[name][0], **ALL[name][2]).shown.digest)
    assert again.high_risk
    kinds = {part["type"] for section in told["parts"] for part in section}
    assert kinds <= {"fact", "lines", "files", "steps", "diff"}
    assert kinds
    for text in texts(told):
        assert text["en"].strip(), name
        assert text["zh"].strip(), name


@each(
    "command, first",
    [
        ({"script": "set -e\n\tmake\u202e x\n\necho done"}, 1),
        ({"argv": ["bash", "-c", "set -e\n\tmake\u202e x\n\necho done"]}, 0),
    ],
)
def test_a_script_has_its_lines_with_nothing_hidden_in_them(
    command: dict[str, Any], first: int
) -> None:
    seal, diff = windows.a_command(**command)
    question = Asked(windows.an_order(seal).shown, diff).question()
    (lines,) = [part for section in question.parts for part in section if part["type"] == "lines"]
    script = "\n".join(lines["parts"][2 * (1 - first) :]).strip("'")
    assert script == "set -e\n\tmake⟨U+202E⟩ x\n\necho done"
    assert lines["first"] == first


@each("name, paths", [("apply_diff", 3), ("undo", 3), ("git_sync", 3), ("run_command", 0)])
def test_the_files_of_a_question_are_read_back_as_they_were(name: str, paths: int) -> None:
    one = asked(name)
    told = json.loads(json.dumps([to_json(file) for file in one.files()]))
    assert [to_json(from_json(PageFile, file))["path"] for file in told] == [
        file["path"] for file in told
    ]
    assert len(told) == len(one.diffs()) == paths
    assert all(file["is_text"] and file["rows"] and file["hunks"] for file in told)


def test_steps_tell_the_files_of_all_their_diffs_in_order() -> None:
    one = asked("steps")
    paths = [file.path for file in one.files()]
    assert paths == [
        "shop/auth/login.py",
        "shop/auth/retry.py",
        "tests/test_login.py",
        "docs/登录.md",
    ]
    for file, diff in zip(one.files(), one.diffs(), strict=True):
        assert diff is not None
        assert (diff.path, diff.added, diff.removed) == (file.path, file.added, file.removed)
        assert len(file_rows(diff, first=0)["rows"]) <= file.rows


def test_what_could_mislead_is_made_visible_and_marked() -> None:
    seal, diff = windows.a_change(windows.HOSTILE)
    one = Asked(windows.an_order(seal).shown, diff)
    report = one.files()[1]
    assert report.marks
    assert all(mark.what.en and mark.what.zh for mark in report.marks)
    hostile = one.diffs()[1]
    assert hostile is not None
    said = strings(json.loads(json.dumps(file_rows(hostile, first=0))))
    for hidden in "\u202e\u2066\u2069":
        assert not any(hidden in text for text in said)
    assert any("⟨" in text for text in said)
    deleted = one.diffs()[2]
    assert deleted is not None
    kinds = {row["kind"] for row in file_rows(deleted, first=0)["rows"]}
    assert "hunk" in kinds
    assert all("new" not in row for row in file_rows(deleted, first=0)["rows"])


def test_hidden_characters_of_a_command_are_made_visible() -> None:
    seal, _ = windows.a_command(script="echo a\u202eb\u200bc\x1b[2J")
    one = Asked(windows.an_order(seal, text="@dev \u2067run").shown, None).question()
    said = strings(json.loads(json.dumps(to_json(one))))
    assert not any(char in text for text in said for char in "\u202e\u200b\x1b\u2067")
    assert sum(text.count("⟨") for text in said) >= 4


def test_a_seal_that_was_changed_is_not_rendered() -> None:
    seal, diff = windows.a_change()
    shown = windows.an_order(seal).shown
    other = replace(shown, seal=shown.seal.replace("retry.py", "other.py"))
    with pytest.raises(AuthError) as caught:
        Asked(other, diff)
    assert caught.value.code == "approval.digest-mismatch"


@each("diff", [b"", windows.OTHER.encode(), windows.DIFF.encode() + b" "])
def test_another_diff_than_was_sealed_is_not_rendered(diff: bytes) -> None:
    seal, _ = windows.a_change()
    with pytest.raises(CodexBridgeError):
        Asked(windows.an_order(seal).shown, diff)


def test_a_diff_that_is_missing_is_not_passed_over() -> None:
    seal, _ = windows.a_change()
    with pytest.raises(CodexBridgeError):
        Asked(windows.an_order(seal).shown, None)


def test_a_change_that_nobody_is_asked_about_has_its_files() -> None:
    raw = (
        "diff --git a/old.sh b/new.sh\nold mode 100644\nnew mode 100755\n"
        "rename from old.sh\nrename to new.sh\n" + windows.HOSTILE
    )
    files = proposed_files(parse_diff(raw.encode()))
    assert [(file.op, file.old_path) for file in files] == [
        ("rename", "old.sh"),
        ("modify", None),
        ("add", None),
        ("delete", None),
    ]
    assert [from_json(PageFile, json.loads(json.dumps(to_json(file)))) for file in files]
    assert files[2].marks


def long_diff(lines: int, width: int = 1) -> bytes:
    body = "".join(f"+{'x' * width}{n}\n" for n in range(lines))
    head = "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n"
    return f"{head}@@ -0,0 +1,{lines} @@\n{body}".encode()


def test_a_long_file_is_told_in_parts_that_fit_together() -> None:
    (file,) = parse_diff(long_diff(2 * MAX_ROWS + 10)).files
    (told,) = proposed_files(parse_diff(long_diff(2 * MAX_ROWS + 10)))
    found: list[Any] = []
    while True:
        part = file_rows(file, first=len(found))
        assert part["first"] == len(found)
        assert len(part["rows"]) <= MAX_ROWS
        found += part["rows"]
        assert part["more"] == told.rows - len(found)
        if not part["more"]:
            break
    assert len(found) == told.rows == 2 * MAX_ROWS + 11
    assert [row["new"][0] for row in found[1:]] == [*range(1, 2 * MAX_ROWS + 11)]
    beyond = file_rows(file, first=10**9 - 1)
    assert (beyond["rows"], beyond["more"]) == ([], 0)


def test_a_long_line_is_cut_and_the_rest_counted() -> None:
    (file,) = parse_diff(long_diff(1, MAX_LINE + 500)).files
    number, text, marks, more = file_rows(file, first=0)["rows"][1]["new"]
    assert (number, len(text), more) == (1, MAX_LINE, 501)
    assert all(mark[0] < MAX_LINE for mark in marks)


def test_what_changed_within_a_line_is_marked() -> None:
    seal, diff = windows.a_change()
    (file, *_) = Asked(windows.an_order(seal).shown, diff).diffs()
    assert file is not None
    sides = [row["new"] for row in file_rows(file, first=0)["rows"] if "new" in row]
    assert [side[2] for side in sides if side[2]] == [[[26, 32]]]


def test_what_is_no_text_has_no_lines() -> None:
    whole = ChangedFile(path="a.png", op="add", old_path=None, diff=None, notes=(), marks=())
    told = _changed(whole)
    assert (told.is_text, told.rows, told.hunks, told.added) == (False, 0, 0, 0)


def test_hidden_characters_are_made_visible_wherever_they_are() -> None:
    hidden = "a\u202eb"
    told = ({"x": [hidden, 7, None]}, Text(hidden, "中文，全角　空格"))
    mapping, text = revealed(told)
    assert mapping == {"x": [text.en, 7, None]}
    assert "\u202e" not in text.en
    assert text.zh == "中文，全角　空格"
    assert revealed(told) == revealed(revealed(told))
