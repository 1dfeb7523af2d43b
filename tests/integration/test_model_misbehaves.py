"""A model's service that misbehaves: one truthful error within the deadline, whatever it does."""

from __future__ import annotations

import asyncio
import logging
import ssl
import traceback
import tracemalloc
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from common.sentences import explain
from local_agent.error_texts import ERRORS
from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.client import MAX_RECEIVED_BYTES
from local_agent.models.http.config import Api
from tests import model_script as script
from tests.http_models import APIS, KEY, Asked, asking, scripted
from tests.memory_scratch import MemoryScratch
from tests.model_server import ModelServer, started

DEADLINE_S = 8.0
IDLE_S = 0.3
LATE_S = 1.0  # from the deadline until the error is there
HELD_BYTES = 4 * MAX_ANSWER_BYTES  # at most, with every copy that is made on the way

every_api = pytest.mark.parametrize("api", APIS)
every_way = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])

MISBEHAVIOUR = {
    "endless-line": (script.endless("line"), "too-large"),
    "endless-event": (script.endless("data"), "too-large"),
    "endless-text": (script.endless("text"), "too-large"),
    "hang": (script.hang(), "stalled"),
    "garbage": (script.garbage(), "answer"),
    "cut": (script.cut("some words of an answer"), "cut"),
    "cut-cleanly": (script.cut("some words of an answer", cleanly=True), "cut"),
    "401": (script.status(401, code="invalid_api_key"), "key"),
    "403": (script.status(403), "key"),
    "402": (script.status(402), "quota"),
    "no-quota": (script.status(429, code="insufficient_quota"), "quota"),
    "404": (script.status(404), "not-found"),
    "400": (script.status(400, code="invalid_request_error"), "request"),
    "429": (script.status(429, retry_after="0"), "busy"),
    "500": (script.status(500), "server"),
    "overflow": (script.overflow(), "context"),
    "redirect": (script.redirect("https://elsewhere.example/v1"), "request"),
    "failed": (script.failed("server_error"), "server"),
    "too-long": (script.incomplete("some", "max_output_tokens"), "cut"),
    "filtered": (script.incomplete("some", "content_filter"), "declined"),
    "declined": (script.refusal("I will not"), "declined"),
    "packed": (script.bomb(), "answer"),
    "a-page": (script.raw("<html>log in</html>", content_type="text/html"), "answer"),
    "flooded-400": (script.flooded_status(400), "request"),
    "cut-402": (script.cut_status(402), "quota"),
    "noise": (script.noise(), "answer"),
    "a-long-head": (script.noise("HTTP/1.1 200 OK\r\nX: " + "x" * 100_000), "answer"),
    "dropped": (script.drop(), "unreachable"),
}
STREAMED_ALONE = {
    "hang-after-words": (script.hang(after="some words"), "stalled"),
    "endless-thoughts": (script.endless("thinking"), "too-large"),
    "endless-comments": (script.endless("comment"), "too-large"),
    "drip": (script.endless("drip"), "deadline"),
    "slow": (script.drip("a" * 1000, pause_s=0.01), "deadline"),
}


def its_own_certificate(folder: Path) -> ssl.SSLContext:
    """Return what a server shows that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def outcome(asked: Asked) -> ModelError:
    """Return how one question ends, which it does in time."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(ModelError) as caught:
        await asked.ask(want="edits", scratch=MemoryScratch(a__py="one\n"))
    assert loop.time() - began < asked.model.deadline_s + LATE_S
    return caught.value


@pytest.mark.requirement("R72")
@every_api
@every_way
@pytest.mark.parametrize("name", MISBEHAVIOUR)
async def test_each_ends_in_one_error(
    api: Api, name: str, caplog: pytest.LogCaptureFixture, *, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    step, code = MISBEHAVIOUR[name]
    if not stream:
        # Of one piece, what does not end is a body, and what is not JSON is no answer.
        code = {"hang": "deadline", "cut": "answer", "cut-cleanly": "answer"}.get(name, code)
    limits = {"deadline_s": 1.0, "idle_s": IDLE_S} if name == "hang" else {"deadline_s": DEADLINE_S}
    async with scripted(api, step, step, step, stream=stream, **limits) as (asked, server):
        error = await outcome(asked)
    assert error.code == f"model.{code}"
    assert len(server.requests) == (3 if code in {"busy", "unreachable"} or name == "500" else 1)
    told = "".join(traceback.format_exception(error)) + repr(error) + caplog.text
    assert KEY not in told + repr(asked.model) + repr(asked.backend) + repr(error.__context__)


@pytest.mark.thorough
@every_api
@pytest.mark.parametrize("name", STREAMED_ALONE)
async def test_each_of_a_stream_ends_in_one_error(api: Api, name: str) -> None:
    step, code = STREAMED_ALONE[name]
    deadline_s = 0.7 if code == "deadline" else DEADLINE_S
    idle_s = IDLE_S if code == "stalled" else DEADLINE_S
    async with scripted(api, step, deadline_s=deadline_s, idle_s=idle_s) as (asked, server):
        error = await outcome(asked)
        async with asyncio.timeout(30):
            await server.hung_up.wait()
    assert error.code == f"model.{code}"


@every_api
async def test_nobody_at_the_address_is_told_as_that(api: Api) -> None:
    async with scripted(api) as (_, server):
        base_url = server.base_url
    async with asking(api, base_url) as asked:
        error = await outcome(asked)
    assert (error.code, len(asked.waits)) == ("model.unreachable", 2)


async def test_a_service_without_a_trusted_certificate_gets_nothing(tmp_path: Path) -> None:
    async with ModelServer(script.text("yes"), tls=its_own_certificate(tmp_path)) as server:
        async with asking("chat", server.base_url) as asked:
            error = await outcome(asked)
        assert server.requests == []
    assert (error.code, error.facts) == ("model.unreachable", {"why": "certificate"})


@pytest.mark.requirement("R15")
@pytest.mark.requirement("R72")
@every_api
async def test_a_redirect_is_not_followed(api: Api) -> None:
    async with scripted(api, script.text("elsewhere")) as (_, elsewhere):
        async with scripted(api, script.redirect(elsewhere.base_url)) as (asked, _):
            assert (await outcome(asked)).facts == {"why": "redirect"}
        assert elsewhere.requests == []


@every_api
@pytest.mark.parametrize("step", [script.hang(), script.hang(after="some"), script.endless("drip")])
async def test_a_cancelled_question_closes_its_connection_at_once(
    api: Api, step: script.Step
) -> None:
    async with scripted(api, step) as (asked, server):
        question = asyncio.create_task(asked.ask())
        async with asyncio.timeout(30):
            await server.asked.wait()
            question.cancel()
            with pytest.raises(asyncio.CancelledError):
                await question
            await server.hung_up.wait()


@pytest.mark.requirement("R54")
@every_api
async def test_what_a_provider_repeats_of_the_key_is_not_told(api: Api) -> None:
    step = script.status(401, message=f"Incorrect API key provided: {KEY}\nsecond line")
    async with scripted(api, step) as (asked, _):
        error = await outcome(asked)
    assert KEY not in f"{error}{error.facts}"
    assert "[redacted:own] second line" in explain(error, ERRORS, "en")


@pytest.mark.thorough
@every_api
@every_way
@pytest.mark.parametrize(
    "step",
    [script.big(), script.endless("text"), script.endless("line"), script.endless("thinking")],
    ids=["50-MB", "endless-text", "endless-line", "endless-thoughts"],
)
async def test_what_a_model_sends_is_held_within_a_bound(
    api: Api, step: script.Step, tmp_path: Path, *, stream: bool
) -> None:
    with started(tmp_path, step) as server:
        async with asking(api, server.base_url, stream=stream, deadline_s=10) as asked:
            tracemalloc.start()
            try:
                error = await outcome(asked)
                held = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
    assert error.code == "model.too-large"
    assert held < HELD_BYTES < MAX_RECEIVED_BYTES < 50_000_000


def test_a_server_of_its_own_keeps_what_it_was_asked(tmp_path: Path) -> None:
    async def ask(base_url: str) -> str:
        async with asking("chat", base_url) as asked:
            return str((await asked.ask("what is it?")).text)

    with started(tmp_path, script.text("an answer")) as server:
        assert asyncio.run(ask(server.base_url)) == "an answer"
        assert "what is it?" in server.sent_to_it
