"""What is shown of a command's output: plain text, without secrets, hidden characters or excess.

The order matters: secrets are looked for in far more than is shown, before anything is cut off or
read.  Redaction is damage control, not permission (R55).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from common.redact import redact, redact_known
from common.text import clip_bytes, clip_tail_bytes, reveal, strip_ansi
from local_agent.reports.read import read_report
from local_agent.reports.report import Report
from local_agent.reports.words import cleaned
from local_agent.sandbox.process import Kept

TAIL_BYTES: Final = (
    1200  # of the 2,048 bytes of a chat message (WeCom 90236); the summary needs room
)
TAIL_LINES: Final = 40
BRIEF_LINES: Final = 6
_LINE_BYTES: Final = 160
_LOOKED_AT: Final = 500 * 1024  # less than the reader reads
_GAP: Final = "[… {dropped} bytes left out …]"


# A line of nothing but dashes, stars and the like, and what says nothing of why a run failed.
_NOISE: Final = re.compile(
    r"[\W_]*|npm (?:error|ERR!).{0,9}A complete log of this run .*|Node\.js v[\d.]+"
    r"|make(?:\[\d+\])?: (?:Entering|Leaving) directory .*"
)
_TO_START: Final = re.compile(r"\x1b\[1?G")  # of a line, to write over it
# An absolute path of this machine; the last name is kept.  A URL's path is none.
_FOLDERS: Final = re.compile(
    r"(?<![\w.:~/\\-])~?/(?:(?:home|root|Users|tmp|var|usr|opt|private|mnt|media|nix|srv|etc|run|lib"
    r"|lib64|bin|data|workspace|work|app|builds?)/)(?:[^\s/:;,'\"`()<>\[\]|]+/)*"
)


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of an output, as it may be shown.

    Attributes:
        text: The last lines.
        before: About how many bytes came before them; 0 when nothing was left out.
    """

    text: str
    before: int


def full_log(kept: Kept) -> bytes:
    """Return the kept output as it was, with a line that tells of what was let go."""
    head, tail = kept.parts()
    if not kept.dropped:
        return head
    return head + f"\n{_GAP.format(dropped=kept.dropped)}\n".encode() + tail


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of the output of a command that ended.

    Attributes:
        tail: The end, for this machine.
        brief: The last few lines for the chat, without rulers and folders of this machine.
        report: What a runner or linter reported; None where no reader fits.
    """

    tail: Tail
    brief: str
    report: Report | None


def read_output(
    kept: Kept, *, exit_code: int | None, workspace: str, secrets: Iterable[str] = ()
) -> Shown:
    """Return what is shown of an output (R46, R54, R73), and what it reports.

    Args:
        kept: Head and tail of the output.
        exit_code: Of a command that ran to its own end; None of any other, which is not read.
        workspace: Path as the command saw it; every other path is told relative to it.
        secrets: Known secrets, replaced by exact match first.
    """
    text, cut = _safe_end(kept, secrets)
    report = None
    if exit_code is not None:
        # The reader tells by this line that counts of lines are too low.
        left_out = _GAP.format(dropped=max(kept.total - _LOOKED_AT, 1)) + "\n" if cut else ""
        try:
            report = read_report(left_out + text, exit_code=exit_code, workspace=workspace)
        except Exception:  # noqa: BLE001  # whatever it stumbles over, the run has ended as it has
            report = None
    shorten = partial(without_folders, workspace=workspace)
    return Shown(
        tail=_tail(reveal(text), cut=cut, total=kept.total),
        brief=_brief(text, shorten),
        report=cleaned(report, shorten) if report else None,
    )


def without_folders(text: str, *, workspace: str) -> str:
    """Return the text with paths relative to the workspace, and of any other the name alone."""
    inside = text.replace(f"{workspace}/", "").replace(workspace, ".") if workspace else text
    return _FOLDERS.sub("…/", inside)


def _safe_end(kept: Kept, secrets: Iterable[str]) -> tuple[str, bool]:
    """Return the end of the output as plain text without secrets, and whether it is not all."""
    head, tail = kept.parts()
    end = tail or head
    cut = kept.dropped > 0 or len(end) > _LOOKED_AT
    if cut:
        # It may begin in the middle of a secret: the first, broken line is left out.  A key cut
        # in two is known to `redact` by its end.
        end = end[-_LOOKED_AT:].partition(b"\n")[2]
    plain = strip_ansi(_TO_START.sub("\r", end.decode("utf-8", "replace")))
    settled = "\n".join(_last_state(line) for line in plain.split("\n"))
    return redact(redact_known(settled, secrets)), cut


def _tail(safe: str, *, cut: bool, total: int) -> Tail:
    lines = [line for line in safe.rstrip().split("\n") if line.strip()]
    whole = "\n".join(lines[-TAIL_LINES:])
    text = clip_tail_bytes(whole, TAIL_BYTES)
    cut = cut or len(lines) > TAIL_LINES or text != whole
    return Tail(text, max(total - len(text.encode()), 1) if cut else 0)


def _brief(safe: str, shorten: Callable[[str], str]) -> str:
    told = (line for line in reversed(safe.split("\n")) if not _NOISE.fullmatch(line))
    lines = [shorten(line.rstrip()) for line in islice(told, BRIEF_LINES)]
    return "\n".join(clip_bytes(reveal(line), _LINE_BYTES) for line in reversed(lines))


def _last_state(line: str) -> str:
    """Return what a terminal would show of a line that was written over with carriage returns."""
    return line.rstrip("\r").rpartition("\r")[2]
