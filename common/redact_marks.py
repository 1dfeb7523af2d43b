"""Secrets that are known by themselves, whatever stands around them (R54).

Keys with the mark of who issued them, addresses that are the whole secret, hashes of passwords.
Pure; no pattern looks at a character more often than a fixed number of times.
"""

from __future__ import annotations

import re
from typing import Final

# Neither within a word, nor taken for one because of the escape sequence before it.
_START: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_STOP: Final = r"(?![A-Za-z0-9])"

_MARKS: Final = re.compile(
    _START + r"(?:"
    r"A(?:(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}|KID[A-Za-z0-9]{12,64}"  # AWS, Tencent Cloud
    r"|Iza[A-Za-z0-9_-]{35}|TBB[A-Za-z0-9_=-]{24,}+|TATT3[A-Za-z0-9_=-]{100,}+|KCp[A-Za-z0-9]{60,}+"
    r"|AAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}+|BSK[A-Za-z0-9+/]{100,}+={0,2}"
    r"|GE-SECRET-KEY-1[A-Z0-9]{50,64}|PKAK[A-Za-z0-9]{40,}+)"
    r"|LTAI[A-Za-z0-9]{12,64}"  # Alibaba Cloud
    r"|g(?:h[oprsu]_[A-Za-z0-9]{30,}+|ithub_pat_[A-Za-z0-9_]{22,}+"
    r"|l(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,}+"
    r"|l(?:sa|c)_[A-Za-z0-9+/=_]{32,}+|sk_[A-Za-z0-9]{40,}+)"
    r"|x(?:ox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,}+|app-[A-Za-z0-9-]{10,}+|ai-[A-Za-z0-9_]{60,}+)"
    r"|sk-[A-Za-z0-9_-]{20,}+|[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}+|SK[0-9a-f]{32}"
    r"|s(?:hp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|ntry[su]_[A-Za-z0-9_+/=]{40,}+|bp_[a-f0-9]{40}"
    r"|ecret_[A-Za-z0-9]{43}|q0(?:atp|csp)-[A-Za-z0-9_-]{20,}+|hippo_[a-z]{3,5}_[A-Za-z0-9-]{20,}+)"
    r"|SEC[0-9a-f]{64}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"
    r"|whsec_[A-Za-z0-9+/=]{24,}+|ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,64}"
    r"|(?<![A-Za-z0-9+/][+/])EAAA[A-Za-z0-9_-]{56,}+(?![+/])|EAA[MC][A-Za-z0-9]{80,}+|NRAK-[A-Z0-9]{27}|NRJS-[a-f0-9]{19}"
    r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|key-[0-9a-f]{32}|CB1-[A-Za-z2-7]{26}"  # CB1: our own
    r"|n(?:pm_[A-Za-z0-9]{36}|tn_[A-Za-z0-9]{40,}+|fp_[A-Za-z0-9]{36,}+|vapi-[A-Za-z0-9_-]{40,}+)"
    r"|p(?:ypi-[A-Za-z0-9_-]{50,}+|at[A-Za-z0-9]{14}\.[0-9a-f]{64}|scale_[a-z]{2,5}_[\w=.-]{30,}+"
    r"|plx-[A-Za-z0-9]{40,}+|ul-[a-f0-9]{40})"
    r"|r(?:8_[A-Za-z0-9]{30,}+|ubygems_[a-f0-9]{48}|dme_[a-z0-9]{60,}+)"
    r"|h(?:f_[A-Za-z0-9]{30,}+|v[sbr]\.[A-Za-z0-9_-]{24,}+)"
    r"|d(?:o[por]_v1_[a-f0-9]{64}|apis?[a-f0-9]{32}|ckr_[po]at_[A-Za-z0-9_-]{20,}+"
    r"|p\.[a-z]{2,6}\.[A-Za-z0-9_.-]{40,}+|jango-insecure-[^\s\"'`]{40,}+|t0c01\.[\w.]{60,}+)"
    r"|lin_(?:api|oauth)_[A-Za-z0-9]{32,}+|fig[dour]+_[A-Za-z0-9_-]{30,}+|ops_eyJ[\w+/=-]{80,}+"
    r"|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"  # Discord
    r"|[0-9]{8,10}:[A-Za-z0-9_-]{35}"  # Telegram
    r"|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+"
    r"|[0-9a-f]{32}(?:-us[0-9]{1,2}|\.(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{16})"  # Mailchimp, Zhipu
    r"|[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"  # Azure
    r"|eyJ[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"  # JWT
    r")" + _STOP +
    # So marked that no word before them makes them another word; each first letter once, for speed.
    r"|g(?:h[oprsu]_[A-Za-z0-9]{36}|ithub_pat_[A-Za-z0-9_]{60,}+|lpat-[A-Za-z0-9_-]{20}"
    r"|ls(?:a|c)_[A-Za-z0-9+/=_]{32,}+|sk_[A-Za-z0-9]{40,}+)"
    r"|n(?:pm_[A-Za-z0-9]{36}|tn_[A-Za-z0-9]{40,}+|vapi-[A-Za-z0-9_-]{60,}+)"
    r"|x(?:ox[abeoprs]-[0-9]{8,}+-[A-Za-z0-9-]{10,}+|app-[0-9]-[A-Za-z0-9-]{20,}+)"
    r"|A(?:Iza[A-Za-z0-9_-]{35}|(?<![A-Z0-9/+]A)[KS]IA[A-Z0-9]{16}|KID[A-Za-z0-9]{32}"
    r"|GE-SECRET-KEY-1[A-Z0-9]{50,64})"
    r"|s(?:k-(?:(?<![aeiou]sk-)[A-Za-z0-9_-]{20,}+|(?:(?:ant|proj)-(?=[a-z0-9_-]{0,40}[A-Z])"
    r"|or-v1-(?=[0-9a-f]{32}))[A-Za-z0-9_-]{20,}+)|k_live_[A-Za-z0-9]{16,}+"
    r"|hp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|ecret_[A-Za-z0-9]{43})"
    r"|S(?:EC[0-9a-f]{64}|G\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}|(?<![AEIOU]S)K[0-9a-f]{32})"
    r"|LTAI(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{16,64}|GOCSPX-[A-Za-z0-9_-]{20,64}"
    r"|whsec_[A-Za-z0-9+/=]{24,}+|CB1-[A-Za-z2-7]{26}|(?<=token)key-[0-9a-f]{32}"
    r"|h(?:f_[A-Za-z0-9]{30,}+|v[sbr]\.[A-Za-z0-9_-]{24,}+)|figd_[A-Za-z0-9_-]{40}"
    r"|p(?:ypi-[A-Za-z0-9_-]{50,}+|plx-[A-Za-z0-9]{40,}+)|lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"
    r"|d(?:o[por]_v1_[a-f0-9]{64}|api[a-f0-9]{32}|ckr_[po]at_[A-Za-z0-9_-]{20,}+"
    r"|jango-insecure-[^\s\"'`]{40,}+)"
    r"|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.(?=[A-Za-z_-]{0,26}[0-9])[A-Za-z0-9_-]{27,40}"
    r"|(?<![0-9])[0-9]{8,12}:[A-Za-z0-9_-]{35}" + _STOP +
    r"|(?<![0-9a-f])[0-9a-f]{32,40}\.(?=[A-Za-z]{0,15}[0-9])[A-Za-z0-9]{16}" + _STOP +
    r"|Q(?<=[A-Za-z0-9_~.]{3}[0-9]Q)~[A-Za-z0-9_~.-]{31,34}"
    r"|rk_live_[A-Za-z0-9]{16,}+"
    r"|eyJhbGciOi[A-Za-z0-9_-]{8,2048}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"
)
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
                pieces += [text[done : mark.start()], "[redacted:key]"]
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
