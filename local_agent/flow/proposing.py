"""Puts the safe half of the engine together: reading, looking and every proposer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from common.clock import Clock
from common.errors import AuthError, StoreError
from common.model.intent import TaskIntent, TaskKind
from common.verbs import Topic
from local_agent.actions.operation import Syncer
from local_agent.actions.run_command.command_line import read_argv
from local_agent.flow.answers import HelpProposer, OpenTasks, StatusProposer
from local_agent.flow.applying import ApplyProposer, PatchProposer
from local_agent.flow.conversation import Conversation, ReviseProposer
from local_agent.flow.counting import CountedBackend
from local_agent.flow.disclosing import Disclosure
from local_agent.flow.following import Following
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Mind, Workspaces
from local_agent.flow.run_asking import StepQuestions
from local_agent.flow.run_questions import Questions
from local_agent.flow.standing import RunStanding
from local_agent.flow.streaming import Streams
from local_agent.flow.task import TaskLog
from local_agent.flow.understanding import Looking, Proposers, SecondReading, Understanding
from local_agent.flow.undoing import AppliedChanges, UndoProposer
from local_agent.models.backend import Chosen
from local_agent.propose.base import Asked, Proposed, Proposer
from local_agent.propose.coding import CodingProposer, NoModel
from local_agent.propose.context.collector import Collector
from local_agent.propose.git_sync import GitSyncProposer
from local_agent.propose.review import ReviewProposer
from local_agent.propose.run import Project, RunProposer
from local_agent.propose.search import Lookup, SearchProposer
from local_agent.settings import AgentSettings
from local_agent.store.blobs import Blobs
from local_agent.store.tasks import Task
from local_agent.understand import goals, ranges, reader, searches
from local_agent.understand.reading import Reading
from local_agent.workspace import files
from local_agent.workspace.git.ranges import NotFound, Range, RangeChanges, read_range
from local_agent.workspace.git.repository import local_changes
from local_agent.workspace.project.infer import infer
from local_agent.workspace.registry import Workspace
from local_agent.workspace.searching import search_for

if TYPE_CHECKING:  # it imports this module
    from local_agent.flow.playing import Playing


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """The parts that proposals are made of.

    Attributes:
        applied: Finds what tasks have applied.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        show_again: Brings the question of a task before the person once more.
    """

    store: JournalStore
    tasks: TaskLog
    mind: Mind
    blobs: Blobs
    applied: AppliedChanges
    syncer: Syncer
    settings: AgentSettings
    clock: Clock
    sandbox: str
    show_again: Callable[[str], Awaitable[None]]
    standing: Callable[[str], Awaitable[RunStanding | None]]

    def understanding(
        self,
        disclosure: Disclosure,
        workspaces: Workspaces,
        playing: Playing,
        questions: Questions,
    ) -> Understanding:
        """Return the safe half of the engine.

        Args:
            playing: Carries runs of playbooks.
            questions: What they ask.
        """
        conversation = Conversation(self.store, self.blobs)
        return Understanding(
            log=self.tasks,
            reader=self._reader(),
            following=Following(self.store, conversation, workspaces),
            second_reading=SecondReading(
                self.choose,
                enabled=self.settings.nl.use_model_router,
                threshold=self.settings.nl.confidence_threshold,
            ),
            looking=Looking(self._collector(), conversation),
            proposers=self._proposers(conversation, playing, questions),
            conversation=conversation,
            disclosure=disclosure,
            streams=Streams(self.tasks, model=self._model, clock=self.clock),
            workspaces=workspaces,
            phrases=playing.phrases,
        )

    def _proposers(
        self,
        conversation: Conversation,
        playing: Proposer,
        questions: Questions,
    ) -> Proposers:
        open_tasks = OpenTasks(self.store, self.clock, self.standing)
        help_proposer = HelpProposer(open_tasks, free_text=self.settings.nl.enable)
        coding = self._coding()
        return Proposers(
            of_kind={
                TaskKind.HELP: help_proposer,
                TaskKind.STATUS: StatusProposer(
                    open_tasks, sandbox=self.sandbox, local_changes=local_changes
                ),
                TaskKind.RUN: RunProposer(
                    read_argv,
                    project=Project(
                        find_goal=goals.find_goal,
                        find_place=goals.find_place,
                        infer=partial(infer, clock=self.clock),
                    ),
                    allowed=self.settings.allow_run_terminal,
                    default_test_command=self.settings.default_test_command,
                ),
                TaskKind.SEARCH: SearchProposer(
                    Lookup(read=searches.find_search, search=partial(search_for, clock=self.clock))
                ),
                TaskKind.GIT_SYNC: GitSyncProposer(self.syncer.plan),
                TaskKind.REVIEW: coding,
                TaskKind.EXPLAIN: coding,
                TaskKind.CHANGE: coding,
                TaskKind.DIAGNOSE: coding,
                TaskKind.PLAYBOOK: playing,
            },
            of_topic={
                Topic.APPLY: ApplyProposer(
                    self.store,
                    self.blobs,
                    show_again=self.show_again,
                    without_id=help_proposer,
                ),
                Topic.UNDO: UndoProposer(self.store, self.applied),
                Topic.REVISE: ReviseProposer(conversation, coding),
            },
            patches=PatchProposer(self.blobs, allowed=self.settings.allow_apply_patch),
            questions=StepQuestions(questions),
        )

    async def change(self, task: Task, asked: Asked, workspace: Workspace) -> Proposed:
        """Return the change that a step of a run has the model propose; it changes nothing.

        Raises:
            CodexBridgeError: as of any proposal.
        """
        intent = TaskIntent(kind=TaskKind.CHANGE, confidence=1.0, summary="")
        reading = Reading(intent, Topic.PATCH, subject=asked.text)
        looking = Looking(self._collector(), Conversation(self.store, self.blobs))
        context = await looking.into(workspace, task, reading, intent)
        wanted = replace(asked, intent=intent, topic=Topic.PATCH, context=context)
        return await self._coding().propose(wanted)

    def _coding(self) -> CodingProposer:
        return CodingProposer(
            self.choose,
            without=NoModel(),
            lend=self.mind.lend,
            keep=self.blobs.put,
            allowed=self.settings.allow_apply_patch,
            review=ReviewProposer(local_changes, ranges=_Ranges()),
        )

    def choose(self) -> Chosen | None:
        """Return the model that is asked, each turn of it accounted for; None without one."""
        chosen = self.mind.choose()
        if chosen is None:
            return None
        backend = CountedBackend(chosen.backend, account=self.store, clock=self.clock)
        return replace(chosen, backend=backend)

    def _model(self) -> str:
        chosen = self.mind.choose()
        return chosen.backend.name if chosen else ""

    def _reader(self) -> reader.Reader:
        reader.load()
        return reader.Reader(
            threshold=self.settings.nl.confidence_threshold,
            prefix=self.settings.prefix,
            free_text=self.settings.nl.enable,
        )

    def _collector(self) -> Collector:
        return Collector(
            list_files=self._list_files,
            local_changes=local_changes,
            search_all=self._search_all,
            last_output=self._last_output,
        )

    async def _list_files(self, workspace: Workspace) -> files.Listing:
        return await files.list_files(workspace.path, clock=self.clock, deny=workspace.deny)

    async def _last_output(self, workspace: Workspace) -> bytes | None:
        """Return what the last approved command printed there, for what it says about files."""
        name = await self.store.last_log(str(workspace.path))
        if name is None:
            return None
        try:
            return await asyncio.to_thread(self.blobs.get, name)
        except (AuthError, StoreError):
            return None  # it was removed by its age

    async def _search_all(
        self, workspace: Workspace, queries: Sequence[str], listing: files.Listing
    ) -> Sequence[files.SearchResult]:
        return await files.search_all(
            workspace.path,
            queries,
            among=listing,
            clock=self.clock,
            deny=workspace.deny,
            encoding=workspace.encoding,
        )


class _Ranges:
    """Changes between two states of a repository, by their names."""

    def find(self, text: str) -> Range:
        return ranges.find_range(text)

    async def read(self, workspace: Workspace, wanted: Range) -> RangeChanges | NotFound | None:
        return await asyncio.to_thread(read_range, workspace, wanted)
