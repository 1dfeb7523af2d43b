"""How links end: every code that either side can give is in the table, and nothing else is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from common.errors import AuthError, RemoteProtocolError
from common.protocol import link_events
from common.protocol.frames import CODE_PATTERN
from common.protocol.link import Closed
from common.protocol.link_events import ENDINGS, NORMAL, code_of, websocket_code
from tests.each import each

ROOT = Path(__file__).parents[4]
SAY_GOODBYE = {"close", "dismiss", "_say_goodbye"}
SPEAKERS = ("common/protocol", "gateway/link", "local_agent/link")


def _strings(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _said() -> set[str]:
    """Return every word that a call which ends a link is given in the product."""
    found: set[str] = set()
    for place in SPEAKERS:
        for path in (ROOT / place).rglob("*.py"):
            for call in _goodbyes(ast.parse(path.read_text(encoding="utf-8"))):
                found.update(*map(_words, call.args))
    return found


def _goodbyes(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in SAY_GOODBYE
        ):
            yield node


def _words(argument: ast.AST) -> set[str]:
    if isinstance(argument, ast.IfExp):  # the words it chooses from, not what it chooses by
        return _words(argument.body) | _words(argument.orelse)
    return {word for word in _strings(argument) if re.fullmatch(CODE_PATTERN, word)}


def _of_errors() -> set[str]:
    broken = {*link_events.TELLING, "json.malformed"}
    codes = {Closed.because_of(RemoteProtocolError(code)).code for code in broken}
    return codes | {Closed.because_of(AuthError("auth.signature")).code}


def test_the_table_holds_every_word_that_the_code_can_say_and_no_other() -> None:
    assert _said() | _of_errors() == ENDINGS.keys()


@each("code", ENDINGS)
def test_every_code_fits_into_a_frame_and_a_close_frame(code: str) -> None:
    assert re.fullmatch(CODE_PATTERN, code)
    number = websocket_code(code)
    assert number in (1001, 1002) or 4000 <= number <= 4999


def test_no_two_codes_look_alike_on_the_wire() -> None:
    assert {code_of(websocket_code(code)) for code in ENDINGS} == ENDINGS.keys()
    assert code_of(NORMAL) is None
