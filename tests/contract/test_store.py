"""The contract of every episode store: what it writes, it says; what it says, a snapshot shows.

A fixture `new_store` makes an empty one over an episode that is warming; a store with needs of its own (a database)
runs this suite by subclassing `StoreContract` and overriding that fixture.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.errors import CommandRejected
from agent_backend.interfaces import CommandRecord, EpisodeStore, Intent
from protocol.actions.types import Click, TypeText
from protocol.blobs import BlobRef
from protocol.messages.events import DurableEvent, EpisodeState, ProposalsReady, StepAdded
from protocol.messages.state import apply_event
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation, Verdict
from protocol.trajectory.proposals import ParseError, PolicyRef, Proposal, Reply, strip_token_data
from protocol.trajectory.steps import BatchPosition, Step
from protocol.trajectory.tasks import Task

NewStore = Callable[[], Awaitable[EpisodeStore]]
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
PICTURE = b"not really a picture"
REF = BlobRef.of(PICTURE, "image/jpeg")
POLICY = PolicyRef(name="nano", revision="r1", dialect="ui_tars_1_5")
DIGEST = "d" * 64


def look(text: str | None = None) -> Observation:
    return Observation(
        screenshot=REF,
        width=1280,
        height=720,
        captured_at=NOW,
        settled=True,
        rest="rested",
        settle_ms=41.5,
        text=text,
    )


def intent(index: int = 0, command_id: str = "command-1") -> Intent:
    return Intent(
        command_id=command_id,
        index=index,
        actor="human",
        decision="override",
        proposal_id=None,
        thought="because",
        action=Click(x=10, y=20),
        started_at=NOW,
        decide_ms=812.25,
    )


def step(index: int = 0, command_id: str = "command-1", **fields: object) -> Step:
    given = {
        "index": index,
        "command_id": command_id,
        "actor": "human",
        "decision": "override",
        "thought": "because",
        "action": Click(x=10, y=20),
        "before": look(),
        "after": look("out"),
        "started_at": NOW,
        "ended_at": NOW + timedelta(milliseconds=120),
        "decide_ms": 812.25,
        **fields,
    }
    return Step.model_validate(given)


def proposal(number: int, **fields: object) -> Proposal:
    given = {
        "id": f"proposal-{number}",
        "rank": number,
        "thought": "maybe",
        "action": TypeText(text="héllo 中"),
        "action_text": "type(content='x')",
        "raw_text": "Thought: maybe\nAction: type(content='x')",
        "count": 2,
        "likelihood": 0.5,
        "policy": POLICY,
        "sampling": {"temperature": 0.8, "n": 2},
        "prompt_token_ids": (1, 2, 3),
        "completion_token_ids": (4, 5),
        "logprobs": (-0.25, -1.5),
        "latency_ms": 210.0,
        "created_at": NOW,
        **fields,
    }
    return Proposal.model_validate(given)


class Writer:
    """Writes through a store and holds it to its law after each write."""

    def __init__(self, store: EpisodeStore) -> None:
        self.store = store

    async def __call__(self, writing: Callable[[EpisodeStore], Awaitable[DurableEvent]]) -> DurableEvent:
        before = await self.store.load()
        event = await writing(self.store)
        after = await self.store.load()
        assert event.version == before.version + 1
        assert after == apply_event(before, event)
        return event


class StoreContract:
    """The suite."""

    @pytest.fixture
    async def store(self, new_store: NewStore) -> EpisodeStore:
        return await new_store()

    @pytest.fixture
    async def write(self, store: EpisodeStore) -> Writer:
        await store.save_blob(REF, PICTURE)
        write = Writer(store)
        await write(lambda s: s.change({"status": "running", "observation": look(), "capabilities": ("click",)}))
        return write

    async def test_it_starts_warming_and_empty(self, store: EpisodeStore) -> None:
        state = await store.load()
        assert (state.status, state.steps, state.proposals, state.pending) == ("warming", (), (), None)
        assert await store.pending_intent() is None

    async def test_changes_are_shown(self, write: Writer) -> None:
        await write(lambda s: s.change({"autopilot": True, "takeover": True, "help_requested": True}))
        await write(lambda s: s.change({"autopilot": False, "takeover": False, "status": "paused"}))
        state = await write.store.load()
        assert (state.autopilot, state.takeover, state.help_requested, state.status) == (False, False, True, "paused")
        assert state.observation == look()
        assert state.capabilities == ("click",)

    async def test_an_ending_is_shown(self, write: Writer) -> None:
        verdict = Verdict(success=False, score=0.25, reason="the file is missing")
        ending = {"status": "finished", "outcome": "success", "answer": "42", "verdict": verdict, "finished_at": NOW}
        await write(lambda s: s.change(ending))
        state = await write.store.load()
        assert (state.status, state.outcome, state.answer) == ("finished", "success", "42")
        assert (state.verdict, state.finished_at) == (verdict, NOW)

    async def test_a_failure_is_shown(self, write: Writer) -> None:
        await write(lambda s: s.change({"status": "failed", "error": "the machine died"}))
        assert (await write.store.load()).error == "the machine died"

    async def test_an_intent_is_kept_until_its_step(self, write: Writer) -> None:
        event = await write(lambda s: s.begin_act(intent(), DIGEST))
        assert event.type == "step.started"
        assert await write.store.pending_intent() == intent()
        record = await write.store.find_command("command-1")
        assert record is not None
        assert record.digest == DIGEST
        await write(lambda s: s.append_step(step()))
        state = await write.store.load()
        assert state.steps == (step(),)
        assert state.pending is None
        assert await write.store.pending_intent() is None
        assert await write.store.find_command("command-1") == record

    async def test_a_step_of_unknown_outcome_is_kept_as_it_is(self, write: Writer) -> None:
        lost = step(after=None, error=ActionError(code="outcome_unknown", message="it crashed"))
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(lost))
        state = await write.store.load()
        assert state.steps == (lost,)
        assert state.observation == look(), "the last frame known"

    async def test_steps_follow_each_other(self, write: Writer) -> None:
        for index in range(3):
            command_id = f"command-{index}"
            await write(lambda s, i=index, c=command_id: s.begin_act(intent(i, c), DIGEST))  # type: ignore[misc]
            await write(lambda s, i=index, c=command_id: s.append_step(step(i, c)))  # type: ignore[misc]
        assert [s.index for s in (await write.store.load()).steps] == [0, 1, 2]

    async def test_a_step_taken_back_stays_and_says_so(self, write: Writer) -> None:
        for index, command_id in enumerate(("command-0", "command-1")):
            await write(lambda s, i=index, c=command_id: s.begin_act(intent(i, c), DIGEST))  # type: ignore[misc]
            await write(lambda s, i=index, c=command_id: s.append_step(step(i, c)))  # type: ignore[misc]
        await write(lambda s: s.add_proposals((proposal(1),), POLICY))
        event = await write(lambda s: s.undo_step(1, look("before")))
        assert event.type == "step.undone"
        state = await write.store.load()
        assert [s.undone for s in state.steps] == [False, True]
        assert (state.observation, state.proposals) == (look("before"), ())
        with pytest.raises(ValueError, match="no step 1 to take back"):
            await write.store.undo_step(1, look())
        await write(lambda s: s.begin_act(intent(2, "command-2"), DIGEST))
        await write(lambda s: s.append_step(step(2, "command-2")))
        assert [s.undone for s in (await write.store.load()).steps] == [False, True, False]

    async def test_an_owed_thought_is_written_once(self, write: Writer) -> None:
        owed = step().model_copy(update={"thought": "", "thought_timing": "owed"})
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(owed))
        event = await write(lambda s: s.write_thought(0, "It opens the menu."))
        assert event.type == "thought.written"
        (stored,) = (await write.store.load()).steps
        assert (stored.thought, stored.thought_timing) == ("It opens the menu.", "later")
        with pytest.raises(CommandRejected):
            await write.store.write_thought(0, "Something else.")
        with pytest.raises(CommandRejected):
            await write.store.write_thought(1, "No such step.")

    async def test_what_an_act_intended_is_known_after_its_step(self, write: Writer) -> None:
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step()))
        assert await write.store.past_intent("command-1") == intent()
        assert await write.store.past_intent("command-9") is None

    async def test_pictures_are_stored_with_their_step_or_not_at_all(self, write: Writer) -> None:
        data = b"another picture"
        ref = BlobRef.of(data, "image/png")
        await write(lambda s: s.begin_act(intent(), DIGEST))
        with pytest.raises(ValueError, match="cannot follow"):
            await write.store.append_step(step(5), blobs={ref: data})
        with pytest.raises(KeyError):
            await write.store.load_blob(ref)
        after = look().model_copy(update={"screenshot": ref})
        await write(lambda s: s.append_step(step(after=after), blobs={ref: data}))
        assert await write.store.load_blob(ref) == data

    async def test_the_way_back_is_stored_with_the_step(self, write: Writer) -> None:
        done = intent().model_copy(update={"snapshot": MachineSnapshot(id="a1", acts=0, taken_at=NOW)})
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step(), done=done))
        assert await write.store.past_intent("command-1") == done
        record = await write.store.find_command("command-1")
        assert record is not None
        assert record.digest == DIGEST

    async def test_the_next_action_of_a_reply_begins_with_the_step_before_it(self, write: Writer) -> None:
        batch = {"batch": BatchPosition(index=1, size=2), "further_actions": (Click(x=3, y=4),)}
        following = intent(1, "command-1-2").model_copy(update={"batch": BatchPosition(index=2, size=2)})
        await write(lambda s: s.begin_act(intent().model_copy(update=batch), DIGEST))
        event = await write(lambda s: s.append_step(step(batch=batch["batch"]), following))
        assert isinstance(event, StepAdded)
        assert event.pending is not None
        assert (event.pending.command_id, event.pending.batch) == ("command-1-2", following.batch)
        assert await write.store.pending_intent() == following
        assert await write.store.find_command("command-1-2") is not None
        last = step(1, "command-1-2", batch=following.batch, not_done=(Click(x=3, y=4),))
        await write(lambda s: s.append_step(last))
        assert await write.store.pending_intent() is None
        assert (await write.store.load()).steps[1] == last

    async def test_a_next_action_that_may_not_begin_stores_nothing(self, write: Writer) -> None:
        await write.store.record_command("command-2", DIGEST)
        await write(lambda s: s.begin_act(intent(), DIGEST))
        before = await write.store.load()
        with pytest.raises(CommandRejected):
            await write.store.append_step(step(), intent(1, "command-2"))
        assert await write.store.load() == before
        assert await write.store.pending_intent() == intent()

    async def test_offers_are_shown_until_the_step(self, write: Writer) -> None:
        unread = proposal(2, action=None, error=ParseError(code="no_action", message="?"), likelihood=None)
        event = await write(lambda s: s.add_proposals((proposal(1), unread), POLICY))
        assert event.type == "proposals.ready"
        state = await write.store.load()
        assert state.proposals == (strip_token_data(proposal(1)), strip_token_data(unread))
        assert (state.policy, state.thinking) == (POLICY, "ready")
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step(proposal_id="proposal-1", policy=POLICY)))
        assert (await write.store.load()).proposals == ()

    async def test_tokens_are_kept_and_told_to_nobody(self, write: Writer) -> None:
        other = Reply(token_ids=(7, 9), logprobs=(-1.0, -2.0))
        tokens = {"prompt_token_ids": (1, 2, 3), "completion_token_ids": (7,), "logprobs": (-0.5,), "others": (other,)}
        event = await write(lambda s: s.add_proposals((proposal(1).model_copy(update=tokens),), POLICY))
        assert isinstance(event, ProposalsReady)
        (shown,) = (await write.store.load()).proposals
        assert event.proposals == (shown,)
        assert (shown.tokens_read, shown.tokens_written) == (3, 3)
        assert (shown.prompt_token_ids, shown.completion_token_ids, shown.logprobs) == (None, None, None)
        assert shown.others == ()

    async def test_withdrawn_offers_are_gone(self, write: Writer) -> None:
        await write(lambda s: s.add_proposals((proposal(1),), POLICY))
        event = await write(lambda s: s.withdraw_proposals("resampled"))
        assert event.type == "proposals.withdrawn"
        assert (await write.store.load()).proposals == ()
        await write(lambda s: s.add_proposals((proposal(3, rank=1),), POLICY))
        assert [p.id for p in (await write.store.load()).proposals] == ["proposal-3"]

    async def test_offers_are_withdrawn_together_with_the_screen_they_were_for(self, write: Writer) -> None:
        await write(lambda s: s.add_proposals((proposal(1),), POLICY))
        await write(lambda s: s.withdraw_proposals("screen_changed", look("redrawn")))
        state = await write.store.load()
        assert (state.proposals, state.observation) == ((), look("redrawn"))

    async def test_marks_come_and_go(self, write: Writer) -> None:
        await write(lambda s: s.add_proposals((proposal(1), proposal(2)), POLICY))
        await write(lambda s: s.mark_proposal("proposal-2", "acceptable"))
        assert [p.mark for p in (await write.store.load()).proposals] == [None, "acceptable"]
        await write(lambda s: s.mark_proposal("proposal-2", None))
        assert [p.mark for p in (await write.store.load()).proposals] == [None, None]

    async def test_commands_are_remembered(self, store: EpisodeStore) -> None:
        assert await store.find_command("command-9") is None
        await store.record_command("command-9", DIGEST, "why I leave")
        record = await store.find_command("command-9")
        assert record is not None
        assert (record.command_id, record.digest) == ("command-9", DIGEST)

    async def test_an_end_and_its_command_are_stored_together(self, write: Writer) -> None:
        finish = CommandRecord(command_id="command-9", digest=DIGEST, note="it is done")
        fields: dict[str, object] = {"status": "finished", "outcome": "success"}
        await write.store.record_command("command-9", DIGEST)
        before = await write.store.load()
        with pytest.raises(CommandRejected):
            await write.store.change(fields, finish)
        assert await write.store.load() == before
        await write(lambda s: s.change(fields, finish.model_copy(update={"command_id": "command-8"})))
        assert (await write.store.load()).status == "finished"
        assert await write.store.find_command("command-8") is not None

    async def test_an_id_serves_one_command(self, write: Writer) -> None:
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step()))
        before = await write.store.load()
        for again in (write.store.record_command("command-1", DIGEST), write.store.begin_act(intent(1), DIGEST)):
            with pytest.raises(CommandRejected) as refused:
                await again
            assert refused.value.code == "command_conflict"
        assert await write.store.load() == before

    async def test_bytes_are_kept_once(self, store: EpisodeStore) -> None:
        with pytest.raises(KeyError):
            await store.load_blob(REF)
        await store.save_blob(REF, PICTURE)
        await store.save_blob(REF, PICTURE)
        assert await store.load_blob(REF) == PICTURE


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def new_store(self) -> NewStore:
        async def new() -> EpisodeStore:
            task = Task(id="t1", instruction="Rename the report")
            state = EpisodeState(id="e1", version=0, status="warming", task=task, pool="p", created_at=NOW)
            return InMemoryEpisodeStore(state)

        return new

    async def test_a_step_out_of_order_is_refused(self, write: Writer) -> None:
        with pytest.raises(ValueError, match="cannot follow"):
            await write.store.append_step(step(1))

    async def test_events_are_published(self) -> None:
        heard: list[DurableEvent] = []

        async def publish(event: DurableEvent) -> None:
            heard.append(event)

        task = Task(id="t1", instruction="Rename the report")
        store = InMemoryEpisodeStore(
            EpisodeState(id="e1", version=0, status="warming", task=task, pool="p", created_at=NOW), publish
        )
        await store.append_step(step())
        assert [type(event) for event in heard] == [StepAdded]
