"""What the doctor says of a test command that cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_agent.doctor import workspaces
from local_agent.workspace.registry import Workspace


@pytest.mark.parametrize(
    ("command", "scripts", "lacked"),
    [
        ("./run", {}, "./run"),
        ("no-such-program --all", {}, "no-such-program"),
        ("cd sub && no-such-program", {}, ""),  # nobody knows what a shell would start
        ("'", {}, "'"),
        ("./run", {"run": "#! /bin/sh -e\n"}, ""),
        ("./run", {"run": "echo\n"}, ""),
        ("./run", {"run": "#!/bin/sh\r\n"}, "/bin/sh⟨U+000D⟩"),
        ("./run", {"run": "#!/usr/bin/env\n"}, ""),
        ("./run", {"run": "#!/usr/bin/env -i sh\n"}, ""),
        ("./run", {"run": "#!/usr/bin/env no-such\n"}, "no-such"),
        ("./run", {"run": "#!/usr/bin/env -S no-such run\n"}, "no-such"),
        ("./run", {"run": "#!{here}/inner\n", "inner": "#!/no/such/python\n"}, "/no/such/python"),
        ("./run", {"run": "#!{here}/inner\n", "inner": "#!/bin/sh\n"}, ""),
        ("./run", {"run": "#!{here}/run\n"}, "{here}/run"),
    ],
)
def test_what_a_test_command_lacks_is_named(
    command: str, scripts: dict[str, str], lacked: str, tmp_path: Path
) -> None:
    for name, text in scripts.items():
        (tmp_path / name).write_text(text.format(here=tmp_path), encoding="utf-8", newline="")
        (tmp_path / name).chmod(0o755)
    workspace = Workspace(name="shop", path=tmp_path)
    assert workspaces._lacks(workspace, command, "") == lacked.format(here=tmp_path)
