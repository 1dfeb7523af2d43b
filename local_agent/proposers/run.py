"""Proposes a command: the workspace's test command, or the one that was asked for, as written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from common.model.proposal import CommandProposal, LocalApproval
from common.sentences import Sentence, say
from common.text import one_line
from local_agent import replies
from local_agent.errors import RefusedError
from local_agent.proposers.base import Asked, Proposed, nothing
from local_agent.workspace.registry import Workspace

SHOWN_BYTES: Final = 300
BEYOND_BYTES: Final = 120

ReadLine = Callable[[str], tuple[str, ...] | None]


class RunProposer:
    """Finds the command that is meant; it runs nothing, and never guesses one.

    Args:
        read_line: Gives the arguments of a command line, or None where it needs a shell.
        allowed: False refuses every command on this machine (setting ``allow_run_terminal``).
        default_test_command: For workspaces that name none (setting ``default_test_command``).
    """

    def __init__(
        self,
        read_line: ReadLine,
        *,
        allowed: bool = True,
        default_test_command: str | None = None,
    ) -> None:
        self._read_line = read_line
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
        if asked.not_understood is not None:
            given = one_line(asked.not_understood, 80)
            return nothing(replies.BAD_OPTION, asked, given=given)
        if asked.workspace is None:
            return nothing(replies.NO_WORKSPACE, asked)
        if cmd := asked.intent.params.cmd:
            return self._command(asked, asked.workspace, cmd, replies.REASON_ASKED)
        if not asked.wants_tests:
            return nothing(replies.WHICH_COMMAND, asked)
        if set_command := asked.workspace.test_command or self._default:
            return self._command(asked, asked.workspace, set_command, replies.REASON_TEST_COMMAND)
        return nothing(replies.NO_TEST_COMMAND, asked, workspace=asked.workspace.name)

    def _command(self, asked: Asked, workspace: Workspace, cmd: str, reason: Sentence) -> Proposed:
        argv = self._read_line(cmd)
        shown = one_line(cmd, SHOWN_BYTES)
        would = replies.WOULD_CHECK if asked.on_copy else replies.WOULD_RUN
        said = [say(would, asked.lang, workspace=workspace.name, command=shown)]
        if asked.beyond:
            beyond = one_line(asked.beyond, BEYOND_BYTES)
            said.append(say(replies.NOT_NARROWED, asked.lang, beyond=beyond, prefix=asked.prefix))
        if asked.reads_on:
            said.append(say(replies.AS_WRITTEN, asked.lang))
        return Proposed(
            CommandProposal(cmd=cmd, argv=argv, reason=say(reason, asked.lang)),
            "\n".join(said),
            LocalApproval(action="run_command"),
        )
