"""How sentences for people are written: once, in English and in Chinese, side by side.

Each part keeps the sentences that it says in a ``words`` module of its own; this module holds the
mechanism and the sentences that both halves share.  A missing translation cannot be built, and a
test checks that both languages use the same facts (docs/adr/0003).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
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

    A fact is put in once and never read as a template itself; several are put in as a list.

    Raises:
        KeyError: a fact is missing: a programming error.
    """
    parts, tail = _parts(sentence.zh if lang == "zh" else sentence.en)
    said: list[str] = []
    for words, name, one, many in parts:
        fact = listed(facts[name], lang)
        said += (words, fact if one is None else one if fact == "1" else many)
    return "".join((*said, tail))


def same(text: str) -> Words:
    """Return a text that is what it is in every language: what was answered, or written."""
    return lambda _lang: text


def explain(error: CodexBridgeError, table: Mapping[str, Sentence], lang: Lang) -> str:
    """Return the sentence for an error, on one line: by its code, else by its family.

    A code that happens for several reasons may have a sentence for each, under ``code/why``.  The
    family is what stands before the first dot.  Facts may hold what a person or a peer wrote;
    nothing in them stays hidden, none is longer than 400 bytes, and an empty one is shown as “—”.
    """
    family = error.code.partition(".")[0]
    names = (f"{error.code}/{error.facts.get('why')}", error.code, family)
    known = (found[name] for name in names for found in (table, SHARED) if name in found)
    sentence = next(known, SHARED["internal"])
    facts = {name: _fact(value, lang) for name, value in error.facts.items()}
    missing = dict.fromkeys(sentence.fields(lang), "?")
    return say(sentence, lang, **(missing | facts | {"code": error.code}))


def _fact(value: object, lang: Lang) -> str:
    return one_line(listed(value, lang), _FACT_BYTES) or "—"


def listed(value: object, lang: Lang) -> str:
    """Return a fact as it is put into a sentence.

    It may be a sentence itself.  What has no words of its own is no fact, and never shown as code.
    """
    if isinstance(value, tuple | list):
        return ("、" if lang == "zh" else ", ").join(listed(one, lang) for one in value)
    if isinstance(value, Sentence):
        return say(value, lang)
    has_words = isinstance(value, str | int | float) or type(value).__str__ is not object.__str__
    return str(value) if has_words and not isinstance(value, bytes) else "?"


def language_of(text: str, default: Lang) -> Lang:
    """Return the language to answer in: Chinese wherever a Chinese character was written."""
    return "zh" if has_cjk(text) else default


@lru_cache(maxsize=1024)
def _parts(template: str) -> tuple[tuple[tuple[str, str, str | None, str], ...], str]:
    """Return each fact with the words before it and those it chooses from, and what follows."""
    parts, end = [], 0
    for match in _FIELD.finditer(template):
        parts.append((template[end : match.start()], match[1], match[2], match[3]))
        end = match.end()
    return tuple(parts), template[end:]


SHARED: dict[str, Sentence] = {
    "internal": Sentence(
        en="Something went wrong inside CodexBridge ({code}). Nothing was lost; see the log.",
        zh="CodexBridge 内部出错（{code}）。没有丢失任何内容；请查看日志。",
    ),
    "input.task-id": Sentence(
        en="“{given}” is not a task ID. IDs look like T-7K3F; `codexbridge tasks` lists them.",
        zh="“{given}”不是任务编号。编号形如 T-7K3F；用 `codexbridge tasks` 可以列出。",
    ),
    "config.no-locks": Sentence(
        en="The file system of {path} gives no locks ({why}), as some network homes do, so nothing "
        "can keep a second one from starting. Set CODEXBRIDGE_HOME to a folder on a local disk.",
        zh="{path} 所在的文件系统不提供文件锁（{why}），某些网络主目录就是这样，"
        "因此无法防止重复启动。请将 CODEXBRIDGE_HOME 设为本地磁盘上的文件夹。",
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
    "config.unknown-setting/none": Sentence(
        en="There is no setting “{name}” (in {file}). All of them: codexbridge help config",
        zh="没有“{name}”这个设置项（位于 {file}）。全部设置项：codexbridge help config",
    ),
    "config.unknown-variable/none": Sentence(
        en="There is no environment variable {name}. All of them: codexbridge help config",
        zh="没有 {name} 这个环境变量。全部变量：codexbridge help config",
    ),
    "config.unknown-variable": Sentence(
        en="There is no environment variable {name}. Closest known: {did_you_mean}",
        zh="没有 {name} 这个环境变量。最接近的是：{did_you_mean}",
    ),
    "config.file-only": Sentence(
        en="The setting {name} can be set in the settings file alone, not in the environment.",
        zh="设置项 {name} 只能写在设置文件中，不能通过环境变量设置。",
    ),
    "config.missing-in-file": Sentence(
        en="The setting {name} is missing. Set it in {file}.",
        zh="缺少设置项 {name}。请在 {file} 中填写。",
    ),
    "config.invalid": Sentence(
        en="The setting {name} is not valid. `codexbridge help config` shows what it can be.",
        zh="设置项 {name} 无效。可填的值见 `codexbridge help config`。",
    ),
    "config.invalid/integer": Sentence(
        en="The setting {name} is not valid. It must be a whole number.",
        zh="设置项 {name} 无效，应为整数。",
    ),
    "config.invalid/number": Sentence(
        en="The setting {name} is not valid. It must be a number.",
        zh="设置项 {name} 无效，应为数字。",
    ),
    "config.invalid/boolean": Sentence(
        en="The setting {name} is not valid. It must be true or false.",
        zh="设置项 {name} 无效，应为 true 或 false。",
    ),
    "config.invalid/text": Sentence(
        en="The setting {name} is not valid. It must be text in quotation marks.",
        zh="设置项 {name} 无效，应为带引号的文本。",
    ),
    "config.invalid/list": Sentence(
        en='The setting {name} is not valid. It must be a list, such as ["a", "b"].',
        zh='设置项 {name} 无效，应为列表，例如 ["a", "b"]。',
    ),
    "config.invalid/table": Sentence(
        en="The setting {name} is not valid. It must be a table: a line [{name}] with its settings "
        "below it.",
        zh="设置项 {name} 无效，应为表：单独一行 [{name}]，下面写它的各项设置。",
    ),
    "config.invalid/long": Sentence(
        en="The setting {name} is too long: at most {wanted} {wanted:character|characters}.",
        zh="设置项 {name} 过长，最多 {wanted} 个字符。",
    ),
    "config.invalid/short": Sentence(
        en="The setting {name} is too short: at least {wanted} {wanted:character|characters}.",
        zh="设置项 {name} 过短，至少 {wanted} 个字符。",
    ),
    "config.invalid/many": Sentence(
        en="The setting {name} has too many entries: at most {wanted}.",
        zh="设置项 {name} 的条目过多，最多 {wanted} 个。",
    ),
    "config.invalid/names": Sentence(
        en="The setting {name} is not valid. Each of its tables has a name of its own: name = …",
        zh="设置项 {name} 无效。其中每个表都要有各不相同的名称：name = …",
    ),
    "config.invalid/utf-8": Sentence(
        en="{name} is not UTF-8 text. Save it as UTF-8.",
        zh="{name} 不是 UTF-8 文本。请以 UTF-8 保存。",
    ),
    "config.invalid/json": Sentence(
        en="The setting {name} is not valid. In the environment it is written as JSON, such as "
        '["a", "b"].',
        zh='设置项 {name} 无效。在环境变量中应写成 JSON，例如 ["a", "b"]。',
    ),
    "config.invalid/choice": Sentence(
        en="The setting {name} is not valid. It can be {wanted}.",
        zh="设置项 {name} 无效。可选值：{wanted}。",
    ),
    "config.invalid/least": Sentence(
        en="The setting {name} is too small: at least {wanted}.",
        zh="设置项 {name} 过小。最小为 {wanted}。",
    ),
    "config.invalid/most": Sentence(
        en="The setting {name} is too large: at most {wanted}.",
        zh="设置项 {name} 过大。最大为 {wanted}。",
    ),
    "config.invalid/characters": Sentence(
        en="The setting {name} is too long, or has characters that it cannot have ({wanted}).",
        zh="设置项 {name} 过长，或含有不允许的字符（应符合 {wanted}）。",
    ),
    "config.file-too-large": Sentence(
        en="{path} has more than {limit} bytes; is it the right file?",
        zh="{path} 超过 {limit} 字节；是否选错了文件？",
    ),
    "config.file-readable-by-others": Sentence(
        en="Others can read {path}. Run: chmod 600 {path}",
        zh="其他用户可以读取 {path}。请运行：chmod 600 {path}",
    ),
    "config.files-readable-by-others": Sentence(
        en="Others can read {count} files in {path}: {names}. Run: cd {path} && chmod 600 {names}",
        zh="其他用户可以读取 {path} 中的 {count} 个文件：{names}。"
        "请运行：cd {path} && chmod 600 {names}",
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
    "system.no-file": Sentence(en="There is no {path}.", zh="{path} 不存在。"),
    "system.folder": Sentence(
        en="{path} is a folder; a file is needed.", zh="{path} 是文件夹，需要的是文件。"
    ),
    "system.denied": Sentence(
        en="You may not read or write {path}.", zh="你没有读写 {path} 的权限。"
    ),
    "system.exists": Sentence(
        en="{path} already exists and is not overwritten. Name a new file.",
        zh="{path} 已经存在，不会覆盖。请换一个新文件名。",
    ),
    "system.read-only": Sentence(
        en="{path} cannot be written: its file system is read-only.",
        zh="无法写入 {path}：所在的文件系统是只读的。",
    ),
    "system.full": Sentence(
        en="The disk is full. Free some room, then try again.",
        zh="磁盘已满。请腾出空间后重试。",
    ),
    "input.public-key": Sentence(
        en="“{given}” is not a public key: give it in base64 or hex, or name a file that holds it.",
        zh="“{given}”不是公钥：请以 base64 或十六进制给出，或指定存放它的文件。",
    ),
    "audit.unreadable": Sentence(
        en="The audit log cannot be read ({why}): the file {path} is damaged.",
        zh="无法读取审计日志（{why}）：文件 {path} 已损坏。",
    ),
    "audit.none": Sentence(
        en="There is no audit log yet ({path}).", zh="还没有审计日志（{path}）。"
    ),
    "audit.no-key": Sentence(
        en="Whose log is it? No key of its own is here: give the public key with --key.",
        zh="无法确定日志属于谁：此处没有其密钥。请用 --key 给出公钥。",
    ),
    "audit.since": Sentence(
        en="The audit log has no entry {since} yet; nothing was exported.",
        zh="审计日志还没有第 {since} 条；没有导出任何内容。",
    ),
    "audit.not-exported": Sentence(
        en="The audit log is BROKEN at entry {seq}, so there is no whole export of it. Keep the "
        "file; `audit verify` says what is wrong.",
        zh="审计日志在第 {seq} 条处损坏，无法完整导出。请保留该文件；`audit verify` 会说明原因。",
    ),
    "audit.file-needed": Sentence(
        en="--key belongs to --file: the log of this installation is checked with its own keys.",
        zh="--key 只与 --file 一起使用：本机的日志用它自己的密钥检查。",
    ),
    "config.not-private": Sentence(
        en="The folder {path} belongs to another user; CodexBridge does not use it.",
        zh="文件夹 {path} 属于其他用户，CodexBridge 不会使用。",
    ),
    "doctor.changed": Sentence(
        en="{path} is not what was found there any more, so nothing was done to it. Look again.",
        zh="{path} 已不是之前检查到的内容，因此未作改动。请重新检查。",
    ),
}

# What is told of a checked audit log, in both halves.
AUDIT: dict[str, Sentence] = {
    "whole": Sentence(
        en="The audit log holds: {count} {count:entry|entries}, up to {last} ({hash}…).",
        zh="审计日志完好：共 {count} 条，至第 {last} 条（{hash}…）。",
    ),
    "part": Sentence(
        en="This part of the audit log holds: {count} {count:entry|entries}, {first} to {last} "
        "({hash}…). What came before was not looked at.",
        zh="审计日志的这一部分完好：共 {count} 条，第 {first} 至 {last} 条（{hash}…）。"
        "此前的内容未检查。",
    ),
    "empty": Sentence(
        en="The audit log is empty: nothing has been noted yet.",
        zh="审计日志是空的：还没有任何记录。",
    ),
    "written": Sentence(
        en="Wrote the audit log to {path}: {count} {count:line|lines}, for you alone to read.",
        zh="审计日志已写入 {path}：共 {count} 行，仅你可读。",
    ),
    "signed": Sentence(
        en="Its end is signed up to {seq} by the key {key}.",
        zh="末端已签名至第 {seq} 条，密钥 {key}。",
    ),
    "newer": Sentence(
        en="{count} newer {count:entry is|entries are} not signed yet.",
        zh="另有 {count} 条较新的记录尚未签名。",
    ),
    "unsigned": Sentence(en="Nothing of it is signed yet.", zh="尚未签名。"),
    "renewed": Sentence(
        en="BEWARE: at entry {seq} the log had no signature of its owner, and was signed anew. "
        "What came before may have been cut off or rewritten; the other side's heads tell. It is "
        "so after an upgrade or after pairing anew, and never otherwise.",
        zh="注意：在第 {seq} 条处日志没有其所有者的签名，因而重新签名。此前的内容可能被截去或改写，"
        "可与对方保存的链头核对。只有升级或重新配对之后才会如此。",
    ),
    "kept": Sentence(
        en="{peer} has signed that it keeps our entry {own_seq}; we keep its entry {seq}.",
        zh="{peer}已签名确认保存我方第 {own_seq} 条；我方保存其第 {seq} 条。",
    ),
    "nothing-of-ours": Sentence(
        en="{peer} has not signed for anything of ours yet; we keep its entry {seq}.",
        zh="{peer}尚未对我方的任何记录签名；我方保存其第 {seq} 条。",
    ),
    "gateway": Sentence(en="The gateway", zh="网关"),
    "gateway-of-key": Sentence(en="The gateway with the key {key}", zh="密钥为 {key} 的网关"),
    "machine": Sentence(en="The machine {machine}", zh="开发机“{machine}”"),
    "machine-before": Sentence(
        en="The machine {machine}, as it was paired before", zh="开发机“{machine}”（此前的配对）"
    ),
    "machine-unnamed": Sentence(
        en="A machine that this part does not name", zh="此部分未提及名称的一台开发机"
    ),
    "alone": Sentence(en="Nobody else keeps a head of it yet.", zh="还没有对方保存它的链头。"),
    "broken": Sentence(
        en="The audit log is BROKEN at entry {seq}: {why}.",
        zh="审计日志在第 {seq} 条处损坏：{why}。",
    ),
}
AUDIT_FAULTS: dict[str, Sentence] = {
    "malformed": Sentence(en="this is not an entry", zh="这不是一条记录"),
    "missing": Sentence(
        en="it is missing, or another stands in its place", zh="该条缺失，或被别的记录占据"
    ),
    "prev": Sentence(en="it does not continue the entry before it", zh="它没有接续前一条记录"),
    "changed": Sentence(en="its content was changed", zh="其内容被改动过"),
    "end": Sentence(
        en="the log was signed beyond here, so its end was cut off",
        zh="签名覆盖到此处之后，说明末端被截去",
    ),
    "unsigned": Sentence(en="from here on no signature covers it", zh="从此处起没有签名覆盖"),
    "head": Sentence(
        en="the signed head is not of this log, or was changed",
        zh="已签名的链头不属于此日志，或被改动过",
    ),
    "key": Sentence(
        en="its end is signed by another key than expected. For a file give its owner's --key; "
        "after pairing anew, start the agent once and look again",
        zh="末端由另一把密钥签名，与预期不符。检查文件时请用 --key 给出其所有者的公钥；"
        "若刚重新配对，请先启动一次 Agent 再检查",
    ),
    "kept": Sentence(
        en="the head kept of the other side was changed or removed",
        zh="所保存的对方链头被改动或删除",
    ),
    "countersigned": Sentence(
        en="the other side has signed another history up to here, so this one was written anew",
        zh="对方签名确认的历史与此不同，说明此日志被重写",
    ),
}
RECEIPT_FAULTS: dict[str, Sentence] = {
    "form": Sentence(en="it is not a receipt, or was changed", zh="它不是凭证，或被改动过"),
    "newer": Sentence(
        en="it was made by a newer release: verify it with that",
        zh="它由更新的版本生成：请用该版本验证",
    ),
    "key": Sentence(en="another key signed it than the one given", zh="签名的密钥与给出的公钥不同"),
    "signature": Sentence(en="it was changed after it was signed", zh="签名之后被改动过"),
    "decision": Sentence(
        en="the person's decision in it does not verify", zh="其中的人员决定未通过验证"
    ),
    "outcome": Sentence(en="its outcome does not follow from the decision", zh="其结果与决定不符"),
    "audit": Sentence(
        en="its part of the audit log does not verify", zh="其中的审计日志部分未通过验证"
    ),
    "gateway": Sentence(
        en="what the gateway signed is missing, or does not verify",
        zh="网关的签名缺失或未通过验证",
    ),
    "gateway-key": Sentence(
        en="another gateway signed it than the one given", zh="签名的网关与给出的公钥不同"
    ),
}
