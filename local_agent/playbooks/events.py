"""The events of a run, as others rely on them (contract of playbooks, section 3).  Pure."""

from __future__ import annotations

from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.runs import Result, StepStatus
from local_agent.playbooks.session import Decision, Event, Question, SessionContext


def task_start(definition: TaskDefinition, context: SessionContext, client: str) -> Event:
    """A run begins."""
    told: Event = {
        "type": "task_start",
        "task_id": context.run_id,
        "short_id": context.short_id,
        "task_name": definition.name,
        "total_steps": len(definition.steps),
        "workdir": context.workdir,
        "client": client,
    }
    more = {"resumed": context.resumed, "dry_run": context.dry}
    return told | {name: True for name, holds in more.items() if holds}


def confirmation_required(
    step: StepDefinition, question: Question, request_id: str, timeout_s: float
) -> Event:
    """A person is asked; the handle for whoever decides within the process comes beside it."""
    dynamic = step.type != "gate"
    told: Event = {
        "type": "confirmation_required",
        "step": step.name,
        "message": question.message,
        "request_id": request_id,
        "timeout_s": timeout_s,
        "dynamic": dynamic,
        "short_id": question.short_id,
    }
    return told if dynamic else told | {"covers": list(question.covers)}


def gate_result(step: str, request_id: str, reason: Decision) -> Event:
    """What came of a question."""
    return {
        "type": "gate_result",
        "step": step,
        "request_id": request_id,
        "confirmed": reason == "approved",
        "reason": reason,
    }


def function_result(step: StepDefinition, *, success: bool, result: Result | None) -> Event:
    """What a tool gave; where it failed, the result is its error."""
    told = {"function": step.tool, "step": step.name, "success": success}
    return {"type": "function_result", **told, "result": result}


def step_complete(step: StepDefinition, status: StepStatus) -> Event:
    """A step is over."""
    return {"type": "step_complete", "step": step.name, "status": status}
