"""Secrets that are known by themselves, whatever stands around them (R54).

Keys with the mark of who issued them, addresses that are the whole secret, hashes of passwords;
by option only, numbers of people: Chinese identity cards, mobile telephones, bank cards.  Such a
number counts when its check digit is right, so that few other numbers are taken for one.
Pure; no pattern looks at a character more often than a fixed number of times.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits
from typing import Final

# By their first letters, which `re` compares before it tries anything else: marks that count where
# a word begins, and marks that no word before them makes another word.
_MARKED: Final = (
    (
        "A",  # AWS, Tencent Cloud
        r"KID[A-Za-z0-9]{12,64}|(?:BIA|CCA|KIA|SIA)[A-Z0-9]{16}",
        (
            r"(?<![A-Z0-9/+]A)[KS]IA[A-Z0-9]{16}|KID[A-Za-z0-9]{32}|Iza[A-Za-z0-9_-]{35}"
            r"|TBB[A-Za-z0-9_=-]{24,}+|TATT3[A-Za-z0-9_=-]{100,}+|KCp[A-Za-z0-9]{60,}+"
            r"|AAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}+|BSK[A-Za-z0-9+/]{100,}+={0,2}"
            r"|GE-SECRET-KEY-1[A-Z0-9]{50,64}|PKAK[A-Za-z0-9]{40,}+"
        ),
    ),
    ("C", "", r"B1-[A-Za-z2-7]{26}"),  # our own
    (
        "E",
        r"(?<![A-Za-z0-9+/][+/]E)AAA[A-Za-z0-9_-]{56,}+(?![+/])",
        (
            r"AA[MC][A-Za-z0-9]{80,}+"
            r"|AAA(?<![A-Za-z0-9+/]{12}EAAA)[A-Za-z0-9_-]{56,64}(?![A-Za-z0-9+/=_-])"
        ),
    ),
    ("G", "", r"OCSPX-[A-Za-z0-9_-]{20,64}"),
    (
        "L",  # Alibaba Cloud
        r"TAI[A-Za-z0-9]{12,64}",
        r"TAI(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{16,64}",
    ),
    ("N", "", r"RAK-[A-Z0-9]{27}|RJS-[a-f0-9]{19}"),
    ("P", "", r"MAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    (
        "S",
        r"K[0-9a-f]{32}|G\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}",
        r"(?<![AEIOU]S)K[0-9a-f]{32}|G\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|EC[0-9a-f]{64}",
    ),
    (
        "d",
        r"p\.[a-z]{2,6}\.[A-Za-z0-9_.-]{40,}+|apis[a-f0-9]{32}",
        (
            r"o[por]_v1_[a-f0-9]{64}|api[a-f0-9]{32}|ckr_[po]at_[A-Za-z0-9_-]{20,}+"
            r"|p\.(?:audit|ct|pt|sa|scim|st)\.[A-Za-z0-9_-]{40,}+|jango-insecure-[^\s\"'`]{40,}+"
            r"|t0c01\.[\w.]{60,}+"
        ),
    ),
    (
        "e",  # JWT
        r"yJ[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
        r"yJhbGciOi[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",
    ),
    ("f", r"ig[dour]+_[A-Za-z0-9_-]{30,}+", r"igd_[A-Za-z0-9_-]{40}"),
    (
        "g",
        "",
        (
            r"h[oprsu]_[A-Za-z0-9]{30,}+|ithub_pat_[A-Za-z0-9_]{22,}+|sk_[A-Za-z0-9]{40,}+"
            r"|l(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,}+"
            r"|l(?:sa|c)_[A-Za-z0-9+/=_]{32,}+"
        ),
    ),
    ("h", "", r"f_[A-Za-z0-9]{30,}+|v[sbr]\.[A-Za-z0-9_-]{24,}+"),
    ("k", r"ey-[0-9a-f]{32}", r"(?:(?<=tokenk)|(?<=secretk)|(?<=apik))ey-[0-9a-f]{32}"),
    ("l", "", r"in_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    (
        "n",
        r"vapi-[A-Za-z0-9_-]{40,}+",
        r"pm_[A-Za-z0-9]{36}|tn_[A-Za-z0-9]{40,}+|fp_[A-Za-z0-9]{36,}+|vapi-[A-Za-z0-9_-]{60,}+",
    ),
    ("o", "", r"ps_eyJ[\w+/=-]{80,}+"),
    (
        "p",
        "",
        (
            r"ypi-[A-Za-z0-9_-]{50,}+|at[A-Za-z0-9]{14}\.[0-9a-f]{64}|scale_[a-z]{2,5}_[\w=.-]{30,}+"
            r"|plx-[A-Za-z0-9]{40,}+|ul-[a-f0-9]{40}"
        ),
    ),
    (
        "r",
        r"k_(?:test|prod)_[A-Za-z0-9]{16,}+",
        (
            r"8_[A-Za-z0-9]{30,}+|ubygems_[a-f0-9]{48}|dme_[a-z0-9]{60,}+|k_live_[A-Za-z0-9]{16,}+"
            r"|(?<![aeiou]r)k_(?:test|prod)_[A-Za-z0-9]{16,}+"
        ),
    ),
    (
        "s",  # Behind a vowel it may be the end of "task", "risk" or "disk".
        r"k-[A-Za-z0-9_-]{20,}+|k_(?:test|prod)_[A-Za-z0-9]{16,}+",
        (
            r"k-(?:(?<![aeiou]sk-)[A-Za-z0-9_-]{20,}+|(?:(?:ant|proj)-(?=[a-z0-9_-]{0,40}[A-Z])"
            r"|or-v1-(?=[0-9a-f]{32}))[A-Za-z0-9_-]{20,}+)|k_live_[A-Za-z0-9]{16,}+"
            r"|(?<![aeiou]s)k_(?:test|prod)_[A-Za-z0-9]{16,}+|hp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"
            r"|ntry[su]_[A-Za-z0-9_+/=]{40,}+|bp_[a-f0-9]{40}|ecret_[A-Za-z0-9]{43}"
            r"|q0(?:atp|csp)-[A-Za-z0-9_-]{20,}+|hippo_[a-z]{3,5}_[A-Za-z0-9-]{20,}+"
        ),
    ),
    ("w", "", r"hsec_[A-Za-z0-9+/=]{24,}+"),
    (
        "x",
        r"app-[A-Za-z0-9-]{10,}+",
        (
            r"ox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,}+|app-[0-9]-[A-Za-z0-9-]{20,}+"
            r"|ai-[A-Za-z0-9_]{60,}+"
        ),
    ),
    ("y", "", r"a29\.[A-Za-z0-9_-]{20,}+"),
    (
        "[MNO]",  # Discord
        r"[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        r"[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.(?=[A-Za-z_-]{0,26}[0-9])[A-Za-z0-9_-]{27,40}",
    ),
    # What begins as any word may is looked for from its middle.
    (":", "", r"(?<=[0-9]{8}:)[A-Za-z0-9_-]{35}(?![A-Za-z0-9])"),  # Telegram
    ("-", "", r"(?<=[0-9a-f]{32}-)us[0-9]{1,2}(?![A-Za-z0-9])"),  # Mailchimp
    (
        r"\.",  # Zhipu, Terraform
        "",
        (
            r"(?<=[0-9a-f]{32}\.)(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{16}(?![A-Za-z0-9])"
            r"|(?<=[A-Za-z0-9]{14}\.)atlasv1\.[A-Za-z0-9_=-]{60,}+"
        ),
    ),
    ("~", "", r"(?<=[A-Za-z0-9_~.]{3}[0-9]Q~)[A-Za-z0-9_~.-]{31,34}"),  # Azure
)


def _beginning(first: str, of_a_word: str, anywhere: str) -> str:
    # Neither within a word, nor taken for one because of the escape sequence before it.
    word = r"(?:(?<![A-Za-z0-9].)|(?<=\\[nrt].))(?:" + of_a_word + r")(?![A-Za-z0-9])"
    return f"{first}(?:{'|'.join(filter(None, (of_a_word and word, anywhere)))})"


_MARKS: Final = re.compile("|".join(_beginning(*row) for row in _MARKED))
_MIDDLES: Final = ":-.~"
_BEFORE_MIDDLE: Final = ascii_letters + digits + "_~"
# Words of a style sheet, and the mask that a manual puts in the place of a key.
_NO_MARK: Final = re.compile(r"sk(?:-[a-z]{1,15}){3,}|sk-(?:[a-z]+-)?[xX]+")
_RUN: Final = re.compile(r"[A-Za-z0-9_~.:=+/\\-]{15,}+")  # every mark is in such a run

_HOOKS: Final = re.compile(
    r"((?:open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/"
    r"|hooks\.slack\.com/(?:services|workflows|triggers)/"
    r"|discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/|api\.telegram\.org/(?:file/)?bot"
    r"|webhook\.office\.com/webhookb?2?/|chat\.googleapis\.com/v1/spaces/"
    r"|maker\.ifttt\.com/trigger/|sctapi\.ftqq\.com/))[A-Za-z0-9_/:@-]{8,2048}+"
)
_HOOK_WORDS: Final = re.compile(r"hook|/workflows/|/services/|/triggers/|/bot|/spaces/|ftqq|ifttt")
_HASHES: Final = re.compile(
    r"\$(?:apr1|[156y]|2[abxy]?|argon2(?:id?|d)|scrypt|pbkdf2[a-z0-9-]{0,16})"
    r"\$[A-Za-z0-9./+=,$-]{20,400}+"
)


def without_marked(text: str) -> str:
    """Return the text without keys that carry the mark of who issued them."""
    pieces: list[str] = []
    done = 0
    for run in _RUN.finditer(text):
        for mark in _MARKS.finditer(text, run.start(), run.end()):
            if not _NO_MARK.fullmatch(mark[0]):
                before = text[done : mark.start()]
                if mark[0][0] in _MIDDLES:
                    before = before.rstrip(_BEFORE_MIDDLE)
                pieces += [before, "[redacted:key]"]
                done = mark.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def without_hooks(text: str) -> str:
    """Return the text without addresses that whoever knows them may post to."""
    if not _HOOK_WORDS.search(text):
        return text
    return _HOOKS.sub(lambda match: match[1] + "[redacted:hook]", text)


def without_hashes(text: str) -> str:
    """Return the text without hashes of passwords, which can be searched at leisure."""
    return _HASHES.sub("[redacted:hash]", text)


# --- numbers of people, by option only ---

_IDENTITY: Final = re.compile(
    r"(?<![0-9A-Za-z])[1-9][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
    r"[0-9]{3}[0-9Xx](?![0-9A-Za-z])"
)
_MOBILE: Final = re.compile(
    r"(?<![0-9A-Za-z.])(\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}(?![0-9A-Za-z])"
)
_CARD: Final = re.compile(
    r"(?<![0-9A-Za-z.])(?:[3-6][0-9]{3}[ -]?(?:[0-9]{4}[ -]?){2,3}[0-9]{1,7})(?![0-9A-Za-z])"
)
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643
_CHECKS: Final = "10X98765432"


def without_personal(text: str) -> str:
    """Return the text without the numbers of people."""
    text = _IDENTITY.sub(_identity, text)
    text = _CARD.sub(_card, text)
    return _MOBILE.sub("[redacted:phone]", text)


def _identity(match: re.Match[str]) -> str:
    number = match[0].upper()
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    return "[redacted:identity]" if _CHECKS[total % 11] == number[17] else match[0]


def _card(match: re.Match[str]) -> str:
    digits = [int(char) for char in match[0] if char.isdigit()]
    if not 13 <= len(digits) <= 19:
        return match[0]
    # Luhn, ISO/IEC 7812-1
    total = sum(digits[-1::-2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    return match[0] if total % 10 else "[redacted:card]"
