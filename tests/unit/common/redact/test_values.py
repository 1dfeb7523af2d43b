"""What a name says about its value, and which values behind it are secrets."""

from __future__ import annotations

from common.redact.values import Named, Style, is_secret, is_stand_in, looks_random, named, words_of
from tests.each import each

RANDOM = "k3J9" + "xQ2m" * 3 + "Zp7w"


@each(
    "value",
    [
        "",
        "xxxx",
        "****",
        "<token>",
        "${TOKEN}",
        "$TOKEN",
        "{{ token }}",
        "a...b",
        "your-api-key",
        "YOUR_TOKEN_1",
        "[redacted]",
        "%(password)s",
        "sha256:" + "ab" * 32,
        r"[^\W\d]\w*",
    ],
)
def test_what_refers_to_a_secret_or_masks_one_stands_in_for_it(value: str) -> None:
    assert is_stand_in(value)
    assert not is_secret(value, Named.PASSWORD, "quoted")


@each("value", ["hunter2", "S3cret!", RANDOM, "correct horse battery"])
def test_what_could_be_one_does_not(value: str) -> None:
    assert not is_stand_in(value)
    assert is_secret(value, Named.PASSWORD, "quoted")


@each(
    "value, named, style, secret",
    [
        (RANDOM, Named.NOTHING, "quoted", False),
        (RANDOM, Named.HINT, "quoted", True),
        (RANDOM, Named.HINT, "prose", False),
        (RANDOM, Named.SECRET, "prose", True),
        ("hunter", Named.PASSWORD, "shell", True),
        ("settings.password", Named.PASSWORD, "shell", False),
        ("hunter", Named.PASSWORD, "bare", False),
        ("123456", Named.PASSWORD, "bare", True),
        ("123456", Named.SECRET, "bare", False),
        ("abcd", Named.SECRET, "quoted", True),
        ("abcd", Named.TOKEN, "quoted", False),
        ("abcdefghijklmnopqrstuvwx", Named.TOKEN, "quoted", True),
        ("upgrades", Named.TOKEN, "quoted", False),
        ("userPassword", Named.PASSWORD, "quoted", False),
        ("challengePassword", Named.PASSWORD, "quoted", False),
        ("PKCS7PrivateKeyTypes", Named.SECRET, "bare", False),
        ("uint256", Named.SECRET, "bare", False),
        ("/run/secrets/db", Named.PASSWORD, "quoted", False),
        ("/k3J9xQ2m/Zp7w4d5", Named.PASSWORD, "quoted", True),
        ("https://vault.example.com/1", Named.SECRET, "quoted", False),
        ("base64-encoded", Named.SECRET, "prose", False),
        ("绝密", Named.PASSWORD, "quoted", False),
        ("绝密 hunter2hunter", Named.PASSWORD, "quoted", True),
        (" + repr(x)", Named.PASSWORD, "quoted", False),
        ("Invalid or expired token", Named.SECRET, "quoted", False),
        ("TODAY_1001_OF_MANY_1", Named.HINT, "quoted", False),
        ("aa11" * 6, Named.HINT, "quoted", False),
    ],
)
def test_the_more_a_name_says_the_less_a_value_has_to(
    value: str, named: Named, style: Style, secret: bool
) -> None:
    assert is_secret(value, named, style) is secret


@each(
    "value",
    [
        "short1",
        "with blank 12345678",
        "0192f3c4-5d6e-7f80-9a1b-2c3d4e5f6071",
        "x" * 20,
        "1" * 20,
        "release-2026-of-the-house",
        "report_of_2026_01.json",
    ],
)
def test_ids_words_and_numbers_are_not_random(value: str) -> None:
    assert not looks_random(value)
    assert looks_random(RANDOM)


@each(
    "name, says",
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
