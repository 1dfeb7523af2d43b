"""``codexbridge context``: what a model was shown for a task, and what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.faces.control.client import call
from local_agent.words import render_size

if TYPE_CHECKING:
    import argparse

    from local_agent.views.task import ContextView, LeftOutFile, ShownPiece

CONTEXT: Final = Sentence(
    en="What a model was shown of the workspace for a task: files and lines, and what was left "
    "out and why. Names, sizes and reasons; the content itself is not kept.",
    zh="为某个任务向模型展示了工作区的哪些内容：文件与行，以及略去了什么、为何略去。"
    "只有名称、大小与原因；内容本身不保存。",
)
SHOWN: Final = Sentence(
    en="Shown: {files} of at most {max_files} files, {bytes} of at most {max_bytes}, "
    "{file_bytes} a file.",
    zh="已展示：{files} 个文件（最多 {max_files} 个），{bytes}（最多 {max_bytes}，"
    "每个文件 {file_bytes}）。",
)
COLLECTED: Final = Sentence(
    en="No model was asked, so none was shown anything. Collected on this machine: {files} of at "
    "most {max_files} files, {bytes} of at most {max_bytes}, {file_bytes} a file.",
    zh="没有询问任何模型，因此没有向模型展示任何内容。仅在本机收集：{files} 个文件"
    "（最多 {max_files} 个），{bytes}（最多 {max_bytes}，每个文件 {file_bytes}）。",
)
LEFT_OUT: Final = Sentence(en="Left out:", zh="略去：")
LEFT_OUT_MORE: Final = Sentence(en="… and {count} more", zh="……另有 {count} 项")
NOTHING_SHOWN: Final = Sentence(en="Nothing of the workspace.", zh="没有展示工作区的任何内容。")
NOT_LISTED: Final = Sentence(en="Never looked at: {reasons}.", zh="从未查看：{reasons}。")
NOT_LISTED_ONE: Final = Sentence(en="{count} {reason}", zh="{reason} {count} 项")
JOINED: Final = Sentence(en=", ", zh="、")
TRUNCATED: Final = Sentence(
    en="The workspace has more files than are listed.", zh="工作区的文件多于可列出的数量。"
)
LINES: Final = Sentence(en="lines {first}-{last}", zh="第 {first}-{last} 行")
NOT_ALL: Final = Sentence(en="the rest left out", zh="其余略去")
BYTES: Final = Sentence(en="{count} B", zh="{count} B")
KINDS: Final[Mapping[str, Sentence]] = {
    "file": Sentence(en="file", zh="文件"),
    "selection": Sentence(en="selection", zh="选中内容"),
    "tree": Sentence(en="file tree", zh="文件树"),
    "git": Sentence(en="repository", zh="仓库状态"),
    "changes": Sentence(en="local change", zh="本地改动"),
    "diagnostics": Sentence(en="diagnostics", zh="诊断信息"),
    "result": Sentence(en="result of an earlier step", zh="前面步骤的结果"),
}
WHYS: Final[Mapping[str, Sentence]] = {
    "named": Sentence(en="named in the request", zh="请求中提到"),
    "in-folder": Sentence(en="in a folder that the request names", zh="在请求提到的文件夹中"),
    "selection": Sentence(en="selected by you", zh="由你选中"),
    "active": Sentence(en="in front of you", zh="你正在查看"),
    "defines": Sentence(en="defines {about}", zh="定义了 {about}"),
    "mentions": Sentence(en="mentions {about}", zh="用到 {about}"),
    "spoken": Sentence(en="has a word of the request as its name", zh="名称是请求中的一个词"),
    "test-of": Sentence(en="tests of what is shown", zh="所示内容的测试"),
    "changed": Sentence(en="changed and not committed", zh="有未提交的改动"),
    "diagnostic": Sentence(en="named by a diagnostic", zh="诊断信息指向这里"),
    "printed": Sentence(en="printed by tools", zh="工具的输出"),
    "tree": Sentence(en="overview", zh="概览"),
    "state": Sentence(en="overview", zh="概览"),
}
REASONS: Final[Mapping[str, Sentence]] = {
    "over-files": Sentence(en="there were files enough", zh="文件数已满"),
    "over-bytes": Sentence(en="there was no room left", zh="大小已满"),
    "binary": Sentence(en="binary", zh="二进制"),
    "secret": Sentence(en="may never be read", zh="绝不读取"),
    "denied": Sentence(en="may never be read", zh="绝不读取"),
    "ignored": Sentence(en="ignored by git", zh="被 git 忽略"),
    "too-large": Sentence(en="too large", zh="过大"),
    "unreadable": Sentence(en="could not be read", zh="无法读取"),
    "not-regular": Sentence(en="links or devices", zh="链接或设备"),
    "not-found": Sentence(en="not found", zh="未找到"),
    "duplicate": Sentence(en="shown already", zh="已展示"),
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("context", description=say(CONTEXT, lang))
    parser.set_defaults(run=run)
    words.add_task(parser, lang)
    words.add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        StateError: ``context.none``: nothing was collected for the task; ``task.unknown``.
    """
    short_id = parse_short_id(args.task)
    told = call(find_home(environ), environ, "context", task=short_id)
    if args.json:
        print_json(told["context"])
    else:
        from local_agent.views import from_json
        from local_agent.views.task import ContextView

        # As some version kept it.
        found = from_json(ContextView, told["context"], loose=True)
        _print(found, screen_for(lang, environ), asked=told["asked"])
    return 0


def _print(found: ContextView, screen: Screen, *, asked: bool) -> None:
    limits = found.limits
    screen.tell(
        SHOWN if asked else COLLECTED,
        files=found.files,
        max_files=limits.max_files,
        bytes=render_size(found.bytes),
        max_bytes=render_size(limits.max_total_bytes),
        file_bytes=render_size(limits.max_file_bytes),
    )
    if found.used:
        screen.table([_used(one, screen) for one in found.used])
    else:
        screen.tell(NOTHING_SHOWN)
    if found.left_out:
        print()
        screen.tell(LEFT_OUT)
        screen.table([_left_out(one, screen) for one in found.left_out])
    if more := found.left_out_more:
        screen.tell(LEFT_OUT_MORE, count=more)
    _print_never(found, screen)


def _print_never(found: ContextView, screen: Screen) -> None:
    counts = [
        screen.say(
            NOT_LISTED_ONE,
            count=count,
            reason=_word(REASONS, reason, screen),
        )
        for reason, count in sorted(found.not_listed.items())
    ]
    if counts:
        screen.tell(NOT_LISTED, reasons=screen.say(JOINED).join(counts))
    if found.listing_truncated:
        screen.tell(TRUNCATED)


def _used(one: ShownPiece, screen: Screen) -> tuple[str, ...]:
    first = one.first_line
    place = ""
    if first:
        last = first + max(one.lines - 1, 0)
        place = screen.say(LINES, first=first, last=last)
    if one.cut:
        part = screen.say(NOT_ALL)
        place = screen.say(JOINED).join(filter(None, (place, part)))
    size = screen.say(BYTES, count=one.bytes)
    kind = _word(KINDS, one.kind, screen)
    return (kind, one_line(one.path, 1200), place, size, _why(one.why, screen))


def _left_out(one: LeftOutFile, screen: Screen) -> tuple[str, ...]:
    size = screen.say(BYTES, count=one.size) if one.size else ""
    return (one_line(one.path, 1200) or "-", size, _word(REASONS, one.why, screen))


def _why(why: str, screen: Screen) -> str:
    code, _, about = why.partition(":")
    sentence = WHYS.get(code)
    if sentence is None:
        return one_line(why, 300)  # of a later version
    return screen.say(sentence, about=one_line(about, 300))


def _word(sentences: Mapping[str, Sentence], code: str, screen: Screen) -> str:
    sentence = sentences.get(code)
    return screen.say(sentence) if sentence else one_line(code, 100)
