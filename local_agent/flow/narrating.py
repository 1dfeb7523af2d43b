"""What the chat is told of a run while it goes on: few lines, and never one for each step.

It starts, it waits at the machine, it goes on; and how it ended is told as of every task.  What
asks, and what the steps give, is told to this machine's own faces alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from common.clock import Clock
from common.sentences import Lang, Sentence, say
from local_agent.flow.task import TaskLog
from local_agent.playbooks.definition import TaskDefinition
from local_agent.store.tasks import Task
from local_agent.words import render_hour

FIRST_S: Final = 60.0  # until a run that asks nothing says again where it is; each time twice that
LONGEST_S: Final = 1800.0

STARTED = Sentence(
    en="Playbook {playbook} started: {count} {count:step|steps}.",
    zh="剧本 {playbook} 已开始，共 {count} 个步骤。",
)
AT_STEP = Sentence(
    en="Playbook {playbook}: step {number} of {count} ({step}).",
    zh="剧本 {playbook}：第 {number} 步，共 {count} 步（{step}）。",
)
AT_HOOK = Sentence(
    en="Playbook {playbook}: the hook {hook} goes on.", zh="剧本 {playbook}：继续执行钩子 {hook}。"
)
WAITS = Sentence(
    en="Playbook {playbook} waits for a decision on {machine}: step {number} of {count} ({step}). "
    "There, by {until} on its clock: codexbridge approve {task}",
    zh="剧本 {playbook} 等待在 {machine} 上批准：第 {number} 步，共 {count} 步（{step}）。"
    "请在 {until}（开发机时间）前到该开发机上运行：codexbridge approve {task}",
)
HOOK_WAITS = Sentence(
    en="Playbook {playbook} waits for a decision on {machine}: step {step} of the hook {hook}. "
    "There, by {until} on its clock: codexbridge approve {task}",
    zh="剧本 {playbook} 等待在 {machine} 上批准：钩子 {hook} 的步骤 {step}。"
    "请在 {until}（开发机时间）前到该开发机上运行：codexbridge approve {task}",
)


class Narrator:
    """Tells of one run.

    Args:
        log: Tells it.
        task: The task that carries the run.
        machine: What this machine is called in the chat.
    """

    def __init__(
        self, log: TaskLog, task: Task, definition: TaskDefinition, *, machine: str, clock: Clock
    ) -> None:
        self._log = log
        self._task = task
        self._clock = clock
        self._facts: dict[str, object] = {
            "playbook": definition.name,
            "count": len(definition.steps),
            "machine": machine,
            "number": 1,
            "step": definition.steps[0].name if definition.steps else "",
        }
        self._hook: str | None = None
        self._pause = FIRST_S
        self._next = clock.now().mono + FIRST_S

    async def hear(self, event: Mapping[str, Any]) -> None:
        """Take an event of the run, and tell of it where it is for the chat."""
        match event["type"]:
            case "task_start":
                await self._tell(STARTED)
            case "hook_start":
                self._hook = event["hook"]
            case "hook_result":
                self._hook = None
            case "step_start":
                self._facts |= {"number": event["step_index"] + 1, "step": event["step"]}
                if self._clock.now().mono >= self._next:
                    await self._tell(AT_STEP)
                    self._pause = min(2 * self._pause, LONGEST_S)
            case "confirmation_required":
                sentence = WAITS if self._hook is None else HOOK_WAITS
                more = {"step": event["step"], "hook": self._hook, "task": event["short_id"]}
                now_ms = self._clock.now().wall_ms
                # No time that is left: the chat may hear of it later, and is read later still.
                until = render_hour(now_ms + int(event["timeout_s"] * 1000), now_ms=now_ms)
                await self._tell(sentence, urgent=True, until=until, **more)
            case "gate_result" if event["confirmed"]:
                # In the place of that it waits.
                await self._tell(AT_STEP if self._hook is None else AT_HOOK, hook=self._hook)

    async def _tell(self, sentence: Sentence, *, urgent: bool = False, **more: object) -> None:
        self._next = self._clock.now().mono + self._pause
        is_question = sentence in (WAITS, HOOK_WAITS)
        if self._task.source == "local_ui" and not is_question:
            return  # whoever sits here follows the events themselves

        def words(lang: Lang) -> str:
            return say(sentence, lang, **(self._facts | more))

        await self._log.told(self._task, words, urgent=urgent)
