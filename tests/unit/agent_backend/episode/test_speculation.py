"""The first candidate is done ahead on a twin, and what the policy says of it is shown only where the guess held."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any
from uuid import UUID

import pytest

from agent_backend.episode.prepared_uses import PreparedUse, PreparedUseRecorder, begin_use
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.episode.speculation import MAX_TWINS
from agent_backend.episode.twins import REACHES_OUTSIDE, TwinLease, reads_same, shows_same
from agent_backend.interfaces import Policy
from protocol.actions.types import Action, CallTool, Click, Finish, RunCommand, TypeText, Wait
from protocol.messages.events import EpisodeState, Undo
from protocol.trajectory.observations import BrowserPage, Observation, Tab
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act
from tests.unit.agent_backend.policy.fake_policy import Answer, FakePolicy
from vm_bridge.machine import Machine
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox


class SeededPolicy(FakePolicy):
    """A policy whose answer is told by what it is asked, as of a model with a seed."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[int, Answer] = {}
        """What it says at the steps of these indices instead."""

    async def propose(self, task: Task, steps: tuple[Step, ...], observation: Observation, **asked: Any) -> Any:
        assert observation.screenshot is not None
        said = "|".join(f"{step.decision} {step.thought} {step.action}" for step in steps)
        draw = Random(f"{said} {observation.screenshot.sha256}")
        clicks = ((f"I click {n}.", Click(x=draw.randrange(320), y=draw.randrange(240))) for n in range(2))
        self._answers = iter([self.answers.get(len(steps), tuple(clicks))])
        return await super().propose(task, steps, observation, **asked)


class SpeculatingHarness(EpisodeHarness):
    """An episode that may have twins, and where it gets them."""

    wanted = True

    def __init__(self) -> None:
        self.twins: list[FakeSandbox] = []
        self.timer: asyncio.Event | None = None
        self.released = 0
        self.uses: dict[UUID, PreparedUse] = {}
        self.room = True
        super().__init__()
        self.policy = self.current = self.seeded = SeededPolicy()

    def new_runner(self) -> EpisodeRunner:
        return EpisodeRunner(self.store, self._open, lambda: self.current, self.hear, self.limits, self.secrets, self)

    async def open(self, state: EpisodeState) -> TwinLease | None:
        if not self.room:
            return None
        sandbox = FakeSandbox("desktop", width=320, height=240)
        sandbox.timer = self.timer
        self.twins.append(sandbox)
        return TwinLease(self.twin_machine(sandbox), policy_for=same_policy, release=self._release)

    def twin_machine(self, sandbox: FakeSandbox) -> Machine:
        return FakeMachine(sandbox, 1)

    async def _release(self) -> None:
        self.released += 1

    async def record_use(self, use: PreparedUse) -> None:
        self.uses[use.id] = use

    async def guessed(self, asked: int) -> None:
        """Wait until the policy has been asked so often."""
        await self.until(lambda: len(self.policy.asked) >= asked)


def same_policy(policy: Policy) -> Policy:
    return policy


@pytest.fixture
async def harness() -> AsyncIterator[SpeculatingHarness]:
    made = SpeculatingHarness()
    yield made
    await made.kill()


async def next_offered(harness: SpeculatingHarness, steps: int) -> None:
    """Wait until candidates are offered after so many steps."""
    await harness.until(lambda: len(harness.runner.state.steps) == steps and bool(harness.runner.state.proposals))


async def test_an_accepted_guess_is_done_on_the_machine_and_needs_no_other_question(
    harness: SpeculatingHarness,
) -> None:
    await harness.started()
    await harness.guessed(2)
    first = harness.runner.state.proposals[0]
    assert harness.twins[0].acts == [first.action]
    assert harness.sandbox.acts == [], "nothing is done on the machine before somebody accepts"
    harness.policy.gate.clear()  # who asks from now on waits for ever
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    assert harness.sandbox.acts == [first.action]
    assert harness.policy.asked[1][0].thought == first.thought


async def test_the_act_may_end_at_what_the_twin_showed(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    step = harness.runner.state.steps[0]
    assert step.after is not None
    assert harness.sandbox.expected == [step.after.screenshot]
    await harness.guessed(3)
    await harness.send(act(2, "mine"))
    await next_offered(harness, 2)
    assert harness.sandbox.expected[1:] == [None], "nobody did that before"


async def test_an_act_beside_a_twin_waits_for_the_timers_of_programs(harness: SpeculatingHarness) -> None:
    harness.timer = harness.sandbox.timer = asyncio.Event()
    harness.timer.set()
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    after = harness.runner.state.steps[0].after
    assert after is not None
    assert after == harness.runner.state.observation
    assert harness.policy.frames[1] == after.screenshot, "the twin waited for the same redraw"
    await harness.guessed(3)
    assert len(harness.twins) == 1


async def test_an_act_that_nobody_guessed_is_shown_before_the_timer_and_the_twin_follows(
    harness: SpeculatingHarness,
) -> None:
    harness.timer = harness.sandbox.timer = asyncio.Event()
    await harness.started()
    await harness.guessed(1)
    await harness.until(lambda: bool(harness.twins) and bool(harness.twins[0].acts))
    await harness.send(act(1, "mine"))
    await next_offered(harness, 1)
    step = harness.runner.state.steps[0]
    assert step.after is not None
    assert step.after == harness.runner.state.observation, "the timer has not come yet"
    harness.timer.set()
    await harness.until(lambda: harness.runner.state.observation != step.after)
    await next_offered(harness, 1)
    offered = harness.runner.state.proposals[0]
    await harness.until(lambda: harness.twins[0].acts[-1:] == [offered.action])
    await harness.until(lambda: any(len(steps) == 2 for steps in harness.policy.asked))
    harness.policy.gate.clear()  # who asks from now on waits for ever
    await harness.send(accept(harness, 2))
    await next_offered(harness, 2)
    assert (len(harness.twins), harness.released) == (1, 0), "the twin showed the screen after the timer, and was kept"


@pytest.mark.parametrize("action", [Wait(seconds=1), RunCommand(command="ls")])
async def test_what_lasts_is_not_cut_short(harness: SpeculatingHarness, action: Action) -> None:
    harness.seeded.answers[0] = (("I do this.", action),)
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    assert harness.sandbox.expected == [None]


async def test_another_step_than_the_guess_is_asked_about_and_the_twin_follows(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    await harness.send(act(1, "mine"))
    await harness.guessed(4)  # about the step, and ahead of the next one
    assert harness.policy.asked[2] == harness.runner.state.steps
    assert len(harness.twins) == 1
    assert harness.twins[0].acts[0] == TypeText(text="mine")
    harness.policy.gate.clear()
    await harness.send(accept(harness, 2))
    await next_offered(harness, 2)


async def test_a_twin_that_shows_something_else_is_given_up(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    harness.sandbox.screen.pixels[:8, :8] = 255  # as if a window had opened there, and on no twin
    for number in range(MAX_TWINS + 1):
        await harness.send(accept(harness, number))
        await next_offered(harness, number + 1)
        await harness.until(partial(was_released, harness, min(number + 1, MAX_TWINS)))
    assert len(harness.twins) == MAX_TWINS
    assert [len(steps) for steps in harness.policy.asked].count(1) == 2, "what was guessed was asked about again"


def was_released(harness: SpeculatingHarness, times: int) -> bool:
    return harness.released == times


@pytest.mark.parametrize("fields", [{"network": ("example.org",)}, {"parameters": {REACHES_OUTSIDE: True}}])
async def test_a_task_that_reaches_outside_has_no_twin(harness: SpeculatingHarness, fields: dict[str, Any]) -> None:
    state = harness.store.state
    harness.store.state = state.model_copy(update={"task": state.task.model_copy(update=fields)})
    await harness.started()
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    assert harness.twins == []


@pytest.mark.parametrize("action", [CallTool(name="lookup", arguments={}), Finish()])
async def test_acts_that_reach_outside_or_end_the_task_are_never_done_ahead(
    harness: SpeculatingHarness, action: CallTool | Finish
) -> None:
    harness.seeded.answers = {1: (("I say.", action),)}
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    await harness.until(lambda: harness.twins[0].acts == harness.sandbox.acts)
    assert len(harness.policy.asked) == 2


async def test_a_twin_taken_for_a_claim_comes_back_once_there_is_room(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    harness.twins[0].admit(2)  # its lease is another's now
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    await harness.until(lambda: harness.released == 1)
    await harness.send(act(2))
    await next_offered(harness, 2)
    await harness.until(lambda: len(harness.twins) == 2 and len(harness.twins[1].acts) == 3)


async def test_an_undone_step_is_undone_on_the_twin(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    await harness.guessed(3)
    await harness.send(Undo(command_id="undo-the-last"))
    await harness.until(lambda: harness.runner.state.steps[0].undone)
    await harness.guessed(5)  # about the first screen again, and ahead of the step after it
    await harness.ready()
    harness.policy.gate.clear()
    await harness.send(accept(harness, 3))
    await next_offered(harness, 2)
    assert harness.released == 0


async def test_the_twin_goes_with_the_episode(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    harness.runner.stop()
    await harness.end()
    assert harness.released == 1


async def test_no_twin_is_taken_where_there_is_no_room(harness: SpeculatingHarness) -> None:
    harness.room = False
    await harness.started()
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    assert len(harness.policy.asked) == 2


async def test_trajectories_are_those_made_without_twins(harness: SpeculatingHarness) -> None:
    """A person who accepts, picks the second candidate, acts otherwise and undoes, at random but alike."""
    trajectories = []
    for room in (True, False):
        for seed in range(4):
            episode = SpeculatingHarness()
            episode.room = room
            trajectories.append(await play(episode, Random(seed)))
            await episode.kill()
    assert trajectories[:4] == trajectories[4:]


def was_guessed(episode: SpeculatingHarness, steps: int) -> bool:
    """Whether the policy was asked about so many steps, where there may be twins."""
    return not episode.room or any(len(asked) == steps for asked in episode.policy.asked)


async def play(episode: SpeculatingHarness, draw: Random) -> list[Any]:
    """Six decisions; what is stored of them apart from times and ids."""
    await episode.started()
    for number in range(6):
        await next_offered(episode, number)
        if draw.random() < 0.5:  # read for so long that the guess is made
            await episode.until(partial(was_guessed, episode, number + 1))
        choice = draw.choice(("first", "first", "second", "own"))
        offered = episode.runner.state.proposals
        proposal = offered[1 if choice == "second" else 0]
        await episode.send(act(number) if choice == "own" else accept(episode, number, proposal_id=proposal.id))
        await next_offered(episode, number + 1)
    left_out = {"command_id", "proposal_id", "started_at", "ended_at", "decide_ms"}
    seen = {"before": {"captured_at", "settle_ms"}, "after": {"captured_at", "settle_ms"}}
    return [step.model_dump(exclude={**dict.fromkeys(left_out, True), **seen}) for step in episode.store.state.steps]


def observation_of(*ids: str) -> Observation:
    """A browser with pages of these ids."""
    tabs = tuple(Tab(id=each, title="A page", url="http://a.test/", active=not index) for index, each in enumerate(ids))
    page = BrowserPage(title="A page", clock="exact", seed=0, time_ms=50.0, tabs=tabs)
    seen = {"captured_at": datetime.now(UTC), "settled": True, "rest": "rested", "settle_ms": 1.0}
    return Observation(screenshot=None, width=0, height=0, page=page, **seen)


def test_ids_of_pages_matter_only_where_the_policy_is_told_them() -> None:
    assert shows_same(observation_of("A", "B"), observation_of("C", "D"))
    assert reads_same(observation_of("A"), observation_of("B"))
    assert not reads_same(observation_of("A", "B"), observation_of("C", "D"))
    assert not shows_same(observation_of("A"), observation_of("A", "B"))
    assert not shows_same(None, None)


async def test_a_twin_is_there_before_the_policy_has_answered(harness: SpeculatingHarness) -> None:
    """A machine takes seconds to be ready: it begins with the first question, not with its answer."""
    harness.policy.gate.clear()
    harness.start()
    await harness.until(lambda: bool(harness.twins))
    assert harness.store.state.proposals == ()
    assert harness.twins[0].acts == []
    harness.policy.gate.set()
    await harness.guessed(2)
    assert len(harness.twins) == 1


async def test_a_twin_that_took_its_guess_back_still_knows_what_the_act_before_gave_out(
    harness: SpeculatingHarness,
) -> None:
    harness.seeded.answers[0] = (("I do this.", RunCommand(command="ls")),)
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    await harness.guessed(3)
    await harness.send(act(2, "mine"))
    await next_offered(harness, 2)
    await harness.until(lambda: len(harness.twins[0].acts) == 3)
    assert (len(harness.twins), harness.released) == (1, 0)


async def test_each_prepared_request_is_counted_once_with_what_became_of_it(harness: SpeculatingHarness) -> None:
    await harness.started()
    await harness.guessed(2)
    await harness.send(accept(harness, 1))
    await next_offered(harness, 1)
    await harness.guessed(3)
    await harness.send(act(2, "mine"))
    await next_offered(harness, 2)
    await harness.guessed(5)
    harness.runner.stop()
    await harness.end()
    uses = sorted(harness.uses.values(), key=lambda use: use.started_at)
    assert [use.outcome for use in uses] == ["used", "discarded", "discarded"]
    assert all(use.seconds is not None for use in uses)
    assert [use.input_tokens for use in uses] == [None] * 3, "this policy counts no tokens"


async def test_a_use_that_could_not_be_stored_is_stored_with_the_next_one() -> None:
    stored: dict[UUID, PreparedUse] = {}
    broken = True

    async def store(use: PreparedUse) -> None:
        if broken:
            raise OSError("no database")
        stored[use.id] = use

    recorder = PreparedUseRecorder(store)
    first, second = begin_use(), begin_use()
    recorder.note(first)
    await recorder.close(within=5)
    assert stored == {}
    broken = False
    recorder.note(second)
    recorder.note(second.model_copy(update={"outcome": "used"}))
    await recorder.close(within=5)
    assert {use.id: use.outcome for use in stored.values()} == {first.id: "open", second.id: "used"}
