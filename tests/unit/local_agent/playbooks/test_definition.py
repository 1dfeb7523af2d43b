"""A playbook is read strictly: all that it says is meant, and the first problem has its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.sentences import explain
from local_agent.error_texts import ERRORS
from local_agent.error_texts.playbooks import REASONS
from local_agent.playbooks.definition import (
    HOOK_FIELDS,
    MAX_FILE_BYTES,
    MAX_STEPS,
    PLAYBOOK_FIELDS,
    STEP_FIELDS,
    StepDefinition,
    TaskDefinition,
    TaskParseError,
    parse_hook,
    parse_playbook,
    titles,
)
from tests.each import each

SHIPPED = Path(__file__).parent / "shipped"
HERE = "/home/li/demo.md"
STATUS = "- {name: s, type: tool, tool: git_status}"


def playbook(steps: str = STATUS, *, more: str = "", name: str = "demo", body: str = "") -> str:
    lines = "\n".join(f"  {line}" for line in steps.splitlines())
    return f"---\nname: {name}\n{more}steps:\n{lines}\n---\n{body}"


def parse(text: str | bytes) -> TaskDefinition:
    return parse_playbook(text.encode() if isinstance(text, str) else text, HERE)


def refusal(
    text: str | bytes, parser: Callable[[bytes, str], TaskDefinition] = parse_playbook
) -> TaskParseError:
    with pytest.raises(TaskParseError) as caught:
        parser(text.encode() if isinstance(text, str) else text, HERE)
    return caught.value


def test_a_whole_playbook_is_read_with_the_names_of_the_seed() -> None:
    data = (SHIPPED / "release-notes.md").read_bytes()
    assert parse(data) == TaskDefinition(
        name="release-notes",
        agent="writer",
        trigger_keywords=("release notes", "发布说明"),
        risk_level="low",
        hooks={"pre": ("clean-tree",)},
        description="Writes the notes of a release from the commits since the last one.",
        steps=(
            StepDefinition(
                name="commits",
                type="tool",
                description="What happened since the last release.",
                tool="git_log",
                args={"since": "v1.0", "limit": 200},
            ),
            StepDefinition(
                name="write them down",
                type="agent",
                message_template="{message}\nCommits: {commits.result}\n",
            ),
            StepDefinition(
                name="look",
                type="gate",
                message_template="Write CHANGES.md? {write them down.result.text}",
            ),
            StepDefinition(
                name="save",
                type="tool",
                tool="write_file",
                args={"path": "CHANGES.md"},
                args_from={"content": "write them down.result.text"},
            ),
        ),
    )


def test_the_tables_name_every_field_of_a_definition() -> None:
    assert {*PLAYBOOK_FIELDS, "description"} == {field.name for field in fields(TaskDefinition)}
    assert set(STEP_FIELDS) == {field.name for field in fields(StepDefinition)}


@each("file", sorted(SHIPPED.rglob("*.md")))
def test_the_examples_are_read(file: Path) -> None:
    assert parse_playbook(file.read_bytes(), str(file)).name == file.stem


def test_what_is_left_out_has_its_default() -> None:
    found = parse(playbook())
    assert (found.agent, found.trigger_keywords, found.risk_level) == ("", (), "medium")
    assert (found.hooks, found.description) == ({}, "")
    assert found.steps == (StepDefinition(name="s", type="tool", tool="git_status"),)


@each(
    "data",
    [
        playbook(body="words").encode("utf-8-sig"),
        playbook(body="words").replace("\n", "\r\n").encode(),
        playbook(body="words").replace("---\n", "--- \t\n").encode(),
        playbook(body="\n\n  words  \n\n").encode(),
        playbook(body="words").replace("name: demo", "name: demo # ---").encode(),
        b"\xef\xbb\xbf" + playbook(body="words").replace("\n", "\r\n").encode(),
    ],
)
def test_a_bom_other_line_ends_and_blanks_around_make_no_difference(data: bytes) -> None:
    assert parse(data) == parse(playbook(body="words"))


def test_the_body_may_hold_lines_as_the_front_matter_has() -> None:
    assert parse(playbook(body="a\n---\nname: b\n---\n")).description == "a\n---\nname: b\n---"


def test_the_second_line_may_be_the_last_without_a_line_end() -> None:
    assert parse(playbook().rstrip()) == parse(playbook())


@each(
    "data, why",
    [
        (b"", "empty-file"),
        (b"\xef\xbb\xbf \n\t\n", "empty-file"),
        (b"# Demo\n", "no-front-matter"),
        (b"\n---\nname: x\n---\n", "no-front-matter"),
        (b" ---\nname: x\n---\n", "no-front-matter"),
        (b"----\nname: x\n---\n", "no-front-matter"),
        (b"---\nname: x\n", "open-front-matter"),
        (b"---", "open-front-matter"),
        (b"---\nname: x\n ---\n----\n", "open-front-matter"),
        (b"---\n---\n", "empty-front-matter"),
        (b"---\n# later\n\n---\n", "empty-front-matter"),
        (b"---\n- name: x\n---\n", "not-a-mapping"),
        (b"---\nname\n---\n", "not-a-mapping"),
        (b"---\n5\n---\n", "not-a-mapping"),
        (b"---\nname: \xff\n---\n", "not-utf-8"),
        ("---\nname: x\n---\n".encode("utf-16"), "not-utf-8"),
        ("---\nname: 周报\n---\n".encode("gbk"), "not-utf-8"),
        (playbook(body="x" * MAX_FILE_BYTES).encode(), "too-large"),
        (b"---\nname: x\n---\n\xc3\x28", "not-utf-8"),
        (b"---\rname: x\r---\r", "no-front-matter"),
    ],
)
def test_what_is_wrong_with_the_file_has_a_reason_of_its_own(data: bytes, why: str) -> None:
    assert refusal(data).facts["why"] == why


def test_a_file_of_the_largest_size_is_read() -> None:
    room = MAX_FILE_BYTES - len(playbook())
    assert len(parse(playbook(body="x" * room)).description) == room


def test_the_error_names_the_file_and_the_reason_as_the_seed_has_it() -> None:
    error = refusal(playbook("- {name: s, type: tool, tool: rm_rf}"))
    assert error.file_path == HERE
    assert error.message.startswith("line 4: “steps › s › tool” cannot be “rm_rf”")
    assert str(error) == f"TaskParseError: Failed to parse {HERE}: {error.message}"
    said = explain(error, ERRORS, "zh")
    assert said.startswith(f"TaskParseError: Failed to parse {HERE}: 第 4 行：")


def test_what_was_written_is_shown_on_one_line_without_tricks() -> None:
    error = refusal(playbook('- {name: "a\\nb\\u202ec", type: gate, message_template: x}'))
    assert "\n" not in str(error)
    assert "⟨U+202E⟩" in str(error)


TOP = "---\nname: demo\nsteps: [{name: s, type: tool, tool: git_status}]\n"


@each(
    "text, why, line",
    [
        (f"{TOP}colour: red\n---\n", "unknown-key", 4),
        (f"{TOP}description: x\n---\n", "unknown-key", 4),
        (f"{TOP}Name: x\n---\n", "unknown-key", 4),
        (f"{TOP}<<: {{}}\n---\n", "unknown-key", 4),
        (f"{TOP}name: demo\n---\n", "repeated-key", 4),
        (f"{TOP}risk_level: extreme\n---\n", "choice", 4),
        (f"{TOP}risk_level: High\n---\n", "choice", 4),
        (f"{TOP}risk_level:\n---\n", "type-text", 4),
        (f"{TOP}risk_level: [low]\n---\n", "type-text", 4),
        (f"{TOP}agent: 5\n---\n", "type-text", 4),
        (f"{TOP}agent: ''\n---\n", "empty", 4),
        (f"{TOP}trigger_keywords: deploy\n---\n", "type-list", 4),
        (f"{TOP}trigger_keywords:\n---\n", "type-list", 4),
        (f"{TOP}trigger_keywords: []\n---\n", "empty", 4),
        (f"{TOP}trigger_keywords: ['']\n---\n", "empty", 4),
        (f"{TOP}trigger_keywords: [a, true]\n---\n", "type-text", 4),
        (f"{TOP}trigger_keywords:\n- a\n- {'x' * 65}\n---\n", "too-long", 6),
        (f"{TOP}trigger_keywords: [{', '.join(['a'] * 51)}]\n---\n", "too-many", 4),
        (f"{TOP}hooks: before\n---\n", "type-mapping", 4),
        (f"{TOP}hooks: {{before: x}}\n---\n", "unknown-key", 4),
        (f"{TOP}hooks:\n  pre: ../x\n---\n", "identifier", 5),
        (f"{TOP}hooks:\n  pre: a/b\n---\n", "identifier", 5),
        (f"{TOP}hooks: {{pre: ''}}\n---\n", "empty", 4),
        (f"{TOP}inputs: x\n---\n", "type-mapping", 4),
        (f"{TOP}inputs: {{a: {{}}}}\n---\n", "missing-key", 4),
        (f"{TOP}inputs: {{A: {{type: text}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: number}}}}\n---\n", "choice", 4),
        (f"{TOP}inputs: {{a: {{type: choice}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: text, choices: [x]}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: choice, choices: [x], default: y}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: integer, default: x}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: text, default: 5}}}}\n---\n", "no-input", 4),
        (f"{TOP}inputs: {{a: {{type: text, more: 5}}}}\n---\n", "unknown-key", 4),
        (f"{TOP}hooks: {{pre: [a, 5]}}\n---\n", "type-text", 4),
        (f"{TOP}hooks: {{pre: [[a]]}}\n---\n", "type-text", 4),
        ("---\nsteps: []\n---\n", "missing-key", 2),
        ("---\nname: demo\n---\n", "missing-key", 2),
        ("---\nname: demo\nsteps:\n---\n", "type-list", 3),
        ("---\nname: demo\nsteps: []\n---\n", "empty", 3),
        ("---\nname: demo\nsteps: {}\n---\n", "type-list", 3),
        ("---\nname: demo\nsteps:\n- s\n---\n", "type-mapping", 4),
        ("---\nname: a b\nsteps: []\n---\n", "identifier", 2),
        ("---\nname: 周报\nsteps: []\n---\n", "identifier", 2),
        ("---\nname: ../x\nsteps: []\n---\n", "identifier", 2),
        ("---\nname: 5\nsteps: []\n---\n", "type-text", 2),
        (f"---\nname: {'x' * 65}\nsteps: []\n---\n", "too-long", 2),
        ("---\nname: &a demo\nsteps: []\n---\n", "reference", 2),
        ("---\nname: !!str demo\nsteps: []\n---\n", "tag", 2),
        ("---\nname: demo\nsteps: [}\n---\n", "yaml", 3),
    ],
)
def test_what_is_wrong_at_the_top_is_told_with_its_line(text: str, why: str, line: int) -> None:
    error = refusal(text)
    assert (error.facts["why"], error.facts["line"]) == (why, line)


@each(
    "step, why, key",
    [
        ("{type: gate, message_template: x}", "missing-key", "steps › 1 › name"),
        ("{name: '', type: gate, message_template: x}", "empty", "steps › 1 › name"),
        ("{name: ' ', type: gate, message_template: x}", "empty", "steps ›   › name"),
        ("{name: ' a', type: gate, message_template: x}", "label", "steps ›  a › name"),
        ('{name: "a\\u200b", type: gate, message_template: x}', "label", "steps › a\u200b › name"),
        ("{name: [], type: gate, message_template: x}", "type-text", "steps › 1 › name"),
        (f"{{name: {'x' * 65}, type: gate, message_template: x}}", "too-long", None),
        ("{name: a}", "missing-key", "steps › a › type"),
        ("{name: a, type: shell}", "choice", "steps › a › type"),
        ("{name: a, type: true}", "type-text", "steps › a › type"),
        ("{name: a, type: tool}", "missing-key", "steps › a › tool"),
        ("{name: a, type: tool, tool: job_complete}", "choice", "steps › a › tool"),
        ("{name: a, type: tool, tool: 5}", "type-text", "steps › a › tool"),
        ("{name: a, type: tool, tool: git_status, arg: {}}", "unknown-key", "steps › a › arg"),
        ("{name: a, type: tool, tool: git_status, args: }", "type-mapping", "steps › a › args"),
        ("{name: a, type: tool, tool: git_status, args: [x]}", "type-mapping", "steps › a › args"),
        (
            "{name: a, type: tool, tool: git_status, message_template: x}",
            "not-for-type",
            "steps › a › message_template",
        ),
        ("{name: a, type: gate}", "missing-key", "steps › a › message_template"),
        ("{name: a, type: gate, description: x}", "missing-key", "steps › a › message_template"),
        ("{name: a, type: gate, message_template: ' '}", "empty", "steps › a › message_template"),
        ("{name: a, type: gate, message_template: 5}", "type-text", "steps › a › message_template"),
        ("{name: a, type: gate, tool: git_status}", "not-for-type", "steps › a › tool"),
        (
            "{name: a, type: gate, message_template: x, args: {}}",
            "not-for-type",
            "steps › a › args",
        ),
        ("{name: a, type: agent}", "no-prompt", "steps › a"),
        ("{name: a, type: agent, description: ''}", "no-prompt", "steps › a"),
        (
            "{name: a, type: agent, description: x, tool: git_log}",
            "not-for-type",
            "steps › a › tool",
        ),
        (
            "{name: a, type: agent, description: x, args_from: z.result}",
            "not-for-type",
            "steps › a › args_from",
        ),
        ("{name: a, type: agent, description: [x]}", "type-text", "steps › a › description"),
        ("{name: a, type: agent, description: x, condition: 5}", "type-text", None),
        ("{name: a, type: agent, description: x, condition: z.result > 5}", "condition", None),
        ("{name: a, type: agent, description: x, condition: ''}", "condition", None),
        ("{name: a, type: tool, tool: read_file}", "argument-missing", "steps › a › path"),
        (
            "{name: a, type: tool, tool: read_file, args: {}}",
            "argument-missing",
            "steps › a › path",
        ),
        (
            "{name: a, type: tool, tool: read_file, args: {path: 5}}",
            "argument-text",
            "steps › a › path",
        ),
        (
            "{name: a, type: tool, tool: read_file, args: {path: a, mode: r}}",
            "argument-unknown",
            "steps › a › mode",
        ),
        ("{name: a, type: tool, tool: git_log, args: {limit: '5'}}", "argument-integer", None),
        ("{name: a, type: tool, tool: git_log, args: {since: 2}}", "argument-text", None),
        ("{name: a, type: tool, tool: run_command, args: {argv: ls}}", "argument-texts", None),
        ("{name: a, type: tool, tool: run_command, args: {argv: [1]}}", "argument-texts", None),
        (
            "{name: a, type: tool, tool: run_command, args: {argv: [a], timeout_s: x}}",
            "argument-number",
            None,
        ),
        ("{name: a, type: tool, tool: read_file, args_from: 5}", "type-paths", None),
        ("{name: a, type: tool, tool: read_file, args_from: {path: 5}}", "type-text", None),
        ("{name: a, type: tool, tool: read_file, args_from: {}}", "argument-missing", None),
        (
            "{name: a, type: tool, tool: read_file, args_from: {file: z.result.x}}",
            "argument-unknown",
            "steps › a › file",
        ),
        (
            "{name: a, type: tool, tool: write_file, args_from: {path: z.result.x}}",
            "argument-missing",
            "steps › a › content",
        ),
        ("{name: a, type: tool, tool: read_file, args_from: z}", "path", "steps › a › args_from"),
        (
            "{name: a, type: tool, tool: read_file, args_from: {path: 'z.result[0]'}}",
            "path",
            "steps › a › args_from › path",
        ),
        ("{name: a, type: tool, tool: read_file, args_from: ''}", "path", "steps › a › args_from"),
        ("{name: a, type: tool, tool: read_file, args_from: }", "type-paths", None),
        ("{name: a, type: tool, tool: read_file, args_from: x.result}", "unknown-step", None),
        ("{name: a, type: tool, tool: read_file, args_from: a.result}", "own-step", None),
        (
            "{name: a, type: tool, tool: read_file, args_from: {path: b.result.c}}",
            "later-step",
            None,
        ),
        ("{name: z, type: agent, description: x}", "repeated-step", None),
    ],
)
def test_what_is_wrong_with_a_step_is_told_with_its_key(
    step: str, why: str, key: str | None
) -> None:
    first = "" if "steps › 1" in (key or "") else "- {name: z, type: tool, tool: git_status}\n"
    last = "- {name: b, type: tool, tool: git_status}"
    error = refusal(playbook(f"{first}- {step}\n{last}"))
    assert error.facts["why"] == why, str(error)
    assert error.facts["line"] == (5 if first else 4)
    assert key is None or error.facts["key"] == key


@each(
    "step",
    [
        "{name: a b.c/ü (1) “x”, type: agent, description: x}",
        "{name: z.result, type: agent, description: x}",
        "{name: a, type: agent, message_template: '{z.result} {nobody.result!r} {{}}'}",
        "{name: a, type: agent, description: x, condition: nobody.result.x == 5}",
        "{name: a, type: agent, description: x, condition: b.result.x}",
        "{name: a, type: tool, tool: write_file, args_from: z.result}",
        "{name: a, type: tool, tool: write_file, args: {path: a}, args_from: z.result.x}",
        "{name: a, type: tool, tool: search, args: {query: ''}, args_from: z.result}",
        "{name: a, type: tool, tool: read_file, args: {path: a}, args_from: {path: z.result.x}}",
        "{name: a, type: tool, tool: git_status, description: ''}",
        "{name: a, type: tool, tool: git_status, args: {}, args_from: {}}",
    ],
)
def test_what_can_be_known_only_in_a_run_is_left_to_it(step: str) -> None:
    first, last = (
        "- {name: z, type: tool, tool: git_status}",
        "- {name: b, type: gate, message_template: x}",
    )
    assert len(parse(playbook(f"{first}\n- {step}\n{last}")).steps) == 3


def test_the_line_of_an_argument_is_that_of_the_argument() -> None:
    text = playbook("- name: a\n  type: tool\n  tool: read_file\n  args:\n\n    path: 5")
    assert refusal(text).facts["line"] == 9


def test_a_hook_is_a_name_or_several() -> None:
    assert parse(playbook(more="hooks: {pre: a, post: [b, c.d]}\n")).hooks == {
        "pre": ("a",),
        "post": ("b", "c.d"),
    }


def test_hooks_are_looked_for_in_order_and_a_missing_one_is_an_error() -> None:
    asked = []

    def load(name: str) -> None:
        asked.append(name)
        if name == "gone":
            raise FileNotFoundError(name)

    text = playbook(more="hooks: {pre: [a, b], post: gone}\n")
    with pytest.raises(TaskParseError) as caught:
        parse_playbook(text.encode(), HERE, load_hook=load)
    assert asked == ["a", "b", "gone"]
    assert (caught.value.facts["why"], caught.value.facts["name"]) == ("no-hook", "gone")
    assert caught.value.facts["key"] == "hooks › post"


def test_a_hook_has_tool_steps_alone_and_no_hooks() -> None:
    assert parse_hook(playbook().encode(), HERE) == parse(playbook())
    gate = playbook("- {name: a, type: gate, message_template: x}")
    assert refusal(gate, parse_hook).facts["why"] == "hook-step"
    agent = playbook(f"{STATUS}\n- {{name: a, type: agent, description: x}}")
    assert refusal(agent, parse_hook).facts["line"] == 5
    nested = playbook(more="hooks: {pre: a}\n")
    assert refusal(nested, parse_hook).facts["why"] == "hook-has-hooks"


@pytest.mark.cpu(8)
def test_as_many_steps_as_there_may_be_are_read() -> None:
    steps = "".join(
        f"- {{name: s{n}, type: tool, tool: read_file, args_from: {{path: s{n - 1}.result.x}}}}\n"
        for n in range(1, MAX_STEPS)
    )
    first = "- {name: s0, type: tool, tool: git_status}\n"
    assert len(parse(playbook(first + steps)).steps) == MAX_STEPS
    assert refusal(playbook(f"{first}{steps}{STATUS}")).facts["why"] == "too-many"


@pytest.mark.cpu(6)
def test_a_large_hostile_file_is_refused_quickly() -> None:
    bomb = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 20_000))
    deep = "x: " + "[" * 500_000
    many = "x: [" + "{}," * 300_000 + "]"
    dots = "steps: [{name: a, type: agent, description: x, condition: 'a" + ".result" * 100_000
    for text in (bomb, deep, many, f"{dots}'}}]"):
        refusal(f"---\nname: demo\n{text}\n---\n")


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_playbook_or_a_reason_with_a_sentence(data: bytes) -> None:
    for given_bytes in (data, b"---\n" + data + b"\n---\n"):
        why = None
        try:
            parse_playbook(given_bytes, HERE)
        except TaskParseError as error:
            why = error.facts["why"]
        assert why is None or why in REASONS


@each("why", REASONS)
def test_every_reason_is_a_sentence_in_both_languages(why: str) -> None:
    for lang in ("en", "zh"):
        assert REASONS[why].fields(lang) == REASONS[why].fields("en")
    assert f"playbook.parse/{why}" in ERRORS


@each("given", ["# Checks", "Checks\n\nmore", "# 检查 · 结果", "a · b", ""])
def test_a_title_of_one_language_is_that_of_both(given: str) -> None:
    begun = given.removeprefix("# ").partition("\n")[0]
    assert titles(given) == (begun, begun)
    assert titles("# Checks · 检查\n\nmore") == ("Checks", "检查")


def test_hook_phases_are_those_of_the_events() -> None:
    assert set(HOOK_FIELDS) == {"pre", "post"}
