"""A command as it was proposed: what is prepared, sealed and run is its argv, folder and time."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from typing import Any

import pytest

from common.errors import InputError
from common.model.state import Reason
from local_agent.actions.operation import Ended
from local_agent.actions.run_command import perform as performing
from tests.machine import Machine
from tests.running import command_task, operation, other_task, run

pytestmark = pytest.mark.heavy


async def told(machine: Machine, ended: Ended, stream: str) -> bytes:
    assert ended.did is not None
    name = ended.did["streams"][stream]["sha256"]
    return await asyncio.to_thread(machine.blobs.get, name)


@pytest.mark.requirement("P2")
async def test_argv_folder_and_time_of_a_proposal_are_sealed_as_they_stand(
    machine: Machine,
) -> None:
    (machine.path / "sub").mkdir()
    argv = ("printf", "%s|", "$HOME", "*", "a b", "; touch ran")
    task = command_task(cmd="something else", argv=argv, cwd="sub", timeout_s=7)
    payload = (await operation(machine).prepare(task, machine.workspace)).payload
    assert payload["argv"] == list(argv)
    assert (payload["cwd"], payload["timeout"]) == ("sub", 7)
    ended = await run(machine, task)
    assert ended.reason is Reason.COMPLETED
    assert await told(machine, ended, "stdout") == b"$HOME|*|a b|; touch ran|"
    assert not list(machine.path.rglob("ran"))


async def test_without_them_a_command_is_sealed_as_ever(machine: Machine) -> None:
    plain = command_task(cmd="echo 'a b'", argv=("echo", "a b"))
    line = command_task(cmd="echo a | cat")
    for task, text in ((plain, "echo 'a b'"), (line, "echo a | cat")):
        described = await operation(machine).prepare(task, machine.workspace)
        assert described.payload == (await machine.prepare(text)).payload
        assert described.payload["timeout"] == performing.TIMEOUT_S


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ({"argv": ()}, "command.empty"),
        ({"argv": ("true",), "cwd": "none"}, "command.folder"),
        ({"argv": ("true",), "cwd": "../.."}, "command.outside"),
        ({"argv": ("true",), "timeout_s": 3601}, "command.timeout-range"),
        ({"argv": ("no-such-program",)}, "command.not-found"),
    ],
)
async def test_what_cannot_run_is_refused_before_it_is_asked(
    machine: Machine, command: dict[str, Any], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        await operation(machine).prepare(command_task(cmd="true", **command), machine.workspace)
    assert caught.value.code == code


@pytest.mark.requirement("P4")
async def test_without_a_sandbox_the_chat_does_not_learn_which_programs_lie_elsewhere(
    machine: Machine,
) -> None:
    there, absent = (str(machine.root / name) for name in ("payroll", "absent"))
    await asyncio.to_thread(shutil.copy, "/bin/true", there)
    (machine.path / "link").symlink_to(there)
    hands = operation(machine)
    for word in (there, absent, str(machine.path / "link")):
        asked = command_task(cmd="x", argv=(word,))
        with pytest.raises(InputError) as caught:
            await hands.prepare(replace(asked, source="wecom"), machine.workspace)
        assert (caught.value.code, caught.value.facts) == ("command.outside", {"program": word})
    asked = command_task(cmd="x", argv=(there, "one.py"))
    assert (await hands.prepare(asked, machine.workspace)).action == "run_command"
    own = replace(machine.workspace, test_command=there)
    assert (await hands.prepare(replace(asked, source="wecom"), own)).action == "run_command"


async def test_streams_are_kept_apart_where_they_are_wanted(machine: Machine) -> None:
    task = command_task(
        cmd="x", argv=("sh", "-c", "echo out; echo err >&2; printf '\\377'; exit 3")
    )
    ended = await run(machine, task)
    assert ended.reason is Reason.FAILED
    assert await told(machine, ended, "stdout") == b"out\n\xff"
    assert await told(machine, ended, "stderr") == b"err\n"
    assert ended.did is not None
    assert ended.did["run"]["exit_code"] == 3
    plain = await run(machine, task, streams=False)
    assert plain.did is not None
    assert plain.did.keys() == {"run"}


async def test_of_a_long_stream_head_and_tail_are_kept_and_the_rest_is_counted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "STREAM_BYTES", 20)
    ended = await run(
        machine, command_task(cmd="x", argv=("printf", "0123456789abcdefghijklmnopqrstu"))
    )
    assert ended.did is not None
    assert ended.did["streams"]["stdout"]["dropped"] == 11
    assert await told(machine, ended, "stdout") == b"0123456789lmnopqrstu"
    assert ended.did["streams"]["stderr"]["dropped"] == 0


@pytest.mark.needs("bubblewrap")
async def test_in_the_sandbox_both_streams_come_whole_up_to_their_bound(
    sandboxed: Machine,
) -> None:
    size = performing.STREAM_BYTES
    script = f"head -c {size} /dev/zero; head -c {size + 1000} /dev/zero >&2; echo end >&2"
    ended = await run(sandboxed, command_task(cmd="x", argv=("sh", "-c", script)))
    assert ended.did is not None
    assert await told(sandboxed, ended, "stdout") == bytes(size)
    assert ended.did["streams"]["stdout"]["dropped"] == 0
    err = await told(sandboxed, ended, "stderr")
    assert (len(err), err[-4:], ended.did["streams"]["stderr"]["dropped"]) == (size, b"end\n", 1004)


async def test_a_part_of_something_else_is_told_by_what_was_sealed(machine: Machine) -> None:
    ended = await run(machine, command_task(cmd="x", argv=("true", "a")), of=other_task())
    assert ended.did is not None
    assert ended.did["run"]["command"] == "true a"
    assert ended.reason is Reason.COMPLETED
