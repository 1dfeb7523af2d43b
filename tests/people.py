"""People of the one app that most tests have."""

from __future__ import annotations

from gateway.base.messages import FIRST_APP, Conversation, Person, SendOutcome

DONE = SendOutcome("sent", 0, "", 0.0, "")  # what came of a try, where nobody asks


def someone(user: str) -> Person:
    """Return the person of that id."""
    return Person(FIRST_APP, user)


def alone(user: str, channel: str = "wecom_app") -> Conversation:
    """Return the conversation with somebody who is alone with the app."""
    return Conversation(channel, FIRST_APP, user)
