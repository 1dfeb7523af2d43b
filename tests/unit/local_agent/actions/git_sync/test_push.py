"""What git's answer to a push proves."""

from __future__ import annotations

import pytest

from local_agent.actions.git_sync.push import read_answer
from local_agent.sandbox.process import Exit, Kept
from tests.each import each

REF = "refs/heads/main"


def ended(stdout: str = "", stderr: str = "", **facts: bool | int | None) -> Exit:
    kept = []
    for text in (stdout, stderr):
        stream = Kept()
        stream.add(text.encode())
        kept.append(stream)
    given: dict[str, bool | int | None] = {
        "code": 1,
        "signal": None,
        "errno": None,
        "timed_out": False,
        "cancelled": False,
    }
    facts = given | facts
    return Exit(
        **facts,  # type: ignore[arg-type]  # each of its own type
        duration_ms=1,
        stdout=kept[0],
        stderr=kept[1],
        swept=0,
        survivors=0,
    )


def line(flag: str, summary: str, ref: str = REF) -> str:
    return f"To /srv/shop.git\n{flag}\tabc:{ref}\t{summary}\nDone\n"


@each("flag", [" ", "*", "="])
def test_the_remotes_own_word_proves_that_it_has_the_commit(flag: str) -> None:
    assert read_answer(ended(line(flag, "1..2"), code=0), REF) == (True, None)
    # Even where git itself was ended afterwards.
    assert read_answer(ended(line(flag, "1..2"), timed_out=True), REF) == (True, None)


@pytest.mark.parametrize(
    ("summary", "done", "code"),
    [
        ("[rejected] (non-fast-forward)", False, "sync.rejected"),
        ("[rejected] (fetch first)", False, "sync.rejected"),
        ("[remote rejected] (pre-receive hook declined)", False, "sync.declined"),
        ("[remote failure] (remote failed to report status)", None, "sync.failed"),
    ],
)
def test_a_refusal_is_told_by_who_refused(summary: str, done: bool | None, code: str) -> None:
    assert read_answer(ended(line("!", summary)), REF) == (done, code)


def test_a_line_about_another_branch_proves_nothing() -> None:
    assert read_answer(ended(line(" ", "1..2", "refs/heads/x"), code=0), REF) == (
        None,
        "sync.failed",
    )


@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        ("fatal: Authentication failed for 'https://github.com/a/'", "sync.auth"),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "sync.auth"),
        ("git@github.com: Permission denied (publickey).", "sync.auth"),
        ("fatal: unable to access 'https://x': The requested URL returned error: 403", "sync.auth"),
        ("Host key verification failed.\nfatal: Could not read from remote", "sync.host-key"),
        ("fatal: unable to access 'http://x/': The requested URL returned error: 301",
         "sync.redirected"),
        ("fatal: repository 'https://github.com/a/b/' not found", "sync.not-found"),
        ("ERROR: Repository not found.\nplease check the access rights", "sync.not-found"),
        ("fatal: '/srv/x' does not appear to be a git repository", "sync.not-found"),
        ("fatal: detected dubious ownership in repository at '/srv/x'", "sync.not-found"),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "sync.unreachable"),
        ("ssh: connect to host x port 22: Connection timed out", "sync.unreachable"),
        ("fatal: unable to access 'x': Failed to connect to x port 443", "sync.unreachable"),
    ],
)  # fmt: skip
def test_what_ended_before_anything_was_sent_is_no_push(stderr: str, code: str) -> None:
    assert read_answer(ended(stderr=stderr, code=128), REF) == (False, code)


def test_anything_else_leaves_it_open() -> None:
    hung_up = ended(stderr="fatal: the remote end hung up unexpectedly", code=128)
    assert read_answer(hung_up, REF) == (None, "sync.failed")
    assert read_answer(ended(timed_out=True, code=None), REF) == (None, "sync.timeout")
    assert read_answer(ended(cancelled=True, code=None), REF) == (None, "sync.cancelled")
    assert read_answer(ended(errno=2, code=None), REF) == (False, "sync.no-git")


def test_what_a_hook_of_the_remote_prints_proves_nothing() -> None:
    said = "remote: redirect to https://x\nfatal: the remote end hung up unexpectedly"
    assert read_answer(ended(stderr=said, code=128), REF) == (None, "sync.failed")
