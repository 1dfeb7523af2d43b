"""Playbooks at their bounds: many steps, big results, long answers, several runs at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.playbooks.stage import (
    MAX_LINE_BYTES,
    Ran,
    Stage,
    agent,
    command,
    gate,
    playbook,
    reading,
    taken,
    tool,
    writing,
)
from tests.model_script import text

EIGHT_MIB = 8 * 1024 * 1024


@pytest.mark.thorough
def test_500_steps_run_in_order(stage: Stage) -> None:
    ran = stage.run(*(reading(f"s{number}") for number in range(500))).ended("completed")
    assert [one["step_index"] for one in ran.all("step_start")] == [*range(500)]
    assert len(ran.state["steps_completed"]) == 500


@pytest.mark.thorough
def test_8_mib_go_from_one_step_to_the_next(stage: Stage) -> None:
    content = ("0123456789abcde\n" * (EIGHT_MIB // 16))[:EIGHT_MIB]
    stage.write("big.txt", content)
    ran = stage.run(
        reading("big", "big.txt"),
        taken(tool("again", "read_file"), {"path": "big.result.path"}),
        agent("say"),
    ).ended("completed")
    assert ran.result("big")["size"] == EIGHT_MIB
    whole = json.loads(Path(ran.result("again")["result_path"]).read_text(encoding="utf-8"))
    assert whole["content"] == content
    assert max(map(len, ran.raw)) < MAX_LINE_BYTES
    assert len(stage.model.requests[0].body.encode()) < 200_000


@pytest.mark.thorough
def test_a_file_of_a_million_bytes_is_written_by_a_later_step(stage: Stage) -> None:
    content = "\n".join(f"{number:09}" for number in range(100_000))
    stage.write("big.txt", content)
    ran = stage.run(
        reading("big", "big.txt"),
        taken(tool("copy", "write_file", path="copy.txt"), {"content": "big.result.content"}),
        decide="approve",
    ).ended("completed")
    assert stage.read("copy.txt") == content
    assert ran.result("copy")["size"] == len(content)


def test_a_file_of_more_than_8_mib_is_not_read(stage: Stage) -> None:
    (stage.workspace / "big.txt").write_bytes(b"x" * (EIGHT_MIB + 1))
    stage.run(reading("big", "big.txt")).ended("failed")


@pytest.mark.thorough
def test_8_mib_of_a_command_are_kept_and_the_rest_is_cut(stage: Stage) -> None:
    ran = stage.run(
        command("run", "head", "-c", str(EIGHT_MIB + 100_000), "/dev/zero"), decide="approve"
    ).ended("completed")
    whole = json.loads(Path(ran.result("run")["result_path"]).read_text(encoding="utf-8"))
    assert EIGHT_MIB - 1_000 <= len(whole["stdout"]) <= EIGHT_MIB + 1_000


@pytest.mark.thorough
def test_10_000_pieces_of_an_answer_come_in_order(stage: Stage) -> None:
    answer = "".join(f" {number:04}" for number in range(10_000)).strip()
    stage.model.say(text(answer, pieces=10_000))
    ran = stage.run(
        agent("say"),
        taken(tool("keep", "write_file", path="kept.txt"), {"content": "say.result.text"}),
        decide="approve",
    ).ended("completed")
    assert "".join(one["chunk"] for one in ran.all("stream")) == answer
    assert stage.read("kept.txt") == answer


@pytest.mark.thorough
def test_2000_steps_are_taken_and_2001_are_not(stage: Stage) -> None:
    many = playbook(*(reading(f"s{number}") for number in range(2_000)))
    assert stage.cli("playbook", "check", str(stage.file(many))).returncode == 0
    more = playbook(*(reading(f"s{number}") for number in range(2_001)))
    assert stage.cli("playbook", "check", str(stage.file(more))).returncode == 2


def test_several_runs_at_once_keep_apart(stage: Stage) -> None:
    for number in range(4):
        steps = (reading("look"), gate("sure"), writing("w", f"out-{number}.txt", f"{number}\n"))
        stage.file(playbook(*steps, name=f"run-{number}"), f"run-{number}.md")

    def run(number: int) -> Ran:
        path = stage.files / f"run-{number}.md"
        return stage.follow(("playbook", "run", str(path)), decide="approve")

    with ThreadPoolExecutor(4) as pool:
        runs = [*pool.map(run, range(4))]
    for number, ran in enumerate(runs):
        ran.ended("completed")
        assert ran.events[0]["task_name"] == f"run-{number}"
        assert stage.read(f"out-{number}.txt") == f"{number}\n"
    assert len({ran.run_id for ran in runs}) == 4


def test_a_gate_looks_at_no_more_steps_than_a_question_can_hold(stage: Stage) -> None:
    kept = stage.state / "blobs"
    before = len([*kept.glob("??/*")])
    stage.run(
        gate("sure"),
        *(writing(f"w{number}", f"{number}.txt", f"of {number}\n") for number in range(160)),
        decide="reject",
    ).ended("aborted")
    assert len([*kept.glob("??/*")]) - before < 130
