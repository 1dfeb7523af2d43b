"""Proposes a command: the one that was asked for, the workspace's own, or what its files name."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from common.model.proposal import CommandProposal, LocalApproval
from common.redact import redact
from common.sentences import say
from common.text import one_line
from common.verbs import Topic
from local_agent.errors import RefusedError
from local_agent.propose import words
from local_agent.propose.base import Asked, Proposed, nothing
from local_agent.workspace.project.model import Goal, Inference, Recipe, Wish
from local_agent.workspace.registry import Workspace

SHOWN_BYTES: Final = 300
BEYOND_BYTES: Final = 120
_NAMED_BYTES: Final = 400
MAX_TOLD: Final = 3  # project files that are said to have been ignored

ReadLine = Callable[[str], tuple[str, ...] | None]
Infer = Callable[[Workspace, Wish], Awaitable[Inference]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """How a wish without a command is read, and answered from the files of a workspace.

    Attributes:
        find_goal: Tells what a text wishes to be run.
        find_place: Tells which part of the workspace it names.
        infer: Gives what the project's own files name for that; it runs nothing.
    """

    find_goal: Callable[[str], Goal | None]
    find_place: Callable[[str], str]
    infer: Infer


class RunProposer:
    """Finds the command that is meant; it runs nothing, and never guesses one.

    Args:
        read_line: Gives the arguments of a command line, or None where it needs a shell.
        project: Asked where no command is named or set; None asks nothing.
        allowed: False refuses every command on this machine (setting ``allow_run_terminal``).
        default_test_command: For workspaces that name none (setting ``default_test_command``).
    """

    def __init__(
        self,
        read_line: ReadLine,
        *,
        project: Project | None = None,
        allowed: bool = True,
        default_test_command: str | None = None,
    ) -> None:
        self._read_line = read_line
        self._project = project
        self._allowed = allowed
        self._default = default_test_command

    async def propose(self, asked: Asked) -> Proposed:
        """Return the command with its requirement, or say truthfully why there is none.

        Raises:
            RefusedError: commands are switched off on this machine.
            InputError: ``command.*``: the line cannot be read as a command.
        """
        if not self._allowed:
            raise RefusedError(("run-off",))
        if asked.topic is Topic.BAD_OPTION:
            given = _shortened(asked.text, 80)
            return nothing(words.BAD_OPTION, asked, given=given)
        if asked.workspace is None:
            return nothing(words.NO_WORKSPACE, asked)
        if cmd := asked.intent.params.cmd:
            return self._command(asked, asked.workspace, cmd, say(words.REASON_ASKED, asked.lang))
        if asked.topic is Topic.TEST and (own := asked.workspace.test_command or self._default):
            return await self._own(asked, asked.workspace, own)
        wish = self._wish(asked)
        if wish is None:
            return nothing(words.WHICH_COMMAND, asked)
        if self._project is None:
            return nothing(words.NO_TEST_COMMAND, asked, workspace=asked.workspace.name)
        found = await self._project.infer(asked.workspace, wish)
        return self._inferred(asked, asked.workspace, wish, found)

    def _wish(self, asked: Asked) -> Wish | None:
        if asked.topic is Topic.TEST:
            return Wish("test", asked.beyond)
        goal = self._project.find_goal(asked.text) if self._project else None
        if goal is None or self._project is None:
            return None
        return Wish(goal, asked.beyond or self._project.find_place(asked.text))

    async def _own(self, asked: Asked, workspace: Workspace, cmd: str) -> Proposed:
        """Return the command that the person set, narrowed where it can be."""
        reason = say(words.REASON_TEST_COMMAND, asked.lang)
        argv = self._read_line(cmd)
        if asked.beyond and argv and self._project:
            found = await self._project.infer(workspace, Wish("test", asked.beyond, argv))
            if found.narrowed:
                part = shlex.join(found.recipes[0].argv)
                return self._command(replace(asked, beyond=""), workspace, part, reason)
        return self._command(asked, workspace, cmd, reason)

    def _inferred(
        self, asked: Asked, workspace: Workspace, wish: Wish, found: Inference
    ) -> Proposed:
        goal = say(words.GOALS[wish.goal], asked.lang)
        if len(found.recipes) != 1:
            return _which(asked, workspace, goal, found)
        recipe = found.recipes[0]
        facts = {"file": one_line(recipe.because), "what": recipe.what}
        beyond = wish.only if wish.goal == "test" and not found.narrowed else ""
        made = self._command(
            replace(asked, beyond=beyond),
            workspace,
            shlex.join(recipe.argv),
            say(words.REASON_INFERRED, asked.lang, **facts),
            recipe,
        )
        said = [made.summary, say(words.INFERRED, asked.lang, **facts)]
        if wish.only and not found.narrowed and not beyond:
            part = _shortened(wish.only, BEYOND_BYTES)
            said.append(say(words.PART_NOT_TAKEN, asked.lang, part=part, goal=goal))
        return replace(made, summary="\n".join([*said, *_ignored(asked, found)]))

    def _command(
        self,
        asked: Asked,
        workspace: Workspace,
        cmd: str,
        reason: str,
        recipe: Recipe | None = None,
    ) -> Proposed:
        argv = self._read_line(cmd)
        shown = _shortened(cmd, SHOWN_BYTES)
        would = words.WOULD_CHECK if asked.on_copy else words.WOULD_RUN
        said = [say(would, asked.lang, workspace=workspace.name, command=shown)]
        if asked.beyond:
            beyond = _shortened(asked.beyond, BEYOND_BYTES)
            said.append(say(words.NOT_NARROWED, asked.lang, beyond=beyond, prefix=asked.prefix))
        return Proposed(
            CommandProposal(
                cmd=cmd,
                argv=argv,
                reason=reason,
                named_by=one_line(recipe.because, _NAMED_BYTES) if recipe else None,
                named_as=one_line(recipe.what, _NAMED_BYTES) if recipe else None,
            ),
            "\n".join(said),
            LocalApproval(action="run_command"),
        )


def _which(asked: Asked, workspace: Workspace, goal: str, found: Inference) -> Proposed:
    """Return that there is no command, or more than one: a person says which."""
    if found.recipes:
        command = _shown(found.recipes[0])
        told = nothing(words.SEVERAL_COMMANDS, asked, goal=goal, command=command)
    elif asked.topic is Topic.TEST:
        told = nothing(words.NO_TEST_COMMAND, asked, workspace=workspace.name)
    else:
        told = nothing(words.NO_COMMAND_FOUND, asked, goal=goal, workspace=workspace.name)
    rows = [
        say(words.COMMAND_ROW, asked.lang, command=_shown(one), file=one_line(one.because))
        for one in found.recipes
    ]
    text = "\n".join([told.summary, *rows, *_ignored(asked, found)])
    return replace(told, summary=text, details=text)


def _shown(recipe: Recipe) -> str:
    return _shortened(shlex.join(recipe.argv), SHOWN_BYTES)


def _shortened(text: str, limit: int) -> str:
    # Secrets first: the beginning of one is not recognised any more.
    return one_line(redact(text), limit)


def _ignored(asked: Asked, found: Inference) -> list[str]:
    told = dict.fromkeys(found.ignored)
    return [
        say(words.FILE_IGNORED[one.why], asked.lang, file=one_line(one.path))
        for one in list(told)[:MAX_TOLD]
    ]
