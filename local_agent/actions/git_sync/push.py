"""Pushing one commit, and reading from git's answer what came of it.

An answer that does not prove the contrary leaves open whether the remote has taken the commit, and
is told so (P3, P7).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_agent.sandbox.output import read_output
from local_agent.sandbox.process import Exit, Limits, run_child
from local_agent.workspace.git.clean_repository import (
    CleanRepository,
    find_git,
    push_arguments,
    push_environment,
)
from local_agent.workspace.git.remote_url import RemoteUrl

OUTPUT_BYTES: Final = 64 * 1024
_FILE_BYTES: Final = 1024**3

# Why git gave up before the remote could take anything, by the first that its answer matches.
_NO_RIGHT: Final = (
    r"authentication failed|could not read (?:username|password)|permission denied"
    r"|terminal prompts disabled|access denied|returned error: 40[13]|access rights"
)
_NOT_THERE: Final = (
    r"repository .{0,300}not found|does not appear to be a git repository"
    r"|returned error: 404|dubious ownership"
)
_NO_WAY: Final = (
    r"could not resolve|connection refused|network is unreachable|no route to host"
    r"|failed to connect|couldn't connect|connect to host .{0,300} timed out"
)
_REFUSALS: Final = tuple(
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        ("sync.host-key", r"host key verification failed"),
        ("sync.redirected", r"returned error: 30[12378]|redirect"),
        ("sync.not-found", _NOT_THERE),  # git then wonders about access rights as well
        ("sync.auth", _NO_RIGHT),
        ("sync.unreachable", _NO_WAY),
    )
)


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of a push.

    Attributes:
        done: The remote has the commit; None where that cannot be told.
        code: Why not, or why it cannot be told.
        tail: Last lines of git's answer, bounded, redacted, without folders of this machine.
    """

    done: bool | None
    code: str | None = None
    tail: str = ""


class Pusher:
    """Calls git.

    Args:
        environ: The agent's own environment.
        home: The person's.
        secrets: Gives the known secrets of the product, kept out of every tail.
    """

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        home: Path,
        secrets: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._environ = environ
        self._home = home
        self._secrets = secrets

    async def push(
        self,
        clean: CleanRepository,
        url: RemoteUrl,
        *,
        oid: str,
        ref: str,
        timeout_s: int,
        cancel: asyncio.Event | None,
    ) -> Pushed:
        """Push one commit to one branch, and say what came of it.

        Args:
            clean: From which; it sees the commit.
            url: Where to, exactly.
            oid: What.
            ref: Full name of the branch there.
            timeout_s: Seconds until it is ended.
            cancel: When set, it is ended.
        """
        git = await asyncio.to_thread(find_git)
        if git is None:
            return Pushed(done=False, code="sync.no-git")
        await asyncio.to_thread(clean.aim_at, url)
        ended = await run_child(
            push_arguments(git, url, oid, ref),
            cwd=clean.path,
            env=push_environment(self._environ, home=self._home, repository=clean.path, url=url),
            limits=Limits(
                timeout_s=timeout_s, output_cap_bytes=OUTPUT_BYTES, file_bytes=_FILE_BYTES
            ),
            cancel=cancel,
        )
        shown = read_output(
            ended.stderr, exit_code=None, workspace=str(clean.path), secrets=self._secrets()
        )
        done, code = read_answer(ended, ref)
        return Pushed(done, code, shown.brief)


def read_answer(ended: Exit, ref: str) -> tuple[bool | None, str | None]:
    """Return whether the remote has the commit, and the code of why not.

    Args:
        ended: How ``git push --porcelain`` ended.
        ref: Full name of the branch that it was pushed to.
    """
    told, warned = (
        b"".join(kept.parts()).decode("utf-8", "replace") for kept in (ended.stdout, ended.stderr)
    )
    flag, summary = _line_of(told, ref)
    if flag in (" ", "*", "="):
        # Told by the remote after it has taken it, whatever became of git afterwards.
        return True, None
    if flag == "!":
        return _refused(summary)
    if ended.timed_out:
        return None, "sync.timeout"
    if ended.cancelled:
        return None, "sync.cancelled"
    if ended.errno is not None:
        return False, "sync.no-git"
    # What the other side's hooks print says nothing about how it ended.
    own = "\n".join(line for line in warned.split("\n") if not line.startswith("remote:"))
    for code, pattern in _REFUSALS:
        if pattern.search(own):
            return False, code
    return None, "sync.failed"


def _refused(summary: str) -> tuple[bool | None, str]:
    if "[remote failure]" in summary:
        return None, "sync.failed"
    return False, "sync.declined" if "[remote rejected]" in summary else "sync.rejected"


def _line_of(told: str, ref: str) -> tuple[str, str]:
    for line in told.split("\n"):
        flag, names, summary = (*line.split("\t", 2), "", "")[:3]
        if names.endswith(f":{ref}"):
            return flag, summary
    return "", ""
