"""What is shown of a command's output: plain text, without secrets, hidden characters or excess.

The order matters: secrets are looked for in far more than is shown, before anything is cut off.
Redaction is damage control, not permission (R55).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from common.redact import redact, redact_known
from common.text import clip_tail_bytes, reveal, strip_ansi
from local_agent.process import Kept

TAIL_BYTES: Final = (
    1200  # of the 2,048 bytes of a chat message (WeCom 90236); the summary needs room
)
TAIL_LINES: Final = 40
_LOOKED_AT: Final = 128 * 1024
_GAP: Final = "[… {dropped} bytes left out …]"


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


def chat_tail(kept: Kept, *, secrets: Iterable[str] = (), limit: int = TAIL_BYTES) -> Tail:
    """Return the end of the output for the chat (R46, R54, R73).

    Args:
        kept: Head and tail of the output.
        secrets: Known secrets, replaced by exact match first.
        limit: UTF-8 bytes.
    """
    head, tail = kept.parts()
    end = tail or head
    cut = kept.dropped > 0 or len(end) > _LOOKED_AT
    if cut:
        # It may begin in the middle of a secret: the first, broken line is left out.  A key cut
        # in two is known to `redact` by its end.
        end = end[-_LOOKED_AT:].partition(b"\n")[2]
    plain = strip_ansi(end.decode("utf-8", "replace"))
    settled = "\n".join(_last_state(line) for line in plain.split("\n"))
    safe = reveal(redact(redact_known(settled, secrets)))
    lines = [line for line in safe.rstrip().split("\n") if line.strip()]
    whole = "\n".join(lines[-TAIL_LINES:])
    text = clip_tail_bytes(whole, limit)
    cut = cut or len(lines) > TAIL_LINES or text != whole
    return Tail(text, max(kept.total - len(text.encode()), 1) if cut else 0)


def _last_state(line: str) -> str:
    """Return what a terminal would show of a line that was written over with carriage returns."""
    return line.rstrip("\r").rpartition("\r")[2]
