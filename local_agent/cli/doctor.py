"""``codexbridge doctor`` and ``bugreport``: what is wrong here, and a file about it for others."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.home import find_home
from common.sentences import Lang, Sentence, say
from local_agent.cli import words
from local_agent.cli.screen import Screen, at_keyboard, print_json, read_answer, screen_for

if TYPE_CHECKING:
    import argparse

    from common.doctor import Diagnosis, Doctor, Examined
    from local_agent.doctor.installation import Installation

DOCTOR: Final = Sentence(
    en="Look at everything that a task needs on this machine, whether or not the agent runs. Exit "
    "code 1: something cannot work.",
    zh="检查本机运行任务所需的一切，无论 Agent 是否运行。退出码 1：有功能无法使用。",
)
FIX: Final = Sentence(
    en="mend what is safe to mend, each after you say yes", zh="修复可以安全修复的问题，每项先询问"
)
MODELS: Final = Sentence(
    en="ask each model the smallest question as well", zh="同时向每个模型提一个最小的问题"
)
WHOLE_AUDIT: Final = Sentence(
    en="check the whole audit log, not its newest entries alone",
    zh="检查整个审计日志，而不只是最新的部分",
)
BUGREPORT: Final = Sentence(
    en="Write one file that you can send to somebody who helps: versions, what `doctor` finds, "
    "settings and counts. No text of messages, no code, no key, no name of a member is in it. "
    "Nothing is sent.",
    zh="写入一个可以发给协助者的文件：版本、`doctor` 的结果、设置与统计。其中没有消息正文、代码、"
    "密钥或成员姓名。不会自动发送。",
)
OUTPUT: Final = Sentence(
    en="write to this new file; without it codexbridge-bugreport.json in your home folder",
    zh="写入此新文件；省略时为主目录中的 codexbridge-bugreport.json",
)
LOG: Final = Sentence(
    en="a log of the agent, of which the newest lines go in",
    zh="Agent 的日志文件；写入其最新的部分",
)
ASK: Final = Sentence(en="{what} [y/N] ", zh="{what} [y/N] ")
NOTHING_TO_FIX: Final = Sentence(
    en="Nothing here can be mended without you.", zh="没有可以自动修复的问题。"
)
WELL: Final = Sentence(en="All is well.", zh="一切正常。")
USABLE: Final = Sentence(
    en="It works; {count} {count:thing|things} could be better.",
    zh="可以使用；有 {count} 处可以改善。",
)
ILL: Final = Sentence(
    en="{count} {count:thing does|things do} not work. Mend the first one, then look again: "
    "codexbridge doctor",
    zh="有 {count} 处无法使用。请先解决第一处，再检查：codexbridge doctor",
)
WROTE: Final = Sentence(
    en="Wrote {path} ({size}), readable by you alone. It has: {sections}.\n"
    "Nothing was sent. Read it before you send it to anybody.",
    zh="已写入 {path}（{size}），仅你可读。内容：{sections}。\n"
    "没有发送任何内容。发给别人之前请先阅读。",
)

SECTIONS: Final[Mapping[str, Sentence]] = {
    "versions": Sentence(en="versions", zh="版本"),
    "doctor": Sentence(en="what `doctor` finds", zh="`doctor` 的结果"),
    "settings": Sentence(en="settings", zh="设置"),
    "link": Sentence(en="connection to the gateway", zh="与网关的连接"),
    "sandbox": Sentence(en="sandbox", zh="沙箱"),
    "journal": Sentence(en="counts of the journal", zh="任务日志的统计"),
    "log": Sentence(en="log", zh="日志"),
}

_NAME: Final = "codexbridge-bugreport"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments of both."""
    parser = subparsers.add_parser("doctor", description=say(DOCTOR, lang))
    parser.set_defaults(run=run)
    words.add_json(parser, lang)
    parser.add_argument("--fix", action="store_true", help=say(FIX, lang))
    parser.add_argument("--models", action="store_true", help=say(MODELS, lang))
    parser.add_argument("--audit", action="store_true", help=say(WHOLE_AUDIT, lang))
    words.add_config(parser, lang)
    parser = subparsers.add_parser("bugreport", description=say(BUGREPORT, lang))
    parser.set_defaults(run=report)
    parser.add_argument("--output", type=Path, metavar="FILE", help=say(OUTPUT, lang))
    parser.add_argument("--log", type=Path, metavar="FILE", help=say(LOG, lang))
    words.add_config(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Look, tell, and mend where that is asked for.

    Returns:
        0 when nothing is bad, 1 otherwise.

    Raises:
        InputError: ``doctor.no-terminal``: ``--fix`` asks, and there is nobody to answer.
        OSError, CodexBridgeError: of a fix that could not be done.
    """
    from common.doctor import is_well
    from common.errors import InputError

    if args.fix and (args.json or not at_keyboard()):
        raise InputError("doctor.no-terminal")
    here = _installation(args, environ)
    screen = screen_for(lang, environ)
    found = asyncio.run(_examine(here, screen, fix=args.fix))
    if args.json:
        print_json(_doctor(lang).to_json(found))
    elif not args.fix:
        _tell(found, screen)
    return 0 if is_well(found) else 1


def report(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Write the file.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    from local_agent.doctor.report import new_report, write_report

    here = _installation(args, environ)
    screen = screen_for(lang, environ)
    made = asyncio.run(new_report(here, _doctor(lang), log=args.log))
    path = args.output or _new_file()
    size = write_report(path, made)
    sections = ("、" if lang == "zh" else ", ").join(screen.say(SECTIONS[name]) for name in made)
    screen.tell(WROTE, path=path, size=f"{size / 1000:.0f} kB", sections=sections)
    return 0


def _new_file() -> Path:
    # Not here: in a workspace, a model and a commit would take it in.
    names = (f"{_NAME}.json", *(f"{_NAME}-{number}.json" for number in range(2, 1000)))
    paths = [Path.home() / name for name in names]
    return next((path for path in paths if not os.path.lexists(path)), paths[0])


async def _examine(here: Installation, screen: Screen, *, fix: bool) -> list[Examined]:
    from common.doctor import examine, mend
    from local_agent.doctor.checks import checks

    found = await examine(checks(here))
    if not fix:
        return found
    _tell(found, screen)
    if not any(one.finding.fix for one in found):
        screen.tell(NOTHING_TO_FIX)
        return found
    here.forget()
    after = await mend(found, may=lambda what: _may(what, screen), lang=screen.lang)
    if after != found:
        print()
        _tell(after, screen)
    return after


def _may(what: str, screen: Screen) -> bool:
    return read_answer(screen.say(ASK, what=what)) in ("y", "yes", "是")


def _tell(found: list[Examined], screen: Screen) -> None:
    print_lines(found, screen)
    print_verdict(found, screen)


def print_lines(found: Sequence[Examined], screen: Screen, *, names: int = 0) -> None:
    """Print a line for each; ``names`` is as of `Doctor.lines`."""
    width = screen.width if screen.live else 10_000  # a file or a pipe has no edge
    for line in _doctor(screen.lang).lines(found, ink=screen.ink, width=width, names=names):
        print(line)


def print_verdict(found: Sequence[Examined], screen: Screen) -> None:
    """Say what it comes to."""
    from common.doctor import Tone

    tones = [one.finding.tone for one in found]
    print()
    if bad := tones.count(Tone.BAD):
        screen.tell(ILL, count=bad)
    elif warned := tones.count(Tone.WARN):
        screen.tell(USABLE, count=warned)
    else:
        screen.tell(WELL)


def _installation(args: argparse.Namespace, environ: Mapping[str, str]) -> Installation:
    from local_agent.doctor.installation import Installation

    return Installation(
        places=find_home(environ),
        home=Path.home(),
        environ=environ,
        file=args.config,
        whole_audit=getattr(args, "audit", False),
        ask_models=getattr(args, "models", False),
    )


def _doctor(lang: Lang) -> Doctor:
    from common.doctor import Doctor
    from local_agent.doctor.diagnoses import DIAGNOSES
    from local_agent.error_texts import ERRORS

    return Doctor({**link_diagnoses(), **DIAGNOSES}, ERRORS, lang)


def link_diagnoses() -> dict[str, Diagnosis]:
    """Return what keeps an agent from its gateway, as `codexbridge status` words it."""
    from common.doctor import Diagnosis
    from local_agent.cli.status import LINK_WHY

    return {f"gateway.{why}": Diagnosis(said) for why, said in LINK_WHY.items()}
