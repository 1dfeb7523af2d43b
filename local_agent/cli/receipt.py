"""``codexbridge receipt``: have a task's receipt made, or check one anywhere.

Checking needs the file and the public key alone: no agent, no journal, no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common.sentences import Lang, Sentence, say
from local_agent.cli import proof_words, words

if TYPE_CHECKING:
    import argparse

    from common.receipt import Receipt
    from local_agent.cli.screen import Screen


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("receipt", description=say(proof_words.RECEIPT, lang))
    parser.add_argument("what", metavar="T-…|verify|key", help=say(proof_words.RECEIPT_WHAT, lang))
    parser.add_argument(
        "file", type=Path, nargs="?", metavar="FILE", help=say(proof_words.RECEIPT_FILE, lang)
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help=say(proof_words.NEW_FILE, lang))
    parser.add_argument("--key", metavar="PUB", help=say(proof_words.RECEIPT_KEY, lang))
    parser.add_argument(
        "--gateway-key", metavar="PUB", help=say(proof_words.RECEIPT_GATEWAY_KEY, lang)
    )
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Make a receipt, check one, or print this machine's public key.

    Raises:
        InputError: ``receipt.arguments``, ``input.public-key``, ``input.task-id``.
        StateError: ``receipt.open``, ``task.unknown``.
        UnavailableError: ``agent.not-running``.
    """
    match args.what:
        case "verify":
            return _verify(args, lang, environ)
        case "key":
            return _key(environ)
    return _make(args, lang, environ)


def _make(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.audit_report import output
    from common.errors import InputError
    from common.home import find_home
    from common.ids import parse_short_id
    from common.text import one_line
    from local_agent.faces.control.client import call

    short_id = parse_short_id(args.what)
    if args.file or args.key or args.gateway_key:
        raise InputError("receipt.arguments")
    answer = call(find_home(environ), environ, "receipt", task=short_id)
    with output(args.output) as file:
        file.write(answer["receipt"].encode("ascii"))
    if args.output:
        path = one_line(str(args.output))
        print(say(proof_words.RECEIPT_WRITTEN, lang, task=short_id, path=path))
    return 0


def _key(environ: Mapping[str, str]) -> int:
    from common.home import find_home
    from local_agent.faces.control.client import call

    print(call(find_home(environ), environ, "status")["public_key"])
    return 0


def _verify(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.audit_report import given_key
    from common.errors import AuthError, InputError
    from common.receipt import MAX_RECEIPT_BYTES, verify_receipt
    from common.sentences import RECEIPT_FAULTS
    from local_agent.cli.screen import print_json, screen_for

    if not args.file or not args.key:
        raise InputError("receipt.arguments")
    key = given_key(args.key)
    gateway_key = given_key(args.gateway_key) if args.gateway_key else None
    with args.file.open("rb") as file:
        data = file.read(MAX_RECEIPT_BYTES + 1)
    try:
        receipt = verify_receipt(data, key=key, gateway_key=gateway_key)
    except AuthError as error:
        if error.code != "receipt.broken":
            raise
        what = str(error.facts["what"])
        if args.json:
            print_json({"ok": False, "broken": what})
        else:
            print(say(proof_words.RECEIPT_BROKEN, lang, why=say(RECEIPT_FAULTS[what], lang)))
        return 1
    if args.json:
        print_json({"ok": True, "broken": None, **_record(receipt)})
    else:
        _print(receipt, screen_for(lang, environ))
    return 0


def _record(receipt: Receipt) -> dict[str, Any]:
    return {
        "receipt": dict(receipt.facts),
        "decision": receipt.decision,
        "gateway_key_checked": receipt.gateway_checked,
        "gateway_keeps_the_end": receipt.covered,
    }


def _print(receipt: Receipt, screen: Screen) -> None:
    from common.text import one_line
    from local_agent.cli.tasks import moment_anywhere

    facts, task = receipt.facts, receipt.facts["task"]
    machine = one_line(facts["machine"], 80)
    asked = screen.say(
        proof_words.RECEIPT_ASKED,
        who=one_line(task["claimed_user"], 80),
        channel=_named(task["channel"], proof_words.CHANNELS, screen),
        when=moment_anywhere(task["asked_at"]),
    )
    rows: list[tuple[Sentence, list[str]]] = [
        (words.TASK, [screen.ink("bold", f"{task['short_id']}  {task['task_id']}")]),
        (words.MACHINE, [machine]),
        (words.ASKED_BY, [asked]),
        (proof_words.RECEIPT_DECISION, [*_decision(receipt, screen)]),
        (proof_words.RECEIPT_OUTCOME, [*_outcome(receipt, screen)]),
        (words.GATEWAY, [_gateway(receipt, screen)]),
    ]
    screen.tell(proof_words.RECEIPT_HOLDS, machine=machine, when=moment_anywhere(facts["at"]))
    screen.fields(rows)


def _named(code: str, names: Mapping[str, Sentence], screen: Screen) -> str:
    """Return the word for a code; one of a release to come is told as it is."""
    from common.text import one_line

    return screen.say(names[code]) if code in names else one_line(code, 40)


def _decision(receipt: Receipt, screen: Screen) -> Iterator[str]:
    from common.text import one_line
    from local_agent.cli.tasks import moment_anywhere

    approval = receipt.facts["approval"]
    if approval is None:
        yield screen.say(proof_words.RECEIPT_NOTHING_ASKED)
        return
    if receipt.decision is None:
        yield screen.say(proof_words.RECEIPT_UNDECIDED, code=approval["code"])
    else:
        said = (
            proof_words.RECEIPT_APPROVED
            if receipt.decision == "approve"
            else proof_words.RECEIPT_REJECTED
        )
        yield screen.say(
            said,
            code=approval["code"],
            when=moment_anywhere(approval["decided_at"]),
            approver=approval["approver"],
        )
        if receipt.reason:
            yield one_line(receipt.reason, 400)
    yield screen.say(
        proof_words.RECEIPT_DIGEST,
        action=_named(approval["action"], proof_words.ACTIONS, screen),
        digest=approval["digest"],
    )


def _outcome(receipt: Receipt, screen: Screen) -> Iterator[str]:
    from common.model.state import Reason
    from local_agent.cli.tasks import moment_anywhere

    outcome = receipt.facts["outcome"]
    reason = words.REASONS[outcome["reason"]]
    yield f"{screen.say(reason)}  {moment_anywhere(receipt.facts['task']['ended_at'])}"
    # A grant is taken before what would run is looked at again: what had drifted never ran.
    if outcome["began_at"] is None or outcome["reason"] == Reason.DRIFTED:
        yield screen.say(proof_words.RECEIPT_NOT_RUN)
        return
    yield screen.say(_doing(receipt), when=moment_anywhere(outcome["began_at"]))
    if outcome["exit_code"] is not None:
        yield screen.say(proof_words.RECEIPT_EXIT, code=outcome["exit_code"])
    if outcome["signal"] is not None:
        yield screen.say(proof_words.RECEIPT_SIGNAL, signal=outcome["signal"])
    if outcome["changed_files"] is not None:
        ran = receipt.facts["approval"]["action"] == "run_command"
        said = proof_words.RECEIPT_FILES if ran else proof_words.RECEIPT_WROTE
        yield screen.say(said, count=outcome["changed_files"])
    if outcome["output_sha256"] is not None:
        yield screen.say(proof_words.RECEIPT_OUTPUT, digest=outcome["output_sha256"])


def _doing(receipt: Receipt) -> Sentence:
    """Return what was done of what was approved, as far as the machine has recorded it."""
    from common.model.state import Reason

    outcome, action = receipt.facts["outcome"], receipt.facts["approval"]["action"]
    if action == "run_command":
        ran = outcome["exit_code"] is not None or outcome["signal"] is not None
        return proof_words.RECEIPT_RAN if ran else proof_words.RECEIPT_USED
    if outcome["reason"] == Reason.COMPLETED:
        return proof_words.RECEIPT_DONE.get(action, proof_words.RECEIPT_USED)
    if outcome["reason"] == Reason.UNKNOWN or outcome["closed_at"] is None:
        return proof_words.RECEIPT_INTERRUPTED
    return proof_words.RECEIPT_NOT_WHOLE.get(action, proof_words.RECEIPT_USED)


def _gateway(receipt: Receipt, screen: Screen) -> str:
    if receipt.kept is None:
        return screen.say(proof_words.RECEIPT_NO_GATEWAY)
    kept = proof_words.RECEIPT_COVERED if receipt.covered else proof_words.RECEIPT_NOT_COVERED
    whose = (
        proof_words.RECEIPT_CHECKED if receipt.gateway_checked else proof_words.RECEIPT_UNCHECKED
    )
    gap = "" if screen.lang == "zh" else " "
    return f"{screen.say(kept, seq=receipt.kept.own_seq)}{gap}{screen.say(whose)}"
