"""The stored bytes of every seal, their digests and codes, and what is refused as a seal."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from typing import Any

import pytest

from common.errors import RemoteProtocolError
from common.seal import digest, short_code
from common.strict_json import canonical, loads
from local_agent.actions.registry import read_seal, seal_bytes
from local_agent.safety.decision import Statement
from tests.golden import golden
from tests.golden.seals import NOW_MS, SEALS

_SAME_SHAPE = ("change-all-operations", "sync-first-commit")  # as another

Path = tuple[str | int, ...]
Variant = Callable[[dict[str, Any]], None]


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("name", SEALS)
def test_a_seal_is_written_as_its_golden_bytes_and_read_back_from_them(name: str) -> None:
    golden.check(f"seals/{name}.json", seal_bytes(SEALS[name]))
    raw = golden.stored(f"seals/{name}.json")
    assert read_seal(raw) == SEALS[name]
    assert seal_bytes(read_seal(raw)) == raw


@pytest.mark.requirement("P2")
def test_each_digest_and_code_and_each_signed_decision_is_the_golden_one() -> None:
    lines = []
    for name in SEALS:
        found = digest(golden.stored(f"seals/{name}.json"))
        lines.append(f"{name} {found} {short_code(found)}")
        approval = Statement(name, found, "approve", "terminal", None, NOW_MS, "high")
        rejection = Statement(name, found, "reject", "desktop", "不要 now", NOW_MS, "normal")
        lines += [f"  {said.raw.decode('ascii')}" for said in (approval, rejection)]
    golden.check("seals/index.txt", "\n".join(lines) + "\n")


@pytest.mark.requirement("R21")
@pytest.mark.parametrize("name", [name for name in SEALS if name not in _SAME_SHAPE])
def test_a_malformed_seal_is_refused_and_names_the_same_field(name: str) -> None:
    stored = loads(golden.stored(f"seals/{name}.json"), max_bytes=1_000_000)
    lines = []
    for title, spoil in _variants(stored, whole_seal=name == "command-argv"):
        if title in ("payload.steps empty", "payload.uncompared missing"):
            continue  # that is another question: whether to go on; a seal of an older release
        value = copy.deepcopy(stored)
        spoil(value)
        lines.append(f"{title}: {_refusal(canonical(value))}")
    golden.check(f"refusals/{name}.txt", "\n".join(lines) + "\n")


def _refusal(raw: bytes) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        read_seal(raw)
    return f"{caught.value.code} {caught.value.facts['field']}"


def _variants(stored: dict[str, Any], *, whole_seal: bool) -> Iterator[tuple[str, Variant]]:
    """Give each way to spoil a seal, by its title: fields of a wrong type, missing, unknown."""
    yield from _of_mapping(stored if whole_seal else {"payload": stored["payload"]}, ())
    for action in ("run_command", "apply_diff", "undo", "git_sync", "disclose"):
        if action != stored["action"]:
            yield f"action {action}", _setting(("action",), action)
    yield "base of another form", _setting(("base",), {"a": "A" * 64})
    if "argv" in stored["payload"]:
        yield "argv and script", _setting(("payload", "script"), "true")
        yield "shell without script", _setting(("payload", "shell"), "/bin/sh")


def _of_mapping(value: dict[str, Any], path: Path) -> Iterator[tuple[str, Variant]]:
    """Give the variants of a mapping and of what stands in it; of a list of mappings, the first."""
    for key, held in value.items():
        here = (*path, key)
        name = ".".join(map(str, here))
        yield f"{name} = -1", _setting(here, -1)
        if path and key != "copy":  # without it a command runs in the workspace itself
            yield f"{name} missing", _without(here)
        if key.endswith("sha256") and key != "envelope_sha256" and held is not None:
            yield f"{name} in capitals", _setting(here, "A" * 64)
        if type(held) is int:
            yield f"{name} = true", _setting(here, True)
        if isinstance(held, list) and key in ("argv", "changes", "steps"):
            yield f"{name} empty", _setting(here, [])
        if isinstance(held, dict) and key != "base":
            yield f"{name}.unknown", _setting((*here, "unknown"), 1)
            yield from _of_mapping(held, here)
        if isinstance(held, list) and held and isinstance(held[0], dict):
            yield f"{name}.0.unknown", _setting((*here, 0, "unknown"), 1)
            yield f"{name}.0 = text", _setting((*here, 0), "text")
            yield from _of_mapping(held[0], (*here, 0))


def _setting(path: Path, to: object) -> Variant:
    def spoil(value: Any) -> None:
        reduce(getitem, path[:-1], value)[path[-1]] = to

    return spoil


def _without(path: Path) -> Variant:
    def spoil(value: Any) -> None:
        del reduce(getitem, path[:-1], value)[path[-1]]

    return spoil
