"""Writes the stores of this release: ``python -m tests.golden_stores.write``.

``python -m tests.golden_stores.write add`` leaves what is there, and adds the newest schema of each
half: the same rows, as this release takes them up.

They are made by the real code: messages come in signed, commands run in the sandbox, changes are
written and pushed, people decide at the gate.  A task is kept from leaving a state as by a full
disk: the journal refuses the step.  Of each earlier schema there is a dump too, made by its own
migrations from the same rows, as far as it had their columns.

What is written belongs to its release.  Never write it anew to make a test pass: a store that
cannot be read any more is what the tests are for.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from common.clock import ManualClock
from common.errors import StoreError
from common.heads import KEPT
from common.home import find_home, write_private
from common.ids import new_uuid
from common.keystore import FileKeystore
from common.model.state import FINAL, Reason, TaskState, final_of
from common.protocol.envelope import HeadBody
from gateway.flow import withdrawal
from gateway.store import audit, outbox
from gateway.store.sqlite import HEAD, ensure_current
from local_agent.assembly import Agent
from local_agent.faces.control.client import stream
from local_agent.flow.approvals import PendingApproval
from local_agent.link.journal import JournalInbound
from local_agent.link.pairing import Pairing, open_keys, save_pairing
from local_agent.store import database
from local_agent.understand.reader import Reader
from local_agent.understand.reading import write_reading
from local_agent.workspace.registry import Registry
from tests.gateway_desk import AGENT as MACHINE_ID
from tests.gateway_desk import NOON_MS, WAITING, Desk
from tests.golden_stores import installation as golden
from tests.people import DONE
from tests.sealed import AGENT, AGENT_ID, GATEWAY, answered, from_gateway
from tests.syncing import Syncing, at_home

S = TaskState
SETTINGS: Final = {
    "gateway.toml": """time_zone = "+08:00"
[listen]
host = "127.0.0.1"
port = 8443
[wecom]
corp_id = "ww0123456789abcdef"
agent_id = 1000002
""",
    "secrets/wecom__token": "golden",
    "secrets/wecom__encoding_aes_key": 42 * "a" + "A",
    "secrets/wecom__corp_secret": "golden",
}
DAY_S: Final = 86_400
CHECK: Final = "echo 2 passed\n"
PATCH: Final = """--- a/{name}
+++ b/{name}
@@ -1 +1 @@
-retry = {old}
+retry = {new}
"""


@dataclass
class Person:
    """Who asks in the chat and decides at the machine."""

    home: Path
    agent: Agent
    clock: ManualClock
    heard: int
    held: dict[str, TaskState] = field(default_factory=dict)
    unused: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Let the journal refuse what is held."""
        journal = self.agent.db.journal
        change, consume = journal.tasks.change, journal.approvals.consume

        def changing(new: Any) -> Any:
            if new.expected is not new.state and self.held.get(new.task_id) is new.expected:
                raise StoreError("store.full")
            return change(new)

        def consuming(approval_id: str, digest: str, at_ms: int) -> bool:
            if approval_id in self.unused:
                raise StoreError("store.full")
            return consume(approval_id, digest, at_ms)

        journal.tasks.change = changing  # type: ignore[assignment, method-assign]  # a full disk
        journal.approvals.consume = consuming  # type: ignore[method-assign]  # same

    async def says(self, text: str, *, hold: TaskState | None = None) -> str:
        """Ask in the chat; returns the task."""
        self.heard += 1
        task_id = new_uuid()
        if hold:
            self.held[task_id] = hold
        named = {"task_id": task_id, "short_id": f"T-7K{self.heard:02}", "lang": "en"}
        envelope = from_gateway(self.clock, self.heard, text=text, **named)
        inbound = JournalInbound(self.agent.db, self.agent.engine)
        await inbound.keep(envelope)
        await inbound.begin(envelope)
        return task_id

    async def types(self, op: str, *, body: bytes = b"", **args: Any) -> str:
        """Ask at the machine; returns the task once it waits or has ended."""
        environ = golden.environ_of(self.home)
        asked = stream(find_home(environ), environ, op, body=body, lang="en", **args)
        told = await asyncio.to_thread(lambda: list(asked))
        return str(told[-1][1]["task"]["task_id"])

    async def until(self, task_id: str, *states: TaskState) -> Any:
        """Return the task once it is in one of these states."""
        async with asyncio.timeout(20):
            while (task := await self.task(task_id)).state not in states:
                assert task.state not in FINAL, task.summary
                await asyncio.sleep(0.02)
        self.clock.advance(1)
        return task

    async def task(self, task_id: str) -> Any:
        """Return the task as it stands."""
        return await self.agent.db.run(self.agent.db.journal.tasks.get, task_id)

    async def waiting(self, task_id: str) -> PendingApproval:
        """Return the approval of a task once it waits."""
        await self.until(task_id, S.WAITING_APPROVAL)
        return next(one for one in await self.agent.gate.pending() if one.task_id == task_id)

    async def decides(self, task_id: str, decision: Any = "approve", **facts: Any) -> Any:
        """Decide on what a task asks."""
        asked = await self.waiting(task_id)
        how = {"decision": decision, "typed": asked.code}
        entrance = self.agent.gate.entrance("terminal")
        await entrance.decide(asked.approval_id, asked.digest, **how, **facts)
        return asked

    async def does(self, task_id: str) -> Any:
        """Approve it, and return the task when it has ended."""
        await self.decides(task_id)
        return await self.until(task_id, *FINAL)


async def write_agent(root: Path) -> None:
    """Make the store of the agent."""
    home, clock = root / "installation", ManualClock()
    git = await asyncio.to_thread(_prepare, root, home, clock)
    registry = Registry(find_home(golden.environ_of(home)), home=git.home)
    async with _process(home, clock) as person:
        lost = await _earlier(person, git)
    async with _process(home, clock) as person:
        await person.agent.engine.start()
        applied, cut_off = await _between(person, lost)
    for state in (S.WAITING_APPROVAL, S.EXECUTING):
        for name in ("command", "change"):
            async with _process(home, clock) as person:
                cut_off[f"{name} in {state}"] = await _cut_off(person, name, state)
    async with _process(home, clock) as person:
        left = await _left(person, git, registry, applied) | {"cut_off": cut_off}
    data = golden.DATA / "agent"
    shutil.rmtree(data, ignore_errors=True)
    for part in ("config", "state/keys", "state/blobs"):
        shutil.copytree(home / part, data / "home" / part)
    newest, all_scripts = database.newest_version(), database._scripts()
    stores = {f"v{newest}": _dump(home / golden.JOURNAL)}
    for version in range(1, newest):
        file = root / f"v{version}" / "journal.db"
        with patch.object(database, "_scripts", lambda upto=version: all_scripts[:upto]):
            database.Database(file).close()
        _copy_rows(home / golden.JOURNAL, file)
        stores[f"v{version}"] = _dump(file)
    _keep_stores("agent", stores)
    shutil.rmtree(git.path)
    restored = golden.restore("agent", f"v{newest}", root / "restored")
    audit = golden.asked(restored, "audit", "verify")
    async with golden.opened(restored, ManualClock(clock.now().wall_ms)):
        told = await golden.told_of_tasks(restored)
    told["ends"] = []
    for number, text in enumerate(golden.WRITTEN):
        restored = golden.restore("agent", f"v{newest}", root / f"restored-{number}")
        place = golden.shop_with(root / f"shop-{number}", text)
        async with golden.opened(restored, ManualClock(clock.now().wall_ms)) as agent:
            told["ends"].append(await golden.settled(agent, cut_off, place))
    _keep("agent", {"at": clock.now().wall_ms, "audit": audit, **left, **told})


@asynccontextmanager
async def _process(home: Path, clock: ManualClock) -> AsyncIterator[Person]:
    async with golden.opened(home, clock) as agent:
        heard = await agent.db.run(agent.db.journal.inbox.last_seq)
        yield Person(home, agent, clock, heard)


def _prepare(root: Path, home: Path, clock: ManualClock) -> Syncing:
    git = Syncing.at(root)
    files = {f"{name}.py": "retry = 3\n" for name in ("a", "login", "shop", "late", "cut")}
    git.commit(files | {"check.sh": CHECK})
    places = find_home(golden.environ_of(home))
    for folder in (places.config, places.state, places.run):
        folder.mkdir(mode=0o700, parents=True)
    paired = Pairing(
        "https://gateway.example", AGENT_ID, "dev-1", GATEWAY.public, AGENT.public.key_id, 1
    )
    save_pairing(places, paired)
    open_keys(places).put(paired.key_name, AGENT.private_bytes())
    Registry(places, home=git.home).add(git.path, name="shop", test_command="sh check.sh")
    return git


async def _earlier(person: Person, git: Syncing) -> str:
    """Bring about every end of a task; returns one that a kill cuts off."""
    await person.does(await person.says("@dev test"))
    await person.does(await person.says('@dev test --cmd="false"'))
    await person.decides(await person.says("@dev test"), "reject", reason="not now")
    await person.until(await person.says("@dev patch raise the retries"), *FINAL)
    await person.until(await person.says("@dev search retry"), *FINAL)
    cancelled = await person.says("@dev test")
    await person.waiting(cancelled)
    await person.agent.engine.cancel(cancelled)
    await person.until(cancelled, *FINAL)
    person.clock.advance(2 * 3600)
    applied = await person.does(await _patch(person, "login", 3, 4))
    undo = await person.types("undo", task=applied.short_id, only=[])
    await person.does(undo)
    drifting = await _patch(person, "late", 3, 4)
    await person.waiting(drifting)
    (git.path / "late.py").write_text("retry = 9\n", encoding="utf-8")
    await person.does(drifting)
    await person.does(await person.says("@dev sync raise the retries"))
    person.heard += 1
    journal = person.agent.db.journal
    await person.agent.db.run(answered, journal, person.clock, person.heard)
    expiring = await person.says("@dev test")
    await person.waiting(expiring)
    person.clock.advance(DAY_S + 1)
    await person.agent.gate.tick()
    await person.until(expiring, *FINAL)
    lost = await person.says("@dev test", hold=S.EXECUTING)
    await person.decides(lost)
    await person.until(lost, S.EXECUTING)
    await asyncio.sleep(1)
    return lost


async def _between(person: Person, lost: str) -> tuple[str, dict[str, str]]:
    """Leave a task in each of the first states; returns one whose change is applied, and those."""
    await person.until(lost, *FINAL)
    person.clock.advance(2 * 3600)
    begun: dict[str, str] = {}
    for state in (S.RECEIVED, S.ROUTED, S.CONTEXT_COLLECTED, S.PROPOSING, S.PROPOSAL_READY):
        task_id = await person.says("@dev help", hold=state)
        begun[f"help in {state}"] = (await person.until(task_id, state)).short_id
    applied = await person.does(await _patch(person, "shop", 3, 5))
    return str(applied.short_id), begun


async def _cut_off(person: Person, name: str, state: TaskState) -> str:
    """Leave a task that was cut off after its approval was used up, or after it was done."""
    new = 6 if state is S.EXECUTING else 7
    ask = person.says("@dev test") if name == "command" else _patch(person, "cut", 3, new)
    task_id = await ask
    person.held[task_id] = state
    await person.decides(task_id)
    await asyncio.sleep(1)
    return str((await person.until(task_id, state)).short_id)


async def _left(person: Person, git: Syncing, registry: Registry, applied: str) -> dict[str, Any]:
    """Leave an approval that was not begun, and a pending one of every action."""
    unused = await person.says("@dev test")
    person.unused.add((await person.waiting(unused)).approval_id)
    approved = await person.decides(unused)
    await asyncio.sleep(1)

    (git.path / "a.py").write_text("retry = 8\n", encoding="utf-8")
    asked = [
        await person.says("@dev test"),
        await person.says('@dev test --cmd="sh check.sh; rm -rf build"'),
        await _patch(person, "login", 3, 8),
        await person.types("undo", task=applied, only=[]),
        await person.says("@dev sync raise them again"),
    ]
    registry.set_disclosure("shop", level="ask")
    asked.append(await person.says("@dev search retry"))
    for task_id in asked:
        await person.waiting(task_id)
    waiting = await person.agent.gate.pending()
    registry.set_disclosure("shop", level="summary")
    return {
        "approved": approved.approval_id,
        "waiting": [
            {
                "action": one.seal.action,
                "approval_id": one.approval_id,
                "digest": one.digest,
                "code": one.code,
                "both_groups": one.both_groups,
            }
            for one in waiting
        ],
    }


async def _patch(person: Person, name: str, old: int, new: int) -> str:
    patch_ = PATCH.format(name=f"{name}.py", old=old, new=new)
    return await person.types("apply", body=patch_.encode(), name="fix.diff", workspace="shop")


def _copy_rows(newest: Path, older: Path) -> None:
    """Fill a store of an older schema with the rows of the newest, as far as it has room.

    Where no heads of the other half were kept, no entry of the audit log told of one: of that log
    there is the beginning.
    """
    with closing(sqlite3.connect(older)) as store, store:
        store.execute("ATTACH ? AS newest", (str(newest),))
        tables = store.execute(
            "SELECT name FROM main.sqlite_master JOIN newest.sqlite_master AS n USING (name)"
            " WHERE n.type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"
            " ORDER BY n.rowid"
        ).fetchall()
        kept = "SELECT min(seq) FROM newest.audit WHERE instr(body, ?)"
        (first_kept,) = store.execute(kept, (json.dumps(KEPT).encode(),)).fetchone()
        for (table,) in tables:
            names = [
                {row[1] for row in store.execute(f"PRAGMA {place}.table_info({table})")}
                for place in ("main", "newest")
            ]
            both = ", ".join(sorted(names[0] & names[1]))
            rows = f"SELECT {both} FROM newest.{table}"  # noqa: S608  # names of our own schema
            if table == "audit" and ("heads",) not in tables:
                rows += f" WHERE seq < {first_kept}"
            store.execute(f"INSERT OR IGNORE INTO main.{table} ({both}) {rows}")


def _dump(database: Path) -> str:
    """Return a database as SQL, with the number of its schema."""
    with closing(sqlite3.connect(database)) as found:
        (version,) = found.execute("PRAGMA user_version").fetchone()
        return "\n".join([*found.iterdump(), f"PRAGMA user_version = {version};"])


def _fill_in(journal: Path) -> None:
    """Fill the columns that this release writes with every task, where they are empty."""
    with closing(sqlite3.connect(journal)) as store, store:
        empty = "intent_json IS NOT NULL AND reading_json IS NULL AND attachment IS NULL"
        found = store.execute(f"SELECT task_id, text FROM tasks WHERE {empty}").fetchall()  # noqa: S608  # a literal
        for task_id, text in found:
            row = write_reading(Reader().read(text)), task_id
            store.execute("UPDATE tasks SET reading_json = ? WHERE task_id = ?", row)


def _keep_stores(half: str, stores: Mapping[str, str]) -> None:
    """Write dumps by their names; together, as they are nearly the same."""
    text = json.dumps(stores, ensure_ascii=True)
    (golden.DATA / half / golden.STORES).write_bytes(lzma.compress(text.encode("ascii"), preset=9))


def _keep(half: str, told: Any) -> None:
    text = json.dumps(told, indent=1, ensure_ascii=False, sort_keys=True)
    (golden.DATA / half / golden.EXPECTED).write_text(text + "\n", encoding="utf-8")


async def write_gateway(root: Path) -> None:
    """Make the store of the gateway."""
    home = root / "gateway"
    for name, text in SETTINGS.items():
        write_private(home / "config" / name, text.encode())
    state = (home / golden.GATEWAY).parent
    FileKeystore(state / "keys").put("gateway-key", GATEWAY.private_bytes())
    async with golden.opened_desk(home, ManualClock(NOON_MS)) as desk:
        await _traffic(desk)
        at_ms = desk.clock.now().wall_ms
    data = golden.DATA / "gateway"
    shutil.rmtree(data, ignore_errors=True)
    for part in ("config", "state/gateway/keys"):
        shutil.copytree(home / part, data / "home" / part)
    stores = {HEAD: _dump(home / golden.GATEWAY)}
    for number in range(1, int(HEAD)):
        file = root / f"r{number}" / "gateway.db"
        ensure_current(file, head=f"{number:04}")
        _copy_rows(home / golden.GATEWAY, file)
        stores[f"{number:04}"] = _dump(file)
    _keep_stores("gateway", stores)
    restored = golden.restore("gateway", HEAD, root / "restored-gateway")
    told = golden.told_of_gateway(restored)
    async with golden.opened_desk(restored, ManualClock(at_ms)) as desk:
        told |= await golden.told_of_traffic(desk)
    _keep("gateway", {"at": at_ms, **told})


async def _traffic(desk: Desk) -> None:
    """Have people ask, and their machine report every state and every end."""
    await desk.add_member()
    await desk.add_member("li", lang="zh")
    await desk.add_machine()
    await desk.add_machine("agent-0", "old-1")
    await desk.write(withdrawal.revoke, desk.seal, "old-1", at=desk.clock.now())
    await desk.connect()
    for reason in Reason:
        task = await _open(desk, S.EXECUTING)
        await desk.result(task, final_of(reason)[0].value, reason.value, f"It ended: {reason}.")
    for state in list(S)[1:7]:
        await _open(desk, state)
    own = await desk.store.read(audit.newest)
    said = HeadBody(7, "7" * 64, own.seq, own.hash.hex(), desk.clock.now().wall_ms)
    await desk.tell(desk.signed("head", said.to_dict()))
    await desk.mailbox.acked(MACHINE_ID, epoch=desk.epoch, seq=golden.HEARD)
    now_ms = desk.clock.advance(60).wall_ms
    for end in ("sent", "failed", None):
        (message,) = (await desk.write(outbox.claim, now_ms=now_ms, limit=1)).messages
        if end:
            await desk.write(outbox.end, message.id, end, DONE, at_ms=now_ms)
    await desk.disconnect()
    task = await desk.ask("@dev test")
    await desk.ask(f"@dev cancel {task.short_id}")
    await desk.ask("@dev test")


async def _open(desk: Desk, state: TaskState) -> Any:
    task = await desk.ask("@dev test")
    desk.clock.advance(10)
    for told in list(S)[1 : list(S).index(state) + 1]:
        waiting = WAITING if told is S.WAITING_APPROVAL else None
        await desk.event(task, told.value, f"now {told.lower()}", waiting=waiting)
    desk.clock.advance(10)
    return task


def add_agent(root: Path) -> None:
    """Add a dump of the newest schema to those of the agent."""
    known = dict(golden.stores("agent"))
    home = golden.restore("agent", max(known, key=golden.number_of), root / "taken-up")
    database.Database(home / golden.JOURNAL).close()
    _fill_in(home / golden.JOURNAL)
    _keep_stores("agent", {f"v{database.newest_version()}": _dump(home / golden.JOURNAL)} | known)


def add_gateway(root: Path) -> None:
    """Add a dump of the newest schema to those of the gateway."""
    known = dict(golden.stores("gateway"))
    home = golden.restore("gateway", max(known), root / "migrated")
    ensure_current(home / golden.GATEWAY)
    _keep_stores("gateway", {HEAD: _dump(home / golden.GATEWAY)} | known)


def main() -> None:
    """Write the stores of both halves, or add one of each."""
    root = golden.SHOP.parent
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    if sys.argv[1:] == ["add"]:
        add_agent(root)
        add_gateway(root)
        return
    with at_home(root / "home"):
        asyncio.run(write_agent(root))
    asyncio.run(write_gateway(root))


if __name__ == "__main__":
    main()
