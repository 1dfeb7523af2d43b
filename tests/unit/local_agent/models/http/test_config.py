"""Which addresses of models may be dialled."""

from __future__ import annotations

from typing import Any

import pytest

from common.errors import ConfigError
from local_agent.models.http.config import HttpModel
from tests.each import each


def model(base_url: str, **settings: Any) -> HttpModel:
    return HttpModel(name="work", model="m", base_url=base_url, api="chat", **settings)


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1/chat/completions"),
        ("https://api.example.com/v1/", "https://api.example.com/v1/chat/completions"),
        ("https://api.example.com", "https://api.example.com/chat/completions"),
        ("https://x.example:8443/a/b", "https://x.example:8443/a/b/chat/completions"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.8.9.1/v1", "http://127.8.9.1/v1/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
        ("http://localhost:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"),
        ("HTTP://LocalHost/v1", "http://127.0.0.1/v1/chat/completions"),
        ("https://localhost/v1", "https://localhost/v1/chat/completions"),
    ],
)
def test_https_and_this_machine_may_be_dialled(base_url: str, address: str) -> None:
    assert model(base_url).address("chat/completions") == address


@pytest.mark.requirement("R15")
@each(
    "base_url",
    [
        "http://api.example.com/v1",
        "http://127.evil.example/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://localhost.evil.example/v1",
        "http://0.0.0.0:8000/v1",
        "http://192.168.1.7:8000/v1",
        "http://[::ffff:10.0.0.1]/v1",
    ],
)
def test_what_would_leave_the_machine_unencrypted_is_refused(base_url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        model(base_url)
    assert (caught.value.code, caught.value.facts["why"]) == ("models.base-url", "insecure")


@each(
    "base_url",
    [
        "",
        "api.example.com/v1",
        "ftp://api.example.com/v1",
        "https://",
        "https:///v1",
        "https://user:secret-word@api.example.com/v1",
        "http://localhost@evil.example/v1",
        "https://api.example.com/v1?key=secret-word",
        "https://api.example.com/v1#x",
        "https://api.example.com:99999/v1",
        "https://api.example.com:0/v1",
        "https://api.example.com/v1\r\nX: y",
        "https://api.exa mple.com/v1",
        "https://[::1/v1",
        "https://ａｐｉ.example.com/v1",
        "https://api.example.com/" + "a" * 101,
    ],
)
def test_what_is_no_plain_address_is_refused_and_not_repeated(base_url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        model(base_url)
    assert (caught.value.code, caught.value.facts["why"]) == ("models.base-url", "form")
    assert "secret-word" not in str(caught.value)
