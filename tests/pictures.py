"""Makes the pictures of the window that the documents show: ``python -m tests.pictures``."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from common.diff.parse import parse_diff
from common.seal import Seal
from common.sentences import Lang
from local_agent.actions.registry import ACTIONS
from local_agent.faces.window.arming import QUIET_S
from local_agent.faces.window.wire import Theme, encode_order
from local_agent.reports.report import Failure, Report
from local_agent.reports.words import to_facts
from local_agent.safety.authority import classify_operation
from local_agent.safety.risk import Circumstances
from tests import windows
from tests.screen import Screen, a_screen, until
from tests.sealed import PYTEST

_AWAKE_S: Final = QUIET_S + 1.0  # the buttons can be pressed by then
FOLDER: Final = Path(__file__).parent.parent / "docs" / "pictures"

_REPORT: Final = Report(
    tool="pytest", passed=2, failed=1, failures=(Failure(name="test_x", place="test_login.py"),)
)
_CHECK: Final = {"task": "T-9C2M", "exit_code": 1, "duration_ms": 1200}
FAILED: Final = _CHECK | {"state": "failed", "report": to_facts(_REPORT)}
PASSED: Final = _CHECK | {
    "state": "passed",
    "exit_code": 0,
    "report": to_facts(Report(tool="pytest", passed=3)),
}
VERSION: Final[dict[str, Any]] = {
    "check": PASSED,
    "can_narrow": True,
    "revision": {
        "version": 2,
        "task": "T-5D8P",
        "wish": "最多重试四次",
        "first": windows.REQUEST,
    },
}


def main() -> None:
    """Write all pictures anew."""
    FOLDER.mkdir(exist_ok=True)
    change, hostile = windows.a_change(), windows.a_change(windows.HOSTILE)
    shell = windows.a_command(script="make clean && make release", sandbox_level="none")
    with tempfile.TemporaryDirectory() as home, a_screen(Path(home)) as screen:
        screen.do("mousemove", "0", "0")
        _take(screen, "window-light", change, can_narrow=True, can_check=True)
        _take(screen, "window-dark", change, theme="dark", can_narrow=True, can_check=True)
        _take(screen, "window-zh", change, lang="zh", can_narrow=True, can_check=True)
        _take(screen, "window-checked", change, check=FAILED, can_check=True, can_narrow=True)
        _take(screen, "window-version-zh-dark", change, **VERSION, lang="zh", theme="dark")
        _take(screen, "window-high-risk", hostile, can_narrow=True)
        _take(screen, "window-command-zh-dark", shell, lang="zh", theme="dark")
        _take(screen, "window-push", windows.a_sync())
        run = {key: value for key, value in windows.RUN.items() if key != "in_workspace"}
        judged: dict[str, Any] = {"risk": "high", "reasons": ("not-the-test-command",)}
        _take(screen, "window-steps", windows.steps(), run=run, **judged)


def _take(
    screen: Screen,
    name: str,
    asked: tuple[Seal, bytes | None],
    *,
    lang: Lang = "en",
    theme: Theme = "light",
    **told: Any,
) -> None:
    seal, diff = asked
    around = Circumstances(diff=parse_diff(diff) if diff else None, allowed=[PYTEST])
    risk = classify_operation(seal.action, seal.payload, around, known=ACTIONS)
    judged = {"risk": risk.level, "reasons": risk.reasons}
    order = windows.an_order(seal, lang=lang, theme=theme, **judged | told)
    shown = screen.show(encode_order(order, diff))
    window = screen.window("CodexBridge")
    time.sleep(_AWAKE_S)
    screen.picture(FOLDER / f"{name}.png", window)
    shown.process.kill()
    shown.answer()
    until(lambda: not screen.windows("CodexBridge"))
    sys.stdout.write(f"{name}: {(FOLDER / name).with_suffix('.png').stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
