"""Secrets taken out of text before it goes to a model, to the chat or into a log (R54).

Pure.  This is damage control, not permission (R55): what may be read at all is decided before.
Every rule runs in linear time, in this order: terminal sequences, private key blocks, marks of
providers, URLs, headers, assignments.  The product's own secrets go first, by `redact_known`.
Where a rule errs, it takes out too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote

from common.text import strip_ansi

MIN_KNOWN_CHARS: Final = 6  # a shorter "secret" would take ordinary words out of every text

_BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END: Final = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
# A line of a key block as a diff, a numbered listing, a quotation or a source string shows it.
_PEM_LINE: Final = re.compile(
    r"[\s>|:#*+\-\"'0-9.]{0,24}+(?:[A-Za-z0-9+/=]{0,100}+|[A-Za-z-]{1,20}: [^\r\n]{0,200}+)"
    r"(?:\\[nr]){0,2}[\"',;+\\ ]{0,8}\r?\n?"
)
_BASE64_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16}")

_PROVIDERS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA)[A-Z0-9]{16}"  # AWS
    r"|(?:LTAI|AKID)[A-Za-z0-9]{12,64}"  # Alibaba Cloud, Tencent Cloud
    r"|gh[oprsu]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}"
    r"|gl(?:pat|dt|rt|cbt)-[A-Za-z0-9_.-]{20,255}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,512}|GOCSPX-[A-Za-z0-9_-]{20,64}"
    r"|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,512}|hf_[A-Za-z0-9]{30,64}"
    r"|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}|dop_v1_[a-f0-9]{64}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{50,64}|[0-9]{8,10}:[A-Za-z0-9_-]{35}"
    r"|CB1-[A-Za-z2-7]{26}"  # our own pairing code
    r"|eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{0,4096}"  # JWT
    r")(?![A-Za-z0-9])"
)
_HOOKS: Final = re.compile(
    r"((?:open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/"
    r"|hooks\.slack\.com/(?:services|workflows)/"
    r"|discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot))[A-Za-z0-9_/:-]{8,256}"
)
_USERINFO: Final = re.compile(r"(://)[^\s/@?#\"'<>]{1,512}@")
_PARAMETER: Final = re.compile(
    r"([?&;](?:access_?token|refresh_?token|id_?token|token|(?:api|access|app)?_?key|corp_?secret"
    r"|(?:client_?|app_?)?secret|signature|sig|sign|password|passwd|pwd|code|response_code)=)"
    r"[^&\s\"'<>#]{1,4096}",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:(?:proxy-)?authorization|(?:set-)?cookie|x-(?:api|auth)-(?:key|token)"
    r"|private-token)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?)[^\r\n\"']{1,8192}",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:bearer|basic)[ \t]{1,4})[A-Za-z0-9._~+/=-]{16,4096}", re.IGNORECASE
)
_NAMED: Final = (
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|(?:api|access|auth|private"
    r"|encrypt(?:ion)?|signing|aes|account)[_-]?key)[A-Za-z0-9_.-]{0,24}"
)
_QUOTED: Final = re.compile(
    rf"({_NAMED}[\"']?\]?[ \t]{{0,4}}(?:=>|:=|=|:)[ \t]{{0,4}}[bfru]?)"
    r"(?:\"[^\"\r\n]{4,1024}\"|'[^'\r\n]{4,1024}'|`[^`\r\n]{4,1024}`)",
    re.IGNORECASE,
)
# Unquoted it may be code: a value counts when it holds what names of code do not.
_BARE: Final = re.compile(
    rf"({_NAMED}[\"']?[ \t]{{0,4}}(?:=>|:=|=|:)[ \t]{{0,4}})"
    r"(?=[A-Za-z_.]{0,64}[0-9+/=!@#$%^&*~-])[^\s\"'`,;(){}\[\]<>]{8,1024}(?![(\[])",
    re.IGNORECASE,
)
# As a shell or a .env file writes it, any value counts.
_ENVIRONMENT: Final = re.compile(
    r"((?:PASSW(?:OR)?D|PASSPHRASE|SECRET|TOKEN|CREDENTIALS?|[A-Z]_?KEY)[A-Z0-9_]{0,24}=)"
    r"(?!\[redacted)[^\s\"'`=,;()]{1,1024}"
)

# Dotted words, and hex with dashes: names of events and ids, on every line of a log.  No rule finds
# anything in them: it needs a capital, a blank, one of "/=:_", or a mark that neither can hold, for
# each of those has a digit beside its dot or a letter beyond "f" beside its dash.
_PLAIN: Final = re.compile(r"[a-z.]*+|[0-9a-f-]*+")


def _kept_then(mark: str) -> Callable[[re.Match[str]], str]:
    # A function: a template with a group in it is taken apart anew for every text.
    return lambda match: match[1] + mark


_RULES: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    (_PROVIDERS, "[redacted:key]"),
    (_HOOKS, _kept_then("[redacted:hook]")),
    (_USERINFO, _kept_then("[redacted:login]@")),
    (_PARAMETER, _kept_then("[redacted]")),
    (_HEADER, _kept_then("[redacted]")),
    (_BEARER, _kept_then("[redacted]")),
    (_QUOTED, _kept_then('"[redacted]"')),
    (_BARE, _kept_then("[redacted]")),
    (_ENVIRONMENT, _kept_then("[redacted]")),
)


def redact(text: str) -> str:
    """Return the text without terminal sequences and without what looks like a secret."""
    if _PLAIN.fullmatch(text):
        return text
    cleaned = strip_ansi(text)
    if "PRIVATE KEY" in cleaned:
        cleaned = _without_keys(cleaned)
    for pattern, replacement in _RULES:
        cleaned = pattern.sub(replacement, cleaned)
    return cleaned


def redact_known(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the given secrets, as they are and as a URL writes them.

    Secrets under 6 characters are left in: taking them out would maim any text.
    """
    return without_spellings(text, spellings_of(secrets))


def without_spellings(text: str, spellings: Iterable[str]) -> str:
    """Return the text without what `spellings_of` told, for who has the same secrets every time."""
    for spelling in spellings:
        text = text.replace(spelling, "[redacted:own]")
    return text


def spellings_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return how secrets may be written, the longest first; without those under 6 characters."""
    spellings = {
        spelling
        for secret in secrets
        if len(secret) >= MIN_KNOWN_CHARS
        for spelling in (
            secret,
            quote(secret, "", errors="replace"),
            quote(secret, errors="replace"),
        )
    }
    return tuple(sorted(spellings, key=len, reverse=True))


def _without_keys(text: str) -> str:
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if inside and not _END.search(line):
            # A block cut short ends at the first line that cannot belong to one.
            if _PEM_LINE.fullmatch(line):
                continue
            inside = False
            kept.append("\n")
        rest = line
        if end := _first_end(rest):
            if not inside:
                _drop_body(kept)
                kept.append("[redacted:private-key]")
            rest, inside = rest[end:], False
        rest, inside = _without_begins(rest, inside=inside)
        kept.append(rest)
    return "".join(kept)


def _first_end(line: str) -> int:
    # The end of a block that began on an earlier line; 0 when there is none.
    end, begin = _END.search(line), _BEGIN.search(line)
    return end.end() if end and not (begin and begin.start() < end.start()) else 0


def _without_begins(line: str, *, inside: bool) -> tuple[str, bool]:
    pieces: list[str] = []
    while begin := _BEGIN.search(line):
        pieces += [line[: begin.start()], "[redacted:private-key]"]
        end = _END.search(line, begin.end())
        if end is None:
            # The rest of the line is key, whether or not its newlines are escaped.
            return "".join(pieces), True
        line = line[end.end() :]
    return "".join([*pieces, line]), inside


def _drop_body(kept: list[str]) -> None:
    while kept and _PEM_LINE.fullmatch(kept[-1]) and _BASE64_RUN.search(kept[-1]):
        kept.pop()
