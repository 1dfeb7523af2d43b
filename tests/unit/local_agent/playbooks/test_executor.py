"""Carrying out a playbook: the events of the seed, in the order of its criteria (AC 7-36)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.playbooks.definition import StepDefinition
from local_agent.playbooks.executor import CHUNK_CHARS
from local_agent.playbooks.runs import Place, StepResult
from local_agent.playbooks.session import Decision, Event
from local_agent.playbooks.values import MAX_ASKED_CHARS
from tests.scripted_run import (
    RUN,
    Scripted,
    agent,
    gate,
    playbook,
    refusal,
    tool,
    write,
)

CUT = ModelError("model.cut")


def only(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event["type"] == kind]


def ended(step: StepDefinition, status: Any = "completed", result: Any = None) -> StepResult:
    return StepResult(
        step_name=step.name,
        type=step.type,
        status=status,
        result=result,
        error=None,
        started_at=1,
        completed_at=2,
    )


# --- the stream of each kind of step (AC 7-11, 22-28) ----------------------------------------


async def test_a_reading_step_tells_its_start_its_result_and_its_end() -> None:
    """AC 8, 9, 22-24, 27, 28."""
    run = Scripted()
    run.tools.gives["read_file"] = {"path": "a.txt", "content": "x", "size": 1}
    assert await run.told(playbook(tool("read"))) == [
        {
            "type": "task_start",
            "task_id": RUN,
            "short_id": "T-1",
            "task_name": "demo",
            "total_steps": 1,
            "workdir": "/work",
            "client": "default",
        },
        {"type": "step_start", "step": "read", "step_index": 0},
        {
            "type": "function_result",
            "function": "read_file",
            "step": "read",
            "success": True,
            "result": {"path": "a.txt", "content": "x", "size": 1},
        },
        {"type": "step_complete", "step": "read", "status": "completed"},
        {
            "type": "task_complete",
            "task_name": "demo",
            "status": "completed",
            "summary": "1 step done",
        },
    ]
    assert run.log.calls == [
        ("begun",),
        ("ended", "main:0", "completed"),
        ("over", "completed", 1),
    ]
    assert run.authority.asked == [], "what only reads never asks"


async def test_steps_are_carried_out_one_after_the_other() -> None:
    """AC 8."""
    run = Scripted(["one"])
    told = await run.told(playbook(tool("a"), agent("b"), gate("c"), tool("d", "git_status")))
    starts = [(one["step"], one["step_index"]) for one in only(told, "step_start")]
    assert starts == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]
    assert [call[0] for call in run.tools.calls] == ["read_file", "git_status"]


async def test_an_agent_step_streams_and_its_words_are_the_summary() -> None:
    """AC 10, 25, 28."""
    run = Scripted(["Hel", "lo"])
    told = await run.told(playbook(agent()))
    assert [one["type"] for one in told] == [
        "task_start",
        "step_start",
        "stream",
        "stream",
        "step_complete",
        "task_complete",
    ]
    assert [one["chunk"] for one in only(told, "stream")] == ["Hel", "lo"]
    assert told[-1]["summary"] == "Hello"
    assert run.log.ends["main:0"].result == {"text": "Hello"}


async def test_a_long_piece_of_a_model_is_told_in_parts() -> None:
    said = "x" * (2 * CHUNK_CHARS + 1)
    told = only(await Scripted([said]).told(playbook(agent())), "stream")
    assert [len(one["chunk"]) for one in told] == [CHUNK_CHARS, CHUNK_CHARS, 1]


@pytest.mark.requirement("P1")
async def test_a_gate_tells_its_question_and_what_came_of_it() -> None:
    """AC 11, 26."""
    run = Scripted()
    told = await run.told(playbook(gate(message="Write {message}?"), write("a")))
    assert told[2:5] == [
        {
            "type": "confirmation_required",
            "step": "gate",
            "message": "Write words?",
            "request_id": "q1",
            "timeout_s": 0.0,
            "dynamic": False,
            "short_id": "T-q1",
            "covers": [{"step": "a"}],
        },
        {
            "type": "gate_result",
            "step": "gate",
            "request_id": "q1",
            "confirmed": True,
            "reason": "approved",
        },
        {"type": "step_complete", "step": "gate", "status": "completed"},
    ]
    assert only(told, "function_result")[0]["result"] == {"done": "a"}
    assert run.log.ends["main:0"].result == {"confirmed": True}
    assert run.authority.performed == [("a", "q1")]


@pytest.mark.requirement("P1")
async def test_a_changing_step_without_a_gate_asks_for_itself() -> None:
    """AC 31: the order is start, question, result, end."""
    run = Scripted()
    told = await run.told(playbook(write("a")))
    assert [one["type"] for one in told] == [
        "task_start",
        "step_start",
        "confirmation_required",
        "gate_result",
        "function_result",
        "step_complete",
        "task_complete",
    ]
    assert told[2]["dynamic"] is True
    assert "covers" not in told[2]
    assert ("at", "main:0") in run.log.calls


async def test_a_long_question_is_cut() -> None:
    told = await Scripted().told(playbook(gate(message="x" * 9_000)))
    assert len(only(told, "confirmation_required")[0]["message"]) == MAX_ASKED_CHARS + 1


@pytest.mark.requirement("P1")
async def test_the_handle_of_a_question_decides_nothing() -> None:
    """AC 11: `set()` counts only with an approval."""
    run = Scripted()
    run.authority.answers = {"*": None}
    run.timeout_s = 5.0
    events = run.events(playbook(gate(), write("a")))
    told = []
    async for event in events:
        told.append(event)
        if "_event" in event:
            assert event["_event"] is run.authority.asked[0].decided
            event["_event"].set()
    assert told[-1]["status"] == "aborted"
    assert run.authority.performed == []


# --- not approved (AC 36), failed (AC 34, 35) ------------------------------------------------


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("decision", ["denied", "timeout", None])
@pytest.mark.parametrize("steps", [(gate("ask"), write("b")), (write("ask"), write("b"))])
async def test_what_is_not_approved_ends_the_run(
    decision: Decision | None, steps: tuple[StepDefinition, ...]
) -> None:
    """AC 36, and a denial likewise; the current step is that step."""
    run = Scripted()
    run.authority.answers["*"] = decision
    told = await run.told(playbook(tool("first"), *steps))
    status = decision or "timeout"
    assert told[-3:] == [
        {
            "type": "gate_result",
            "step": "ask",
            "request_id": "q1",
            "confirmed": False,
            "reason": status,
        },
        {"type": "step_complete", "step": "ask", "status": status},
        {
            "type": "task_complete",
            "task_name": "demo",
            "status": "aborted",
            "summary": f"step ask: {status}",
        },
    ]
    assert run.authority.performed == []
    assert run.authority.asked[0].closed
    assert run.log.calls[-2:] == [("ended", "main:1", status), ("over", "aborted", 1)]


async def test_a_tool_that_fails_ends_the_run() -> None:
    """AC 34, 20."""
    run = Scripted()
    run.tools.gives["git_status"] = refusal("broken")
    told = await run.told(playbook(tool("a"), tool("b", "git_status"), tool("c")))
    assert told[-3:] == [
        {
            "type": "function_result",
            "function": "git_status",
            "step": "b",
            "success": False,
            "result": {"error": "broken"},
        },
        {"type": "step_error", "step": "b", "error": "broken"},
        {
            "type": "task_complete",
            "task_name": "demo",
            "status": "failed",
            "summary": "step b: broken",
        },
    ]
    assert run.log.calls[-2:] == [("ended", "main:1", "failed"), ("over", "failed", 1)]
    assert run.log.ends["main:1"].error == "broken"
    assert len(run.tools.calls) == 2


@pytest.mark.parametrize("steps", [(write("a"),), (gate(), write("a"), write("b"))])
async def test_a_change_that_fails_ends_the_run_and_takes_back_the_rest(
    steps: tuple[StepDefinition, ...],
) -> None:
    """AC 34."""
    run = Scripted()
    run.authority.fails["a"] = refusal("disk full")
    told = await run.told(playbook(*steps))
    assert [one["type"] for one in told[-3:]] == ["function_result", "step_error", "task_complete"]
    assert told[-1]["summary"] == "step a: disk full"
    assert run.authority.performed == []


@pytest.mark.parametrize(("step", "name"), [(gate(), "gate main:0"), (write("a"), "a")])
async def test_what_cannot_even_be_asked_fails_the_step(step: StepDefinition, name: str) -> None:
    run = Scripted()
    run.authority.refusals[name] = refusal("forbidden")
    told = await run.told(playbook(step))
    assert [only(told, "confirmation_required"), told[-1]["summary"]] == [
        [],
        f"step {step.name}: forbidden",
    ]
    assert told[-2] == {"type": "step_error", "step": step.name, "error": "forbidden"}
    assert bool(only(told, "function_result")) is (step.type == "tool")


async def test_an_agent_step_is_asked_once_more_with_a_short_prompt() -> None:
    """AC 35."""
    run = Scripted(["half", CUT], ["whole"])
    run.tools.gives["read_file"] = {"content": "EARLIER"}
    told = await run.told(playbook(tool("read"), agent(prompt="About {read.result.content}.")))
    assert only(told, "step_retry") == [
        {"type": "step_retry", "step": "agent", "attempt": 2, "error": "model.cut"}
    ]
    assert told[-1]["summary"] == "whole"
    first, second = (one[1]["content"] for one in run.model.asked)
    assert "EARLIER" in first
    assert "EARLIER" not in second
    assert len(second) < len(first)


@pytest.mark.parametrize("answer", [[CUT], [], ["  \n"]])
async def test_an_agent_step_that_fails_twice_ends_the_run(answer: list[Any]) -> None:
    """AC 35: also by an empty answer, and after two requests."""
    run = Scripted(answer, answer, ["too late"])
    kinds = await run.kinds(playbook(agent(), tool("later")))
    assert [kind for kind in kinds if kind != "stream"] == [
        "task_start",
        "step_start",
        "step_retry",
        "step_error",
        "task_complete",
    ]
    assert (len(run.model.asked), run.tools.calls) == (2, [])


async def test_an_agent_step_that_no_model_could_do_is_not_asked_again() -> None:
    run = Scripted([refusal("no model")], ["late"])
    told = await run.told(playbook(agent()))
    assert only(told, "step_retry") == []
    assert told[-1]["summary"] == "step agent: no model"


# --- conditions and arguments (AC 12, 13) ----------------------------------------------------


@pytest.mark.parametrize("condition", ["a.result.no", "gone.result.x", "a.result.n != 1"])
async def test_a_step_whose_condition_does_not_hold_is_skipped(condition: str) -> None:
    """AC 12."""
    run = Scripted()
    run.tools.gives["read_file"] = {"n": 1, "no": ""}
    told = await run.told(playbook(tool("a"), write("b", condition=condition), tool("c")))
    assert only(told, "step_skipped") == [
        {
            "type": "step_skipped",
            "step": "b",
            "step_index": 1,
            "reason": f"condition not met: {condition}",
        }
    ]
    assert ("ended", "main:1", "skipped") in run.log.calls
    assert run.authority.asked == []


async def test_a_step_whose_condition_holds_is_carried_out() -> None:
    """AC 12."""
    run = Scripted()
    run.tools.gives["read_file"] = {"n": 1}
    await run.told(playbook(tool("a"), write("b", condition="a.result.n == 1")))
    assert run.authority.performed == [("b", "q1")]


async def test_arguments_come_from_earlier_results() -> None:
    """AC 13."""
    run = Scripted()
    run.tools.gives["git_status"] = {"branch": "main"}
    steps = tool("s", "git_status"), tool("r", args={}, args_from={"path": "s.result.branch"})
    await run.told(playbook(*steps))
    assert run.tools.calls[1] == ("read_file", {"path": "main"})


async def test_an_argument_that_is_missing_fails_the_step_without_a_call() -> None:
    """AC 13: of a skipped step there is nothing."""
    run = Scripted()
    steps = tool("s", condition="x.result"), tool("r", args={}, args_from={"path": "s.result.p"})
    told = await run.told(playbook(*steps))
    assert told[-1] == {
        "type": "task_complete",
        "task_name": "demo",
        "status": "failed",
        "summary": "step r: playbook.missing-value",
    }
    assert run.tools.calls == []


async def test_a_large_result_is_told_short_and_handed_on_whole() -> None:
    run = Scripted()
    run.tools.gives["git_status"] = {"branch": "main" * 1_000}
    run.log.shown["s"] = {"truncated": True}
    steps = tool("s", "git_status"), tool("r", args={}, args_from={"path": "s.result.branch"})
    told = await run.told(playbook(*steps))
    assert only(told, "function_result")[0]["result"] == {"truncated": True}
    assert run.tools.calls[1][1] == {"path": "main" * 1_000}


# --- what a gate covers (contract, section 5) ------------------------------------------------


def covered(run: Scripted) -> list[list[str]]:
    """Return the changing steps of each question."""
    return [[part.step.name for part in one.parts] for one in run.authority.asked]


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((gate(), write("a"), write("b")), [["a", "b"]]),
        ((gate(), write("a"), tool("read"), write("b")), [["a", "b"]]),
        ((gate(), write("a"), gate("g2"), write("b")), [["a"], ["b"]]),
        ((gate(), write("a"), agent(), write("b")), [["a"], ["b"]]),
        ((gate(), tool("read"), write("a", args_from={"content": "read.result.asked.path"})),
         [[], ["a"]]),
        ((tool("read"), gate(), write("a", args_from={"content": "read.result.asked.path"})),
         [["a"]]),
        ((gate(), tool("read"), write("a", condition="read.result.asked"), write("b")),
         [[], ["a"], ["b"]]),
        ((gate(), tool("x"), tool("y", condition="x.result.asked"), write("a")), [["a"]]),
        ((gate(), write("a", condition="gate.result.confirmed"), write("b")), [["a", "b"]]),
        ((gate(), write("a", condition="gone.result.x"), write("b")), [["b"]]),
        ((gate(condition="gone.result.x"), write("a"), write("b")), [["a"], ["b"]]),
        ((write("a"), gate(), write("b")), [["a"], ["b"]]),
        ((gate("g1"), gate("g2"), write("a")), [[], ["a"]]),
    ],
)  # fmt: skip
async def test_a_gate_covers_what_is_determined_up_to_the_next_gate_or_model(
    steps: tuple[StepDefinition, ...], expected: list[list[str]]
) -> None:
    run = Scripted(["words"])
    told = await run.told(playbook(*steps))
    assert covered(run) == expected
    assert told[-1]["status"] == "completed"
    wanted = [name for names in expected for name in names]
    assert [name for name, _ in run.authority.performed] == wanted


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("risk", ["low", "medium", "high", "critical"])
async def test_with_high_risk_a_gate_covers_one_change(risk: Any) -> None:
    run = Scripted()
    await run.told(playbook(gate(), write("a"), write("b"), risk_level=risk))
    alone = [["a"], ["b"]]
    assert covered(run) == (alone if risk in ("high", "critical") else [["a", "b"]])


async def test_what_cannot_be_resolved_is_not_covered_and_fails_when_its_turn_comes() -> None:
    run = Scripted()
    bad = write("b", args_from={"content": "a.result.gone"})
    told = await run.told(playbook(tool("a"), gate(), write("w"), bad, write("c")))
    assert covered(run) == [["w"]]
    assert told[-1]["status"] == "failed"


@pytest.mark.requirement("P2")
async def test_a_step_that_would_do_something_else_by_now_asks_for_itself() -> None:
    run = Scripted()
    run.authority.drifted.add("b")
    told = await run.told(playbook(gate(), write("a"), write("b"), write("c")))
    assert covered(run) == [["a", "b", "c"], ["b"], ["c"]]
    assert run.authority.performed == [("a", "q1"), ("b", "q2"), ("c", "q3")]
    assert [one["dynamic"] for one in only(told, "confirmation_required")] == [False, True, True]


async def test_what_had_no_room_under_a_gate_asks_for_itself() -> None:
    run = Scripted()
    run.authority.together = 1
    await run.told(playbook(gate(), write("a"), write("b")))
    assert run.authority.performed == [("a", "q1"), ("b", "q2")]


async def test_what_would_change_nothing_asks_nobody() -> None:
    run = Scripted()
    run.authority.unchanged.add("a")
    told = await run.told(playbook(write("a")))
    assert only(told, "function_result")[0]["result"] == {"unchanged": "a"}
    assert run.authority.asked == []


# --- hooks (AC 14-17) ------------------------------------------------------------------------


async def test_hooks_stand_around_the_steps_and_tell_three_kinds() -> None:
    """AC 14, 15."""
    run = Scripted()
    run.hooks = {"before": playbook(tool("r"), write("w")), "after": playbook(tool("r"))}
    definition = playbook(tool("main"), hooks={"pre": ("before",), "post": ("after",)})
    told = await run.told(definition)
    assert [(one["type"], one.get("hook") or one.get("step")) for one in told] == [
        ("task_start", None),
        ("hook_start", "before"),
        ("function_result", "r"),
        ("confirmation_required", "w"),
        ("gate_result", "w"),
        ("function_result", "w"),
        ("hook_result", "before"),
        ("step_start", "main"),
        ("function_result", "main"),
        ("step_complete", "main"),
        ("hook_start", "after"),
        ("function_result", "r"),
        ("hook_result", "after"),
        ("task_complete", None),
    ]
    assert only(told, "hook_result")[0] == {
        "type": "hook_result",
        "hook": "before",
        "phase": "pre",
        "success": True,
    }
    assert [call[1] for call in run.log.calls if call[0] == "ended"] == [
        "pre:0",
        "pre:1",
        "main:0",
        "post:0",
    ]


async def test_places_of_several_hooks_of_a_phase_go_on() -> None:
    run = Scripted()
    run.hooks = {"a": playbook(tool("x"), tool("y")), "b": playbook(tool("x"))}
    await run.told(playbook(tool("main"), hooks={"pre": ("a", "b")}))
    assert [key for key in run.log.ends if key.startswith("pre")] == ["pre:0", "pre:1", "pre:2"]


async def test_a_pre_hook_that_fails_ends_the_run_before_its_first_step() -> None:
    """AC 16."""
    run = Scripted()
    run.hooks = {"a": playbook(tool("x", "git_status")), "b": playbook(tool("y"))}
    run.tools.gives["git_status"] = refusal("unclean")
    told = await run.told(playbook(tool("main"), hooks={"pre": ("a", "b")}))
    assert [one["type"] for one in told] == [
        "task_start",
        "hook_start",
        "function_result",
        "hook_result",
        "task_complete",
    ]
    assert (told[-2]["success"], told[-2]["error"]) == (False, "unclean")
    assert (told[-1]["status"], told[-1]["summary"]) == ("failed", "hook a, step x: unclean")
    assert run.log.calls[-1] == ("over", "failed", 0)


async def test_a_pre_hook_that_is_denied_ends_the_run_aborted() -> None:
    """AC 16."""
    run = Scripted()
    run.hooks = {"a": playbook(write("x"))}
    run.authority.answers["*"] = "denied"
    told = await run.told(playbook(tool("main"), hooks={"pre": ("a",)}))
    assert (told[-1]["status"], only(told, "step_start")) == ("aborted", [])


async def test_a_post_hook_that_fails_is_a_warning() -> None:
    """AC 17: the run is completed, and the next hook is carried out."""
    run = Scripted()
    run.hooks = {"a": playbook(tool("x", "git_status")), "b": playbook(tool("y"))}
    run.tools.gives["git_status"] = refusal("unclean")
    told = await run.told(playbook(tool("main"), hooks={"post": ("a", "b")}))
    assert [one["success"] for one in only(told, "hook_result")] == [False, True]
    assert told[-1]["status"] == "completed"
    assert run.log.calls[-1] == ("over", "completed", 1)


@pytest.mark.parametrize(("decision", "status"), [("approved", "failed"), ("denied", "aborted")])
async def test_post_hooks_are_carried_out_however_the_run_ended(
    decision: Decision, status: str
) -> None:
    """AC 15, and the story's "safety hooks always execute"."""
    run = Scripted()
    run.hooks = {"a": playbook(tool("x"))}
    run.authority.answers["*"] = decision
    run.authority.fails["w"] = refusal("disk full")
    told = await run.told(playbook(write("w"), hooks={"post": ("a",)}))
    assert [one["success"] for one in only(told, "hook_result")] == [True]
    assert told[-1]["status"] == status
    assert run.log.calls[-1] == ("over", status, 0)


async def test_a_gate_covers_no_step_of_a_hook_and_a_hook_none_of_the_steps() -> None:
    run = Scripted()
    run.hooks = {"a": playbook(write("x")), "b": playbook(write("z"))}
    await run.told(playbook(gate(), write("y"), hooks={"pre": ("a",), "post": ("b",)}))
    assert covered(run) == [["x"], ["y"], ["z"]]


# --- resumed runs ----------------------------------------------------------------------------


async def test_a_resumed_run_goes_on_where_it_stood() -> None:
    run = Scripted()
    first, second = tool("a", "git_status"), tool("b", args={}, args_from={"path": "a.result.p"})
    run.done = {Place("main", 0): ended(first, result={"p": "kept"})}
    run.resumed = True
    told = await run.told(playbook(first, second))
    assert told[0]["resumed"] is True
    assert [(one["step"], one["step_index"]) for one in only(told, "step_start")] == [("b", 1)]
    assert run.tools.calls == [("read_file", {"path": "kept"})]


@pytest.mark.requirement("R68")
async def test_an_approval_does_not_outlive_a_resume() -> None:
    run = Scripted()
    ask = gate()
    run.done = {Place("main", 0): ended(ask, result={"confirmed": True})}
    run.resumed = True
    await run.told(playbook(ask, write("a")))
    assert [one.place for one in run.authority.asked] == [Place("main", 1)]


async def test_steps_that_were_denied_or_failed_are_carried_out_anew() -> None:
    run = Scripted(["late"])
    steps = agent("a"), tool("b"), tool("c"), tool("d")
    states = ("completed", "skipped", "denied", "failed")
    results = {0: {"text": "said"}}
    for index, (step, status) in enumerate(zip(steps, states, strict=True)):
        run.done[Place("main", index)] = ended(step, status, results.get(index))
    told = await run.told(playbook(*steps))
    assert [one["step"] for one in only(told, "step_start")] == ["c", "d"]
    assert told[-1]["summary"] == "said", "of the last words of a model"


async def test_hooks_that_are_done_are_not_told_again() -> None:
    run = Scripted()
    hook = playbook(tool("x"))
    run.hooks = {"a": hook}
    run.done = {Place("pre", 0): ended(hook.steps[0])}
    run.resumed = True
    kinds = await run.kinds(playbook(tool("main"), hooks={"pre": ("a",)}))
    assert kinds == [
        "task_start",
        "step_start",
        "function_result",
        "step_complete",
        "task_complete",
    ]


async def test_post_hooks_are_carried_out_again_after_more_steps() -> None:
    """They ran after the failure, too; what was done since has seen none of them."""
    run = Scripted()
    hook = playbook(tool("x"))
    run.hooks = {"a": hook}
    run.done = {Place("post", 0): ended(hook.steps[0])}
    run.resumed = True
    told = await run.told(playbook(write("w"), hooks={"post": ("a",)}))
    assert [one["step"] for one in only(told, "function_result")] == ["w", "x"]


async def test_post_hooks_that_are_done_stay_done_where_nothing_was_left_to_do() -> None:
    run = Scripted()
    hook = playbook(write("x"), tool("y"))
    main = tool("main")
    run.hooks = {"a": hook}
    run.done = {Place("main", 0): ended(main), Place("post", 0): ended(hook.steps[0])}
    run.resumed = True
    told = await run.told(playbook(main, hooks={"post": ("a",)}))
    assert [one["step"] for one in only(told, "function_result")] == ["y"]


# --- cancelling ------------------------------------------------------------------------------


def long_run() -> tuple[Scripted, Any]:
    run = Scripted(["one", CUT], ["two"])
    run.hooks = {"before": playbook(write("p")), "after": playbook(write("q"))}
    definition = playbook(
        tool("read"),
        agent(),
        gate(),
        write("a"),
        tool("again"),
        write("b"),
        write("c", args_from={"content": "again.result.asked.path"}),
        tool("skipped", condition="x.result"),
        hooks={"pre": ("before",), "post": ("after",)},
    )
    return run, definition


@pytest.mark.requirement("P1")
async def test_closing_it_at_any_event_leaves_no_question_and_begins_nothing() -> None:
    run, definition = long_run()
    whole = await run.told(definition)
    assert len(whole) > 30
    for at in range(1, len(whole) + 1):
        run, definition = long_run()
        events = run.events(definition)
        for _ in range(at):
            await anext(events)
        done = list(run.authority.performed)
        await events.aclose()
        assert [one.request_id for one in run.authority.asked if one.is_open] == [], whole[at - 1]
        assert run.authority.performed == done
        over = [call for call in run.log.calls if call[0] == "over"]
        assert len(over) == (at == len(whole))
        with pytest.raises(StopAsyncIteration):
            await anext(events)


async def test_cancelling_who_waits_for_a_decision_takes_the_question_back() -> None:
    run, definition = long_run()
    run.authority.answers["*"] = None
    run.timeout_s = 60.0

    async def carry() -> None:
        async for event in run.events(definition):
            if event["type"] == "confirmation_required":
                asked.set()

    asked = asyncio.Event()
    carrying = asyncio.create_task(carry())
    await asked.wait()
    await asyncio.sleep(0)
    carrying.cancel()
    await asyncio.gather(carrying, return_exceptions=True)
    assert [one.closed > 0 for one in run.authority.asked] == [True]


# --- any playbook ----------------------------------------------------------------------------

ANSWERS: list[Decision | None] = ["approved", "approved", "approved", "denied", "timeout", None]
OPERATORS = ["", ".confirmed", ".text != x", ".asked.path == a.txt"]


def rarely(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 6)) == 0


def any_step(draw: st.DrawFn, run: Scripted, kind: str, name: str, known: str) -> StepDefinition:
    """Give a step of a kind that may go wrong in its own way."""
    fields: dict[str, Any] = {}
    if rarely(draw):
        fields["condition"] = known + draw(st.sampled_from(OPERATORS))
    match kind:
        case "gate":
            return gate(name, **fields)
        case "agent":
            for _ in range(draw(st.integers(1, 2))):
                run.model.answers.append(draw(st.sampled_from([["a", "b"], [CUT], ["", CUT]])))
            return agent(name, **fields)
        case "write":
            run.authority.answers[name] = draw(st.sampled_from(ANSWERS))
            for wrong in (run.authority.fails, run.authority.refusals):
                if rarely(draw):
                    wrong[name] = refusal()
            if draw(st.booleans()):
                fields["args_from"] = {"content": f"{known}.asked.path"}
            return write(name, **fields)
        case _:
            return tool(name, draw(st.sampled_from(["read_file", "git_status"])), **fields)


def any_steps(
    draw: st.DrawFn, run: Scripted, prefix: str, kinds: list[str], most: int
) -> list[StepDefinition]:
    found: list[StepDefinition] = []
    for number in range(draw(st.integers(1, most))):
        earlier = draw(st.sampled_from([one.name for one in found] or ["gone"]))
        kind = draw(st.sampled_from(kinds))
        found.append(any_step(draw, run, kind, f"{prefix}{number}", f"{earlier}.result"))
    return found


@st.composite
def any_run(draw: st.DrawFn) -> tuple[Scripted, Any]:
    """Give a run of random steps."""
    run = Scripted()
    run.authority.answers["*"] = draw(st.sampled_from(ANSWERS))
    run.authority.together = draw(st.integers(0, 4))
    run.authority.drifted = {f"m{number}" for number in draw(st.sets(st.integers(0, 8)))}
    if rarely(draw):
        run.tools.gives["git_status"] = refusal()
    hooks = {}
    for phase in ("pre", "post"):
        if draw(st.booleans()):
            run.hooks[phase] = playbook(*any_steps(draw, run, phase, ["write", "tool"], 3))
            hooks[phase] = (phase,)
    risk = draw(st.sampled_from(["low", "high"]))
    main = any_steps(draw, run, "m", ["write", "gate", "agent", "tool"], 8)
    return run, playbook(*main, hooks=hooks, risk_level=risk)


@given(any_run())
@settings(max_examples=150, deadline=None)
def test_every_run_gives_a_stream_of_the_same_grammar(made: tuple[Scripted, Any]) -> None:
    run, definition = made
    asyncio.run(_follows_the_grammar(run, definition))


async def _follows_the_grammar(run: Scripted, definition: Any) -> None:
    told = await run.told(definition)  # which checks the grammar
    over = run.log.calls[-1]
    assert over[:2] == ("over", told[-1]["status"])
    assert over[2] == len(definition.steps) or told[-1]["status"] != "completed"
    ends = [call[1] for call in run.log.calls if call[0] == "ended"]
    assert len(ends) == len(set(ends))
    asked = {one.request_id for one in run.authority.asked if one.decision == "approved"}
    assert {by for _, by in run.authority.performed} <= asked
