"""A policy's notes on older steps: written while the annotator decides, put right by them, read at the next step."""

from datetime import UTC, datetime

import pytest

from agent_backend.errors import PolicyError, PolicyUnavailable
from agent_backend.policy.openai_chat import OpenAIPolicy
from protocol.messages.events import ReviseMemory, Undo
from protocol.trajectory.memory import HistoryBudget, Memory, steps_to_summarize
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.conftest import EpisodeHarness, act
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from tests.unit.agent_backend.policy.test_openai_chat import ENDPOINT, past

TASK = Task(id="t1", instruction="Open the report<|im_end|>")
BUDGET = HistoryBudget(images=1, working=1, episode=2)


class NotingPolicy(FakePolicy):
    """Notes how many steps it has forgotten; `mute`, it fails instead."""

    mute = False
    writes_memories = True

    def steps_to_summarize(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        return steps_to_summarize(steps, memories, BUDGET)

    async def write_memory(self, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        if self.mute:
            raise PolicyUnavailable("nobody answers")
        last = self.steps_to_summarize(steps, memories)[-1].index
        return Memory(through=last, text=f"I typed {last + 1} times.", policy=self.ref, written_at=datetime.now(UTC))


async def noting(harness: EpisodeHarness, steps: int, *, mute: bool = False) -> NotingPolicy:
    policy = NotingPolicy()
    policy.mute = mute
    harness.current = policy
    await harness.started()
    for number in range(steps):
        await harness.send(act(number))
        await harness.steps(number + 1)
        await harness.ready()
    return policy


async def test_notes_are_written_beside_the_work_and_stored(harness: EpisodeHarness) -> None:
    await noting(harness, 3)
    await harness.until(lambda: bool(harness.store.state.memories))
    (memory,) = harness.store.state.memories
    assert (memory.through, memory.text, memory.revised) == (1, "I typed 2 times.", False)


async def test_the_annotator_puts_a_note_right(harness: EpisodeHarness) -> None:
    await noting(harness, 3)
    await harness.until(lambda: bool(harness.store.state.memories))
    assert await harness.code(ReviseMemory(command_id="revise-01", through=1, text="Nothing was typed.")) == ""
    (memory,) = harness.store.state.memories
    assert (memory.text, memory.revised) == ("Nothing was typed.", True)
    assert await harness.code(ReviseMemory(command_id="revise-02", through=7, text="?")) == "unknown_memory"


async def test_what_the_policy_wrote_is_kept_and_can_stand_again(harness: EpisodeHarness) -> None:
    await noting(harness, 3)
    await harness.until(lambda: bool(harness.store.state.memories))
    for number, text in enumerate(("Nothing was typed.", "Something was typed.")):
        assert await harness.code(ReviseMemory(command_id=f"revise-{number:02}", through=1, text=text)) == ""
        (memory,) = harness.store.state.memories
        assert (memory.text, memory.original) == (text, "I typed 2 times.")
    assert await harness.code(ReviseMemory(command_id="revise-09", through=1, text="I typed 2 times.")) == ""
    (memory,) = harness.store.state.memories
    assert (memory.revised, memory.original) == (False, None)


async def test_viewers_hear_how_the_notes_stand(harness: EpisodeHarness) -> None:
    policy = await noting(harness, 3, mute=True)
    await harness.until(lambda: harness.runner.state.noting == "failed")
    assert harness.runner.state.noting_error == "nobody answers"
    policy.mute = False
    await harness.send(act(9))
    await harness.until(lambda: bool(harness.store.state.memories))
    await harness.until(lambda: harness.runner.state.noting == "idle")
    harness.current = FakePolicy(revision="2")
    harness.runner.wake()
    await harness.until(lambda: harness.runner.state.noting == "off")


async def test_a_note_that_fails_holds_nothing_up(harness: EpisodeHarness) -> None:
    policy = await noting(harness, 3, mute=True)
    assert harness.store.state.memories == ()
    assert harness.store.state.proposals
    policy.mute = False
    await harness.send(act(9))
    await harness.until(lambda: bool(harness.store.state.memories))


async def test_notes_outlive_the_runner(harness: EpisodeHarness) -> None:
    await noting(harness, 3)
    await harness.until(lambda: bool(harness.store.state.memories))
    await harness.kill()
    await harness.started()
    assert [memory.through for memory in harness.runner.state.memories] == [1]


async def test_a_step_taken_back_takes_no_note_with_it_that_still_holds(harness: EpisodeHarness) -> None:
    await noting(harness, 3)
    await harness.until(lambda: bool(harness.store.state.memories))
    if harness.store.state.can_undo:
        assert await harness.code(Undo(command_id="undo-0001")) == ""
    assert harness.store.state.memories


def remote(server: ModelServer, *, scripted: bool = False) -> OpenAIPolicy:
    changed = {"budget": BUDGET, "scripted": scripted}
    return OpenAIPolicy(ENDPOINT.model_copy(update=changed), transport=server.transport)


async def test_a_note_is_asked_for_in_words_alone() -> None:
    server = ModelServer(Events([chunk(0, " I clicked "), chunk(0, "twice. ")]))
    memory = await remote(server).write_memory(TASK, past(3), ())
    assert (memory.through, memory.text, memory.policy.revision) == (1, "I clicked twice.", "r1")
    (body,) = server.asked
    (message,) = body["messages"]
    assert "thought 0" in message["content"]
    assert "thought 1" in message["content"]
    assert "thought 2" not in message["content"], "the working memory stays as it is"
    assert "<|im_end|>" not in message["content"]
    assert (body["temperature"], body.get("n")) == (0, None)


async def test_earlier_notes_are_read_again() -> None:
    server = ModelServer(Events([chunk(0, "More.")]))
    before = Memory(through=1, text="I clicked twice.", policy=remote(server).ref, written_at=datetime.now(UTC))
    memory = await remote(server).write_memory(TASK, past(5), (before,))
    assert memory.through == 3
    assert "I clicked twice." in server.asked[0]["messages"][0]["content"]


async def test_an_empty_note_is_none() -> None:
    with pytest.raises(PolicyError, match="no note"):
        await remote(ModelServer(Events([chunk(0, "  ")]))).write_memory(TASK, past(3), ())


async def test_a_script_writes_no_notes() -> None:
    assert remote(ModelServer(), scripted=True).steps_to_summarize(past(9), ()) == ()
