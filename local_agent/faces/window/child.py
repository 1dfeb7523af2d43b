"""The window's program: reads one order, shows it, writes one answer (R27).

Started by `program` as ``python -I -m``, in a clean environment.  It has no part in the decision
but to show it and to tell it: the gate, in the agent, checks whatever comes out of here.
"""

from __future__ import annotations

import sys
import tkinter as tk
from typing import BinaryIO, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError
from common.strict_json import canonical
from local_agent.cards.question import read_question
from local_agent.faces.window.frame import Frame
from local_agent.faces.window.look import Look, bring_up, open_root
from local_agent.faces.window.program import PROBE
from local_agent.faces.window.wire import (
    MAX_DIFF,
    MAX_TOLD,
    decode_order,
    encode_answer,
)

_MAX_READ: Final = MAX_TOLD + MAX_DIFF + 1024


def run(source: BinaryIO, target: BinaryIO) -> int:
    """Answer one order; return the exit code, 0 when an answer was written."""
    raw = source.read(_MAX_READ)
    try:
        if raw == PROBE:
            Look(open_root(), "light")
            target.write(canonical({"tk": True}) + b"\n")
        else:
            target.write(_ask(raw))
    except (CodexBridgeError, tk.TclError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    target.flush()
    return 0


def _ask(raw: bytes) -> bytes:
    order, diff = decode_order(raw)
    question = read_question(order.shown, diff=diff)
    root = open_root()
    look = Look(root, order.theme)
    frame = Frame(root, look, question, order, SystemClock())
    bring_up(root, look)
    return encode_answer(frame.run())


if __name__ == "__main__":
    sys.exit(run(sys.stdin.buffer, sys.stdout.buffer))
