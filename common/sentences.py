"""How sentences for people are written: once, in English and in Chinese, side by side.

Each half keeps all of its sentences in its one ``replies`` module; this module holds the mechanism
and the sentences that both halves share.  A missing translation cannot be built, and a test checks
that both languages use the same facts (docs/adr/0003).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from common.errors import CodexBridgeError
from common.text import has_cjk, one_line

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = ("en", "zh")
Words = Callable[[Lang], str]  # what is said, for whoever reads it in whichever language
_FACT_BYTES = 400
_FIELD = re.compile(r"{(\w+)(?::([^{}|]*)\|([^{}|]*))?}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence in both languages; ``{name}`` stands for a fact.

    ``{count:file|files}`` stands for the first word where the fact is 1, else for the second.
    """

    en: str
    zh: str

    def fields(self, lang: Lang) -> set[str]:
        """Return the names of the facts that the sentence needs."""
        return {match[1] for match in _FIELD.finditer(self.zh if lang == "zh" else self.en)}


def say(sentence: Sentence, lang: Lang, /, **facts: object) -> str:
    """Return the sentence in ``lang`` with its facts filled in.

    A fact is put in once and never read as a template itself.

    Raises:
        KeyError: a fact is missing: a programming error.
    """
    template = sentence.zh if lang == "zh" else sentence.en
    return _FIELD.sub(lambda match: _filled(match, str(facts[match[1]])), template)


def same(text: str) -> Words:
    """Return a text that is what it is in every language: what was answered, or written."""
    return lambda _lang: text


def explain(error: CodexBridgeError, table: Mapping[str, Sentence], lang: Lang) -> str:
    """Return the sentence for an error, on one line: by its code, else by its family.

    The family is what stands before the first dot.  Facts may hold what a person or a peer wrote;
    nothing in them stays hidden, none is longer than 400 bytes, and an empty one is shown as “—”.
    """
    family = error.code.partition(".")[0]
    names = (error.code, family)
    known = (found[name] for name in names for found in (table, SHARED) if name in found)
    sentence = next(known, SHARED["internal"])
    facts = {name: one_line(str(value), _FACT_BYTES) or "—" for name, value in error.facts.items()}
    missing = dict.fromkeys(sentence.fields(lang), "?")
    return say(sentence, lang, **(missing | facts | {"code": error.code}))


def language_of(text: str, default: Lang) -> Lang:
    """Return the language to answer in: Chinese wherever a Chinese character was written."""
    return "zh" if has_cjk(text) else default


def system_language(environ: Mapping[str, str]) -> Lang:
    """Return the language of the machine's user by CODEXBRIDGE_LANG, LC_ALL, LC_MESSAGES, LANG."""
    for name in ("CODEXBRIDGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def _filled(match: re.Match[str], fact: str) -> str:
    if match[2] is None:
        return fact
    return match[2] if fact == "1" else match[3]


SHARED: dict[str, Sentence] = {
    "internal": Sentence(
        en="Something went wrong inside CodexBridge ({code}). Nothing was lost; see the log.",
        zh="CodexBridge 内部出错（{code}）。没有丢失任何内容；请查看日志。",
    ),
    "input.task-id": Sentence(
        en="“{given}” is not a task ID. IDs look like T-7K3F; `codexbridge tasks` lists them.",
        zh="“{given}”不是任务编号。编号形如 T-7K3F；用 `codexbridge tasks` 可以列出。",
    ),
    "config.no-file": Sentence(
        en="{file} cannot be read ({why}).", zh="无法读取 {file}（{why}）。"
    ),
    "config.broken-toml": Sentence(
        en="{file} is not valid TOML: look at line {line}, column {column}.",
        zh="{file} 不是有效的 TOML：请检查第 {line} 行第 {column} 列。",
    ),
    "config.unknown-setting": Sentence(
        en="There is no setting “{name}” (in {file}). Closest known: {did_you_mean}",
        zh="没有“{name}”这个设置项（位于 {file}）。最接近的是：{did_you_mean}",
    ),
    "config.unknown-variable": Sentence(
        en="There is no environment variable {name}. Closest known: {did_you_mean}",
        zh="没有 {name} 这个环境变量。最接近的是：{did_you_mean}",
    ),
    "config.invalid": Sentence(
        en="The setting {name} is not valid: {why}.", zh="设置项 {name} 无效：{why}。"
    ),
    "config.file-too-large": Sentence(
        en="{path} has more than {limit} bytes; is it the right file?",
        zh="{path} 超过 {limit} 字节；是否选错了文件？",
    ),
    "config.file-readable-by-others": Sentence(
        en="Others can read {path}. Run: chmod 600 {path}",
        zh="其他用户可以读取 {path}。请运行：chmod 600 {path}",
    ),
    "config.file-writable-by-others": Sentence(
        en="Others can change {path}. Run: chmod o-w {path}",
        zh="其他用户可以修改 {path}。请运行：chmod o-w {path}",
    ),
    "config.home-relative": Sentence(
        en="CODEXBRIDGE_HOME must be an absolute path; it is {path}.",
        zh="CODEXBRIDGE_HOME 必须是绝对路径，当前为 {path}。",
    ),
    "system": Sentence(en="{why} {path}", zh="{why} {path}"),
    "config.not-private": Sentence(
        en="The folder {path} belongs to another user; CodexBridge does not use it.",
        zh="文件夹 {path} 属于其他用户，CodexBridge 不会使用。",
    ),
}
