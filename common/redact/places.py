"""Secrets known by their place: in a URL or header, as a tool's argument, behind a name (R54).

A pattern finds the place, for a name in source, settings, shells, tables and prose also how a value
is joined to it; `values` judges.  Pure.  A value is looked at for a kilobyte at most, and what was
taken out is not looked at again: linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from common.redact.values import (
    Named,
    Style,
    is_secret,
    is_stand_in,
    looks_random,
    named,
    word_set,
    words_of,
)

# --- in a URL or a header ---

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


# --- as an argument of a tool, or in its file ---

_ARGS: Final = r"[^\r\n|;&]{0,200}?"
_WORD: Final = r"([\"']?)([^\s\"'|;&<>]{1,512}+)"
# What must stand in a text for the pattern to find anything, and the pattern.
_PATTERNS: Final = (
    ((" -p",), re.compile(rf"(\bmysql\w{{0,12}}\b{_ARGS}[ ]-p)(?![ ]){_WORD}")),
    (
        (" -p", " -P", " -a", " -w"),
        re.compile(
            rf"((?:\bsshpass{_ARGS}[ ]-p|\b(?:docker|podman|registry|oras|crane)[ ]{{1,4}}login"
            rf"{_ARGS}[ ]-p|\bredis-cli{_ARGS}[ ]-a|\bldap\w{{3,12}}{_ARGS}[ ]-w"
            rf"|\bmongo\w{{0,8}}{_ARGS}[ ]-p|\b(?:7z|unzip|zip){_ARGS}[ ]-P)[ =]?){_WORD}"
        ),
    ),
    (
        (" -u", " -U", "--user", "--proxy-user"),
        re.compile(
            rf"((?:[ ]-[uU]|--(?:proxy-)?user)[ =]?[\"']?[\w.%@+-]{{1,64}}:){_WORD}", re.ASCII
        ),
    ),
    (("/user:",), re.compile(rf"(/user:[^\s]{{1,64}}[ ]){_WORD}")),
    (
        (" '", ' "'),
        re.compile(r"(?i:(\b(?:identified[ ]by|password)[ ]))(['\"])([^'\"\r\n]{4,512}+)"),
    ),
    (  # .pgpass
        (":*:", ":5", ":6"),
        re.compile(
            r"(?m)((?:^|(?<=[\s+>]))[^\s:/]{1,128}+:(?:\*|[56]\d{3}):[\w*-]{1,64}:[\w*-]{1,64}:)()"
            r"(\S{1,512}+)",
            re.ASCII,
        ),
    ),
)
_BASIC_AUTH: Final = re.compile(
    r"([\"']?\b_?auth[\"']?[ ]?[:=][ ]?[\"']?)([A-Za-z0-9+/]{12,}+={0,2})"
)


def without_arguments(text: str) -> str:
    """Return the text without passwords that are arguments, and without those of tools' files."""
    for needles, pattern in _PATTERNS:
        if any(needle in text for needle in needles):
            text = pattern.sub(_argument, text)
    return _BASIC_AUTH.sub(_basic, text)


def _argument(match: re.Match[str]) -> str:
    value = match[3]
    if is_stand_in(value) or (value.isdigit() and len(value) < 6):
        return match[0]
    return f"{match[1]}{match[2]}[redacted]"


def _basic(match: re.Match[str]) -> str:
    return match[1] + "[redacted]" if looks_random(match[2], least=12) else match[0]


# --- behind a name ---

MARK: Final = "[redacted]"

_IN_NAMES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
_NAME_CHARS: Final = 48
_NAME: Final = re.compile(
    r"(?P<chinese>密码|口令|[密秘]钥|令牌|助记词|凭证|通行证)|(?:pass(?:w(?:or)?d|phrase|code)?|pwd?|secret|token|cred(?:ential)?s?|key|_?auth|s(?:ess)?id"
    r"|session|cookie|signature|mnemonic|phrase|jwt|_sk|_ak|bindpw)[A-Za-z0-9_.-]{0,48}+"
    r"(?:[ ](?:id|key|base|value)\b){0,2}+",
    re.IGNORECASE | re.ASCII,
)
# How each of them begins, in small letters and with a character of its own, to which `re` skips.
_BEGIN: Final = re.compile(
    r"p(?:ass|wd?|hrase)|s(?:ecret|id|ess|ignature)|token|c(?:red|ookie)|key|auth|_(?:auth|[as]k)"
    r"|mnemonic|jwt|bindpw|密|秘|口令|令牌|助记词|凭证|通行证"
)

_CLOSE: Final = r"(?:\\?[\"'`]|[\])}]){0,3}+"
_JOINED: Final = re.compile(
    _CLOSE + r"[ \t]{0,8}+(?:"
    r"(?P<typed>:[ ]?[&A-Za-z][\w\[\]., |?<>&'*]{0,32}?[ ]?=(?![=>])"
    r"|[ ](?:string|\[\]byte)[ ]=|\{[^{}\r\n]{0,40}\}[ ]?=)"
    r"|(?P<assigned>=>|:=|\?=|\|\|=?|\?\?=?|={1,3}|!==?|->|[:=＝])"
    r")[ \t]{0,8}+(?:[(|>\\][-+]?[ \t]{0,4}+\r?\n[ \t+>-]{0,40}+)?",
    re.ASCII,
)
_IN_CALL: Final = re.compile(r"\\?[\"'`],[ \t]{0,4}+(?=[bBfrRu]?[\"'`])")
_IN_XML: Final = re.compile(r">[ \t]{0,4}+(?=[^<>\r\n]{1,1024}+</)|[\"'][ \t]+value=(?=[\"'])")
_ON_NEXT_LINE: Final = re.compile(
    r"[\"']?[ \t]{0,8}+\r?\n[ \t+-]{0,40}+[\"']?value[\"']?:[ \t]{0,8}+"
)
# Alone on the line below its name, or below a blank line or the fence of a block of code.
_BELOW: Final = re.compile(
    _CLOSE + r"[ \t]{0,8}+(?:(?:[ ]?is)?(?:[ ]as[ ]follows)?:{1,2}|[是为]?(?:如下)?[:：]|[=＝]"
    r"|>(?=\s{1,40}+[^\s<]{5,1024}+\s{1,40}+</))\*{0,2}[ \t]{0,8}+"
    # What opens it: a literal of YAML, TOML or a shell, a list, a tag, an anchor, a comment.
    r"(?:[|>][-+0-9]{0,2}+|\"{3}|'{3}|\[|<<[-~]?[\"']?\w{1,20}+[\"']?|!{1,2}\w{1,20}+|&\w{1,40}+)?"
    r"[ \t]{0,4}+(?:#[^\r\n]{0,80}+)?"
    r"(?:\r?\n[ \t>+-]{0,40}+(?:[0-9]{1,7}+[ ]?[\t|:│][ \t>+-]{0,40}+)?){1,2}+"
    r"(?:```\w{0,12}+\r?\n|(?:#|//|;|\*)[ ]{1,8}+)?"
    r"(?=[^\s:]\S{4,1023}+[ \t]{0,40}+\r?$)",
    re.MULTILINE,
)
_IN_TABLE: Final = re.compile(r"`?[ \t]{1,40}+\|[ \t]{1,40}+`?(?=[^\s|`]{1,1024}+`?[ \t]{0,40}+\|)")
_AFTER_BLANK: Final = re.compile(r"[ \t]{1,8}+")
_IN_PROSE: Final = re.compile(
    r"[ \t]{0,2}(?:：|是|为|为：|是：|（|＝|(?:[ \t]|\b)(?:is|was)(?::|[ \t]))[ \t]{0,4}+",
    re.IGNORECASE,
)
_IN_CHINESE: Final = re.compile(r"[ \t]{0,2}+(?:[是为]?[:：]|[是为]|[=＝])?[ \t]{0,4}+")
_OPENING_WORDS: Final = re.compile(
    r"(?:\bENV|\bARG|\bset(?:env)?(?:[ \t]+-\w+)?|\bexport"
    r"|\blogin[ \t]{1,4}\S{1,64}|\bmachine[^\r\n]*)[ \t]+$"
)
_LOGIN_BEFORE: Final = re.compile(r"\blogin[ \t]{1,8}\S{1,64}\s{1,40}$")

_PLAIN_BARE: Final = r"[^\s\"'`,;(){}\[\]<>|\\“”‘’「」\u3000-\u9fff\uff00-\uffef]{1,1024}+"
_VALUE: Final = re.compile(
    r"[bBfFrRuU@$]{0,2}(?:"
    r"\\\"(?P<escaped>[^\"\\\r\n]{0,1024}+)(?:\\\")?"
    r"|\"(?P<double>(?:[^\"\\\r\n]|\\[^\r\n]){0,1024}+)\"?"
    r"|'(?P<single>(?:[^'\\\r\n]|\\[^\r\n]){0,1024}+)'?"
    r"|`(?P<back>[^`\r\n]{0,1024}+)`?"
    r"|“(?P<curly>[^“”\r\n]{0,1024}+)”?|[‘「](?P<corner>[^‘’「」\r\n]{0,1024}+)[’」]?"
    r")|(?P<bare>" + _PLAIN_BARE + r")"
)
_LOOKED_AT: Final = 1024
_REST: Final = {
    "double": re.compile(r"(?:[^\"\\\r\n]|\\[^\r\n])*+\"?"),
    "escaped": re.compile(r"[^\"\\\r\n]*+(?:\\\")?"),
    "single": re.compile(r"(?:[^'\\\r\n]|\\[^\r\n])*+'?"),
    "back": re.compile(r"[^`\r\n]*+`?"),
    "curly": re.compile(r"[^“”\r\n]*+”?"),
    "corner": re.compile(r"[^‘’「」\r\n]*+[’」]?"),
    "bare": re.compile(_PLAIN_BARE.replace("{1,1024}+", "*+")),
}
_LONG: Final = 128  # a longer text without a blank is no value, and holds names that have none
_CONTINUED: Final = re.compile(
    r"([ \t]{0,8}+[\\+.&]?[ \t]{0,8}+\r?\n[ \t+-]{0,40}+)"
    r"(?:\"[^\"\r\n]{1,4096}+\"|'[^'\r\n]{1,4096}+')"
    r"(?![ \t]*:)"
)
_PHRASE: Final = re.compile(r"(?:[a-z]{3,8} ){11,23}+[a-z]{3,8}")
_CALLED: Final = re.compile(r"[(\[{]|<(?!/)")
_TRAILING: Final = ".:。"


@dataclass(frozen=True, slots=True)
class _Value:
    """A value behind a name: where it is, how it is quoted, and whether it is taken out."""

    start: int
    end: int
    quote: str
    secret: bool


def without_named(text: str) -> str:
    """Return the text with a mark in the place of every value that its name gives away."""
    pieces: list[str] = []
    small = text.lower()
    done = at = 0
    while name := _next_name(text, small, at):
        at = name.end()
        value = _value_of(text, name)
        if value is None or not value.secret:
            value = _value_below(text, name) or value
        if value is None:
            continue
        if not value.secret:
            at = max(at, value.end if value.end - value.start > _LONG else at)
            continue
        pieces += [text[done : value.start], value.quote, MARK, value.quote]
        at = value.end
        while more := _CONTINUED.match(text, at):
            pieces += [more[1], f'"{MARK}"']
            at = more.end()
        done = at
    return "".join([*pieces, text[done:]]) if pieces else text


def _next_name(text: str, small: str, at: int) -> re.Match[str] | None:
    if len(small) != len(text):  # a letter that is two in small: places would not agree
        return _NAME.search(text, at)
    while begin := _BEGIN.search(small, at):
        if name := _NAME.match(text, begin.start()):
            return name
        at = begin.start() + 1
    return None


def _value_of(text: str, name: re.Match[str]) -> _Value | None:
    if name.lastgroup == "chinese":
        joined = _IN_CHINESE.match(text, name.end())
        return _value_at(text, joined.end(), Named.PASSWORD, "prose") if joined else None
    head, says = _said(text, name)
    if says is Named.NOTHING:
        return None
    if joined := _JOINED.match(text, name.end()):
        whole = head + name[0]
        # A name with dashes, or in capitals, before a "=" without blanks is in no code.
        shell = joined[0] == "=" and ("-" in whole.strip("-") or whole.upper() == whole)
        return _value_at(text, joined.end(), says, "shell" if shell else "bare")
    return _loosely_joined(text, name, head, says)


def _said(text: str, name: re.Match[str]) -> tuple[str, Named]:
    """Return what of the name stands before the match, and how much the whole says."""
    before = text[max(0, name.start() - _NAME_CHARS) : name.start()]
    head = before[len(before.rstrip(_IN_NAMES)) :]
    words = words_of(head + name[0])
    if not head and before.endswith(" ") and len(words) == 1:
        words = words_of(before[-24:].rpartition("\n")[2])[-2:] + words
    return head, named(words)


def _value_below(text: str, name: re.Match[str]) -> _Value | None:
    below = _BELOW.match(text, name.end())
    if below is None:
        return None
    says = Named.PASSWORD if name.lastgroup == "chinese" else _said(text, name)[1]
    # As strictly as in a sentence: below a name there may also stand words, types and settings.
    style: Style = "prose" if says > Named.HINT else "bare"  # a hint wants something random anyway
    return _value_at(text, below.end(), says, style)


def _loosely_joined(text: str, name: re.Match[str], head: str, says: Named) -> _Value | None:
    end = name.end()
    if in_call := _IN_CALL.match(text, end):
        if says is Named.HINT:
            return None  # a list of names
        return _value_at(text, in_call.end(), says, "bare", literal=True)
    if joined := _IN_XML.match(text, end) or _IN_TABLE.match(text, end):
        return _value_at(text, joined.end(), says, "bare")
    if joined := _ON_NEXT_LINE.match(text, end):
        return _value_at(text, joined.end(), says, "shell")
    if joined := _IN_PROSE.match(text, end):
        return _value_at(text, joined.end(), max(says, Named.SECRET), "prose")
    if joined := _AFTER_BLANK.match(text, end):
        line = text[max(0, name.start() - 160) : name.start() - len(head)]
        if head.startswith("-") or _OPENING_WORDS.search(line[-80:]) or _LOGIN_BEFORE.search(line):
            return _value_at(text, joined.end(), says, "bare")
    return None


def _value_at(
    text: str, at: int, says: Named, style: Style, *, literal: bool = False
) -> _Value | None:
    if says is Named.PASSWORD and (phrase := _PHRASE.match(text, at)):
        return _Value(phrase.start(), phrase.end(), "", secret=True)
    value = _VALUE.match(text, at)
    if value is None or value.lastgroup is None:
        return None
    kind = value.lastgroup
    if kind == "bare":
        return _bare(text, value, says, style)
    if literal or (style == "prose" and says is not Named.PASSWORD):
        judged: Style = "bare" if literal else "prose"
    else:
        judged = "quoted"
    quote = '\\"' if kind == "escaped" else '"'
    if not is_secret(value[kind], says, judged):
        return _Value(value.start(), value.start(), quote, secret=False)
    return _Value(value.start(), _whole(text, value, kind), quote, secret=True)


def _bare(text: str, value: re.Match[str], says: Named, style: Style) -> _Value:
    inner = value["bare"].rstrip(_TRAILING)
    called = _CALLED.match(text, value.end()) is not None
    if called or not is_secret(inner, says, style):
        return _Value(value.start(), value.end(), "", secret=False)
    whole = len(inner) >= _LOOKED_AT
    end = _whole(text, value, "bare") if whole else value.start() + len(inner)
    return _Value(value.start(), end, "", secret=True)


def _whole(text: str, value: re.Match[str], kind: str) -> int:
    """Return where the value ends of which the first kilobyte was matched."""
    if len(value[kind]) < _LOOKED_AT:
        return value.end()
    rest = _REST.get(kind, _REST["bare"]).match(text, value.end())
    return rest.end() if rest else value.end()
