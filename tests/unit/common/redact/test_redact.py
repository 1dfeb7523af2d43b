"""What is taken out of text, what stays, and how long it takes."""

from __future__ import annotations

import base64
import random

import pytest

from common.redact import redact, redact_known, redact_lines
from tests.each import each

pytestmark = pytest.mark.heavy

# Assembled here, so that no file of the repository holds what a scanner would take for a secret.
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2" * 9
GITLAB = "glpat-" + "x1Y2" * 5
OPENAI = "sk-" + "proj-" + "aB3d" * 8
SLACK = "xoxb-" + "1234567890-abcdefghij"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + ".c2lnbmF0dXJl"
PAIRING = "CB1-" + "ABCDEFGHIJKLMNOPQRSTUVWX23"
BODY = base64.b64encode(bytes(range(48))).decode()
HEAD = "-----BEGIN " + "OPENSSH PRIVATE KEY-----"
TAIL = "-----END " + "OPENSSH PRIVATE KEY-----"
PEM = f"{HEAD}\n{BODY}\n{BODY}\n{BODY[:20]}\n{TAIL}"


@pytest.mark.requirement("R54")
@each("secret", [AWS, GITHUB, GITLAB, OPENAI, SLACK, JWT, PAIRING])
@each("around", ["{}", "x = '{}'", "see {}.", "+{}", "\x1b[31m{}\x1b[0m", "中{}中"])
def test_marks_of_providers_are_taken_out_wherever_they_stand(secret: str, around: str) -> None:
    found = redact(around.format(secret))
    assert secret not in found
    assert "[redacted" in found


@pytest.mark.requirement("R54")
@each(
    "text, secret",
    [
        ("https://user:hunter2@example.com/x", "hunter2"),
        ("git clone https://x-token-auth:abc@host/r.git", "abc"),
        ("postgres://app:p%40ss@db:5432/x", "p%40ss"),
        ("redis://:onlypassword@cache", "onlypassword"),
        ("GET /send?access_token=abc&x=1", "abc"),
        ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=693a91f6-7xxx", "693a91f6"),
        ("/cgi-bin/gettoken?corpid=ww1&corpsecret=s3cr3t", "s3cr3t"),
        ("https://oapi.dingtalk.com/robot/send?access_token=abcdef", "abcdef"),
        ("https://open.feishu.cn/open-apis/bot/v2/hook/1f2e3d4c-aaaa", "1f2e3d4c"),
        ("https://hooks.slack.com/services/T000/B000/XXXX", "B000"),
        ("response?response_code=RC1abc", "RC1abc"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("authorization: Digest username=x", "username"),
        ("-H 'Authorization: Token abc def'", "abc def"),
        ("Cookie: sid=abc; theme=dark", "sid=abc"),
        ("Set-Cookie: sid=abc; Path=/", "sid=abc"),
        ("X-Api-Key: abc", "abc"),
        ("curl -H bearer abcdefghijklmnop0123", "abcdefghijklmnop0123"),
        ('{"password": "hunter2"}', "hunter2"),
        ("password = 'hunter2'", "hunter2"),
        ("  db_password: hunter2hunter2", "hunter2hunter2"),
        ("+DB_PASSWORD=hunter", "hunter"),
        ("export AWS_SECRET_ACCESS_KEY=abc/def+ghi", "abc/def"),
        ("CODEXBRIDGE_GATEWAY__WECOM__TOKEN=QDG6eK", "QDG6eK"),
        ("encoding_aes_key = jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C", "jWmYm7qr"),
        ("corpSecret: `abcd`", "abcd"),
        ("client_secret => 'abcd'", "abcd"),
        ('os.environ["API_KEY"] = "abcd"', "abcd"),
        ("accountKey=abc123def==;Endpoint=x", "abc123def"),
        ("api-key=abcdefgh1", "abcdefgh1"),
        ("12345678:AAF" + "x" * 32, "AAFx"),
        ("?code=12345", "12345"),
        ("&sid=a1b2c3d4", "a1b2c3d4"),
        ("İ client_secret: 'abcd1'", "abcd1"),
        ("authorization: k3J9xQ2mk3J9", "k3J9xQ2m"),
    ],
)
def test_secrets_are_taken_out_by_what_stands_before_them(text: str, secret: str) -> None:
    assert secret in text
    found = redact(text)
    assert secret not in found
    assert "[redacted" in found


@each(
    "text",
    [
        "",
        "ordinary text, 中文, 🚀",
        "max_tokens = 4096",
        "tokens: 12",
        "token = get_token()",
        "def login(password: str, token: AuthToken) -> None:",
        "password = settings.password",
        "secret_name(x)",
        "https://example.com/path?page=2&sort=name#top",
        "mail user@example.com",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "T-7K3F finished: 12 passed, 0 failed",
        "the authorization of users",
        "KEY BINDINGS: ctrl+c",
        "keyboard=us",
        "?code=404",
        "?token=[redacted]",
        "'id-token': write",
        "authorization = authorization[1].encode('ascii')",
        "Bearer authentication-and-more",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.requirement("R54")
@each(
    "text",
    [
        PEM,
        f"before\n{PEM}\nafter",
        "".join(f"+{line}\n" for line in PEM.split("\n")),
        "".join(f"-  {line}\n" for line in PEM.split("\n")),
        "".join(f"{number:4}\t{line}\n" for number, line in enumerate(PEM.split("\n"), 1)),
        "".join(f"{number}: {line}\n" for number, line in enumerate(PEM.split("\n"), 1)),
        "".join(f"> {line}\r\n" for line in PEM.split("\n")),
        "".join(f'    "{line}\\n"\n' for line in PEM.split("\n")),
        '{"key": "' + PEM.replace("\n", "\\n") + '\\n"}',
        PEM.replace("\n", "\\n"),
        "\n".join(PEM.split("\n")[:3]),
        "\n".join(PEM.split("\n")[:3]) + "\n\nThe rest of the file is ordinary (text).\n",
        "first line\n" + "\n".join(PEM.split("\n")[2:]),
        PEM.replace("OPENSSH ", "").replace("-----\n", "-----\nProc-Type: 4,ENCRYPTED\n\n", 1),
        PEM.replace("OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
        f"{PEM}\n{PEM}",
        f"a{HEAD}{BODY}{TAIL}b{HEAD}{BODY}{TAIL}c",
        f"{HEAD}{BODY}{TAIL} and then {HEAD}\n{BODY}\n{TAIL} end",
    ],
)
def test_private_keys_are_taken_out_whole_however_they_are_shown(text: str) -> None:
    found = redact(text)
    assert BODY[:16] not in found
    assert BODY[-16:] not in found
    assert "[redacted:private-key]" in found


def test_what_surrounds_a_private_key_stays() -> None:
    assert redact(f"before\n{PEM}\nafter\n") == "before\n[redacted:private-key]\nafter\n"
    cut = "\n".join(PEM.split("\n")[:2])
    assert redact(f"{cut}\nordinary (text)\n") == "[redacted:private-key]\nordinary (text)\n"
    assert redact(f"say({BODY})\n{BODY}\n{TAIL}\nafter") == (
        f"say({BODY})\n[redacted:private-key]\nafter"
    )


def test_a_private_key_becomes_as_many_marks_as_it_has_lines() -> None:
    mark = "[redacted:private-key]"
    lines = f"before\r\n{PEM}\nafter\n".split("\n")
    assert redact_lines("\n".join(lines)).split("\n") == ["before\r", *[mark] * 5, "after", ""]
    cut = "\n".join(PEM.split("\n")[:2])
    assert redact_lines(f"{cut}\nordinary (text)\n") == f"{mark}\n{mark}\nordinary (text)\n"
    rest = "\n".join(PEM.split("\n")[2:])
    assert redact_lines(f"a\n{rest}\nb") == f"a\n{mark}\n{mark}\n{mark}\nb"


def test_a_terminal_sequence_over_several_lines_moves_no_line() -> None:
    assert redact_lines("a\x1b]0;title\nb\x1b\\\nc").count("\n") == 2


@pytest.mark.requirement("R54")
@each(
    "mark", ["sk-", "xoxb-", "xapp-", "glpat-", "pypi-", "ya29.", "gho_", "npm_", "hf_", "dop_v1_"]
)
@each("unit", ["a", "0", "f3"])
def test_a_secret_in_small_letters_alone_is_not_taken_for_an_id(mark: str, unit: str) -> None:
    assert redact(mark + (64 * unit)[: 36 if mark == "npm_" else 64]) == "[redacted:key]"


@each("text", ["agent.connected", "0192f3c4-5d6e-7f80-9a1b-2c3d4e5f6071", 64 * "f3", "a" * 500])
def test_an_id_or_the_name_of_an_event_stays_alone_and_within_more(text: str) -> None:
    assert redact(text) == text
    assert redact(f"({text})") == f"({text})"


def test_terminal_sequences_go_before_the_rules_look() -> None:
    assert redact(f"AKIA\x1b[0m{AWS[4:]}") == "[redacted:key]"


@each("text", [PEM, f"password='{AWS}'", f"Cookie: {JWT}", f"?token={GITHUB}"])
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.thorough
@pytest.mark.requirement("R54")
@each(
    "unit",
    [
        "a",
        "=",
        "-----BEGIN ",
        HEAD,
        TAIL,
        f"{HEAD}\n",
        f"{TAIL}\n",
        f"{BODY}\n",
        "eyJ",
        "eyJaaaaaaaaaaa.",
        "://",
        "://a:",
        "password",
        "password=",
        "password='",
        "token: ",
        "?key=",
        "Authorization:",
        "bearer ",
        "sk-",
        "xoxb-1",
        " \t",
        "_KEY",
        "A_KEY=",
        f"{HEAD}{TAIL}",
        "eyJ-",
        "密码是",
        "密钥：“",
        "| password | a",
        "key: `",
        'token=\\"',
        'token","',
        "mysql -p",
        "docker login ",
        "curl -u a:",
        "a1b2c3d4e5f6a7b8.",
        "Cookie: ",
        "x-api-key:",
        "&sig=",
        "secret=\\\n",
        "- name: TOKEN\n  value:",
        "--token ",
        "api key ",
        "abandon ",
        ":5432:a:b:",
        "İ",
        "https://hooks.",
        "key:\n",
        "key: [\n  ",
        "<key>\n a",
        "<key>\n",
        "token as follows:\n  1\t",
        "MIIEvQIBADAN",
        f"MIIEvQIBADAN{BODY}\n",
        "LS0tLS1CRUdJTi",
        f"iVBORw0KGgo{BODY}\n",
        "12345678:",
        "sk-ant-",
        "eyJhbGciOi",
    ],
)
def test_every_rule_takes_linear_time(unit: str) -> None:
    # The test's own time limit is the judge: 60 kB, of which a quadratic rule never sees the end.
    mark = "ghp_" + "0aB" * 12
    assert mark not in redact(f"{unit * (60_000 // len(unit))}\n{mark}\n"), "and sees the end"


def test_known_secrets_go_by_exact_match_in_every_spelling() -> None:
    secret = "p/q+r s=t"
    text = f"plain {secret} in a URL p%2Fq%2Br%20s%3Dt or p/q%2Br%20s%3Dt"
    assert redact_known(text, [secret]) == (
        "plain [redacted:own] in a URL [redacted:own] or [redacted:own]"
    )


def test_the_longer_of_two_known_secrets_goes_first() -> None:
    assert redact_known("abcdefghij", ["abcdef", "abcdefghij"]) == "[redacted:own]"


def test_a_known_secret_too_short_to_tell_apart_stays() -> None:
    assert redact_known("status", ["", "s", "stat"]) == "status"


_BELOW = "hT7vQ2mX9k" + "Lp4RzW"
_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


@pytest.mark.parametrize(
    "text",
    [
        "password:\n§",
        'x = {"password":\n  "§",\n}',
        "password: |2-\n  §\nuser: x",
        "password: | # of the database\n\n  §",
        "密码：\n§",
        "密码是：\n\n§\n谢谢",
        "api_key:\r\n\t§\r\n",
        "**Password:**\n§",
        "The password is:\n```\n§\n```",
        "> password:\n> §",
        "pass\u200bword: §",
    ],
)
def test_a_value_below_its_name_or_under_a_split_name_is_taken_out(text: str) -> None:
    assert redact(text.replace("§", _BELOW)).count("[redacted]") == 1
    assert _BELOW not in redact_lines(text.replace("§", _BELOW))


@pytest.mark.parametrize("split", ["\0", "x\b", "\u200b", "\u00ad", "\U000e0041"])
def test_a_token_that_unseen_characters_split_is_taken_out(split: str) -> None:
    assert redact(f"a\u200bb\nsee {_TOKEN[:9]}{split}{_TOKEN[9:]} now") == (
        "a\u200bb\nsee [redacted:key] now"
    )


def test_a_token_glued_to_a_word_is_taken_out() -> None:
    assert redact(f"the{_TOKEN}") == "the[redacted:key]"


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  description: of user1\n",
        "password:\n  type: string\n",
        "token:\n  required\n",
        "The password:\n\nMust be changed.",
        "password:\n  sha256\n",
        "密码：\n请输入密码\n",
        "secret:\n  ${SECRET_1}\n",
        "a\u200bb and a\0b",
    ],
)
def test_words_below_a_name_and_split_words_stay(text: str) -> None:
    assert redact(text) == text


@pytest.mark.requirement("R54")
@pytest.mark.parametrize(
    "text",
    [
        "password:\n  §",
        '"password":\n    "§",\n',
        "db:\n  password:\n    §\n  port: 1",
        "password: |\n  §\nuser: x",
        "密码：\n§\n",
        "密码是：\n  §",
        "> password =\n> §",
    ],
)
def test_a_value_on_the_line_below_its_name_is_taken_out(text: str) -> None:
    assert "Hunter2!x" not in redact(text.replace("§", "Hunter2!x"))


@pytest.mark.parametrize(
    "text",
    [
        "password:\n  type: string\n  minLength: 8\n",
        "password:\n\n§ 2.1 of the terms",
        "if not password:\n    raise ValueError(1)\n",
        "def reset(token, password):\n    return hash2(token)\n",
        "password:\n  description: 8 characters or more",
        "密码：\n请联系管理员",
        "tokens:\n  - name\n  - count\n",
    ],
)
def test_what_stands_below_a_name_and_is_no_value_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("secret", [AWS, GITHUB, GITLAB, OPENAI, SLACK])
@pytest.mark.parametrize("split", ["\0", "\b", "\u200b", "\u2060", "\u00ad", "\U000e0041", "\x7f"])
def test_nothing_that_is_not_drawn_hides_a_secret(secret: str, split: str) -> None:
    for at in (3, len(secret) // 2):
        text = f"it is {secret[:at]}{split}{secret[at:]} now\nnext{split}line"
        found = redact(text)
        assert secret[at:] not in found
        assert found.endswith(f"next{split}line"), "other lines are as they were"
    assert "hunter2x" not in redact(f"pass{split}word: hunter2x")
    assert redact(f"plain{split}text") == f"plain{split}text"


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("secret", [AWS, GITHUB, GITLAB, OPENAI])
def test_a_key_glued_to_a_word_is_taken_out(secret: str) -> None:
    assert secret not in redact(f"token{secret} works")


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("prefix", ["", "+", "  12  ", "> "])
def test_the_body_of_a_key_without_its_first_and_last_line_is_taken_out(prefix: str) -> None:
    lines = [base64.b64encode(random.Random(at).randbytes(48)).decode() for at in range(3)]
    text = "".join(f"{prefix}{line}\n" for line in [*lines, lines[0][:20]])
    for found in (redact(text), redact_lines(text)):
        assert not any(line[:20] in found for line in lines)
    assert redact_lines(text).count("\n") == text.count("\n")
    public = "-----BEGIN CERTIFICATE-----\n" + text + "-----END CERTIFICATE-----\n"
    assert redact(public) == public
    assert redact(f"{prefix}{lines[0]}\n") == f"{prefix}{lines[0]}\n", "one line may be anything"


def test_the_body_of_an_openssh_key_is_known_by_its_first_line() -> None:
    first = base64.b64encode(b"openssh-key-v1\0\0\0\0\4none\0\0\0\4none" + bytes(17)).decode()
    assert first not in redact(f"cut: {first}\nnext line\n")


@pytest.mark.requirement("R54")
def test_the_head_of_a_private_key_counts_behind_public_armour_that_was_cut() -> None:
    first = "MIIEpAIBAAKCAQEA" + "b8Xq" * 12
    cut = f"-----BEGIN CERTIFICATE-----\n{first}\nend"
    assert first[16:] not in redact(cut)


@pytest.mark.requirement("R54")
@each("quotes", ["“”", "‘’", "「」", "''", '""', "``"])
def test_a_long_value_in_quotes_is_taken_out_to_its_end(quotes: str) -> None:
    value = "".join(f"k{at}Z" for at in range(400))
    assert "k399Z" not in redact(f"密码是{quotes[0]}{value}{quotes[1]}。")
