"""A log line is one line, bounded, and tells no secret."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import StoreError
from common.logs import MAX_VALUE_BYTES, Log, Secrets, adopt_libraries, open_log

SECRET = "corp-secret-value"


class Written:
    """A log into memory."""

    def __init__(self, *, as_json: bool = True, level: int = logging.INFO) -> None:
        self.stream = io.StringIO()
        self.log: Log = open_log(
            "gateway",
            stream=self.stream,
            json=as_json,
            level=level,
            secrets=Secrets([SECRET]),
            clock=ManualClock(1_760_000_000_123),
        )

    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()

    def one(self) -> dict[str, Any]:
        [line] = self.lines()
        found = json.loads(line)
        assert isinstance(found, dict)
        return found


@pytest.fixture
def libraries() -> Iterator[None]:
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before


def test_an_event_has_its_time_level_component_and_facts() -> None:
    written = Written()
    written.log.info("callback.refused", status=403, code="callback.signature", fine=True, at2=None)
    assert written.one() == {
        "at": "2025-10-09T08:53:20.123+00:00",
        "level": "info",
        "component": "gateway",
        "event": "callback.refused",
        "status": 403,
        "code": "callback.signature",
        "fine": True,
        "at2": None,
    }


def test_for_people_the_same_stands_on_one_line() -> None:
    written = Written(as_json=False)
    written.log.warning("outbox.failed", user="bob", why='said "no way" = 1', empty="")
    [line] = written.lines()
    assert line == (
        "2025-10-09T08:53:20.123+00:00 warning gateway outbox.failed "
        'user=bob why="said \\"no way\\" = 1" empty=""'
    )


@pytest.mark.parametrize("as_json", [True, False])
def test_a_value_cannot_begin_a_line_of_its_own(*, as_json: bool) -> None:
    written = Written(as_json=as_json)
    forged = "x\n2025 info gateway all.good\r\x1b[2J\u2028\u202e"
    written.log.info("event", text=forged, **{"na me\n": 1})
    text = written.stream.getvalue()
    assert len(written.lines()) == 1
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "⟨U+202E⟩" in text
    assert "na_me_" in text


@pytest.mark.requirement("R54")
def test_values_are_redacted_and_bounded() -> None:
    written = Written()
    written.log.info(
        "event",
        known=f"a {SECRET} b",
        url="https://x/?access_token=abcdef",
        long="中" * 10_000,
        many=[SECRET, {"password": "hunter2hunter2"}],
    )
    found = written.one()
    assert found["known"] == "a [redacted:own] b"
    assert found["url"] == "https://x/?access_token=[redacted]"
    assert len(found["long"].encode()) <= MAX_VALUE_BYTES
    assert SECRET not in written.stream.getvalue()
    assert "hunter2" not in written.stream.getvalue()


def test_a_known_secret_far_into_a_long_value_is_not_cut_into_pieces() -> None:
    written = Written()
    written.log.info("event", text=(SECRET + " ") * 1000)
    assert SECRET[:6] not in written.stream.getvalue()


def test_what_is_below_the_level_is_not_written() -> None:
    written = Written(level=logging.WARNING)
    written.log.info("quiet")
    written.log.debug("quiet")
    written.log.error("loud")
    assert written.one()["event"] == "loud"


def test_a_secret_that_is_learned_later_is_taken_out_and_the_old_one_still() -> None:
    stream, secrets = io.StringIO(), Secrets([SECRET])
    log = open_log("gateway", stream=stream, secrets=secrets)
    secrets.learn([f"{SECRET}-and-more"])
    log.info("said", old=SECRET, new=f"{SECRET}-and-more")
    assert SECRET not in stream.getvalue()
    assert "and-more" not in stream.getvalue()


def _fail(secret: str) -> None:
    raise StoreError("store.commit", detail=secret)


@pytest.mark.requirement("R54")
def test_an_exception_is_told_by_its_name_and_its_places_alone() -> None:
    written = Written()
    try:
        _fail(SECRET)
    except StoreError:
        written.log.exception("http.failed")
    found = written.one()
    assert found["level"] == "error"
    assert found["error"] == "StoreError: store.commit (detail=[redacted:own])"
    assert found["where"].startswith("test_logs.py:")
    assert "_fail < test_logs.py:" in found["where"]
    assert "raise StoreError" not in written.stream.getvalue()


def test_an_exception_may_be_handed_over() -> None:
    written = Written()
    written.log.error("event", exc_info=ValueError("x"))
    assert written.one()["error"] == "ValueError: x"
    nothing = Written()
    nothing.log.error("event", exc_info=False)
    nothing.log.error("event", exc_info=True)  # noqa: LOG014 - as a careless caller would
    assert all("error" not in json.loads(line) for line in nothing.lines())


def test_two_logs_share_nothing() -> None:
    first, second = Written(), Written(as_json=False)
    first.log.info("one")
    second.log.bind(session="s1").info("two")
    first.log.info("three")
    assert [json.loads(line)["event"] for line in first.lines()] == ["one", "three"]
    assert second.lines()[0].endswith("gateway two session=s1")


@pytest.mark.requirement("R54")
@pytest.mark.usefixtures("libraries")
def test_libraries_write_under_the_same_rules() -> None:
    written = Written()
    adopt_libraries(written.log)
    library = logging.getLogger("aiohttp.server")
    library.info("quiet")
    try:
        _fail("detail")
    except StoreError:
        library.exception("Error from %s?token=%s\n", "1.2.3.4", SECRET)
    found = written.one()
    assert (found["event"], found["library"]) == ("library", "aiohttp.server")
    assert found["message"] == "Error from 1.2.3.4?token=[redacted]"
    assert found["error"].startswith("StoreError")


@pytest.mark.usefixtures("libraries")
def test_a_library_that_formats_wrongly_does_not_break_the_log() -> None:
    written = Written()
    adopt_libraries(written.log)
    logging.getLogger("any").warning("%d tasks", "no number")
    assert written.one()["message"] == "%d tasks"


async def test_a_log_may_be_written_on_the_loop(capfd: pytest.CaptureFixture[str]) -> None:
    open_log("agent", clock=ManualClock()).info("event")
    assert "agent event" in capfd.readouterr().err


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_an_event_reads_as_the_sentence_that_it_has() -> None:
    terminal = _Terminal()
    log = open_log("agent", stream=terminal, clock=ManualClock(1_760_000_000_123))
    log.warning("doctor.found", check="models", code="models.unset", said="none", mend="add one")
    log.info("agent.ready", machine="dev 1")
    told, plain = (line.partition(" ")[2] for line in terminal.getvalue().splitlines())
    assert told == "! models: none → add one"
    assert plain == 'agent.ready machine="dev 1"'


def test_a_log_begins_also_where_standard_error_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    open_log("gateway").info("began")
    assert "began" in capsys.readouterr().out
