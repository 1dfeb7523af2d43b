"""What can be asked about passkeys over the control socket."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

import pytest

from common.errors import InputError, RemoteProtocolError, UnavailableError
from local_agent.faces.control.wire import OPS, Request
from tests.passkey_desk import ORIGIN, Authenticator
from tests.unit.local_agent.faces.control.conftest import Desk

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("R31")]


async def launch(*, purpose: str) -> str:
    return f"{ORIGIN}/launch/{purpose}"


async def test_a_passkey_is_added_listed_and_removed(desk: Desk) -> None:
    desk.passkeys.launch = launch
    assert (await desk.ask("passkeys"))["passkeys"] == []
    request = Request("passkey_add", {"name": "laptop"})
    async with aclosing(desk.operations.answer(request)) as answers:  # type: ignore[type-var]  # an async generator
        last, begun = await anext(answers)
        assert isinstance(begun, dict)
        assert (last, begun["url"]) == (False, f"{ORIGIN}/launch/passkey")
        answer = Authenticator().create(await desk.passkeys.registration_options())
        registered = await desk.passkeys.finish_registration(answer, ORIGIN)
        assert await anext(answers) == (False, {"ends": registered.code[5:]})
        wrong: dict[str, Any] = {"ceremony": begun["ceremony"], "typed": "0000"}
        with pytest.raises(InputError) as caught:
            await desk.ask("passkey_confirm", **wrong)
        assert caught.value.code == "passkey.wrong-code"
        await desk.ask("passkey_confirm", **wrong | {"typed": registered.code[:4]})
        last, _ = await anext(answers)
        assert last
    (told,) = (await desk.ask("passkeys"))["passkeys"]
    assert (told["name"], told["code"]) == ("laptop", registered.code)
    assert await desk.ask("passkey_remove", name="laptop") == {}
    assert (await desk.ask("passkeys"))["passkeys"] == []


async def test_without_a_page_none_is_added(desk: Desk) -> None:
    with pytest.raises(UnavailableError) as caught:
        await desk.ask("passkey_add", name="laptop")
    assert caught.value.code == "passkey.no-page"


@pytest.mark.parametrize("op", ["passkey_add", "passkey_confirm", "passkey_remove"])
async def test_arguments_are_checked(desk: Desk, op: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        await desk.ask(op, name=7, ceremony=7, typed=7)
    assert caught.value.code == "control.malformed"


def test_no_operation_registers_or_approves_by_passkey() -> None:
    named = {op for op in OPS if "passkey" in op}
    assert named == {
        "passkey_add",
        "passkey_codes",
        "passkey_confirm",
        "passkey_remove",
        "passkeys",
    }
