"""What names say about their values."""

from __future__ import annotations

import pytest

from common.redact_names import named, words_of
from common.redact_values import Named


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("password", Named.PASSWORD),
        ("DB_PASSWORD", Named.PASSWORD),
        ("dbPass", Named.PASSWORD),
        ("userpassword", Named.PASSWORD),
        ("password2", Named.PASSWORD),
        ("seed phrase", Named.PASSWORD),
        ("clientSecret", Named.SECRET),
        ("corpsecret", Named.SECRET),
        ("AWS_SECRET_ACCESS_KEY", Named.SECRET),
        ("secret_key_base", Named.SECRET),
        ("api-key", Named.SECRET),
        ("encodingAESKey", Named.SECRET),
        ("authToken", Named.TOKEN),
        ("accesstoken", Named.TOKEN),
        ("token", Named.HINT),
        ("nextToken", Named.HINT),
        ("key", Named.HINT),
        ("session_id", Named.HINT),
        ("secret_id", Named.HINT),
        ("PHPSESSID", Named.HINT),
        ("tokenOfThings", Named.HINT),
        ("password_field", Named.NOTHING),
        ("passwordHash", Named.NOTHING),
        ("tokenType", Named.NOTHING),
        ("max_tokens", Named.NOTHING),
        ("sort_key", Named.NOTHING),
        ("publicKey", Named.NOTHING),
        ("cookie_policy", Named.NOTHING),
        ("keyboard", Named.NOTHING),
        ("catch phrase", Named.NOTHING),
        ("", Named.NOTHING),
    ],
)
def test_a_name_says_how_much_its_value_has_to(name: str, says: Named) -> None:
    assert named(words_of(name)) is says


def test_names_are_read_in_every_usual_spelling() -> None:
    spellings = ("API_KEY", "api_key", "api-key", "apiKey", "ApiKey", "api.key", "api key")
    assert {tuple(words_of(name)) for name in spellings} == {("api", "key")}
