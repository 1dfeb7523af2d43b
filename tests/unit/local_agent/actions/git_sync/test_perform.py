"""Commit and push: exactly what was sealed, to exactly the URL on the card, or nothing."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pygit2
import pytest

from common.diff.parse import parse_diff
from common.errors import InputError, StateError
from common.model.proposal import GitSync
from common.model.state import Reason
from common.seal import read_changes
from local_agent.actions.changes.settle import tag_of
from local_agent.actions.git_sync import perform as git_sync
from local_agent.actions.git_sync import push
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.actions.registry import seal_bytes
from local_agent.workspace.git import commit as git_commit
from local_agent.workspace.git import preflight as git_preflight
from local_agent.workspace.temporary_files import beside_name
from tests.sealed import a_seal
from tests.syncing import Syncing, at_home, mark

pytestmark = [pytest.mark.heavy, pytest.mark.needs("git")]


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[Syncing]:
    made = Syncing.at(tmp_path)
    with at_home(made.home):
        yield made


# --- what is proposed ------------------------------------------------------------------------


async def test_the_seal_says_everything_that_will_be_done(syncing: Syncing) -> None:
    head = syncing.tip
    syncing.write({"a.py": "2\n", "新/b.py": "x\n", "empty": ""})
    prepared = await syncing.prepare("fix the login")
    payload = prepared.payload
    assert {name: payload[name] for name in ("branch", "remote", "url", "ref", "remote_oid")} == {
        "branch": "main",
        "remote": "origin",
        "url": str(syncing.remote),
        "ref": "refs/heads/main",
        "remote_oid": head,
    }
    assert (payload["head"], payload["ahead"], payload["behind"]) == (head, 0, 0)
    assert [(step["name"], step["effect"]) for step in payload["steps"]] == [
        ("check", "read-only"),
        ("add", "local-write"),
        ("commit", "local-write"),
        ("push", "remote-write"),
    ]
    commit = payload["commit"]
    assert (commit["message"], commit["author"], commit["email"]) == (
        "fix the login",
        "Zhang",
        "zhang@example.com",
    )
    changes = read_changes(commit)
    assert [(change.op, change.path) for change in changes] == [
        ("modify", "a.py"),
        ("add", "empty"),
        ("add", "新/b.py"),
    ]
    assert changes[0].new_sha256 == hashlib.sha256(b"2\n").hexdigest()
    assert prepared.base == {change.path: change.new_sha256 for change in changes}
    assert prepared.diff is not None
    assert prepared.model == parse_diff(prepared.diff)
    assert [(file.path, file.added, file.removed) for file in prepared.model.files] == [
        ("a.py", 1, 1),
        ("empty", 0, 0),
        ("新/b.py", 1, 0),
    ]
    assert await asyncio.to_thread(syncing.blobs.get, commit["diff_sha256"]) == prepared.diff


async def test_preparing_writes_nothing_into_the_workspace(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n", "new": "x\n"})
    before = _stamps(syncing.path)
    await syncing.prepare()
    assert _stamps(syncing.path) == before
    assert list(syncing.scratch.iterdir()) == []


async def test_a_message_is_made_from_the_files_where_none_is_given(syncing: Syncing) -> None:
    syncing.write({"new.py": "x\n"})
    assert (await syncing.prepare(None)).payload["commit"]["message"] == "Add new.py"
    syncing.write({"a.py": "2\n"})
    assert (await syncing.prepare(None)).payload["commit"]["message"] == "Update a.py, new.py"
    syncing.commit({})
    syncing.write({f"src/{number}.py": "x\n" for number in range(5)})
    assert (await syncing.prepare(None)).payload["commit"]["message"] == "Add 5 files in src"


async def test_files_that_are_no_text_are_sealed_without_a_diff(syncing: Syncing) -> None:
    syncing.write({"logo.png": b"\x89PNG\0\1"})
    prepared = await syncing.prepare()
    assert prepared.diff == b""
    assert prepared.model is not None
    assert prepared.model.files == ()
    assert [change.path for change in read_changes(prepared.payload["commit"])] == ["logo.png"]
    assert (await syncing.run(syncing.seal(prepared))).reason is Reason.COMPLETED
    assert syncing.files_there()["logo.png"] == b"\x89PNG\0\1"


async def test_attributes_of_the_repository_hide_no_line_of_the_diff(syncing: Syncing) -> None:
    syncing.commit({".gitattributes": "*.py -diff\n", ".git/info/attributes": "*.py binary\n"})
    syncing.write({"a.py": "2\n"})
    prepared = await syncing.prepare()
    assert prepared.diff is not None
    assert b"+2\n" in prepared.diff


# --- what is done ----------------------------------------------------------------------------


async def test_everything_is_committed_and_pushed(syncing: Syncing) -> None:
    head = syncing.tip
    syncing.write({"a.py": "2\n", "run.sh": "#!/bin/sh\n", "sub/c": "no end"})
    (syncing.path / "run.sh").chmod(0o755)
    outcome = await syncing.sync("fix the login")
    assert outcome == SyncOutcome(reason=Reason.COMPLETED, committed=syncing.tip, pushed=True)
    assert syncing.tip == syncing.tip_there
    assert syncing.files_there() == {"a.py": b"2\n", "run.sh": b"#!/bin/sh\n", "sub/c": b"no end"}
    commit = syncing.raw[syncing.tip].peel(pygit2.Commit)
    assert (commit.message, [str(parent) for parent in commit.parent_ids]) == (
        "fix the login\n",
        [head],
    )
    assert (commit.author.name, commit.committer.email) == ("Zhang", "zhang@example.com")
    assert commit.commit_time == syncing.clock.now().wall_s
    assert commit.tree["run.sh"].filemode == 0o100755
    # As after git's own commit and push: nothing is left to do, and the upstream is remembered.
    assert syncing.raw.status() == {}
    assert str(syncing.raw.references["refs/remotes/origin/main"].target) == syncing.tip
    with pytest.raises(InputError) as caught:
        await syncing.prepare()
    assert caught.value.code == "sync.nothing-to-do"


async def test_deleted_and_unlisted_files_are_committed_too(syncing: Syncing) -> None:
    syncing.commit({"gone": "x\n", "mode.sh": "x\n"})
    syncing.follow()
    (syncing.path / "gone").unlink()
    (syncing.path / "mode.sh").chmod(0o755)
    prepared = await syncing.prepare()
    assert prepared.base["gone"] == "absent"
    assert (await syncing.run(syncing.seal(prepared))).pushed is True
    assert syncing.files_there() == {"a.py": b"1\n", "mode.sh": b"x\n"}


async def test_a_folder_takes_the_place_of_a_file(syncing: Syncing) -> None:
    (syncing.path / "a.py").unlink()
    syncing.write({"a.py/inside": "x\n"})
    assert (await syncing.sync()).reason is Reason.COMPLETED
    assert syncing.files_there() == {"a.py/inside": b"x\n"}
    assert syncing.raw.status() == {}


async def test_ignored_files_stay_here(syncing: Syncing) -> None:
    syncing.write({".gitignore": "*.log\n", "out.log": "x\n"})
    await syncing.sync()
    assert set(syncing.files_there()) == {"a.py", ".gitignore"}


async def test_temporary_files_that_a_crash_left_are_never_committed(syncing: Syncing) -> None:
    left = f"sub/{beside_name(tag_of('an approval'), 3)}"
    syncing.write({"a.py": "changed\n", left: "old\n"})
    await syncing.sync()
    assert set(syncing.files_there()) == {"a.py"}
    assert (syncing.workspace.path / left).exists()


async def test_without_a_change_the_earlier_commits_are_pushed(syncing: Syncing) -> None:
    made = syncing.commit({"b": "x\n"})
    prepared = await syncing.prepare()
    assert (prepared.payload["commit"], prepared.payload["ahead"], prepared.diff) == (None, 1, None)
    assert [step["name"] for step in prepared.payload["steps"]] == ["check", "push"]
    seal = syncing.seal(prepared)
    outcome = await syncing.run(seal)
    assert outcome == SyncOutcome(reason=Reason.COMPLETED, pushed=True)
    assert syncing.tip_there == made
    assert await syncing.syncer.settle(seal, syncing.workspace) == outcome


async def test_the_first_commit_of_all_is_made_and_pushed(syncing: Syncing) -> None:
    raw = syncing.raw
    raw.references.delete("refs/heads/main")
    raw.references.delete("refs/remotes/origin/main")
    pygit2.Repository(str(syncing.remote)).references.delete("refs/heads/main")
    raw.index.clear()
    raw.index.write()
    syncing.configure(branch__main__remote="origin", branch__main__merge="refs/heads/main")
    prepared = await syncing.prepare("begin")
    assert (prepared.git_head, prepared.payload["remote_oid"]) == (None, None)
    outcome = await syncing.run(syncing.seal(prepared))
    assert outcome.reason is Reason.COMPLETED
    assert syncing.tip_there == outcome.committed
    assert str(syncing.raw.references["refs/remotes/origin/main"].target) == outcome.committed


async def test_a_grant_is_used_once_and_for_its_own_action(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    grant = syncing.grant(syncing.seal(await syncing.prepare()))
    await syncing.syncer.run(grant, workspace=syncing.workspace)
    with pytest.raises(StateError) as caught:
        await syncing.syncer.run(grant, workspace=syncing.workspace)
    assert caught.value.code == "grant.spent"
    with pytest.raises(StateError) as caught:
        await syncing.syncer.run(syncing.grant(a_seal(syncing.clock)), workspace=syncing.workspace)
    assert caught.value.code == "sync.action"


# --- drift -----------------------------------------------------------------------------------


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("what", "drift"),
    [
        ("byte", {"base", "commit"}),
        ("mode", {"commit"}),
        ("more", {"base", "commit"}),
        ("head", {"git_head", "ahead", "head"}),
        ("url", {"url"}),
        ("author", {"commit"}),
        ("fetched", {"remote_oid", "ahead"}),
    ],
)
async def test_what_changed_since_the_card_was_shown_is_not_pushed(
    syncing: Syncing, what: str, drift: set[str]
) -> None:
    syncing.commit({"b": "x\n"})
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    before = syncing.tip_there
    _change(syncing, what)
    tip = syncing.tip
    outcome = await syncing.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "sync.drifted")
    assert set(outcome.drift) == drift
    assert (syncing.tip, syncing.tip_there) == (tip, before)
    assert list(syncing.scratch.iterdir()) == []


def _change(syncing: Syncing, what: str) -> None:
    if what == "byte":
        syncing.write({"a.py": "3\n"})
    elif what == "mode":
        (syncing.path / "a.py").chmod(0o755)
    elif what == "more":
        syncing.write({"more": "x\n"})
    elif what == "head":
        raw = syncing.raw
        tree = raw.head.peel(pygit2.Tree).id
        parents = [raw.head.target]
        who = pygit2.Signature("Li", "li@example.com", 1_760_000_001, 0)
        raw.create_commit("HEAD", who, who, "another\n", tree, parents)
    elif what == "url":
        pygit2.init_repository(str(syncing.root / "other.git"), bare=True)
        syncing.configure(remote__origin__url=str(syncing.root / "other.git"))
    elif what == "author":
        syncing.configure_home("[user]\n\tname = Li\n")
    else:
        syncing.raw.references.create("refs/remotes/origin/main", syncing.tip, force=True)


async def test_what_can_no_longer_be_done_has_drifted(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    syncing.write({"a.py": "1\n"})
    outcome = await syncing.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "sync.nothing-to-do")
    assert outcome.drift == ("payload",)


async def test_a_branch_that_moves_while_the_commit_is_made_is_left_alone(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing.write({"a.py": "2\n"})
    real = git_preflight.new_tree

    def moved(*arguments: object) -> pygit2.Oid:
        _change(syncing, "head")
        return real(*arguments)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(git_commit, "new_tree", moved)
    outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.moved")
    assert (outcome.committed, outcome.pushed) == (None, False)
    assert syncing.raw[syncing.tip].peel(pygit2.Commit).author.name == "Li"


async def test_an_index_that_another_program_writes_stops_the_commit(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    (syncing.path / ".git" / "index.lock").touch()
    before = syncing.tip
    outcome = await syncing.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.locked")
    assert (syncing.tip, syncing.tip_there) == (before, before)


# --- the remote's answers --------------------------------------------------------------------


async def test_a_push_that_would_lose_commits_is_rejected_and_never_forced(
    syncing: Syncing,
) -> None:
    theirs = syncing.commit_there()
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.rejected")
    assert (outcome.committed, outcome.pushed) == (syncing.tip, False)
    assert syncing.tip_there == theirs


async def test_commits_of_the_upstream_that_are_known_stop_it_before_it_is_asked(
    syncing: Syncing,
) -> None:
    theirs = syncing.commit_there()
    raw = syncing.raw
    raw.remotes["origin"].fetch()
    assert str(raw.references["refs/remotes/origin/main"].target) == theirs
    syncing.write({"a.py": "2\n"})
    with pytest.raises(InputError) as caught:
        await syncing.prepare()
    assert (caught.value.code, caught.value.facts) == ("sync.behind", {"count": 1})


async def test_a_checked_out_branch_is_not_pushed_into(syncing: Syncing) -> None:
    theirs = syncing.root / "theirs"
    pygit2.clone_repository(str(syncing.remote), str(theirs))
    # It would run the filters and hooks of that repository.
    pygit2.Repository(str(theirs)).config["receive.denyCurrentBranch"] = "updateInstead"
    syncing.configure(remote__origin__url=str(theirs))
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.code, outcome.pushed) == ("sync.declined", False)
    assert (theirs / "a.py").read_text(encoding="utf-8") == "1\n"


async def test_a_remote_that_is_not_there_is_told(syncing: Syncing) -> None:
    syncing.configure(remote__origin__url=str(syncing.root / "none.git"))
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.not-found")
    assert (outcome.committed, outcome.pushed) == (syncing.tip, False)


class _Refusing(BaseHTTPRequestHandler):
    """Answers every request with one status; keeps the paths that were asked for."""

    status = 401
    asked: list[str]
    location = ""

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        self.send_response(self.status)
        if self.status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="here"')
        if self.location:
            self.send_header("Location", self.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as inherited
        """Say nothing."""


@pytest.fixture
def refusing() -> Iterator[tuple[type[_Refusing], str]]:
    handler = type("Handler", (_Refusing,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield handler, f"http://127.0.0.1:{server.server_port}/shop.git"
        server.shutdown()
        thread.join(5)


async def test_a_login_that_is_not_accepted_is_told_and_nobody_is_asked(
    syncing: Syncing, refusing: tuple[type[_Refusing], str]
) -> None:
    handler, url = refusing
    asking = mark(syncing.root / "askpass", syncing.root / "marks")
    syncing.environ |= {"GIT_ASKPASS": str(asking), "SSH_ASKPASS": str(asking), "DISPLAY": ":9"}
    syncing.configure(remote__origin__url=url)
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.auth")
    assert (outcome.committed, outcome.pushed) == (syncing.tip, False)
    assert handler.asked == ["/shop.git/info/refs?service=git-receive-pack"]
    assert list((syncing.root / "marks").iterdir()) == []


async def test_the_persons_own_credential_helper_is_asked(
    syncing: Syncing, refusing: tuple[type[_Refusing], str]
) -> None:
    marks = syncing.root / "marks"
    helper = mark(syncing.home / "helper", marks)
    syncing.configure_home(f"[credential]\n\thelper = {helper}\n")
    syncing.configure(remote__origin__url=refusing[1])
    syncing.write({"a.py": "2\n"})
    assert (await syncing.sync()).code == "sync.auth"
    assert [found.name for found in marks.iterdir()] == ["helper"]


async def test_a_redirect_leads_nowhere_else(
    syncing: Syncing, refusing: tuple[type[_Refusing], str]
) -> None:
    handler, url = refusing
    handler.status, handler.location = 301, url.replace("shop", "other") + "/info/refs"
    syncing.configure(remote__origin__url=url)
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.code, outcome.pushed) == ("sync.redirected", False)
    assert len(handler.asked) == 1


async def test_a_remote_that_nobody_listens_at_is_unreachable(syncing: Syncing) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    syncing.configure(remote__origin__url=f"http://127.0.0.1:{port}/shop.git")
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.unreachable")
    assert outcome.tail


@pytest.mark.requirement("P7")
async def test_a_remote_that_does_not_answer_in_time_leaves_it_open(syncing: Syncing) -> None:
    syncing.timeout_s = 1
    with socket.create_server(("127.0.0.1", 0)) as server:
        syncing.configure(
            remote__origin__url=f"http://127.0.0.1:{server.getsockname()[1]}/shop.git"
        )
        syncing.write({"a.py": "2\n"})
        outcome = await syncing.sync()
    assert (outcome.reason, outcome.code) == (Reason.UNKNOWN, "sync.timeout")
    assert (outcome.committed, outcome.pushed) == (syncing.tip, None)


async def test_cancelling_ends_the_push(syncing: Syncing) -> None:
    cancel = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        syncing.configure(
            remote__origin__url=f"http://127.0.0.1:{server.getsockname()[1]}/shop.git"
        )
        syncing.write({"a.py": "2\n"})
        grant = syncing.grant(syncing.seal(await syncing.prepare()))
        running = asyncio.create_task(
            syncing.syncer.run(grant, workspace=syncing.workspace, cancel=cancel)
        )
        connection, _ = await asyncio.to_thread(server.accept)
        with connection:
            cancel.set()
            outcome = await asyncio.wait_for(running, 30)
    assert (outcome.code, outcome.pushed) == ("sync.cancelled", None)
    assert outcome.committed == syncing.tip


async def test_cancelled_before_it_begins_it_does_nothing(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    before = syncing.tip
    grant = syncing.grant(syncing.seal(await syncing.prepare()))
    cancel = asyncio.Event()
    cancel.set()
    outcome = await syncing.syncer.run(grant, workspace=syncing.workspace, cancel=cancel)
    assert outcome == SyncOutcome(reason=Reason.CANCELLED, code="sync.cancelled")
    assert (syncing.tip, syncing.tip_there) == (before, before)


async def test_cancelled_after_the_commit_it_is_not_pushed(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()
    real = git_commit.write_commit

    def then_cancelled(*arguments: Any, **named: Any) -> str:
        made = real(*arguments, **named)
        loop.call_soon_threadsafe(cancel.set)
        return made

    monkeypatch.setattr(git_sync, "write_commit", then_cancelled)
    syncing.write({"a.py": "2\n"})
    before = syncing.tip
    grant = syncing.grant(syncing.seal(await syncing.prepare()))
    outcome = await syncing.syncer.run(grant, workspace=syncing.workspace, cancel=cancel)
    assert outcome == SyncOutcome(
        reason=Reason.CANCELLED, code="sync.cancelled", committed=syncing.tip, pushed=False
    )
    assert syncing.tip_there == before


async def test_git_that_is_gone_by_then_pushes_nothing(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    monkeypatch.setattr(push, "find_git", lambda: None)
    outcome = await syncing.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "sync.no-git")
    assert (outcome.committed, outcome.pushed) == (syncing.tip, False)


async def test_a_workspace_that_is_gone_has_drifted(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    syncing.path.rename(syncing.root / "moved")
    outcome = await syncing.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "sync.no-repository")


async def test_one_syncer_serves_proposal_seal_and_run(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    one = syncing.syncer
    planned = await one.plan(syncing.workspace, "a change")
    prepared = await one.prepare(syncing.workspace, GitSync(message="a change"))
    assert planned.commit is not None
    assert planned.commit.tree == prepared.payload["commit"]["tree"]
    outcome = await one.run(syncing.grant(syncing.seal(prepared)), workspace=syncing.workspace)
    assert outcome.reason is Reason.COMPLETED


async def test_without_git_nothing_is_prepared(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_sync, "find_git", lambda: None)
    syncing.write({"a.py": "2\n"})
    with pytest.raises(InputError) as caught:
        await syncing.prepare()
    assert caught.value.code == "sync.no-git"


# --- a hostile repository --------------------------------------------------------------------


@pytest.mark.requirement("R39")
@pytest.mark.requirement("R40")
async def test_nothing_of_the_workspaces_own_configuration_runs_or_redirects(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = syncing.root / "marks"
    evil = syncing.root / "evil.git"
    pygit2.init_repository(str(evil), bare=True)
    trap = mark(syncing.root / "traps" / "trap", marks)
    for hook in ("pre-push", "pre-commit", "post-commit", "commit-msg", "reference-transaction"):
        mark(syncing.path / ".git" / "hooks" / hook, marks)
    for program in ("git", "ssh", "sh"):
        mark(syncing.path / program, marks)
    # The hooks of the receiving repository are somebody's code as well.
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction"):
        mark(syncing.remote / "hooks" / hook, marks)
    there = pygit2.Repository(str(syncing.remote)).config
    there["core.alternateRefsCommand"] = str(trap)
    there["core.fsmonitor"] = str(trap)
    config = syncing.raw.config
    config["core.fsmonitor"] = str(trap)
    config["core.hooksPath"] = str(syncing.path / ".git" / "hooks")
    config["core.sshCommand"] = str(trap)
    config["core.askPass"] = str(trap)
    config["core.pager"] = str(trap)
    config["core.editor"] = str(trap)
    config["credential.helper"] = str(trap)
    config["filter.trap.clean"] = str(trap)
    config["filter.trap.process"] = str(trap)
    config["diff.external"] = str(trap)
    config["commit.gpgSign"] = "true"
    config["push.gpgSign"] = "true"
    config["gpg.program"] = str(trap)
    config["user.name"] = "Mallory"
    config["user.email"] = "mallory@example.com"
    config["remote.origin.pushurl"] = str(evil)
    config["remote.origin.receivepack"] = str(trap)
    config["remote.origin.mirror"] = "true"
    config["push.followTags"] = "true"
    config["push.pushOption"] = "evil"
    config[f"url.{evil}.insteadOf"] = str(syncing.remote)
    config[f"url.{evil}.pushInsteadOf"] = str(syncing.remote)
    syncing.raw.references.create("refs/tags/extra", syncing.tip)
    monkeypatch.setenv("PATH", f"{syncing.path}:{os.environ['PATH']}")
    syncing.environ |= {
        "PATH": f"{syncing.path}:/usr/bin:/bin",
        "GIT_SSH_COMMAND": str(trap),
        "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(syncing.path / ".git" / "hooks"),
    }
    syncing.write({"a.py": "2\n"})
    prepared = await syncing.prepare()
    assert prepared.payload["url"] == str(syncing.remote)
    assert prepared.payload["commit"]["author"] == "Zhang"
    outcome = await syncing.run(syncing.seal(prepared))
    assert outcome.reason is Reason.COMPLETED
    assert [found.name for found in marks.iterdir()] == []
    assert syncing.tip_there == outcome.committed
    assert list(pygit2.Repository(str(syncing.remote)).references) == ["refs/heads/main"]
    assert list(pygit2.Repository(str(evil)).references) == []


@pytest.mark.requirement("R39")
async def test_the_persons_own_rules_for_urls_are_on_the_card(syncing: Syncing) -> None:
    other = syncing.root / "other.git"
    pygit2.init_repository(str(other), bare=True)
    syncing.configure_home(f'[url "{syncing.root}/other"]\n\tpushInsteadOf = short:shop\n')
    syncing.configure(remote__origin__url="short:shop.git")
    syncing.write({"a.py": "2\n"})
    prepared = await syncing.prepare()
    assert prepared.payload["url"] == str(other)
    # A rule that comes afterwards, and would lead elsewhere, is drift.
    syncing.configure_home(f'[url "{syncing.root}/evil"]\n\tinsteadOf = {other}\n')
    outcome = await syncing.run(syncing.seal(prepared))
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "sync.url")


@pytest.mark.requirement("R39")
async def test_a_rule_for_a_part_of_the_url_does_not_lead_elsewhere(syncing: Syncing) -> None:
    evil = syncing.root / "evil"
    syncing.write({"a.py": "2\n"})
    prepared = await syncing.prepare()
    # Known to git alone: as if it had come between the look and the push.
    (syncing.home / "late").write_text(
        f'[url "{evil}"]\n\tinsteadOf = {syncing.remote.parent}\n', encoding="utf-8"
    )
    nowhere = syncing.root / "elsewhere"
    nowhere.mkdir()
    (nowhere / ".gitconfig").write_bytes((syncing.home / "late").read_bytes())
    syncing.home = nowhere
    outcome = await syncing.run(syncing.seal(prepared))
    assert outcome.reason is Reason.COMPLETED
    assert syncing.tip_there == outcome.committed


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("end", [";po", "#po", " "])
async def test_no_character_of_a_url_makes_a_rule_of_its_beginning(
    syncing: Syncing, end: str
) -> None:
    shown, other = (Path(f"{syncing.root}/re{end}{more}") for more in ("", end))
    for place in (shown, other):
        pygit2.init_repository(str(place), bare=True)
    syncing.configure(remote__origin__url=str(shown))
    syncing.write({"a.py": "2\n"})
    outcome = await syncing.run(syncing.seal(await syncing.prepare()))
    tips = [pygit2.Repository(str(at)).references.get("refs/heads/main") for at in (shown, other)]
    assert outcome.reason is Reason.COMPLETED
    assert [tip and str(tip.target) for tip in tips] == [outcome.committed, None]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://zhang:secret@example.com/shop.git", "password"),
        ("ext::sh -c id", "characters"),
        ("ext::id", "transport"),
        ("git://example.com/shop.git", "transport"),
        ("http://example.com/shop.git", "plain-http"),
        ("../shop.git", "relative"),
        ("--upload-pack=id", "relative"),
    ],
)
async def test_a_url_that_is_not_pushed_to_is_named(syncing: Syncing, url: str, why: str) -> None:
    syncing.configure(remote__origin__url=url)
    syncing.write({"a.py": "2\n"})
    with pytest.raises(InputError) as caught:
        await syncing.prepare()
    assert (caught.value.code, caught.value.facts) == ("sync.url", {"why": why})


async def test_a_remote_inside_the_workspace_is_refused(syncing: Syncing) -> None:
    inside = syncing.path / "remote.git"
    pygit2.init_repository(str(inside), bare=True)
    syncing.configure(remote__origin__url=str(inside))
    with pytest.raises(InputError) as caught:
        await syncing.prepare()
    assert (caught.value.code, caught.value.facts) == ("sync.url", {"why": "inside"})


# --- interrupted -----------------------------------------------------------------------------

_KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.syncing import Syncing, at_home
from local_agent.actions.git_sync import perform as git_sync
from local_agent.actions.git_sync import push
from local_agent.workspace.registry import Workspace
from local_agent.actions.registry import read_seal

root, when = Path(sys.argv[2]), sys.argv[3]
made = Syncing(root, Workspace(name="project", path=root / "project"), root / "home")
seal = read_seal((root / "seal").read_bytes())
end = lambda *_a, **_k: os.kill(os.getpid(), signal.SIGKILL)
if when == "before-commit":
    git_sync.write_commit = end
elif when == "before-push":
    git_sync.Pusher.push = end
else:
    git_sync.remember_pushed = end
with at_home(made.home):
    asyncio.run(made.run(seal))
"""


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("when", "reason", "code", "pushed"),
    [
        ("before-commit", Reason.FAILED, "sync.not-begun", False),
        ("before-push", Reason.UNKNOWN, "sync.interrupted", None),
        ("before-remembering", Reason.UNKNOWN, "sync.interrupted", None),
    ],
)
async def test_what_was_killed_is_told_as_far_as_it_can_be_proved(
    syncing: Syncing, when: str, reason: Reason, code: str, pushed: bool | None
) -> None:
    before = syncing.tip
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    (syncing.root / "seal").write_bytes(seal_bytes(seal))
    killed = await asyncio.to_thread(_run_killed, syncing.root, when)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    outcome = await syncing.syncer.settle(seal, syncing.workspace)
    assert (outcome.reason, outcome.code, outcome.pushed) == (reason, code, pushed)
    made = None if syncing.tip == before else syncing.tip
    assert outcome.committed == made
    assert (made is None) == (when == "before-commit")
    assert (syncing.tip_there == before) == (when != "before-remembering")
    # What the crash left behind is gone with the next look, and the push can be asked for again.
    if made is not None:
        again = await syncing.prepare()
        assert again.payload["commit"] is None
        assert (await syncing.run(syncing.seal(again))).pushed is True
    assert list(syncing.scratch.iterdir()) == [] or made is None


def _run_killed(root: Path, when: str) -> subprocess.CompletedProcess[str]:
    here = str(Path(__file__).parents[4])
    return subprocess.run(
        [sys.executable, "-c", _KILLED, here, str(root), when],
        capture_output=True,
        encoding="utf-8",
        timeout=15,
        check=False,
    )


async def test_a_commit_with_the_same_words_but_another_tree_proves_nothing(
    syncing: Syncing,
) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare("a change"))
    syncing.commit({"a.py": "3\n"}, "a change\n")
    outcome = await syncing.syncer.settle(seal, syncing.workspace)
    assert (outcome.reason, outcome.committed) == (Reason.UNKNOWN, None)


async def test_a_commit_that_was_pushed_on_since_is_proved(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    made = (await syncing.run(seal)).committed
    syncing.commit({"a.py": "3\n"})
    syncing.follow()
    outcome = await syncing.syncer.settle(seal, syncing.workspace)
    assert outcome == SyncOutcome(reason=Reason.COMPLETED, committed=made, pushed=True)


async def test_a_repository_that_is_gone_proves_nothing(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    seal = syncing.seal(await syncing.prepare())
    (syncing.path / ".git").rename(syncing.root / "moved")
    outcome = await syncing.syncer.settle(seal, syncing.workspace)
    assert (outcome.reason, outcome.pushed) == (Reason.UNKNOWN, None)


def _stamps(path: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for folder, _, files in os.walk(path):
        for name in files:
            status = (Path(folder) / name).lstat()
            if stat.S_ISREG(status.st_mode):
                found[f"{folder}/{name}"] = (status.st_mtime_ns, status.st_ino)
    return found
