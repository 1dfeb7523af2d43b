"""The card of a task that waits for a person at its machine, and what it becomes (P7).

It shows and offers to look or to stop; it approves nothing (P1).  Where the channel takes no cards
the text beside it says the same.
"""

from __future__ import annotations

from typing import Final

from common.clock import Instant
from common.model.state import Reason
from common.sentences import Sentence, say
from gateway.base.messages import Card
from gateway.flow import replies
from gateway.flow.outbox import tell
from gateway.flow.replies import Speaker
from gateway.store import Connection, cards, outbox
from gateway.store.tasks import Task

STATUS: Final = "status"
CANCEL: Final = "cancel"

TITLE: Final = Sentence(en="{id} · {machine}", zh="{id} · {machine}")
OVERTAKEN: Final = Sentence(en="asked again, see below", zh="已重新请求批准，见下方")
WHO: Final = Sentence(en="Who acts", zh="由谁处理")
WHOEVER: Final = Sentence(en="a person at that machine", zh="在该开发机前的人")
UNTIL: Final = Sentence(en="Until", zh="截止")
CODE: Final = Sentence(en="Code", zh="确认码")
HOW: Final = Sentence(en="There", zh="命令")
VIEW: Final = Sentence(en="View status", zh="查看状态")
STOP: Final = Sentence(en="Cancel", zh="取消任务")


def waiting(
    speaker: Speaker, task: Task, machine: str, words: str, *, code: str, until_ms: int
) -> Card:
    """Return the card of a task that waits, on what its agent says, until then."""
    lang = speaker.lang
    facts = (
        (WHO, say(WHOEVER, lang)),
        (UNTIL, speaker.hour(until_ms)),
        (CODE, code),
        (HOW, f"codexbridge approve {task.short_id}"),
    )
    return Card(
        card_id=f"{task.task_id}@{code.replace(' ', '-')}",
        title=say(TITLE, lang, id=task.short_id, machine=machine),
        said=say(replies.WAITS_THERE, lang, machine=machine),
        line=replies.shown_words(words),
        facts=tuple((say(label, lang), value) for label, value in facts),
        buttons=((STATUS, say(VIEW, lang)), (CANCEL, say(STOP, lang))),
    )


def end(conn: Connection, task: Task, machine: str, reason: Reason, *, at: Instant) -> None:
    """Change what says that a task waits, or take it back while it is here.

    Args:
        conn: A writing transaction.
        task: Whose cards.
        machine: Its name.
        reason: How the task ended.
        at: Now.
    """
    unsent = outbox.drop_cards(conn, task.task_id, at_ms=at.wall_ms)
    for card_id in {*cards.end(conn, task.task_id)} - unsent.keys():
        card = _over(card_id, task, machine, replies.OUTCOME[reason])
        tell(conn, task, f"over:{card_id}", "", at=at, card=card)


def overtake(
    conn: Connection, task: Task, machine: str, *, at: Instant, after_ms: int
) -> int | None:
    """Have the card of a task replaced that is asked for once more, and return when.

    A file that is saved again and again has its task asked for each time.  What is not sent yet is
    taken back, and its time is kept, so that of many the last one is told, with the end of the one
    before it.

    Args:
        conn: A writing transaction.
        task: That waits.
        machine: Its name.
        at: Now.
        after_ms: How long more of the same is waited for; 0 where the task did not wait.
    """
    unsent = outbox.drop_cards(conn, task.task_id, at_ms=at.wall_ms)
    standing = {*cards.up(conn, task.task_id)} - unsent.keys()
    due_at = min([*unsent.values(), at.wall_ms + after_ms])
    for card_id in standing:
        card = _over(card_id, task, machine, OVERTAKEN)
        tell(conn, task, f"again:{card_id}:{at.wall_ms}", "", at=at, card=card, due_at=due_at)
    return due_at if standing else None


def _over(card_id: str, task: Task, machine: str, how: Sentence) -> Card:
    title = say(TITLE, task.lang, id=task.short_id, machine=machine)
    view = ((STATUS, say(VIEW, task.lang)),)
    return Card(card_id, title, say(how, task.lang), "", (), view, over=True)
