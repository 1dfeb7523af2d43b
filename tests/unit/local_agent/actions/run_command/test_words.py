"""What is kept of a run for this machine: facts, bounded, with nothing hidden."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from common.model.state import Reason
from local_agent.actions.run_command.perform import Outcome
from local_agent.actions.run_command.words import run_facts
from local_agent.faces.control.wire import ANSWER_BYTES, encode_ok
from local_agent.report_texts import cleaned, from_facts
from local_agent.reports.report import Failure, Report
from local_agent.workspace.manifest import Differences

DIFFERENCES = Differences(
    added=2,
    removed=1,
    changed=1,
    names=("+ .git/hooks/x", "+ link", "- old", "~ a\u202eb"),
    links=("link",),
    surfaces=(".git/hooks/x",),
    truncated=False,
)


@pytest.mark.requirement("R46")
def test_the_files_are_listed_with_what_became_of_them_and_what_they_are() -> None:
    done = Outcome(reason=Reason.COMPLETED, exit_code=0, differences=DIFFERENCES)
    files = run_facts(done, "make", sandbox="bubblewrap")["files"]
    assert (files["new"], files["changed"], files["deleted"]) == (2, 1, 1)
    listed = [
        (file["path"], file["change"], file["link"], file["surface"]) for file in files["listed"]
    ]
    assert listed == [
        (".git/hooks/x", "new", False, True),
        ("link", "new", True, False),
        ("old", "deleted", False, False),
        ("a⟨U+202E⟩b", "changed", False, False),
    ]


def test_what_ran_nothing_changed_nothing_and_printed_nothing() -> None:
    for outcome in (
        Outcome(reason=Reason.DRIFTED, code="command.drifted", drift=("cwd",)),
        Outcome(reason=Reason.CANCELLED),
        Outcome(reason=Reason.FAILED, code="command.cannot-start"),
    ):
        run = run_facts(outcome, "make", sandbox="none")
        assert (run["files"], run["started"]) == (None, False)


def test_the_output_is_its_tail_and_where_the_rest_is() -> None:
    done = Outcome(
        reason=Reason.FAILED, exit_code=2, tail="end", output_before=5_000_000, log_sha256="ab"
    )
    run = run_facts(done, "make", sandbox="none")
    assert run["output"] == {
        "lines": 0,
        "tail": "end",
        "before": 5_000_000,
        "log_sha256": "ab",
    }
    assert (run["exit_code"], run["started"]) == (2, True)


def test_what_was_reported_is_kept_as_data_and_is_small() -> None:
    bad = Failure(name="n" * 9_000, place="p" * 9_000, message="字" * 9_000)
    report = cleaned(Report(tool="x", failed=99, failures=(bad,) * 99, note="m" * 9_000), str)
    done = Outcome(reason=Reason.FAILED, exit_code=1, report=report)
    kept = run_facts(done, "make", sandbox="none")["report"]
    assert len(json.dumps(kept, ensure_ascii=False).encode()) < 12_000
    assert from_facts(json.loads(json.dumps(kept))) == report
    assert run_facts(replace(done, report=None), "make", sandbox="none")["report"] is None


@pytest.mark.heavy
@pytest.mark.requirement("R19")
def test_no_names_of_files_make_a_task_too_large_to_be_shown() -> None:
    endless = "\udc80字" * 2000
    names = tuple(f"+ {number}{endless}" for number in range(200))
    found = Differences(200, 0, 0, names, (), (), truncated=False)
    done = Outcome(reason=Reason.COMPLETED, exit_code=0, differences=found)
    run = run_facts(done, "字" * 10_000, sandbox="none")
    assert len(encode_ok({"run": run})) < ANSWER_BYTES / 4
    assert json.loads(encode_ok({"run": run}))["ok"]["run"]["files"]["new"] == 200
    json.dumps(run, ensure_ascii=False).encode(), "and it can be printed"
