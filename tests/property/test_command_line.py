"""Where no shell is used, a shell would have read the very same words."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.errors import InputError
from local_agent.actions.run_command.command_line import SHELL, read_command_line

PIECES = st.sampled_from(
    [*" \t'\"\\$`*?[]{}()<>|&;#~!=+-.,:/%^@_aZ0é测", "\\\n", "a=", "if", "cd", "x "]
)


@pytest.mark.requirement("R42")
@given(st.lists(PIECES, max_size=14).map("".join))
@example('"\\\n"')
@settings(max_examples=250, deadline=None)
def test_an_argv_is_what_the_shell_would_have_made_of_it(text: str) -> None:
    try:
        line = read_command_line(f"x{text}")
    except InputError:
        return
    if line.argv is None:
        return
    # printf in the first word's place would change what it means; an argument does not.
    told = subprocess.run(
        [SHELL, "-c", f"printf '%s\\0' x{text}"], capture_output=True, check=True, cwd="/"
    ).stdout
    assert told.decode().split("\0")[:-1] == list(line.argv)
