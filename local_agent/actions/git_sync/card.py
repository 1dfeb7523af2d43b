"""The card of a commit and push: where to, which commit, each step and its reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from common.sentences import Sentence
from common.text import one_line
from local_agent.actions.card import Card, diff_of, files_of, machine_name, text, value
from local_agent.views.question import Fact, Part, Question, Step, Steps, Text
from local_agent.workspace.git.remote_url import is_folder

TITLE: Final = Sentence(en="Push from {machine}?", zh="要从 {machine} 推送吗？")
TITLE_COMMIT: Final = Sentence(
    en="Commit and push from {machine}?", zh="要从 {machine} 提交并推送吗？"
)
BRANCH: Final = Sentence(en="Branch", zh="分支")
BRANCH_AT: Final = Sentence(en="at commit {commit}", zh="位于提交 {commit}")
BRANCH_EMPTY: Final = Sentence(en="without a commit yet", zh="尚无提交")
REMOTE: Final = Sentence(en="Pushed to", zh="推送到")
REMOTE_REF: Final = Sentence(
    en="{ref} there, last known at {commit}", zh="其 {ref}，已知位于 {commit}"
)
REMOTE_NEW: Final = Sentence(en="{ref} there, which will be made", zh="其 {ref}（将新建）")
REMOTE_NAMED: Final = Sentence(en="{remote}: {ref}", zh="{remote}: {ref}")
STANDING: Final = Sentence(en="Standing", zh="进度")
STANDING_IS: Final = Sentence(
    en="{ahead} {ahead:commit|commits} ahead of it, {behind} behind, by what is known here",
    zh="据本机所知，领先 {ahead} 个提交，落后 {behind} 个",
)
COMMIT: Final = Sentence(en="Commit", zh="提交")
COMMIT_BY: Final = Sentence(en="by {author} <{email}>", zh="作者 {author} <{email}>")
NO_COMMIT: Final = Sentence(
    en="none; what is committed already is pushed", zh="无；仅推送已有的提交"
)
STEP_NAMES: Final = {
    "check": Sentence(en="look whether all is still as shown", zh="核对一切是否仍与所示一致"),
    "add": Sentence(en="take the files above into the index", zh="把以上文件加入暂存区"),
    "commit": Sentence(en="commit them on {branch}", zh="提交到 {branch}"),
    "push": Sentence(en="push {branch}; never forced", zh="推送 {branch}；绝不强制"),
}
GIT: Final = Sentence(en="Git", zh="Git")
GIT_RUNS_NOTHING: Final = Sentence(
    en="No hook of the repository runs and nothing is signed. The push uses your global git "
    "settings alone (credentials, ssh), and nothing of the repository's own .git/config.",
    zh="不会运行仓库的任何钩子，也不会签名。推送只使用你的全局 git 设置（凭据、ssh），"
    "不使用仓库自身的 .git/config。",
)
GIT_SKIPS_HOOKS: Final = Sentence(
    en="The remote is a folder on this machine: its own hooks (pre-receive, update, post-receive) "
    "do not run either, so whatever they check or start is skipped.",
    zh="远端是本机上的文件夹：其自身的钩子（pre-receive、update、post-receive）也不会运行，"
    "由钩子进行的检查或触发的动作都会跳过。",
)
GIT_LIMIT: Final = Sentence(en="given up after {seconds} s", zh="{seconds} 秒后放弃")
CANNOT_BE_UNDONE: Final = Sentence(
    en="A push CANNOT BE UNDONE: others may have what was pushed at once.",
    zh="推送后无法撤销：其他人可能立即取得已推送的内容。",
)


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    commits = question.seal.payload["commit"] is not None
    return text(TITLE_COMMIT if commits else TITLE, machine=machine_name(question))


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the destination, the commit with its files, and the steps."""
    payload = question.seal.payload
    yield _destination(payload)
    commit = payload["commit"]
    if commit is None:
        yield [Fact("commit", (value(text(NO_COMMIT)),))]
    else:
        by = text(COMMIT_BY, author=commit["author"], email=commit["email"])
        values = (value(commit["message"], "strong"), value(by, "quiet"))
        yield [Fact("commit", values, exact=True), files_of(question)]
        yield [diff_of(question)]
    yield [_steps(payload), _git(payload)]


def _destination(payload: Mapping[str, Any]) -> Sequence[Part]:
    head, known = payload["head"], payload["remote_oid"]
    at = BRANCH_AT if head else BRANCH_EMPTY
    there = REMOTE_REF if known else REMOTE_NEW
    ref = text(there, ref=payload["ref"], commit=(known or "")[:12])
    remote = text(REMOTE_NAMED, remote=payload["remote"], ref=ref)
    standing = text(STANDING_IS, ahead=payload["ahead"], behind=payload["behind"])
    stands_at = text(at, commit=(head or "")[:12])
    return [
        Fact("branch", (value(payload["branch"], "strong"),), exact=True),
        Fact("remote", (value(payload["url"], "strong"), value(remote)), exact=True),
        Fact("standing", (value(standing), value(stands_at, "quiet"))),
    ]


def _steps(payload: Mapping[str, Any]) -> Steps:
    branch = one_line(payload["branch"], 255)
    return Steps(
        tuple(
            Step(step["effect"], text(STEP_NAMES[step["name"]], branch=branch))
            for step in payload["steps"]
        )
    )


def _git(payload: Mapping[str, Any]) -> Fact:
    notes = [value(text(GIT_RUNS_NOTHING))]
    if is_folder(payload["url"]):
        notes.append(value(text(GIT_SKIPS_HOOKS), "danger"))
    limit = text(GIT_LIMIT, seconds=payload["timeout"])
    return Fact("git", (*notes, value(limit, "quiet")))


CARD: Final = Card(
    approve=Sentence(en="Approve and push", zh="批准并推送"),
    named=Sentence(en="a git push", zh="git 推送"),
    done=Sentence(
        en="what was approved was pushed, begun {when}", zh="已按批准内容推送，开始于 {when}"
    ),
    not_done=Sentence(
        en="begun {when} and not pushed; it may be committed on the machine",
        zh="开始于 {when}，但没有推送；可能已在本机提交",
    ),
    title=title,
    parts=parts,
    labels={"branch": BRANCH, "remote": REMOTE, "standing": STANDING, "commit": COMMIT, "git": GIT},
    undo={"no": CANNOT_BE_UNDONE},
)
