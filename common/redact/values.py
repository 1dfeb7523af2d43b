"""How much a name such as ``password`` says, and whether what stands behind it is a secret (R54).

``db_password`` says much, ``sortKey`` nothing.  Code, types, references, masks, sentences and
examples stay; the more a name says, the less a value has to look like a secret.  Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from enum import IntEnum
from typing import Final, Literal, TypeAlias


class Named(IntEnum):
    """How much a name says about its value."""

    NOTHING = 0
    HINT = 1  # ``token``, ``sort_key``: only what looks random counts
    TOKEN = 2  # ``auth_token``, which may also be a word that a parser reads
    SECRET = 3  # ``client_secret``, ``api_key``
    PASSWORD = 4  # what people make up themselves


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that is easier to read than a list of strings."""
    return frozenset(words.split())


Style: TypeAlias = Literal["quoted", "shell", "bare", "prose"]

_WORDS: Final = word_set(
    "a access account admins an any api app auth authentication authorization bar base basic"
    " bearer change changeme client cred credential credentials database db demo dummy e empty"
    " enter env environment example fake false field foo foobar for from g get here hidden id"
    " insert is key keys login me my n na name new nil no none not null number o of off old on"
    " optional or pass passphrase passwd password passwords placeholder please private prod public"
    " put pw pwd redacted replace replaceme required s sample secret secrets see service session"
    " set sometoken some somepassword str string t tbd test testing text that the this to todo"
    " token tokens true type undefined unset use user username vault value var variable with"
    " same origin include omit xxx yes you your yours z"
)
_REFERENCE: Final = re.compile(
    r"\[redacted|\$\{|\$\(|\{\{|\{%|<%|#\{|%\(|%[A-Za-z_]{2,40}%|\{[A-Za-z_][\w.()\[\]'\"]{0,60}\}"
    r"|\.\.\.|…|^\$[A-Za-z_]\w*$|^\$[0-9]$|^<[^<>]*>?$|^\{\w*\}$|^%[sdvq]$|^&\w+$|^\*\w+$|^:[a-z_]+$"
    r"|\(\?[:=!P]|\[\^|\\[wsdSWD][+*{]|^@[\w.]+[A-Za-z_]$|^![A-Z]"
)
_DIGEST: Final = re.compile(r"(?:sha[0-9]{1,3}|md5)[:-][A-Za-z0-9+/=]+", re.IGNORECASE)
_MASK: Final = re.compile(r"[*•●xX.\-_?#~=+·…:]+")
_CODE: Final = re.compile(
    r"[&*!@]?(?:self|this|cls)\.[\w.$]+"
    r"|[&*!@$]{0,2}[A-Za-z_]\w*(?:(?:\.|::|->|\?\.|&\.)[A-Za-z_$]\w*[!?]?)+"
    r"|[A-Za-z]+(?:_[A-Za-z]+)*_?[0-9]{0,2}|_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
_IDENTIFIER: Final = re.compile(r"[A-Z]\w*[a-z]")
_TYPE: Final = re.compile(
    r"(?:u?int|uint|float|bytes|varchar|char|[iuf]|bigint|bool|b?string|big)[0-9]{1,4}(?:_t)?"
    r"|(?:Ui|I|Fl|Bigi)[a-z]+[0-9]{1,2}Array",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[+-]?[0-9][0-9.,:/_+TZ-]*[a-zA-Z%]{0,4}")
_PATH: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+-]{1,12}://|(?:~|\.{1,2})?/|[A-Z]:\\).*")
_FILE: Final = re.compile(
    r"[\w./-]+\.(?:py|js|ts|go|java|rb|json|ya?ml|toml|txt|pem|key|crt|md|jks)"
)
_FORMAT: Final = re.compile(
    r"(?:base|sha|rsa|hs|rs|es|ps|aes|utf|md|ed|x|oauth|v|http|p|ipv|u)-?[0-9]{1,5}"
    r"(?:[-_. ][A-Za-z]+)*",
    re.IGNORECASE,
)
_ONLY_WORDS: Final = re.compile(r"[A-Za-z]+")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CJK: Final = re.compile("[\u3400-\u9fff]")
_TALKS_ABOUT: Final = re.compile(
    r"(?i:pass(?:word|phrase|code)s?|tokens?|secrets?|keys?|credentials?|login|enter|must|invalid"
    r"|expired|required)\b"
)
_JOINT: Final = re.compile(r"[-_./:,]")
_LETTERS: Final = re.compile(r"[A-Za-z_.-]+")
_NOUNS: Final = frozenset(("password", "token", "secret", "key", "credential"))
_SPECIAL: Final = re.compile(r"[0-9+/=!@#$%^&*~]|[A-Za-z0-9]-[A-Za-z0-9]")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_LEAST: Final = {Named.PASSWORD: 6, Named.SECRET: 8, Named.TOKEN: 8, Named.HINT: 10}
_JUDGED: Final = 256
_ENTROPY: Final = 2.8  # bits a character; a word has less than its length suggests
_UNEVEN: Final = 3.75  # of sixteen characters or more; names of code repeat theirs


def is_stand_in(value: str) -> bool:
    """Tell whether the value refers to a secret, masks one or holds its place."""
    if not value or _REFERENCE.search(value) or _MASK.fullmatch(value):
        return True
    if _DIGEST.fullmatch(value):
        return True
    words = [part.lower() for run in _ONLY_WORDS.findall(value) for part in _CAMEL.findall(run)]
    digits = sum(map(str.isdigit, value))
    return bool(words) and digits <= 3 and all(_is_word(word) for word in words)


def is_secret(value: str, named: Named, style: Style) -> bool:
    """Tell whether the value under a name that says this much is to be taken out.

    Args:
        value: Without quotes; its first 256 characters are looked at.
        named: What the name says.
        style: ``quoted`` as in source, ``shell`` as in ``NAME=value``, ``bare`` where it may be
            code, ``prose`` where it may be the next word of a sentence.
    """
    value = value[:_JUDGED]
    if named is Named.NOTHING or is_stand_in(value) or _is_place(value):
        return False
    if named is Named.HINT:
        code = style != "quoted" and _is_code(value)
        return style != "prose" and not code and _looks_random(value, least=_LEAST[named])
    if style == "quoted":
        return len(value) >= 4 and not _is_text(value) and not _is_symbol(value, named)
    if style == "shell":
        return "." not in value or not _is_code(value)
    if style == "prose":
        return _is_told(value, named)
    return _is_literal(value, named)


def looks_random(value: str, *, least: int = 16) -> bool:
    """Tell whether the value is long, mixed and uneven enough for something generated."""
    value = value[:_JUDGED]
    return not is_stand_in(value) and _looks_random(value, least=least)


def _looks_random(value: str, *, least: int) -> bool:
    if len(value) < least or " " in value or _UUID.fullmatch(value) or _FILE.fullmatch(value):
        return False
    digits = sum(map(str.isdigit, value))
    if digits < 2 or _NUMBER.fullmatch(value) or not any(map(str.isalpha, value)):
        return False
    one_case = value in (value.lower(), value.upper())
    if digits * 3 < len(value) and one_case and _JOINT.search(value):
        return False  # words with a number in them
    return _entropy(value) >= _ENTROPY


def _is_literal(value: str, named: Named) -> bool:
    if _NUMBER.fullmatch(value):
        return named is Named.PASSWORD and len(value) >= 6 and value.isdigit()
    return (
        len(value) >= _LEAST[named]
        and _SPECIAL.search(value) is not None
        and not _is_code(value)
        and _TYPE.fullmatch(value) is None
    )


def _is_code(value: str) -> bool:
    if _CODE.fullmatch(value) is None:
        return _IDENTIFIER.fullmatch(value) is not None and not _NOUNS.isdisjoint(
            part.lower() for part in _CAMEL.findall(value)
        )
    return "." in value or len(value) < 16 or _entropy(value) < _UNEVEN


def _is_told(value: str, named: Named) -> bool:
    if not any(map(str.isdigit, value)) or _FORMAT.fullmatch(value):
        return False
    return _is_literal(value, named) and not _FILE.fullmatch(value)


def _is_place(value: str) -> bool:
    """Tell whether the value is a path or an address; base64 may begin with a slash, too."""
    if not _PATH.fullmatch(value):
        return False
    return "://" in value or sum(map(str.isdigit, value)) <= 3 or _FILE.fullmatch(value) is not None


def _is_text(value: str) -> bool:
    """Tell whether the value is something for people to read."""
    if value[0] in " ),":
        return True  # what stands between two strings
    if _CJK.search(value):
        return not any(len(run) >= 6 for run in re.findall(r"[!-~]+", value))
    return " " in value.strip() and bool(
        _TALKS_ABOUT.search(value) or value.rstrip()[-1:] in ".?!:" or value.count(" ") > 24
    )


def _is_symbol(value: str, named: Named) -> bool:
    """Tell whether the value is rather a name of code or a word of a grammar."""
    if not _LETTERS.fullmatch(value):
        return False
    words = [part.lower() for part in _CAMEL.findall(value)]
    if not _NOUNS.isdisjoint(words):
        return True
    return named is Named.TOKEN and ("." in value or len(value) < 16 or _entropy(value) < _UNEVEN)


def _is_word(word: str) -> bool:
    return word in _WORDS or (len(word) >= 3 and word.strip("x") == "")


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


# --- what a name says ---

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORDS: Final = word_set(
    "password passwd passphrase passcode pass pwd pw mnemonic userpass sshpass"
)
_SECRETS: Final = word_set("secret token credential credentials creds cred")
_HINTS: Final = word_set("auth sid sessid session sessionid cookie signature sig jwt pat ak sk key")
_ENDINGS: Final = (
    (("password", "passwd", "passphrase", "pwd", "storepass", "keypass", "bindpw"), Named.PASSWORD),
    (
        ("secret", "apikey", "secretkey", "aeskey", "accesskey", "privatekey", "authkey"),
        Named.SECRET,
    ),
    (("token",), Named.TOKEN),
    (("sessid", "sessionid"), Named.HINT),
)
# A key by such a name opens something; by such another it is found in a table or on a keyboard.
_OPENING: Final = word_set(
    "api access secret private encryption encrypt signing sign aes account storage master app"
    " server auth jwt license deploy shared ssh session hmac admin write license subscription"
    " integration ingest"
)
_FINDING: Final = word_set(
    "sort primary foreign cache partition public publishable pub translation i18n object map row"
    " index unique composite join group hot shortcut route query storage lookup dict react item"
    " property etag idempotency dedup verify"
)
_ONE_OF_MANY: Final = word_set(
    "next current last prev previous each first second expected unexpected invalid no is has the a"
    " an max min num eof start end stop pad unk this that my new old"
)
_ABOUT: Final = word_set(
    "type types name names label placeholder field fields url uri urls endpoint host path paths"
    " file files dir filename length len ttl expires expiry expiration expire expired lifetime"
    " timeout age count limit num max min size format pattern regex hint error errors message msg"
    " title policy column header headers param params parameter prefix suffix version algorithm"
    " alg reset help strength mismatch required invalid class style input box form page view"
    " template manager service provider store validator encoder verifier generator factory"
    " handler function fn callback method mode status state ref arn location source in at stdin"
    " hash hashed digest kind confirmation confirm change forgot rules rule index position check"
    " enabled allowed visible id ids sha256 md5 fingerprint thumbprint"
)
_SAME: Final = word_set(
    "value val key base prod production dev test testing stage staging old new main plain raw b64"
    " base64 hex env default data text string secret access live sandbox"
)


def words_of(name: str) -> list[str]:
    """Return the words of a name in any of the usual spellings, in small letters."""
    return [word.lower() for word in _WORD.findall(name)]


def named(words: list[str]) -> Named:
    """Return what a name of these words says about its value."""
    for at in range(len(words) - 1, -1, -1):
        says = _says(words[at], words[at - 1] if at else "")
        if says is not None:
            return _bounded(says, words[at + 1 :], words[at])
    return Named.NOTHING


def _says(word: str, before: str) -> Named | None:
    if word in _PASSWORDS:
        return Named.PASSWORD
    if word == "phrase":
        return Named.PASSWORD if before in ("seed", "recovery", "mnemonic", "pass") else None
    if word in _SECRETS:
        if not before or before in _ONE_OF_MANY:
            return Named.HINT
        return Named.TOKEN if word == "token" else Named.SECRET
    if word == "auth" and before == "rediscli":  # what redis-cli reads its password from
        return Named.PASSWORD
    if word == "key" and before in _OPENING:
        return Named.SECRET
    if word == "key" and before in _FINDING:
        return Named.NOTHING
    if word in _HINTS:
        return Named.HINT
    return next((says for endings, says in _ENDINGS if word.endswith(endings)), None)


def _bounded(says: Named, tail: list[str], word: str) -> Named:
    if word in ("session", "cookie") and tail in (["id"], []):
        return says
    if word in ("secret", "key") and tail == ["id"]:
        return Named.HINT
    if not _ABOUT.isdisjoint(tail):
        return Named.NOTHING
    known = all(part in _SAME or part.isdigit() for part in tail)
    return says if known else min(says, Named.HINT)
