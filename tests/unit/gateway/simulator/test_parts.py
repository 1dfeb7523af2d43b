"""What the demo says of a part that ended by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common.children import Child


def test_what_a_part_said_last_is_its_last_line(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    log.write_text("ready\n" + "noted\n" * 200 + "codexbridge: the port is taken\n\n", "utf-8")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        assert Child("agent", process, log).last() == "codexbridge: the port is taken"
