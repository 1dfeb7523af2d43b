"""What a playbook is given by name: read strictly, before anything runs.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from common.errors import InputError
from local_agent.playbooks.definition import TaskDefinition, fits

_NAMED: Final = re.compile(r"\s*([a-z][a-z0-9_]*)=(\"[^\"]*\"|\S*)")


def read_inputs(definition: TaskDefinition, given: Sequence[str]) -> dict[str, str]:
    """Return the value of each input of a playbook.

    Args:
        given: Each as ``NAME=VALUE``; of several for one name the last.

    Raises:
        InputError: ``playbook.input`` (input, why: ``unknown``, ``missing``, ``wrong``): nothing
            was run.
    """
    if bare := next((text for text in given if "=" not in text), None):
        raise InputError("playbook.input", input=bare, why="missing", wanted="NAME=VALUE")
    found = dict(text.partition("=")[::2] for text in given)
    known = definition.inputs
    for name in (*found, *known):
        one = known.get(name, {})
        value = found.setdefault(name, str(one.get("default", "")))
        why = "unknown" if name not in known else "wrong"
        if why == "wrong" and not value and "default" not in one:
            why = "missing"
        elif why == "wrong" and fits(one, value):
            continue
        wanted = one.get("description") or one.get("choices") or one.get("type", [*known])
        raise InputError("playbook.input", input=name, why=why, wanted=wanted)
    return found


def split_inputs(definition: TaskDefinition, message: str) -> tuple[list[str], str]:
    """Return what a message begins with as ``NAME=VALUE``, and the words after that."""
    given = []
    while (found := _NAMED.match(message)) and found[1] in definition.inputs:
        given.append(f"{found[1]}={found[2].strip(chr(34))}")
        message = message[found.end() :]
    return given, message.strip()
