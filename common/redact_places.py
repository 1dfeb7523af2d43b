"""Secrets known by the place they have: in a URL, in a header (R54).  Pure, in linear time."""

from __future__ import annotations

import re
from typing import Final

from common.redact_names import named, words_of
from common.redact_values import Named, is_secret, is_stand_in, looks_random, word_set

_USERINFO: Final = re.compile(r"://([^\s/@?#\"'<>:&;\[]{0,256}+)(?::([^\s/?\"'<>]{0,256}))?@")
_PARAMETER: Final = re.compile(r"([?&;])([A-Za-z][\w.-]{0,40}+)=([^&\s\"'<>#]{1,4096}+)")
# In a URL, as opposed to source, these hold what opens something, however short.
_ALWAYS: Final = word_set(
    "token secret signature sig sign password passwd pwd code response_code ticket"
)
_CODE: Final = re.compile(r"[\s()\[\]{}]")
_HEADER: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:proxy-)?authorization(?:\\?[\"'])?[ \t]{0,4}(?:[:=]|=>|,)[ \t]{0,4}"
    r"(?:[bfru]{0,2}\\?[\"'`])?)"
    r"((?:(?:Basic|Bearer|Digest|Token|Negotiate|NTLM|ApiKey|Api-Key|OAuth|HMAC|Signature|AWS4\S{0,20}"
    r"|GenieKey|Key|Splunk|SSWS|Bot|JWT)[ \t]{1,4})?)([^\r\n\"'`\\]{1,8192}+)",
    re.IGNORECASE,
)
_COOKIE: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:set-)?cookie[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?)"
    r"([\w.!%-]{1,64}=[^\r\n\"']{1,8192}+)",
    re.IGNORECASE,
)
_BEARER: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:bearer|basic)[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE
)
_API_HEADER: Final = re.compile(
    r"((?<![A-Za-z0-9])(?:x-[a-z-]{0,24}(?:api-?key|token|secret|auth)|private-token|api-key"
    r"|job-token|apikey)[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?)([^\r\n\"'`]{1,8192}+)",
    re.IGNORECASE,
)


def without_logins(text: str) -> str:
    """Return the text without what stands between ``://`` and ``@``; a bare user name may stay."""
    return _USERINFO.sub(_login, text)


def without_parameters(text: str) -> str:
    """Return the text without the parameters of URLs and forms that open something."""
    return _PARAMETER.sub(_parameter, text)


def without_headers(text: str) -> str:
    """Return the text without what authenticates in the headers of HTTP."""
    small = text.lower()
    if "authorization" in small:
        text = _HEADER.sub(_authorization, text)
    if "cookie" in small:
        text = _COOKIE.sub(_cookie, text)
    text = _API_HEADER.sub(_api_key, text)
    if "bearer" in small or "basic" in small:
        text = _BEARER.sub(_bearer, text)
    return text


def _login(match: re.Match[str]) -> str:
    user, password = match[1], match[2]
    secret = looks_random(user) if password is None else not is_stand_in(password)
    return "://[redacted:login]@" if secret else match[0]


def _parameter(match: re.Match[str]) -> str:
    name, value = match[2], match[3]
    says = Named.PASSWORD if name.lower() in _ALWAYS else named(words_of(name))
    if value.startswith("[redacted"):
        secret = says is not Named.NOTHING
    elif says is Named.HINT:
        secret = len(value) >= 8 and sum(map(str.isdigit, value)) >= 2
    elif name.lower() in _ALWAYS and value.isdigit():
        secret = len(value) > 3  # what a status has
    else:
        secret = says is not Named.NOTHING and not is_stand_in(value)
    return f"{match[1]}{name}=[redacted]" if secret else match[0]


def _authorization(match: re.Match[str]) -> str:
    scheme, value = match[2], match[3]
    if _harmless(value):
        return match[0]
    if not scheme and (_CODE.search(value.strip()) or not is_secret(value, Named.SECRET, "bare")):
        return match[0]
    return f"{match[1]}{scheme}[redacted]"


def _cookie(match: re.Match[str]) -> str:
    return match[0] if _harmless(match[2]) else match[1] + "[redacted]"


def _api_key(match: re.Match[str]) -> str:
    value = match[2].strip().rstrip(",;")
    secret = not _CODE.search(value) and is_secret(value, Named.SECRET, "shell")
    return match[1] + "[redacted]" if secret else match[0]


def _bearer(match: re.Match[str]) -> str:
    token = match[2]
    letters = sum(map(str.isdigit, token)) == 0
    return match[0] if letters or is_stand_in(token) else match[1] + "[redacted]"


def _harmless(value: str) -> bool:
    return value.startswith("[redacted") or is_stand_in(value.strip())
