"""``codexbridge check``: whether a patch could be applied, judged as if it were asked for.

The same reader, the same look at the files and the same authority as a real request; only that
nothing is asked, kept or written.  The agent need not run, but to give the diff of a task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home, find_home
from common.sentences import Lang, explain, say
from local_agent.cli import change_words, words

if TYPE_CHECKING:
    import argparse

    from local_agent.cli.screen import Screen
    from local_agent.workspace.registry import Workspace

EXIT_REFUSED: Final = 1
_JUDGED: Final = frozenset({"diff", "change", "policy"})
_KEPT: Final = "policy-path"  # the reason that one file is to blame for
_FACTS: Final = ("why", "line", "path", "hunk")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("check", description=say(change_words.CHECK, lang))
    parser.add_argument("file", metavar="T-…|FILE|-", help=say(change_words.APPLY_FILE, lang))
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workspace", metavar="NAME", help=say(change_words.CHECK_WORKSPACE, lang))
    where.add_argument(
        "--folder", type=Path, metavar="PATH", help=say(change_words.CHECK_FOLDER, lang)
    )
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Print the verdict.

    Raises:
        InputError: ``workspace.unknown``, ``workspace.not-a-folder``.
        StateError: ``task.unknown``, ``diff.none``.
        UnavailableError: a task is named, and the agent does not run.
        OSError: the file cannot be read.
    """
    from local_agent.cli.diffs import fetch_diff, read_patch, task_named
    from local_agent.cli.screen import print_json, screen_for

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
        _print(verdict, error, screen_for(lang, environ))
    return EXIT_REFUSED if verdict["verdict"] == "refused" else 0


def _of_task(home: Home, environ: Mapping[str, str], short_id: str) -> Workspace | None:
    """Return the workspace in which a task would change something; None where it names none."""
    from local_agent.actions.registry import read_seal
    from local_agent.faces.control.client import call
    from local_agent.views.codec import from_json
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
    from local_agent.cli.diffs import workspace_here
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
    from local_agent.workspace.tree import open_tree

    model = parse_diff(patch)
    with open_tree(workspace.path, deny=workspace.deny) as tree:
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


def _print(verdict: Mapping[str, Any], error: CodexBridgeError | None, screen: Screen) -> None:
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
        print(screen.ink("red", screen.say(change_words.REFUSED, why=why)))
        if _KEPT in verdict["reasons"]:
            screen.tell(ABOUT, paths="".join(screen.quote(verdict["path"], 0)))
        return
    files = verdict["files"]
    said = screen.say(
        change_words.ACCEPTED,
        folder="".join(screen.quote(verdict["folder"], 0)),
        count=len(files),
        added=sum(file["added"] for file in files),
        removed=sum(file["removed"] for file in files),
    )
    print(screen.ink("green", said))
    if verdict["moved"]:
        screen.tell(change_words.MOVED, count=verdict["moved"])
    if verdict["risk"] == "high":
        screen.tell(change_words.CHECK_HIGH, reasons=reasons)
