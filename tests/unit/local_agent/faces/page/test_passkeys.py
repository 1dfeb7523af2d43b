"""Passkeys: how one is added, and what an approval by one takes (R31)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import cbor2
import pytest

from common.assertion import check_assertion
from common.audit import MAX_ENTRY_BYTES
from common.clock import ManualClock
from common.errors import (
    AuthError,
    CodexBridgeError,
    ConfigError,
    InputError,
    LocalProtocolError,
    StateError,
    UnavailableError,
)
from common.records import decode_bytes
from common.seal import short_code
from common.strict_json import loads
from local_agent.faces.page.authenticator import NewCredential, verify_registration
from local_agent.faces.page.passkeys import CEREMONY_SECONDS, Passkeys, Registered
from local_agent.faces.page.touches import CODES, MOST, TOUCH_SECONDS
from local_agent.faces.window.program import Windows
from local_agent.flow.approvals import Approver, PendingApproval
from local_agent.flow.gate import Gate
from local_agent.safety.risk import Circumstances
from local_agent.store.approvals import StoredApproval
from local_agent.store.journal import JournalThread
from local_agent.store.passkeys import Passkey, fingerprint
from local_agent.views import to_json
from local_agent.views.question import OneTimeCode, Text
from tests.passkey_desk import (
    AT,
    ORIGIN,
    PORT,
    UP,
    UV,
    Authenticator,
    assertion,
    decoded,
    encoded,
)
from tests.sealed import PYTEST, Wish, a_seal, to_waiting

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("R31")]

LINK = f"{ORIGIN}/launch/abc"
SESSION = b"\1" * 32
TITLE = Text("Run this command?", "要运行这条命令吗？")
PATIENCE = 30.0
# Everything that is no clean base64url of a size that can be meant.
GARBLED: list[object] = [
    None,
    7,
    [],
    {},
    True,
    "",
    "=",
    "====",
    "AA==",
    "a b",
    "A",  # no length of base64
    "AB",  # bits that stand for nothing
    "ä" * 40,
    "-" * 5,
    "\x00",
    "AAAA" * 10_000,
    "A" * 3_000_000,
]


class Page:
    """Passkeys over a real gate, with the hands of a person at a terminal and on the page."""

    def __init__(self, db: JournalThread, gate: Gate, clock: ManualClock) -> None:
        self.db, self.gate, self.clock = db, gate, clock
        self.launched: list[str] = []
        self.windows = Windows()
        self.windows.turn_on(lambda _approval_id: None, self._show_code)
        self.shown: list[tuple[OneTimeCode, asyncio.Event]] = []
        entrance = gate.entrance("passkey")
        self.passkeys = Passkeys(db, entrance, clock, windows=self.windows, launch=self._launch)
        self.key = Authenticator()

    async def _launch(self, *, purpose: str) -> str:
        self.launched.append(purpose)
        return LINK

    async def _show_code(self, shown: OneTimeCode, over: asyncio.Event) -> None:
        self.shown.append((shown, over))

    async def registers(self, key: Authenticator | None = None, **wrong: Any) -> Registered:
        options = await self.passkeys.registration_options()
        answer = (key or self.key).create(options, **wrong)
        return await self.passkeys.finish_registration(answer, ORIGIN)

    async def adds(self, key: Authenticator | None = None, name: str = "laptop") -> Registered:
        """Go through a whole ceremony."""
        async with aclosing(self.passkeys.add(name)) as steps:  # type: ignore[type-var]  # an async generator
            begun = await _next(steps)
            registered = await self.registers(key)
            assert await _next(steps) == {"ends": registered.code[5:]}
            await self.passkeys.confirm(begun["ceremony"], registered.code[:4])
            told = await _next(steps)
        assert (told["name"], told["code"]) == (name, registered.code)
        return registered

    async def asks(self, *, high: bool = False, **changes: Any) -> PendingApproval:
        around = Circumstances() if high else Circumstances(allowed=[PYTEST])
        return await self.gate.request(a_seal(self.clock, **changes), around=around)

    async def options(self, asked: PendingApproval, session: bytes = SESSION) -> dict[str, Any]:
        """Open a touch."""
        options = await self.passkeys.approval_options(
            asked.approval_id, asked.digest, session=session, title=TITLE
        )
        await asyncio.sleep(0)  # whatever shows its code has begun
        return options

    async def signs(self, asked: PendingApproval, **wrong: Any) -> dict[str, Any]:
        return self.key.get(await self.options(asked), **wrong)

    async def approves(
        self,
        asked: PendingApproval,
        answer: Any,
        *,
        typed: str = "",
        origin: str = ORIGIN,
        session: bytes = SESSION,
    ) -> None:
        await self.passkeys.approve(
            asked.approval_id, asked.digest, answer, origin=origin, typed=typed, session=session
        )

    async def another_task(self) -> dict[str, Any]:
        names: dict[str, Any] = {"task_id": "task-2", "short_id": "T-2222"}
        await self.db.run(to_waiting, self.db.journal, Wish(**names))
        return names

    async def stored(self, asked: PendingApproval) -> StoredApproval:
        return await self.db.run(self.db.journal.approvals.get, asked.approval_id)

    async def refusal(self, asked: PendingApproval, answer: Any, **facts: Any) -> CodexBridgeError:
        """Return why it was refused, once it is sure that it still waits."""
        with pytest.raises(CodexBridgeError) as caught:
            await self.approves(asked, answer, **facts)
        assert await self.state(asked) == "pending"
        return caught.value

    async def state(self, asked: PendingApproval) -> str:
        return (await self.gate.show(asked.approval_id)).state

    async def audited(self) -> list[tuple[str, dict[str, Any]]]:
        rows = await self.db.run(lambda: list(self.db.journal.audit.entries()))
        found = [loads(body, max_bytes=MAX_ENTRY_BYTES) for _, _, body, _ in rows]
        return [(one["event"], one["facts"]) for one in found if "passkey." in one["event"]]

    async def live(self) -> list[Passkey]:
        return list(await self.db.run(self.db.journal.passkeys.live))


async def _next(steps: AsyncIterator[tuple[bool, Any]]) -> Mapping[str, Any]:
    async with asyncio.timeout(PATIENCE):
        _, told = await anext(steps)
    return told if isinstance(told, dict) else to_json(told)


@pytest.fixture
def page(db: JournalThread, gate: Gate, clock: ManualClock) -> Page:
    return Page(db, gate, clock)


@pytest.fixture
async def ready(page: Page) -> Page:
    """A page for which a passkey was added."""
    await page.adds()
    return page


# --- approving ------------------------------------------------------------------------------


async def test_what_a_passkey_signed_is_approved_and_its_approver_named(ready: Page) -> None:
    asked = await ready.asks()
    await ready.approves(asked, await ready.signs(asked))
    shown = await ready.gate.show(asked.approval_id)
    assert (shown.state, shown.approver) == ("approved", "passkey")
    grant = await ready.gate.take_grant(asked.approval_id, asked.digest)
    assert grant.digest == asked.digest
    (kept,) = await ready.live()
    assert (kept.sign_count, kept.last_used_at) == (1, ready.clock.now().wall_ms)
    used = {"digest": kept.fingerprint, "approval_id": asked.approval_id}
    assert (await ready.audited())[-1] == ("passkey.used", used)


async def test_a_challenge_is_of_one_touch_and_a_person_must_be_verified(ready: Page) -> None:
    asked = await ready.asks()
    challenges = {(await ready.options(asked))["challenge"] for _ in range(3)}
    assert len(challenges) == 3
    assert asked.digest not in {decoded(one).hex() for one in challenges}
    options = await ready.options(asked)
    assert (options["rpId"], options["userVerification"]) == ("localhost", "required")
    assert [decoded(one["id"]) for one in options["allowCredentials"]] == [ready.key.credential_id]
    assert 0 < options["timeout"] <= 120_000
    json.dumps(options)


async def test_one_without_a_counter_approves_again_and_again(page: Page) -> None:
    page.key = Authenticator(counts=False)
    await page.adds()
    for _ in range(2):
        asked = await page.asks()
        await page.approves(asked, await page.signs(asked))
        assert await page.state(asked) == "approved"


@pytest.mark.parametrize(
    "wrong",
    [
        {"flags": UP},
        {"flags": UV},
        {"flags": 0},
        {"flags": UP | UV | AT},  # a credential is promised and none is there
        {"rp_id": "127.0.0.1"},
        {"rp_id": "evil.example"},
        {"rp_id": ""},
        {"type": "webauthn.create"},
        {"type": "payment.get"},
        {"challenge": encoded(b"\0" * 32)},
        {"challenge": ""},
        {"cross_origin": True},
        {"more": {"topOrigin": "https://evil.example"}},
    ],
    ids=str,
)
async def test_what_is_signed_otherwise_is_refused(ready: Page, wrong: dict[str, Any]) -> None:
    asked = await ready.asks()
    error = await ready.refusal(asked, await ready.signs(asked, **wrong))
    assert (type(error), error.code, error.facts) == (AuthError, "passkey.refused", {})
    assert (await ready.live())[0].sign_count == 0


@pytest.mark.parametrize(
    "origin",
    [
        f"http://127.0.0.1:{PORT}",
        f"http://[::1]:{PORT}",
        f"https://localhost:{PORT}",
        f"http://localhost:{PORT + 1}",
        "http://localhost",
        f"http://localhost:{PORT}/",
        f"http://LOCALHOST:{PORT}",
        f"http://localhost.evil.example:{PORT}",
        "https://evil.example",
        "null",
        "",
    ],
)
async def test_another_origin_is_refused(ready: Page, origin: str) -> None:
    asked = await ready.asks()
    error = await ready.refusal(asked, await ready.signs(asked, origin=origin))
    assert error.code == "passkey.refused"
    # Nor may the page's server take a browser's word for what it is itself.
    if origin != f"http://localhost:{PORT + 1}":
        error = await ready.refusal(asked, await ready.signs(asked, origin=origin), origin=origin)
        assert (type(error), error.code) == (LocalProtocolError, "passkey.origin")


async def test_an_answer_for_one_approval_is_none_for_another(ready: Page) -> None:
    first = await ready.asks()
    answer = await ready.signs(first)
    again = await ready.asks()  # the same wish, asked anew: another nonce, another digest
    assert again.seal.payload == first.seal.payload
    assert await ready.state(first) == "superseded"
    assert (await ready.refusal(again, answer)).code == "passkey.no-touch"
    await ready.options(again)
    assert (await ready.refusal(again, answer)).code == "passkey.refused"
    mixed = replace(again, digest=first.digest)
    for asks in (ready.options(mixed), ready.refusal(mixed, answer)):
        with contextlib.suppress(InputError):
            assert (await asks).code == "passkey.no-touch"  # type: ignore[union-attr]


async def test_an_answer_approves_once(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    await ready.approves(asked, answer)
    with pytest.raises(StateError) as caught:
        await ready.approves(asked, answer)
    assert caught.value.code == "passkey.no-touch"


async def test_an_answer_that_comes_twice_at_once_approves_once(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    ends = await asyncio.gather(
        *(ready.approves(asked, answer) for _ in range(4)), return_exceptions=True
    )
    assert ends.count(None) == 1
    assert {one.code for one in ends if isinstance(one, StateError)} == {"passkey.no-touch"}
    # A page that sends twice is no sign of a copy.
    assert [name for name, _ in await ready.audited()] == ["passkey.added", "passkey.used"]


async def test_a_passkey_that_was_never_added_approves_nothing(ready: Page) -> None:
    asked = await ready.asks()
    ready.key = Authenticator()
    assert (await ready.refusal(asked, await ready.signs(asked))).code == "passkey.refused"


async def test_another_key_under_a_known_id_approves_nothing(ready: Page) -> None:
    asked = await ready.asks()
    ready.key = Authenticator(credential_id=ready.key.credential_id)
    assert (await ready.refusal(asked, await ready.signs(asked))).code == "passkey.refused"


async def test_a_passkey_that_was_removed_approves_nothing(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    await ready.passkeys.remove("laptop")
    assert (await ready.refusal(asked, answer)).code == "passkey.refused"
    with pytest.raises(StateError) as caught:
        await ready.options(asked)
    assert caught.value.code == "passkey.none"
    assert (await ready.audited())[-1][0] == "passkey.removed"


@pytest.mark.parametrize("count", [0, 4, 5])
async def test_a_counter_that_does_not_go_on_is_refused_and_audited(
    ready: Page, count: int
) -> None:
    ready.key.count = 4
    first = await ready.asks()
    await ready.approves(first, await ready.signs(first))
    asked = await ready.asks()
    error = await ready.refusal(asked, await ready.signs(asked, count=count))
    assert (type(error), error.code, error.facts) == (AuthError, "passkey.refused", {})
    (kept,) = await ready.live()
    assert kept.sign_count == 5
    cloned = {"digest": kept.fingerprint, "approval_id": asked.approval_id}
    assert (await ready.audited())[-1] == ("passkey.cloned", cloned)
    await ready.approves(asked, await ready.signs(asked))


@pytest.mark.requirement("R29")
async def test_high_risk_takes_a_one_time_code_that_only_the_display_shows(ready: Page) -> None:
    asked = await ready.asks(high=True)
    answer = await ready.signs(asked)
    ((shown, over),) = ready.shown
    assert (shown.task, shown.title, shown.code) == (asked.short_id, TITLE, asked.code)
    assert re.fullmatch("[0-9A-HJKMNP-TV-Z]{6}", shown.once)
    # The fingerprint is on the page: it is no secret, and no second factor.
    for typed, left in ((asked.code, 2), (asked.code[:4], 1)):
        error = await ready.refusal(asked, answer, typed=typed)
        assert (error.code, error.facts) == ("passkey.wrong-once", {"left": left})
    assert not over.is_set()
    await ready.approves(asked, answer, typed=f" {shown.once[:3].lower()}-{shown.once[3:]} ")
    assert await ready.state(asked) == "approved"
    assert over.is_set()
    assert [name for name, _ in await ready.audited()] == ["passkey.added", "passkey.used"]
    assert shown.once.encode() not in await ready.db.run(_everything, ready.db)


def _everything(db: JournalThread) -> bytes:
    base = db.journal.approvals._db
    tables = base.all("SELECT name FROM sqlite_master WHERE type = 'table'")
    rows = (row for (name,) in tables for row in base.all(f"SELECT * FROM {name}"))  # noqa: S608
    return b"".join(v if isinstance(v, bytes) else str(v).encode() for row in rows for v in row)


async def test_three_wrong_codes_spend_the_touch(ready: Page) -> None:
    asked = await ready.asks(high=True)
    answer = await ready.signs(asked)
    ((shown, over),) = ready.shown
    tries = [await ready.refusal(asked, answer, typed=typed) for typed in ("", "000000", "é" * 6)]
    assert [error.code for error in tries] == [
        "passkey.wrong-once",
        "passkey.wrong-once",
        "passkey.no-touch",
    ]
    assert over.is_set()
    assert (await ready.refusal(asked, answer, typed=shown.once)).code == "passkey.no-touch"
    again = await ready.signs(asked)
    assert ready.shown[-1][0].once != shown.once
    # Nor does the code of an older touch, for the same approval, open a newer one.
    assert (await ready.refusal(asked, again, typed=shown.once)).code == "passkey.wrong-once"
    await ready.approves(asked, again, typed=ready.shown[-1][0].once)


async def test_a_code_is_for_one_approval(ready: Page) -> None:
    first, other = (
        await ready.asks(high=True),
        await ready.asks(high=True, **await ready.another_task()),
    )
    answer = await ready.signs(other)
    assert [shown.task for shown, _ in ready.shown] == [other.short_id]
    # A script that turned the touch to another task: the display named that one.
    once = ready.shown[0][0].once
    assert (await ready.refusal(first, answer, typed=once)).code == "passkey.no-touch"
    assert (await ready.refusal(other, answer, typed=once)).code == "passkey.no-touch"


async def test_without_a_display_nothing_of_high_risk_is_signed(ready: Page) -> None:
    high, normal = await ready.asks(high=True), await ready.asks(**await ready.another_task())
    ready.windows.turn_off("no-screen")
    with pytest.raises(StateError) as caught:
        await ready.options(high)
    assert caught.value.code == "passkey.no-display"
    assert (await ready.passkeys.listed()).codes_in == ""
    await ready.approves(normal, await ready.signs(normal))
    async with aclosing(ready.passkeys.touches.codes()) as codes:  # type: ignore[type-var]  # an async generator
        waiting = asyncio.ensure_future(_next(codes))
        await asyncio.sleep(0)
        assert (await ready.passkeys.listed()).codes_in == "terminal"
        ready.windows.turn_on(lambda _approval_id: None, ready._show_code)
        answer = await ready.signs(high)
        shown = await waiting
        assert not ready.shown  # one place is enough
        await ready.approves(high, answer, typed=shown["once"])
    assert (await ready.passkeys.listed()).codes_in == "window"


async def test_codes_are_drawn_so_often_and_no_more(ready: Page) -> None:
    asked = await ready.asks(high=True)
    for _ in range(CODES):
        await ready.options(asked)
    assert [over.is_set() for _, over in ready.shown] == [True] * (CODES - 1) + [False]
    with pytest.raises(InputError) as caught:
        await ready.options(asked)
    assert caught.value.code == "approval.paused"
    ready.clock.advance(601)
    await ready.options(asked)


# --- one touch ------------------------------------------------------------------------------


@pytest.mark.requirement("P6")
async def test_what_was_signed_is_kept_and_proves_which_digest(ready: Page) -> None:
    asked = await ready.asks()
    await ready.approves(asked, await ready.signs(asked))
    stored = await ready.stored(asked)
    record = loads(stored.assertion or b"", max_bytes=10_000)
    (kept,) = await ready.live()
    assert (record["passkey"], decode_bytes(record["session"])) == (kept.fingerprint, SESSION)
    check_assertion(record, asked.digest)
    with pytest.raises(AuthError):
        check_assertion(record, "0" * 64)
    for name in record:
        changed = record | {name: _turned(record[name])}
        if name != "passkey":  # which one it was is the machine's word
            with pytest.raises(AuthError):
                check_assertion(changed, asked.digest)
    assert hashlib.sha256(stored.assertion or b"").hexdigest().encode() in (stored.statement or b"")


def _turned(text: str) -> str:
    return ("B" if text[0] != "B" else "C") + text[1:]


async def test_a_touch_is_spent_whether_it_verifies_or_not(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    assert (await ready.refusal(asked, {})).code == "passkey.refused"
    assert (await ready.refusal(asked, answer)).code == "passkey.no-touch"


async def test_a_touch_is_of_the_session_that_asked(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    other = b"\2" * 32
    assert (await ready.refusal(asked, answer, session=other)).code == "passkey.no-touch"
    await ready.options(asked, other)
    assert (await ready.refusal(asked, answer, session=other)).code == "passkey.refused"
    await ready.approves(asked, answer)


async def test_a_session_has_one_touch_at_a_time(ready: Page) -> None:
    first, other = await ready.asks(), await ready.asks(**await ready.another_task())
    answer = await ready.signs(first)
    await ready.options(other)
    assert (await ready.refusal(first, answer)).code == "passkey.no-touch"


@pytest.mark.parametrize("clocks", ["both", "wall", "monotonic"])
async def test_a_touch_ends_after_three_minutes(ready: Page, clocks: str) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    if clocks == "wall":
        ready.clock.jump_wall(TOUCH_SECONDS)
    else:
        ready.clock.advance(TOUCH_SECONDS)
    if clocks == "monotonic":
        ready.clock.jump_wall(-TOUCH_SECONDS)
    assert (await ready.refusal(asked, answer)).code == "passkey.no-touch"


async def test_touches_are_bounded(ready: Page) -> None:
    asked = await ready.asks()
    answers = {}
    for number in range(MOST + 1):
        session = number.to_bytes(32, "big")
        answers[session] = ready.key.get(await ready.options(asked, session))
    (oldest, answer), *_ = answers.items()
    assert (await ready.refusal(asked, answer, session=oldest)).code == "passkey.no-touch"
    session, answer = list(answers.items())[-1]
    await ready.approves(asked, answer, session=session)


@pytest.mark.requirement("P1")
async def test_nothing_is_approved_while_approvals_are_blocked(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    with ready.gate.block("T-1234 runs without a sandbox"):
        assert (await ready.refusal(asked, answer)).code == "approval.blocked"


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("approver", "of", "code"),
    [
        ("passkey", None, "approval.decision"),
        ("passkey", "another", "passkey.refused"),
        ("terminal", "this", "approval.decision"),
    ],
)
async def test_the_gate_takes_a_passkey_for_what_it_signed_and_nothing_else(
    ready: Page, approver: Approver, of: str | None, code: str
) -> None:
    asked = await ready.asks()
    digest = asked.digest if of == "this" else "0" * 64
    with pytest.raises(CodexBridgeError) as caught:
        await ready.gate.entrance(approver).decide(
            asked.approval_id,
            asked.digest,
            decision="approve",
            typed=asked.code,
            assertion=assertion(digest) if of else None,
        )
    assert caught.value.code == code
    assert await ready.state(asked) == "pending"


async def test_a_passkey_never_rejects(ready: Page) -> None:
    asked = await ready.asks()
    with pytest.raises(InputError) as caught:
        await ready.gate.entrance("passkey").decide(
            asked.approval_id, asked.digest, decision="reject", typed=asked.code
        )
    assert caught.value.code == "approval.decision"
    assert await ready.state(asked) == "pending"


async def test_what_expired_meanwhile_is_not_approved(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    ready.clock.advance(86_400)
    with pytest.raises(StateError) as caught:
        await ready.options(asked)
    assert caught.value.code == "approval.expired"
    with pytest.raises(StateError) as caught:
        await ready.approves(asked, answer)
    assert caught.value.code == "passkey.no-touch"
    assert await ready.state(asked) == "expired"


async def test_a_wall_clock_that_was_set_back_brings_nothing_to_life(ready: Page) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    ready.clock.advance(86_400)
    ready.clock.jump_wall(-86_400)
    with pytest.raises(StateError) as caught:
        await ready.approves(asked, answer)
    assert caught.value.code == "passkey.no-touch"
    with pytest.raises(StateError) as caught:
        await ready.approves(asked, await ready.signs(asked))
    assert caught.value.code == "approval.expired"


async def test_what_was_narrowed_or_withdrawn_meanwhile_is_not_approved(ready: Page) -> None:
    narrowed = await ready.asks()
    answer = await ready.signs(narrowed)
    asked = await ready.asks(base={"pyproject.toml": "absent"})
    with pytest.raises(StateError) as caught:
        await ready.approves(narrowed, answer)
    assert caught.value.code == "approval.not-pending"
    answer = await ready.signs(asked)
    await ready.gate.withdraw(asked.task_id)
    with pytest.raises(StateError) as caught:
        await ready.approves(asked, answer)
    assert caught.value.code == "approval.not-pending"


@pytest.mark.requirement("R24")
async def test_stored_bytes_that_were_changed_are_neither_signed_nor_approved(
    ready: Page,
) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    other = a_seal(ready.clock, approval_id=asked.approval_id, nonce="other")
    await ready.db.run(_swap, ready.db, other, asked)
    for call in (ready.approves(asked, answer), ready.options(asked)):
        with pytest.raises(AuthError) as caught:
            await call
        assert caught.value.code == "approval.changed"


def _swap(db: JournalThread, other: Any, asked: PendingApproval) -> None:
    from local_agent.actions.registry import seal_bytes

    base = db.journal.approvals._db
    base.run("DROP TRIGGER IF EXISTS approvals_seal_remains")
    for (name,) in base.all("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        base.run(f"DROP TRIGGER {name}")
    raw = seal_bytes(other)
    base.run("UPDATE approvals SET seal = ? WHERE approval_id = ?", raw, asked.approval_id)


# --- what is too large, garbled or missing ----------------------------------------------------


@pytest.mark.parametrize("field", ["clientDataJSON", "authenticatorData", "signature"])
async def test_a_response_with_a_garbled_field_is_refused(ready: Page, field: str) -> None:
    asked = await ready.asks()
    for value in [*GARBLED, encoded(b"{}"), encoded(b"\xff" * 37), encoded(b"[" * 3000)]:
        answer = await ready.signs(asked)
        changed = answer | {"response": answer["response"] | {field: value}}
        assert (await ready.refusal(asked, changed)).code == "passkey.refused", value
    answer = await ready.signs(asked)
    missing = {name: one for name, one in answer["response"].items() if name != field}
    assert (await ready.refusal(asked, answer | {"response": missing})).code == "passkey.refused"
    await ready.approves(asked, await ready.signs(asked))  # it was this field and nothing else


@pytest.mark.parametrize("field", ["id", "rawId", "type", "response"])
async def test_an_answer_with_a_garbled_field_is_refused(ready: Page, field: str) -> None:
    asked = await ready.asks()
    for value in GARBLED:
        changed = await ready.signs(asked) | {field: value}
        assert (await ready.refusal(asked, changed)).code == "passkey.refused", value
        answer = await ready.signs(asked)
        if field.endswith("d"):
            changed = answer | {"id": value, "rawId": value}
            assert (await ready.refusal(asked, changed)).code == "passkey.refused", value
    answer = await ready.signs(asked)
    del answer[field]
    assert (await ready.refusal(asked, answer)).code == "passkey.refused"


async def test_what_is_no_answer_at_all_is_refused(ready: Page) -> None:
    asked = await ready.asks()
    for answer in [*GARBLED, "{}", json.dumps(await ready.signs(asked))]:
        await ready.options(asked)
        assert (await ready.refusal(asked, answer)).code == "passkey.refused"


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ({"more": {"pad": "x" * 2800}}, {"more": {"pad": "x" * 3200}}),
        (
            {"extensions": cbor2.dumps({"a": b"x" * 99})},
            {"extensions": cbor2.dumps({"a": b"x" * 1600})},
        ),
    ],
    ids=["clientDataJSON", "authenticatorData"],
)
async def test_what_is_signed_and_too_large_is_refused(
    ready: Page, small: dict[str, Any], large: dict[str, Any]
) -> None:
    asked = await ready.asks()
    assert (await ready.refusal(asked, await ready.signs(asked, **large))).code == "passkey.refused"
    await ready.approves(asked, await ready.signs(asked, **small))


async def test_each_value_has_one_spelling(ready: Page) -> None:
    ready.key = Authenticator(credential_id=b"\1" * 20)
    await ready.adds(ready.key, "short")
    asked = await ready.asks()
    answer = await ready.signs(asked, more={"pad": ""})
    odd = [name for name, text in answer["response"].items() if len(text) % 4]
    assert "authenticatorData" in odd
    for name in odd:
        answer = await ready.signs(asked, more={"pad": ""})
        spelled = answer["response"] | {"signature": answer["response"]["signature"]}
        if len(spelled[name]) % 4:  # a signature has no fixed size
            spelled[name] = _spelled_otherwise(spelled[name])
            error = await ready.refusal(asked, answer | {"response": spelled})
            assert error.code == "passkey.refused"
    answer = await ready.signs(asked)
    other = _spelled_otherwise(answer["rawId"])
    error = await ready.refusal(asked, answer | {"id": other, "rawId": other})
    assert error.code == "passkey.refused"
    await ready.approves(asked, await ready.signs(asked))


def _spelled_otherwise(text: str) -> str:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    other = text[:-1] + alphabet[alphabet.index(text[-1]) + 1]  # a bit that stands for nothing
    assert decoded(other) == decoded(text)
    return other


async def test_one_byte_changed_anywhere_is_refused(ready: Page) -> None:
    asked = await ready.asks()
    sizes = {
        one: len(decoded(text)) for one, text in (await ready.signs(asked))["response"].items()
    }
    for field, size in sizes.items():
        for at in range(0, size - 2, 7):  # a signature may be two bytes shorter
            answer = await ready.signs(asked)
            raw = decoded(answer["response"][field])
            flipped = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
            changed = answer | {"response": answer["response"] | {field: encoded(flipped)}}
            assert (await ready.refusal(asked, changed)).code == "passkey.refused", (field, at)


@pytest.mark.parametrize("typed", [None, 7, "A" * 65, "A" * 3_000_000])
async def test_what_was_typed_is_bounded(ready: Page, typed: Any) -> None:
    asked = await ready.asks()
    error = await ready.refusal(asked, await ready.signs(asked), typed=typed)
    assert error.code == "passkey.refused"


@pytest.mark.parametrize(
    "named",
    [
        {"approval_id": None},
        {"approval_id": ""},
        {"approval_id": "T-7K3F' --"},
        {"approval_id": "a" * 65},
        {"digest": None},
        {"digest": ""},
        {"digest": "0" * 63},
        {"digest": "G" * 64},
        {"digest": "0" * 3_000_000},
    ],
    ids=lambda named: str(named)[:40],
)
async def test_names_of_no_approval_are_refused(ready: Page, named: dict[str, Any]) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    other = replace(asked, **named)
    for call in (ready.approves(other, answer), ready.options(other)):
        with pytest.raises(AuthError) as caught:
            await call
        assert caught.value.code == "passkey.refused"


async def test_no_error_tells_what_an_authenticator_said(
    ready: Page, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked, flags=UP)
    error = await ready.refusal(asked, answer)
    said = f"{error!r} {error} {error.__cause__} {error.__suppress_context__}"
    printed = said + caplog.text + "".join(capfd.readouterr())
    assert not any(text in printed for text in (*answer["response"].values(), answer["rawId"]))


# --- adding -----------------------------------------------------------------------------------


async def test_a_passkey_is_kept_once_its_code_was_typed_and_not_before(page: Page) -> None:
    async with aclosing(page.passkeys.add(" laptop ")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        assert begun["url"] == LINK
        assert page.launched == ["passkey"]
        registered = await page.registers()
        named = fingerprint(page.key.credential_id, page.key.public_key)
        assert registered == Registered("laptop", short_code(named))
        # The terminal is not told what is to be typed there: it stands on the page.
        assert await _next(steps) == {"ends": registered.code[5:]}
        assert await page.live() == []
        page.clock.advance(5)
        await page.passkeys.confirm(begun["ceremony"], registered.code[:4].lower())
        told = await _next(steps)
    at = page.clock.now().wall_ms
    assert told == {"name": "laptop", "code": registered.code, "created_at": at} | {
        "last_used_at": None
    }
    (kept,) = await page.live()
    assert (kept.credential_id, kept.public_key) == (page.key.credential_id, page.key.public_key)
    assert (kept.name, kept.created_at, kept.sign_count) == ("laptop", at, 0)
    assert kept.aaguid == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert await page.audited() == [("passkey.added", {"digest": named})]


async def test_the_browser_is_asked_for_a_verified_person_and_no_attestation(page: Page) -> None:
    await page.adds(Authenticator(), "other")
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        first, again = [await page.passkeys.registration_options() for _ in range(2)]
    assert first["rp"]["id"] == "localhost"
    assert first["user"]["name"] == "laptop"
    assert first["authenticatorSelection"]["userVerification"] == "required"
    assert first["attestation"] == "none"
    assert len(first["excludeCredentials"]) == 1
    assert first["challenge"] != again["challenge"]
    assert first["user"]["id"] != again["user"]["id"]
    assert len(decoded(first["challenge"])) == 32
    json.dumps(first)


async def test_without_a_ceremony_nothing_is_registered(page: Page) -> None:
    with pytest.raises(StateError) as caught:
        await page.passkeys.registration_options()
    assert caught.value.code == "passkey.no-ceremony"
    answer = page.key.create({"challenge": encoded(b"\0" * 32)})
    with pytest.raises(StateError) as caught:
        await page.passkeys.finish_registration(answer, ORIGIN)
    assert caught.value.code == "passkey.no-ceremony"
    with pytest.raises(StateError) as caught:
        await page.passkeys.confirm("", "0000")
    assert caught.value.code == "passkey.no-ceremony"


async def test_what_the_page_does_alone_adds_nothing(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        registered = await page.registers()
        await _next(steps)
        # It knows the code, and not the terminal's name for the ceremony.
        for token in ("", "0" * 32, LINK):
            with pytest.raises(StateError) as caught:
                await page.passkeys.confirm(token, registered.code)
            assert caught.value.code == "passkey.no-ceremony"
    assert await page.live() == []
    assert await page.audited() == []


async def test_a_second_registration_in_one_ceremony_is_refused(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        registered = await page.registers()
        for call in (page.passkeys.registration_options(), page.registers(Authenticator())):
            with pytest.raises(StateError) as caught:
                await call
            assert caught.value.code == "passkey.no-ceremony"
        await _next(steps)
        await page.passkeys.confirm(begun["ceremony"], registered.code[:4])
        with pytest.raises(StateError) as caught:
            await page.passkeys.confirm(begun["ceremony"], registered.code[:4])
        assert caught.value.code == "passkey.no-ceremony"
        await _next(steps)
    assert [one.credential_id for one in await page.live()] == [page.key.credential_id]


async def test_of_two_registrations_at_once_one_is_taken(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        options = await page.passkeys.registration_options()
        keys = [Authenticator() for _ in range(3)]
        ends = await asyncio.gather(
            *(page.passkeys.finish_registration(key.create(options), ORIGIN) for key in keys),
            return_exceptions=True,
        )
    assert sum(isinstance(one, Registered) for one in ends) == 1
    assert {type(one) for one in ends} <= {Registered, StateError, AuthError}


class Hold:
    """Keeps the first registration in its verification until it is told to go on."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, answer: object, **facts: Any) -> NewCredential:
        """Verify, in a thread as always."""
        if not self.begun.is_set():
            self.begun.set()
            assert self.go_on.wait(PATIENCE)
        return verify_registration(answer, **facts)


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Hold:
    held = Hold()
    monkeypatch.setattr("local_agent.faces.page.passkeys.verify_registration", held)
    return held


async def test_one_that_is_still_being_verified_is_too_late_after_another(
    page: Page, hold: Hold
) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        slow = asyncio.ensure_future(page.registers(Authenticator()))
        assert await asyncio.to_thread(hold.begun.wait, PATIENCE)
        registered = await page.registers()
        hold.go_on.set()
        with pytest.raises(StateError) as caught:
            await slow
        assert caught.value.code == "passkey.no-ceremony"
        assert await _next(steps) == {"ends": registered.code[5:]}


async def test_one_of_an_older_ceremony_is_none_of_the_next(page: Page, hold: Hold) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        slow = asyncio.ensure_future(page.registers(Authenticator()))
        assert await asyncio.to_thread(hold.begun.wait, PATIENCE)
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        hold.go_on.set()
        with pytest.raises(StateError) as caught:
            await slow
        assert caught.value.code == "passkey.no-ceremony"
        registered = await page.registers()
        assert await _next(steps) == {"ends": registered.code[5:]}


@pytest.mark.parametrize("origin", ["https://evil.example", f"http://127.0.0.1:{PORT}", "null"])
async def test_a_server_that_passes_a_browsers_origin_registers_nothing(
    page: Page, origin: str
) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        answer = page.key.create(await page.passkeys.registration_options(), origin=origin)
        with pytest.raises(LocalProtocolError) as caught:
            await page.passkeys.finish_registration(answer, origin)
        assert caught.value.code == "passkey.origin"


@pytest.mark.parametrize("fmt", ["tpm", "android-safetynet", "android-key", "apple", "fido-u2f"])
async def test_attestations_with_certificates_are_refused_unread(
    page: Page, monkeypatch: pytest.MonkeyPatch, fmt: str
) -> None:
    read: list[Any] = []
    monkeypatch.setattr("webauthn.verify_registration_response", lambda **facts: read.append(facts))
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        with pytest.raises(AuthError):
            await page.registers(fmt=fmt)
    assert read == []


async def test_an_answer_is_good_for_one_challenge_and_a_challenge_for_one_answer(
    page: Page,
) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        stale = page.key.create(await page.passkeys.registration_options())
        await page.passkeys.registration_options()
        for _ in range(2):  # the second time there is no challenge left at all
            with pytest.raises(AuthError) as caught:
                await page.passkeys.finish_registration(stale, ORIGIN)
            assert caught.value.code == "passkey.refused"
        options = await page.passkeys.registration_options()
        with pytest.raises(AuthError):
            await page.passkeys.finish_registration(page.key.create(options, flags=UP), ORIGIN)
        with pytest.raises(AuthError):
            await page.passkeys.finish_registration(page.key.create(options), ORIGIN)
        await page.registers()  # asked again, it may be tried again


@pytest.mark.parametrize("typed", ["", "0000", "not the code", "9" * 500])
async def test_a_wrong_code_three_times_ends_the_ceremony(page: Page, typed: str) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        registered = await page.registers()
        await _next(steps)
        for left in (2, 1):
            with pytest.raises(InputError) as wrong:
                await page.passkeys.confirm(begun["ceremony"], typed)
            assert (wrong.value.code, wrong.value.facts) == ("passkey.wrong-code", {"left": left})
        for code, said in (
            ("passkey.not-accepted", typed),
            ("passkey.no-ceremony", registered.code),
        ):
            with pytest.raises(StateError) as caught:
                await page.passkeys.confirm(begun["ceremony"], said)
            assert caught.value.code == code
        with pytest.raises(StateError) as caught:
            await _next(steps)
        assert caught.value.code == "passkey.not-accepted"
    assert await page.live() == []
    await page.adds()  # and another can begin


async def test_the_second_group_that_the_terminal_shows_is_not_the_code(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        await page.registers()
        ends = (await _next(steps))["ends"]
        with pytest.raises(InputError) as caught:
            await page.passkeys.confirm(begun["ceremony"], ends)
        assert caught.value.code == "passkey.wrong-code"


async def test_a_terminal_that_goes_away_ends_the_ceremony(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        registered = await page.registers()
    with pytest.raises(StateError) as caught:
        await page.passkeys.confirm(begun["ceremony"], registered.code)
    assert caught.value.code == "passkey.no-ceremony"
    with pytest.raises(StateError) as caught:
        await page.passkeys.registration_options()
    assert caught.value.code == "passkey.no-ceremony"
    assert await page.live() == []


async def test_one_ceremony_at_a_time(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        with pytest.raises(StateError) as caught:
            await _next(page.passkeys.add("other"))
        assert caught.value.code == "passkey.busy"
        await page.registers()


@pytest.mark.parametrize("clocks", ["both", "wall", "monotonic"])
async def test_a_ceremony_is_over_after_ten_minutes(page: Page, clocks: str) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        options = await page.passkeys.registration_options()
        registered = await page.passkeys.finish_registration(page.key.create(options), ORIGIN)
        if clocks == "wall":
            page.clock.jump_wall(CEREMONY_SECONDS)
        else:
            page.clock.advance(CEREMONY_SECONDS)
        if clocks == "monotonic":
            page.clock.jump_wall(-CEREMONY_SECONDS)
        with pytest.raises(StateError) as caught:
            await page.passkeys.confirm(begun["ceremony"], registered.code)
        assert caught.value.code == "passkey.no-ceremony"
        await _next(steps)
        with pytest.raises(StateError) as caught:
            await _next(steps)
        assert caught.value.code == "passkey.timed-out"
    assert await page.live() == []


async def test_what_was_accepted_in_time_is_told_as_added(page: Page) -> None:
    disk_is_slow = threading.Event()
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        registered = await page.registers()
        await _next(steps)
        waits = asyncio.ensure_future(page.db.run(disk_is_slow.wait, PATIENCE))
        confirming = asyncio.ensure_future(
            page.passkeys.confirm(begun["ceremony"], registered.code)
        )
        await asyncio.sleep(0)
        page.clock.advance(CEREMONY_SECONDS)
        told = asyncio.ensure_future(_next(steps))
        await asyncio.wait({told}, timeout=0.05)
        disk_is_slow.set()
        assert (await told)["name"] == "laptop"
        await asyncio.gather(waits, confirming)


async def test_without_options_nothing_is_registered(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        answer = page.key.create({"challenge": encoded(b"\0" * 32)})
        with pytest.raises(AuthError) as caught:
            await page.passkeys.finish_registration(answer, ORIGIN)
        assert caught.value.code == "passkey.refused"


async def test_a_page_that_comes_too_late_registers_nothing(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        options = await page.passkeys.registration_options()
        page.clock.advance(CEREMONY_SECONDS)
        for call in (
            page.passkeys.registration_options(),
            page.passkeys.finish_registration(page.key.create(options), ORIGIN),
        ):
            with pytest.raises(StateError) as caught:
                await call
            assert caught.value.code == "passkey.no-ceremony"
        with pytest.raises(StateError) as caught:
            await _next(steps)
        assert caught.value.code == "passkey.timed-out"


@pytest.mark.parametrize(
    "wrong",
    [
        {"flags": UP | AT},
        {"flags": UV | AT},
        {"flags": UP | UV},  # what follows is not announced
        {"rp_id": "evil.example"},
        {"origin": f"http://127.0.0.1:{PORT}"},
        {"origin": f"https://localhost:{PORT}"},
        {"origin": "https://evil.example"},
        {"type": "webauthn.get"},
        {"challenge": encoded(b"\0" * 32)},
        {"cross_origin": True},
        {"fmt": "tpm"},
        {"fmt": "android-safetynet"},
        {"fmt": "packed"},  # without the signature that this form has
        {"fmt": ["none"]},
        {"public_key": b""},
        {"public_key": cbor2.dumps({1: 2, 3: -7, -1: 1, -2: b"\1" * 32, -3: b"\1" * 32})},
        {"public_key": cbor2.dumps({1: 2, 3: -36, -1: 3, -2: b"\1" * 66, -3: b"\1" * 66})},
        {"public_key": cbor2.dumps({1: 2, 3: -7})},
        {"public_key": cbor2.dumps("key")},
    ],
    ids=lambda wrong: str(wrong)[:40],
)
async def test_what_is_registered_otherwise_is_refused(page: Page, wrong: dict[str, Any]) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        with pytest.raises(AuthError) as caught:
            await page.registers(**wrong)
        assert (caught.value.code, caught.value.facts) == ("passkey.refused", {})


@pytest.mark.parametrize("field", ["clientDataJSON", "attestationObject"])
async def test_a_registration_with_a_garbled_field_is_refused(page: Page, field: str) -> None:
    nested = encoded(b"\x81" * 9000)  # arrays in arrays, in CBOR
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        for value in [*GARBLED, encoded(b"{}"), encoded(b"\xa0"), nested, encoded(b"\xbf" * 99)]:
            answer = page.key.create(await page.passkeys.registration_options())
            answer["response"][field] = value
            with pytest.raises(AuthError) as caught:
                await page.passkeys.finish_registration(answer, ORIGIN)
            assert caught.value.code == "passkey.refused"


async def test_a_registration_under_another_id_is_refused(page: Page) -> None:
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        await _next(steps)
        answer = page.key.create(await page.passkeys.registration_options())
        other = encoded(b"\1" * 32)
        with pytest.raises(AuthError) as caught:
            await page.passkeys.finish_registration(answer | {"id": other, "rawId": other}, ORIGIN)
        assert caught.value.code == "passkey.refused"


async def test_one_that_was_removed_does_not_come_back(page: Page) -> None:
    await page.adds()
    await page.passkeys.remove("laptop")
    async with aclosing(page.passkeys.add("laptop")) as steps:  # type: ignore[type-var]  # an async generator
        begun = await _next(steps)
        registered = await page.registers()
        await _next(steps)
        with pytest.raises(InputError) as known:
            await page.passkeys.confirm(begun["ceremony"], registered.code)
        assert known.value.code == "passkey.known"
        with pytest.raises(StateError) as caught:
            await _next(steps)
        assert caught.value.code == "passkey.not-accepted"
    assert await page.live() == []
    await page.adds(Authenticator())


@pytest.mark.parametrize("name", ["", "  ", "a" * 41, "a\nb", "a\u202eb", "a\x1b[1m", "\u200b"])
async def test_a_name_that_cannot_be_shown_is_refused(page: Page, name: str) -> None:
    with pytest.raises(InputError) as caught:
        await _next(page.passkeys.add(name))
    assert caught.value.code == "passkey.name"


async def test_a_name_is_taken_once_until_its_passkey_is_removed(page: Page) -> None:
    await page.adds(name="笔记本")
    with pytest.raises(InputError) as caught:
        await _next(page.passkeys.add("笔记本"))
    assert caught.value.code == "passkey.name-taken"
    await page.passkeys.remove("笔记本")
    with pytest.raises(InputError) as caught:
        await page.passkeys.remove("笔记本")
    assert caught.value.code == "passkey.unknown"
    await page.adds(Authenticator(), name="笔记本")
    (told,) = (await page.passkeys.listed()).passkeys
    assert told.name == "笔记本"


async def test_without_a_page_none_can_be_added(page: Page) -> None:
    page.passkeys.launch = None
    with pytest.raises(UnavailableError) as caught:
        await _next(page.passkeys.add("laptop"))
    assert caught.value.code == "passkey.no-page"


async def test_a_page_that_fails_ends_the_ceremony(page: Page) -> None:
    async def fail(*, purpose: str) -> str:
        raise UnavailableError("passkey.no-page", purpose=purpose)

    works, page.passkeys.launch = page.passkeys.launch, fail
    with pytest.raises(UnavailableError):
        await _next(page.passkeys.add("laptop"))
    page.passkeys.launch = works
    await page.adds()


async def test_without_the_library_it_is_said_how_to_get_it(
    ready: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = await ready.asks()
    answer = await ready.signs(asked)
    monkeypatch.setitem(sys.modules, "webauthn", None)
    for call in (
        _next(ready.passkeys.add("other")),
        ready.approves(asked, answer),
        ready.options(asked),
    ):
        with pytest.raises(ConfigError) as caught:
            await call
        assert caught.value.code == "passkey.not-installed"
