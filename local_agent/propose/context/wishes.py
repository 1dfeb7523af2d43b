"""What the words of a request say about where to look.  Pure; a guess that only orders things."""

from __future__ import annotations

import re
from typing import Final

_CHANGES: Final = re.compile(
    r"\b(?:my|our|these|those|the|local|recent|current|latest|uncommitted|unstaged|staged|pending|working)"
    r"\s+(?:\w+\s+){0,2}(?:changes?|edits?|diffs?|modifications?|work)\b"
    r"|\bwhat (?:have |did )?i (?:have )?(?:change|edit|touch|modif)"
    r"|\bgit diff\b|\bworking tree\b|\bnot (?:yet )?committed\b"
    r"|(?:我|本地|当前|这些|未提交|没提交|刚才|刚刚|最近)的?[^，。,.]{0,6}(?:改动|修改|变更|更改|改了)"
    r"|未提交|没有?提交|工作区|暂存",
    re.IGNORECASE,
)
_FAILURE: Final = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ing|ures?)?|exceptions?|traceback|stack ?trace|crash(?:es|ed|ing)?"
    r"|warnings?|lint(?:er|ing)?|diagnostics?|broken|bugs?|type.?check|mypy|ruff|eslint|tsc)\b"
    r"|报错|错误|失败|异常|崩溃|告警|警告|堆栈|诊断|不通过|没通过|跑不通|挂了",
    re.IGNORECASE,
)
_LOOKED_AT: Final = 20_000  # characters


def about_changes(text: str) -> bool:
    """Tell whether a request is about what was changed and not committed."""
    return _CHANGES.search(text, 0, _LOOKED_AT) is not None


def about_failure(text: str) -> bool:
    """Tell whether a request is about something that fails."""
    return _FAILURE.search(text, 0, _LOOKED_AT) is not None
