"""What a name says about its value: ``db_password`` much, ``sortKey`` nothing (R54).  Pure."""

from __future__ import annotations

import re
from typing import Final

from common.redact_values import Named, word_set

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
