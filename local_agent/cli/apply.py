"""``codexbridge apply`` and ``check``: ask for a change, or say whether it could be applied.

A change is named by the ID of its task, or comes from a patch file.  `apply` asks for it, to be
approved like any change.  `check` judges it as if it were asked for: the same reader, the same look
at the files and the same authority, only that nothing is asked, kept or written.  For `check` the
agent need not run, but to give the diff of a task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home, find_home
from common.sentences import Lang, Sentence, explain, say
from local_agent.cli import words

if TYPE_CHECKING:
    import argparse

    from local_agent.cli.screen import Screen
    from local_agent.views import Json
    from local_agent.workspace.registry import Workspace

APPLY: Final = Sentence(
    en="Ask for a change: what a model proposed, by the ID of its task, or a patch from a file. "
    "It is checked, sealed and shown; nothing is written before it is approved at this machine. "
    "`codexbridge undo` takes it back.",
    zh="请求应用改动：模型提出的改动（用任务编号），或文件中的补丁。先检查并显示，"
    "在本机批准之前不写入任何内容。可用 `codexbridge undo` 撤销。",
)
APPLY_FILE: Final = Sentence(
    en="the ID of a task such as T-7K3F; or the patch: a git or unified diff with a/ and b/ names; "
    "- reads standard input",
    zh="任务编号，例如 T-7K3F；或补丁：带 a/、b/ 名称的 git 或 unified diff；- 表示标准输入",
)
WORKSPACE: Final = Sentence(
    en="name of the workspace; without it the one that the current folder lies in, else the "
    "default one",
    zh="工作区名称；省略时为当前文件夹所在的工作区，否则为默认工作区",
)
CHECK: Final = Sentence(
    en="Say whether a patch, or what a task proposes, could be applied, and if not, why. Nothing "
    "is asked or written; the agent need run for the ID of a task alone. Exit code 0: accepted, "
    "1: refused.",
    zh="检查补丁或任务提出的改动能否应用；不能时说明原因。不提出请求、不写入任何内容；"
    "仅在给出任务编号时需要本机 Agent 正在运行。"
    "退出码 0：可接受，1：被拒绝。",
)
CHECK_WORKSPACE: Final = Sentence(
    en="name of the workspace; without it the one that the current folder lies in, else the "
    "default one, and where there is none the current folder",
    zh="工作区名称；省略时为当前文件夹所在的工作区，否则为默认工作区；没有工作区时为当前文件夹",
)
CHECK_FOLDER: Final = Sentence(
    en="check against this folder, whether it is a workspace or not",
    zh="针对此文件夹检查（不必是工作区）",
)
ACCEPTED: Final = Sentence(
    en="Accepted in {folder}: {count} {count:file|files}, +{added} −{removed}.",
    zh="可以应用于 {folder}：{count} 个文件，+{added} −{removed}。",
)
MOVED: Final = Sentence(
    en="{count} {count:block stands|blocks stand} at another line than the patch says; the diff "
    "that is asked for has the true numbers.",
    zh="有 {count} 处改动的实际行号与补丁所写不同；请求批准时显示真实行号。",
)
CHECK_HIGH: Final = Sentence(
    en="It would be asked for as high risk: {reasons}.", zh="请求批准时会标为高风险：{reasons}。"
)
REFUSED: Final = Sentence(en="Refused: {why}", zh="被拒绝：{why}")

EXIT_REFUSED: Final = 1
_JUDGED: Final = frozenset({"diff", "change", "policy"})
_KEPT: Final = "policy-path"  # the reason that one file is to blame for
_FACTS: Final = ("why", "line", "path", "hunk")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("apply", description=say(APPLY, lang))
    parser.set_defaults(run=apply)
    parser.add_argument("file", metavar="T-…|FILE|-", help=say(APPLY_FILE, lang))
    parser.add_argument("--workspace", metavar="NAME", help=say(WORKSPACE, lang))
    words.add_json(parser, lang)
    parser = subparsers.add_parser("check", description=say(CHECK, lang))
    parser.set_defaults(run=check)
    parser.add_argument("file", metavar="T-…|FILE|-", help=say(APPLY_FILE, lang))
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workspace", metavar="NAME", help=say(CHECK_WORKSPACE, lang))
    where.add_argument("--folder", type=Path, metavar="PATH", help=say(CHECK_FOLDER, lang))
    words.add_json(parser, lang)


def apply(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Ask for it, and follow it until it waits for a person.

    Raises:
        InputError: ``diff.*``: the patch cannot be read; the agent was not asked.
    """
    from common.diff.parse import parse_diff
    from local_agent.cli.diff import read_patch, task_named, workspace_here
    from local_agent.faces.control.client import stream

    home = find_home(environ)
    if (short_id := task_named(args.file)) is not None:
        steps = stream(home, environ, "want", task=short_id, lang=lang)
        return _follow(steps, args, lang, environ)
    patch = read_patch(args.file)
    parse_diff(patch)
    here = workspace_here(home) if args.workspace is None else None
    steps = stream(
        home,
        environ,
        "apply",
        body=patch,
        name="stdin" if args.file == "-" else Path(args.file).name,
        lang=lang,
        workspace=args.workspace or (here.name if here else ""),
    )
    return _follow(steps, args, lang, environ)


def _follow(
    steps: Iterator[tuple[str, Json]],
    args: argparse.Namespace,
    lang: Lang,
    environ: Mapping[str, str],
) -> int:
    from local_agent.cli.ask import follow, follow_as_json
    from local_agent.cli.screen import screen_for

    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))


def check(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Print the verdict.

    Raises:
        InputError: ``workspace.unknown``, ``workspace.not-a-folder``.
        StateError: ``task.unknown``, ``diff.none``.
        UnavailableError: a task is named, and the agent does not run.
        OSError: the file cannot be read.
    """
    from local_agent.cli.diff import read_patch, task_named
    from local_agent.cli.screen import print_json, screen_for
    from local_agent.faces.control.client import fetch_diff

    home = find_home(environ)
    short_id = task_named(args.file)
    patch = fetch_diff(home, environ, short_id) if short_id else None
    workspace = _workspace(home, args, _of_task(home, environ, short_id) if short_id else None)
    try:
        verdict = _judged(read_patch(args.file) if patch is None else patch, workspace, home)
        error = None
    except CodexBridgeError as refused:
        if refused.code.partition(".")[0] not in _JUDGED:
            raise
        verdict, error = _refused(refused), refused
    verdict["folder"] = str(workspace.path)
    if args.json:
        print_json(verdict)
    else:
        _print_verdict(verdict, error, screen_for(lang, environ))
    return EXIT_REFUSED if verdict["verdict"] == "refused" else 0


def _of_task(home: Home, environ: Mapping[str, str], short_id: str) -> Workspace | None:
    """Return the workspace in which a task would change something; None where it names none."""
    from local_agent.actions.registry import read_seal
    from local_agent.faces.control.client import call
    from local_agent.views import from_json
    from local_agent.views.question import Shown
    from local_agent.workspace.registry import Registry

    found = from_json(Shown, call(home, environ, "show", task=short_id))
    registry = Registry(home, home=Path.home())
    if found.approval is not None:
        path = read_seal(found.approval.seal.encode("utf-8", "replace")).workspace.path
        return next((entry for entry in registry.load() if str(entry.path) == path), None)
    name = found.task.workspace
    return registry.find(name) if name else None


def _workspace(home: Home, args: argparse.Namespace, meant: Workspace | None) -> Workspace:
    from local_agent.cli.diff import workspace_here
    from local_agent.workspace.registry import Registry, Workspace

    registry = Registry(home, home=Path.home())
    if args.folder is None:
        found = (meant or workspace_here(home)) if args.workspace is None else None
        if found or args.workspace is not None or registry.load():
            return found or registry.find(args.workspace)
    folder = (args.folder or Path.cwd()).expanduser().resolve()
    if not folder.is_dir():
        raise InputError("workspace.not-a-folder", path=folder)
    known = (entry for entry in registry.load() if entry.path == folder)
    return next(known, Workspace(name="folder", path=folder))


def _judged(patch: bytes, workspace: Workspace, home: Home) -> dict[str, Any]:
    from common.diff.parse import parse_diff
    from local_agent.actions.changes.describe import describe_change
    from local_agent.actions.changes.payload import change_payload
    from local_agent.actions.registry import ACTIONS
    from local_agent.cli.diff import files_of
    from local_agent.safety.authority import classify_operation
    from local_agent.safety.policy import load_policy
    from local_agent.safety.risk import Circumstances
    from local_agent.safety.risk_policy import kept_path
    from local_agent.workspace.git.config import hook_places
    from local_agent.workspace.git.repository import open_repository
    from local_agent.workspace.tree import tree_of

    model = parse_diff(patch)
    with tree_of(workspace) as tree:
        repository = open_repository(workspace.path)
        found = describe_change(tree, model, repository=repository, relocate=True)
    policy = load_policy(home, workspace.name)
    around = Circumstances(
        diff=found.model,
        moved=found.moved,
        policy=policy,
        hooks=hook_places(workspace.path),
    )
    payload = change_payload(hashlib.sha256(patch).hexdigest(), found.changes)
    risk = classify_operation("apply_diff", payload, around, known=ACTIONS)
    return {
        "verdict": "refused" if risk.level == "refused" else "accepted",
        "code": "policy.refused" if risk.level == "refused" else None,
        **dict.fromkeys(_FACTS),
        "path": (
            kept_path("apply_diff", payload, policy, known=ACTIONS)
            if _KEPT in risk.reasons
            else None
        ),
        "risk": risk.level,
        "reasons": list(risk.reasons),
        "moved": found.moved,
        "files": files_of(found.model),
    }


def _refused(error: CodexBridgeError) -> dict[str, Any]:
    return {
        "verdict": "refused",
        "code": error.code,
        **{name: error.facts.get(name) for name in _FACTS},
        "risk": "refused",
        "reasons": [],
        "moved": 0,
        "files": [],
    }


def _print_verdict(
    verdict: Mapping[str, Any], error: CodexBridgeError | None, screen: Screen
) -> None:
    from local_agent.actions.operation import ABOUT
    from local_agent.error_texts import ERRORS
    from local_agent.flow import words as flow_words
    from local_agent.safety.risk_words import RISK

    reasons = screen.say(flow_words.AND_ALSO).join(
        screen.say(RISK[code]) if code in RISK else code for code in verdict["reasons"]
    )
    if verdict["verdict"] == "refused":
        told = error or StateError("policy.refused", reasons=reasons)
        why = explain(told, ERRORS, screen.lang)
        print(screen.ink("red", screen.say(REFUSED, why=why)))
        if _KEPT in verdict["reasons"]:
            screen.tell(ABOUT, paths="".join(screen.quote(verdict["path"], 0)))
        return
    files = verdict["files"]
    said = screen.say(
        ACCEPTED,
        folder="".join(screen.quote(verdict["folder"], 0)),
        count=len(files),
        added=sum(file["added"] for file in files),
        removed=sum(file["removed"] for file in files),
    )
    print(screen.ink("green", said))
    if verdict["moved"]:
        screen.tell(MOVED, count=verdict["moved"])
    if verdict["risk"] == "high":
        screen.tell(CHECK_HIGH, reasons=reasons)
