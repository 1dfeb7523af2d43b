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


def end(conn: Connection, task: Task, machine: str, reason: Reason | None, *, at: Instant) -> None:
    """Change what says that a task waits, or take it back while it is here.

    Args:
        conn: A writing transaction.
        task: Whose cards.
        machine: Its name.
        reason: How the task ended; None when it is asked for anew.
        at: Now.
    """
    lang = task.lang
    title = say(TITLE, lang, id=task.short_id, machine=machine)
    said = say(replies.OUTCOME[reason] if reason is not None else OVERTAKEN, lang)
    unsent = outbox.drop_cards(conn, task.task_id, at_ms=at.wall_ms)
    for card_id in {*cards.end(conn, task.task_id)} - unsent:
        card = Card(card_id, title, said, "", (), ((STATUS, say(VIEW, lang)),), over=True)
        tell(conn, task, f"over:{card_id}", "", at=at, card=card)
