"""The real codex that some tests run: pinned in ``tests/codex``, installed by ``make codex``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# The launcher of the npm package; the binary lies beside it and is found from there.
PROGRAM: Final = Path(__file__).parent.parent / ".codex/node_modules/@openai/codex/bin/codex.js"


def is_there() -> bool:
    """Tell whether it is installed, with the binary for this machine."""
    scope = PROGRAM.parents[2]
    return PROGRAM.is_file() and any(scope.glob("codex-*/vendor/*/bin/codex"))
