"""What every tab is told while it happens, and the cursor from which one goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from common.errors import StoreError
from common.model.proposal import PlaybookEvent, TaskStateChanged, TaskStreamChunk
from common.model.state import Reason, TaskState
from common.page.sessions import Session
from local_agent.faces.page import live as lives
from local_agent.faces.page.live import (
    GONE,
    MAX_CHANGED,
    MAX_SENT,
    MAX_STREAM,
    MAX_STREAMS,
    QUEUE,
    SLOW,
    Live,
    _Tab,
)
from local_agent.flow.bus import Told
from local_agent.views import from_json
from local_agent.views.page import PageRow
from tests.sealed import Step, Wish
from tests.unit.local_agent.faces.page.conftest import WITHIN_S, Place, Socket, Tab

pytestmark = pytest.mark.heavy

THREAD = "thread-1"


def chunk(text: str, task_id: str = "task-1") -> Told:
    return Told(TaskStreamChunk(thread_id=THREAD, task_id=task_id, message_id="m", chunk=text))


def playing(**event: Any) -> Told:
    return Told(PlaybookEvent(thread_id=THREAD, task_id="task-1", event=event))


def changed(task_id: str = "task-1", state: TaskState = TaskState.ROUTED, **said: str) -> Told:
    event = TaskStateChanged(thread_id=THREAD, task_id=task_id, state=state)
    return Told(event, said)  # type: ignore[arg-type]  # keys are languages


def life(place: Place) -> Live:
    return place.server._live


async def cursor(place: Place) -> int:
    return await place.desk.db.run(place.desk.db.journal.tasks.events_cursor)


async def create(place: Place, number: int = 1) -> str:
    wish = Wish(task_id=f"task-{number}", short_id=f"T-000{number}")
    await place.desk.db.run(place.desk.db.journal.tasks.create, wish, number)
    return wish.task_id


async def step(place: Place, number: int = 1, events: int = 1) -> None:
    """Write that something happened to a task, and tell nobody."""
    task_id = f"task-{number}"
    event = TaskStateChanged(thread_id=THREAD, task_id=task_id, state=TaskState.ROUTED).to_dict()
    task = await place.desk.db.run(place.desk.db.journal.tasks.get, task_id)
    states = [TaskState.RECEIVED, TaskState.ROUTED, TaskState.CONTEXT_COLLECTED]
    after = states[states.index(task.state) + 1]
    await place.desk.db.run(
        place.desk.db.journal.tasks.change,
        Step(task_id=task_id, expected=task.state, state=after, events=(event,) * events),
    )


@pytest.fixture
async def begun(place: Place) -> Place:
    """A journal in which something has happened."""
    await create(place)
    await step(place)
    return place


# -- the first words ------------------------------------------------------------------------------


async def test_a_tab_that_knows_all_is_told_so(begun: Place, tab: Tab) -> None:
    at = await cursor(begun)
    async with tab.live(life(begun).life, at) as socket:
        assert await socket.hear() == {
            "type": "hello",
            "life": life(begun).life,
            "cursor": at,
            "anew": False,
            "rows": [],
        }


async def test_a_tab_gets_what_changed_since_its_cursor(begun: Place, tab: Tab) -> None:
    at = await cursor(begun)
    await create(begun, 2)
    await create(begun, 3)
    await step(begun, 2, events=3)
    await step(begun, 1)
    async with tab.live(life(begun).life, at) as socket:
        hello = await socket.hear()
    assert (hello["anew"], hello["cursor"]) == (False, await cursor(begun))
    rows = [from_json(PageRow, row) for row in hello["rows"]]
    # Each once, as it stands now; of the third nothing was told.
    assert {row.task_id: row.state for row in rows} == {
        "task-1": "CONTEXT_COLLECTED",
        "task-2": "ROUTED",
    }


@pytest.mark.parametrize("known", [0, -1, -(2**53), 10**6])
async def test_a_cursor_that_leads_nowhere_means_all_anew(
    begun: Place, tab: Tab, known: int
) -> None:
    async with tab.live(life(begun).life, known) as socket:
        hello = await socket.hear()
        assert (hello["anew"], hello["rows"]) == (True, [])
        assert hello["cursor"] == await cursor(begun)


async def test_a_cursor_of_another_life_of_the_agent_means_all_anew(begun: Place, tab: Tab) -> None:
    async with tab.live("0123456789abcdef", await cursor(begun)) as socket:
        hello = await socket.hear()
        assert (hello["anew"], hello["life"]) == (True, life(begun).life)


async def test_in_an_empty_journal_another_life_means_all_anew_too(place: Place, tab: Tab) -> None:
    # What the tab shows may be from a journal that was there before.
    async with tab.live("0123456789abcdef", 7) as socket:
        assert (await socket.hear())["anew"] is True
    async with tab.live(life(place).life, 0) as socket:
        assert (await socket.hear())["anew"] is False


async def test_of_very_much_that_changed_all_is_read_anew(begun: Place, tab: Tab) -> None:
    at = await cursor(begun)
    await step(begun, 1, events=MAX_CHANGED + 1)
    async with tab.live(life(begun).life, at) as socket:
        assert (await socket.hear())["anew"] is True
    async with tab.live(life(begun).life, at + 1) as socket:
        hello = await socket.hear()
        assert (hello["anew"], len(hello["rows"])) == (False, 1)


@pytest.mark.parametrize(
    "first",
    [
        b"{}",
        "",
        "x",
        "[]",
        "{}",
        "null",
        '{"token": "x", "life": "", "cursor": 0}',
        '{"token": "T", "life": "", "cursor": "0"}',
        '{"token": "T", "life": 1, "cursor": 0}',
        '{"token": ["T"], "life": "", "cursor": 0}',
        '{"token": "T", "life": "", "cursor": 1.5}',
        '{"token": "T", "life": ""}',
        '{"token": "T", "token": "T", "life": "", "cursor": 0}',
        '{"token": "\\ud800", "life": "", "cursor": 0}',
        "[" * 4000,
        "x" * 4097,
    ],
)
async def test_other_first_words_are_the_last(place: Place, tab: Tab, first: str | bytes) -> None:
    if isinstance(first, str):
        first = first.replace('"T"', json.dumps(tab.granted.token))
    async with tab.live(first=first) as socket:
        assert await socket.gone() in (GONE, 1009)  # 1009: it was too long to be read
    assert life(place)._tabs == set()
    assert place.log.events == []


async def test_the_token_of_another_session_is_none(place: Place, tab: Tab) -> None:
    other = await place.tab()
    first = {"token": other.granted.token, "life": "", "cursor": 0}
    async with tab.live(first=first) as socket:
        assert await socket.gone() == GONE


async def test_a_tab_that_says_nothing_is_let_go(
    place: Place, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives, "HELLO_S", 0.01)
    headers = tab.headers | {"Origin": f"http://localhost:{tab._port}"}
    url = f"ws://127.0.0.1:{tab._port}/api/live"
    async with place.web.ws_connect(url, headers=headers) as raw:
        assert await Socket(raw).gone() == GONE


async def test_a_tab_that_goes_before_it_said_anything_is_forgotten(place: Place, tab: Tab) -> None:
    headers = tab.headers | {"Origin": f"http://localhost:{tab._port}"}
    url = f"ws://127.0.0.1:{tab._port}/api/live"
    async with place.web.ws_connect(url, headers=headers):
        pass
    assert place.log.events == []


# -- while it happens -----------------------------------------------------------------------------


async def test_two_tabs_are_told_the_same(begun: Place, tab: Tab) -> None:
    at, other = await cursor(begun), await begun.tab()
    async with tab.live(life(begun).life, at) as one, other.live(life(begun).life, at) as two:
        await one.hear()
        await two.hear()
        await step(begun)
        begun.desk.bus.publish(changed(en="Done.", zh="完成。"))
        heard = [[await socket.hear() for _ in range(2)] for socket in (one, two)]
    assert heard[0] == heard[1]
    said, row = heard[0]
    assert said == {"type": "said", "task_id": "task-1", "said": {"en": "Done.", "zh": "完成。"}}
    assert (row["type"], row["cursor"]) == ("task", at + 1)
    assert from_json(PageRow, row["row"]).state == "CONTEXT_COLLECTED"


async def test_a_burst_of_steps_is_one_row(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        for _ in range(20):
            begun.desk.bus.publish(changed())
        begun.desk.bus.publish(changed("never-written"))
        assert (await socket.hear())["row"]["task_id"] == "task-1"
        begun.desk.bus.publish(changed(en="More.", zh="还有。"))
        assert (await socket.hear())["type"] == "said"


async def test_what_nobody_hears_is_not_read(begun: Place, tab: Tab) -> None:
    begun.desk.bus.publish(changed())
    async with asyncio.timeout(WITHIN_S):
        while life(begun)._changed or life(begun)._stirred.is_set():  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.01)
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        assert (await socket.hear())["rows"] == []


async def test_what_could_not_be_read_is_told_once_it_can_be(
    begun: Place, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives, "AGAIN_S", 0.01)
    tasks = begun.desk.db.journal.tasks
    failing = [StoreError("store.full"), StoreError("store.full")]
    real = tasks.events_cursor

    def events_cursor() -> int:
        if failing:
            raise failing.pop()
        return real()

    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        monkeypatch.setattr(tasks, "events_cursor", events_cursor)
        begun.desk.bus.publish(changed())
        told = await socket.hear()
    assert (told["type"], failing) == ("task", [])
    assert begun.log.events == ["page.not-told"] * 2


async def test_preferences_are_told_to_the_other_tabs(place: Place, tab: Tab) -> None:
    other = await place.tab()
    async with other.live(life(place).life) as socket:
        await socket.hear()
        await tab.act("/api/preferences", {"theme": "dark"})
        assert await socket.hear() == {"type": "preferences", "theme": "dark"}


# -- what a model says ----------------------------------------------------------------------------


async def test_a_stream_goes_on_from_the_middle(begun: Place, tab: Tab) -> None:
    begun.desk.bus.publish(chunk("Hel"))
    begun.desk.bus.publish(chunk("lo"))
    async with asyncio.timeout(WITHIN_S):
        while life(begun).said_so_far("task-1") != "Hello":  # noqa: ASYNC110  # no tab
            await asyncio.sleep(0.01)
    assert (await tab.read("/api/tasks/T-0001"))["streaming"] == "Hello"
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(chunk(", 世界"))
        assert await socket.hear() == {
            "type": "stream",
            "task_id": "task-1",
            "at": 5,
            "text": ", 世界",
        }


async def test_what_a_model_hides_in_its_words_is_made_visible(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(chunk("a\u202eb"))
        first = await socket.until(type="stream")
        begun.desk.bus.publish(chunk("c"))
        second = await socket.until(type="stream")
    assert "\u202e" not in first["text"]
    assert second["at"] == len(first["text"])


async def test_the_words_of_a_step_go_with_it(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(playing(type="stream", chunk="one"))
        assert (await socket.until(type="stream"))["at"] == 0
        begun.desk.bus.publish(playing(type="stream", chunk=" two"))
        assert (await socket.until(type="stream"))["at"] == 3
        begun.desk.bus.publish(playing(type="step_complete"))
        begun.desk.bus.publish(playing(type="stream", chunk="three"))
        told = await socket.until(type="stream")
        assert (told["at"], told["text"]) == (0, "three")
        begun.desk.bus.publish(playing(type="stream"))  # without words
        begun.desk.bus.publish(playing(type="step_start"))
        begun.desk.bus.publish(playing(type="gate"))
        await socket.until(type="task")
    assert life(begun).said_so_far("task-1") == ""


async def test_the_words_of_a_task_go_when_it_ends(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(chunk("so far"))
        await socket.until(type="stream")
        await begun.desk.db.run(
            begun.desk.db.journal.tasks.change,
            Step(expected=TaskState.ROUTED, state=TaskState.REJECTED, reason=Reason.CANCELLED),
        )
        begun.desk.bus.publish(changed(state=TaskState.REJECTED))
        await socket.until(type="task")
    assert life(begun).said_so_far("task-1") == ""


async def test_no_more_is_kept_of_a_stream_than_is_told(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(chunk("x" * (MAX_STREAM - 1)))
        begun.desk.bus.publish(chunk("yz"))
        begun.desk.bus.publish(chunk("more"))
        begun.desk.bus.publish(chunk("", "task-2"))
        begun.desk.bus.publish(chunk("end", "task-2"))
        told = [await socket.hear() for _ in range(3)]
    assert [(one["at"], len(one["text"])) for one in told] == [
        (0, MAX_STREAM - 1),
        (MAX_STREAM - 1, 1),
        (0, 3),
    ]
    assert len(life(begun).said_so_far("task-1")) == MAX_STREAM


async def test_the_words_of_the_tasks_that_spoke_last_are_kept() -> None:
    alone = Live(parts=None)  # type: ignore[arg-type]  # it asks nothing of the agent
    for number in range(MAX_STREAMS):
        alone._take(chunk("a", f"task-{number}"))
    alone._take(chunk("b", "task-0"))
    alone._take(chunk("c", "another"))
    assert alone.said_so_far("task-0") == "ab"
    assert alone.said_so_far("task-1") == ""
    assert len(alone._streams) == MAX_STREAMS


# -- who is too slow, and the end -----------------------------------------------------------------


SESSION = Session("c" * 64, "t" * 64, 0, 0)


class Deaf:
    """The socket of a tab that reads nothing."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.code: int | None = None
        self.may_send = asyncio.Event()
        self.said_something = asyncio.Event()

    async def send_str(self, text: str) -> None:
        """Wait until it is heard."""
        await self.may_send.wait()
        self.sent.append(text)

    async def close(self, *, code: int) -> None:
        """Note why."""
        self.code = code

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._hear()

    async def _hear(self) -> AsyncIterator[Any]:
        await self.said_something.wait()
        for _ in ():
            yield


async def test_a_slow_tab_is_let_go_and_told_why() -> None:
    deaf: Any = Deaf()
    tab = _Tab(deaf, SESSION)
    running = asyncio.create_task(tab.run())
    for number in range(MAX_SENT + 50):
        tab.offer({"n": number})
    # It holds up nobody, and takes no more room.
    assert tab._waiting.qsize() <= MAX_SENT
    deaf.may_send.set()
    async with asyncio.timeout(WITHIN_S):
        await running
    assert deaf.code == SLOW


async def test_a_tab_that_goes_by_itself_is_no_slow_one() -> None:
    deaf: Any = Deaf()
    tab = _Tab(deaf, SESSION)
    running = asyncio.create_task(tab.run())
    tab.offer({"n": 1})
    deaf.said_something.set()
    async with asyncio.timeout(WITHIN_S):
        await running
    assert (deaf.code, deaf.sent) == (1000, [])


async def test_when_too_much_happened_at_once_tabs_read_anew(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        begun.desk.bus.publish(chunk("so far"))
        await socket.until(type="stream")
        for _ in range(QUEUE + 1):
            begun.desk.bus.publish(changed())
        await socket.until(type="anew")
        # And it goes on hearing.
        begun.desk.bus.publish(chunk("new"))
        assert (await socket.until(type="stream"))["at"] == 0


async def test_what_a_tab_says_later_is_not_heard(begun: Place, tab: Tab) -> None:
    async with tab.live(life(begun).life, await cursor(begun)) as socket:
        await socket.hear()
        await socket.raw.send_str('{"decision": "approve"}')
        assert await socket.gone() == 1000


async def test_every_tab_is_let_go_when_the_page_closes(begun: Place, tab: Tab) -> None:
    other = await begun.tab()
    at = await cursor(begun)
    async with tab.live(life(begun).life, at) as one, other.live(life(begun).life, at) as two:
        await one.hear()
        await two.hear()
        await begun.server.end()
        assert [await one.gone(), await two.gone()] == [1000, 1000]


async def test_it_ends_with_the_agent_s_events(place: Place) -> None:
    alone = Live(place.parts)
    hearing = asyncio.create_task(alone._hear())
    await asyncio.sleep(0)
    place.desk.bus.close()
    async with asyncio.timeout(WITHIN_S):
        await hearing
