"""`control.wire`: the lines of the control socket, and where the socket lies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from common.diff.model import MAX_BYTES
from common.errors import (
    CodexBridgeError,
    ConfigError,
    InputError,
    RemoteProtocolError,
    StateError,
    UnavailableError,
)
from common.home import Home
from local_agent.faces.control import wire
from tests.each import each


def _home(run: Path) -> Home:
    return Home(run / "config", run / "state", run)


def test_a_request_comes_back_as_it_was_written() -> None:
    asked = wire.Request("show", {"task": "T-7K3F", "text": "中文\nline"})
    line = wire.encode_request(asked)
    assert line.count(b"\n") == 1
    assert wire.decode_request(line) == (asked, 0)


def test_a_file_goes_behind_the_line_that_tells_its_size() -> None:
    asked = wire.Request("apply", {"name": "x"}, b"one\ntwo")
    line, _, body = wire.encode_request(asked).partition(b"\n")
    found, size = wire.decode_request(line + b"\n")
    assert (replace(found, body=body), size) == (asked, 7)


def test_the_largest_diff_that_is_read_can_be_sent_and_no_larger_one() -> None:
    assert wire.BODY_BYTES == MAX_BYTES
    whole = wire.encode_request(wire.Request("apply", {}, b"x" * MAX_BYTES))
    assert wire.decode_request(whole[: whole.index(b"\n") + 1])[1] == MAX_BYTES
    with pytest.raises(InputError) as refused:
        wire.encode_request(wire.Request("apply", {}, b"x" * (MAX_BYTES + 1)))
    assert refused.value.code == "control.too-large"


@pytest.mark.requirement("R19")
@each(
    "line",
    [
        b'{"op":"apply","args":{}}\n',
        b'{"op":"apply","args":{},"body":-1}\n',
        b'{"op":"apply","args":{},"body":true}\n',
        b'{"op":"apply","args":{},"body":"5"}\n',
        b'{"op":"apply","args":{},"body":2000001}\n',
        b'{"op":"status","args":{},"body":0}\n',
        b"{}\n",
        b"[]\n",
        b"null\n",
        b'{"op":"status"}\n',
        b'{"op":"status","args":[]}\n',
        b'{"op":"status","args":{},"more":1}\n',
        b'{"op":"approve","args":{}}\n',
        b'{"op":[],"args":{}}\n',
        b'{"op":{},"args":{}}\n',
        b'{"op":"status","op":"status","args":{}}\n',
        b'{"op":"status","args":{"x":1.5}}\n',
        b"[" * 100_000,
        b"\xff\n",
    ],
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        wire.decode_request(line)


def test_a_question_over_64_kib_is_not_sent() -> None:
    with pytest.raises(InputError) as refused:
        wire.encode_request(wire.Request("ask", {"text": "x" * wire.REQUEST_BYTES}))
    assert refused.value.code == "control.too-large"


def test_answers_come_back_by_kind() -> None:
    assert wire.decode_answer(wire.encode_ok({"a": 1})) == ("ok", {"a": 1})
    assert wire.decode_answer(wire.encode_event({"type": "x"})) == ("event", {"type": "x"})


@each("kind", [InputError, StateError, UnavailableError, ConfigError])
def test_an_error_comes_back_in_its_own_class_with_its_facts(
    kind: type[CodexBridgeError],
) -> None:
    line = wire.encode_error(kind("some.code", path=Path("/x"), count=3))
    with pytest.raises(kind) as told:
        wire.decode_answer(line)
    assert told.value.code == "some.code"
    assert told.value.facts == {"path": "/x", "count": 3}


@each("line", [b"{}", b'{"ok":1}', b'{"yes":{}}', b'{"ok":{},"event":{}}', b"nonsense"])
def test_what_is_no_answer_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        wire.decode_answer(line)


def test_an_answer_over_its_bound_becomes_an_error() -> None:
    with pytest.raises(CodexBridgeError) as told:
        wire.decode_answer(wire.encode_ok({"x": "y" * wire.ANSWER_BYTES}))
    assert told.value.code == "control.too-large"


def test_the_socket_lies_in_the_run_folder(tmp_path: Path) -> None:
    home = _home(Path("/run/user/1000/codexbridge"))
    assert wire.socket_path(home, {}) == home.run / "agent.sock"


def test_a_path_too_long_for_a_socket_moves_below_the_runtime_folder() -> None:
    home = _home(Path("/" + "x" * 120))
    path = wire.socket_path(home, {"XDG_RUNTIME_DIR": "/run/user/1000"})
    assert path.parent.parent == Path("/run/user/1000")
    assert path.parent.name.startswith("codexbridge-")
    assert len(str(path)) <= 107
    assert path == wire.socket_path(home, {"XDG_RUNTIME_DIR": "/run/user/1000"})
    other = wire.socket_path(_home(Path("/" + "y" * 120)), {"XDG_RUNTIME_DIR": "/run/user/1000"})
    assert other != path


def test_without_a_runtime_folder_a_long_path_is_refused_with_its_name() -> None:
    with pytest.raises(ConfigError) as refused:
        wire.socket_path(_home(Path("/" + "x" * 120)), {})
    assert refused.value.code == "control.path-too-long"
    assert "x" * 120 in str(refused.value.facts["path"])


def test_a_fact_of_several_names_travels_as_people_write_one() -> None:
    line = wire.encode_error(StateError("undo.changed", hunk=2, undoable=("a.py", "b.py")))
    with pytest.raises(StateError) as told:
        wire.decode_answer(line)
    assert told.value.facts == {"hunk": 2, "undoable": "a.py, b.py"}
