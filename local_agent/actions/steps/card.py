"""The card of several steps: which of a playbook they are; each step has the card of its action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from common.sentences import Sentence
from common.text import ELLIPSIS, one_line
from local_agent.actions.card import Card, machine_name, text, value
from local_agent.views.question import Fact, Part, Question, RunStep, Text, Value

TITLE: Final = Sentence(
    en="Run {count} {count:step|steps} of playbook {playbook} on {machine}?",
    zh="要在 {machine} 上执行剧本 {playbook} 的 {count} 个步骤吗？",
)
TITLE_ALONE: Final = Sentence(
    en="Run {count} {count:step|steps} of a playbook on {machine}?",
    zh="要在 {machine} 上执行一个剧本的 {count} 个步骤吗？",
)
TITLE_GO_ON: Final = Sentence(
    en="Go on with playbook {playbook} on {machine}?",
    zh="要在 {machine} 上继续执行剧本 {playbook} 吗？",
)
TITLE_BACK: Final = Sentence(
    en="Take back what {count} {count:step|steps} of playbook {playbook} changed on {machine}?",
    zh="要在 {machine} 上撤销剧本 {playbook} 的 {count} 个步骤所作的改动吗？",
)
CHANGES_NOTHING: Final = Sentence(
    en="It changes nothing by itself. Every change after it asks for itself.",
    zh="它本身不作任何改动；之后的每个改动都会单独请求批准。",
)
PLAYBOOK: Final = Sentence(en="Playbook", zh="剧本")
DRY_RUN: Final = Sentence(en="Dry run", zh="试运行")
MESSAGE: Final = Sentence(en="Says", zh="说明")
STEP: Final = Sentence(en="Step", zh="步骤")
ONE_OF: Final = Sentence(
    en="step {number} of {total}; {before} {before:comes|come} before, {after} after",
    zh="第 {number} 步，共 {total} 步；之前 {before} 步，之后 {after} 步",
)
SEVERAL_OF: Final = Sentence(
    en="{count} of its {total} steps, in this order; {before} {before:comes|come} before, "
    "{after} after",
    zh="共 {total} 步中的 {count} 步，按此顺序执行；之前 {before} 步，之后 {after} 步",
)
ONE_BY_ONE: Final = Sentence(
    en="Each is begun once the one before has completed; after one that does not, none is begun.",
    zh="前一步完成后才开始下一步；某一步未完成，则不再开始后面的步骤。",
)
IN_WORKSPACE: Final = Sentence(
    en="Its file lies in a workspace: whoever can change that wrote its text. Go by what would be "
    "done.",
    zh="其文件位于工作区内：能改动工作区的人都能写其中的文字。请以将要执行的内容为准。",
)
AUTHOR: Final = Sentence(
    en="in the words of the playbook's author: not checked, and no part of what you approve",
    zh="剧本作者的原话：未经核实，不属于批准内容",
)
SOURCES: Final = {
    "message": Sentence(en="⟨{number}⟩ stands for the request:", zh="⟨{number}⟩ 是请求原文："),
    "input": Sentence(
        en="⟨{number}⟩ stands for the input “{name}”, as it was given:",
        zh="⟨{number}⟩ 是输入“{name}”的值：",
    ),
    "agent": Sentence(
        en="⟨{number}⟩ stands for what the model answered in step “{name}”:",
        zh="⟨{number}⟩ 是模型在步骤“{name}”中的回答：",
    ),
    "tool": Sentence(
        en="⟨{number}⟩ stands for a result of step “{name}”:",
        zh="⟨{number}⟩ 是步骤“{name}”的结果：",
    ),
}
NUMBERED: Final = Sentence(
    en="{number} of {total}: {name}", zh="第 {number} 步，共 {total} 步：{name}"
)
NUMBER: Final = Sentence(en="{number}: {name}", zh="第 {number} 步：{name}")
CAN_BE_UNDONE: Final = Sentence(
    en="can be undone for {days} days, where nobody has changed the lines since: "
    "codexbridge undo {task}",
    zh="{days} 天内可以撤销（前提是相关内容此后未被改动）：codexbridge undo {task}",
)
IN_PART: Final = Sentence(
    en="What the commands do CANNOT BE UNDONE; the files that the other steps change can, for "
    "{days} days: codexbridge undo {task}",
    zh="命令运行后的结果无法撤销；其他步骤改动的文件在 {days} 天内可以撤销："
    "codexbridge undo {task}",
)
CANNOT_BE_UNDONE: Final = Sentence(
    en="What the commands do CANNOT BE UNDONE.", zh="命令运行后的结果无法撤销。"
)

_NAME_BYTES: Final = 200
_MESSAGE_LINES: Final = 40


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    run = question.told.run
    if run is not None and not question.parts:
        machine = machine_name(question)
        return text(TITLE_GO_ON, playbook=one_line(run.playbook, _NAME_BYTES), machine=machine)
    facts = {"count": len(question.parts), "machine": machine_name(question)}
    if run is None:
        return text(TITLE_ALONE, **facts)
    said = TITLE_BACK if _takes_back(question) else TITLE
    return text(said, playbook=one_line(run.playbook, _NAME_BYTES), **facts)


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give nothing: what would be done is told step by step, by the card of each."""
    del question
    return iter(())


def run_facts(question: Question) -> Iterator[Part]:
    """Give which steps of which playbook are asked about, whatever the action.

    All of it is the agent's word but for the numbers of several steps, which are sealed.
    """
    run = question.told.run
    if run is None:
        return
    name = value(one_line(run.playbook, _NAME_BYTES), "strong")
    yield Fact("run", (name, *_place(question, run), *_origin(run)))
    if run.message and not _takes_back(question):  # then the words are ours, and the title's
        said = [value(text(AUTHOR), "quiet"), *_quoted(run.message)]
        for number, (source, words) in enumerate(run.inserted, 1):
            kind, _, of = source.partition(":")
            facts = {"number": number, "name": one_line(of, _NAME_BYTES)}
            said.append(value(text(SOURCES.get(kind, SOURCES["tool"]), **facts), "quiet"))
            said += _quoted(words)
        yield Fact("message", tuple(said))


def _quoted(words: str) -> list[Value]:
    lines = words.split("\n")
    more = [ELLIPSIS] if len(lines) > _MESSAGE_LINES else []
    return [value(one, "quoted") for one in (*lines[:_MESSAGE_LINES], *more)]


def step_fact(question: Question, number: int, undo: Value) -> Fact:
    """Return the heading of a step: its number and its name, and whether it can be taken back.

    Args:
        question: The whole.
        number: Which of the steps that are asked about, from 0.
        undo: Whether it can.
    """
    run, index = question.told.run, _indexes(question)[number]
    names = {one.index: one.name for one in run.steps} if run else {}
    facts: dict[str, Any] = {
        "number": index + 1,
        "name": one_line(names.get(index, "–"), _NAME_BYTES),
    }
    heading = text(NUMBERED, total=run.total, **facts) if run else text(NUMBER, **facts)
    return Fact("step", (value(heading, "strong"), undo))


def _place(question: Question, run: RunStep) -> Iterator[Value]:
    indexes = _indexes(question) if question.parts else [one.index for one in run.steps]
    if not indexes:
        yield value(text(CHANGES_NOTHING))
        return
    first, last = min(indexes), max(indexes)
    facts = {"total": run.total, "before": first, "after": max(run.total - 1 - last, 0)}
    if len(indexes) == 1:
        yield value(text(ONE_OF, number=first + 1, **facts))
        yield from (value(one_line(step.name, _NAME_BYTES)) for step in run.steps)
        return
    yield value(text(SEVERAL_OF, count=len(indexes), **facts))
    for step in run.steps:
        yield value(text(NUMBER, number=step.index + 1, name=one_line(step.name, _NAME_BYTES)))
    yield value(text(ONE_BY_ONE))


def _takes_back(question: Question) -> bool:
    return bool(question.parts) and all(one.seal.action == "undo" for one in question.parts)


def _origin(run: RunStep) -> Iterator[Value]:
    if run.in_workspace:
        yield value(text(IN_WORKSPACE), "danger")


def _indexes(question: Question) -> list[int]:
    return [step["index"] for step in question.seal.payload["steps"]]


CARD: Final = Card(
    approve=Sentence(en="Approve and run", zh="批准并执行"),
    named=Sentence(en="steps of a playbook", zh="剧本的步骤"),
    done=Sentence(
        en="every step was carried out as approved, begun {when}",
        zh="各步骤均已按批准内容执行，开始于 {when}",
    ),
    not_done=Sentence(
        en="begun {when} and not carried out to the end; each step is told below",
        zh="开始于 {when}，但没有全部执行；各步骤的结果见下",
    ),
    title=title,
    parts=parts,
    labels={"run": PLAYBOOK, "dry-run": DRY_RUN, "message": MESSAGE, "step": STEP},
    undo={"yes": CAN_BE_UNDONE, "partly": IN_PART, "no": CANNOT_BE_UNDONE},
)
