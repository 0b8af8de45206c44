"""Several actions of one reply: in order, a step each, stopped at the first that cannot be done."""

import itertools

import pytest

from agent_backend.errors import CommandRejected
from agent_backend.rollout.attempts import build_trajectory
from protocol.actions.secrets import SecretUse, find_secret_names
from protocol.actions.types import Action, CallUser, Click, Finish, LongPress, Press, PressKeys, Release, TypeText, Wait
from protocol.blobs import BlobRef
from protocol.messages.events import Accept, Autopilot, FinishEpisode, Pause, StepAdded, StepStarted
from protocol.trajectory.observations import Observation, Transition
from protocol.trajectory.steps import BatchPosition
from tests.unit.agent_backend.conftest import EpisodeHarness, UnreliableMachine, accept, act, new_episode
from tests.unit.agent_backend.episode.test_crash import Client
from tests.unit.agent_backend.episode.test_unattended import run_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from vm_bridge.errors import InvalidAction

THREE = (Click(x=5, y=5), TypeText(text="hello"), PressKeys(keys=("enter",)))
ON = Autopilot(command_id="autopilot-on", on=True)


def propose(harness: EpisodeHarness, *actions: Action) -> None:
    harness.policy = harness.current = FakePolicy([(("I do all of it.", actions),)])


def positions(harness: EpisodeHarness) -> list[tuple[int, int]]:
    return [(step.batch.index, step.batch.size) for step in harness.store.state.steps if step.batch]


async def test_accepted_actions_are_one_step_each_with_one_proposal_behind_them(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    offered = harness.store.state.proposals[0]
    assert await harness.code(accept(harness, 1)) == ""
    await harness.steps(3)
    steps = harness.store.state.steps
    assert tuple(step.action for step in steps) == THREE == tuple(harness.sandbox.acts)
    assert positions(harness) == [(1, 3), (2, 3), (3, 3)]
    assert {step.proposal_id for step in steps} == {offered.id}
    assert {step.decision for step in steps} == {"accept"}
    assert [step.thought for step in steps] == ["I do all of it.", "", ""]
    assert {step.policy for step in steps} == {harness.policy.ref}
    assert not any(step.not_done for step in steps)
    for before, after in itertools.pairwise(steps):
        assert before.after is not None
        assert after.before.screenshot == before.after.screenshot


async def test_viewers_hear_of_each_action_and_the_policy_is_asked_once_after_all(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    harness.events.clear()
    await harness.send(accept(harness, 1))
    await harness.steps(3)
    await harness.ready()
    events = [event for event in harness.events if isinstance(event, StepStarted | StepAdded)]
    assert [event.pending and event.pending.batch for event in events] == [
        *(BatchPosition(index=index, size=3) for index in (1, 2, 3)),
        None,
    ]
    assert [len(steps) for steps in harness.policy.asked] == [0, 3]


async def test_some_of_the_actions_are_an_edit(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    assert await harness.code(accept(harness, 1, actions=4)) == "too_many_actions"
    assert await harness.code(accept(harness, 2, actions=2)) == ""
    await harness.steps(2)
    assert positions(harness) == [(1, 2), (2, 2)]
    assert [step.decision for step in harness.store.state.steps] == ["edit", "edit"]
    await harness.ready()
    assert len(harness.store.state.steps) == 2


async def test_the_first_alone_is_an_edit_without_a_batch(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    await harness.send(accept(harness, 1, actions=1))
    await harness.steps(1)
    assert (harness.store.state.steps[0].decision, harness.store.state.steps[0].batch) == ("edit", None)


@pytest.mark.parametrize("further", [Click(x=5000, y=5), LongPress(x=1, y=1)])
async def test_an_impossible_action_refuses_the_whole_reply(harness: EpisodeHarness, further: Action) -> None:
    propose(harness, Click(x=1, y=1), further)
    await harness.started()
    assert await harness.code(accept(harness, 1)) in ("off_screen", "unsupported_action")
    assert harness.sandbox.acts == []
    assert await harness.code(accept(harness, 2, actions=1)) == ""
    await harness.steps(1)


class FailingMachine(UnreliableMachine):
    """Refuses to type."""

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        if isinstance(action, TypeText):
            raise InvalidAction("there is no field")
        return await super().perform(
            command_id, action, settle=settle, snapshot=snapshot, expected=expected, wait_for_timers=wait_for_timers
        )


async def test_a_failing_action_stops_the_rest_and_releases_what_is_held(
    harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def open_machine(state: object) -> FailingMachine:
        return FailingMachine(harness.sandbox, 1)

    monkeypatch.setattr(harness, "_open", open_machine)
    propose(harness, Press(key="ctrl"), TypeText(text="x"), Release(key="ctrl"), Wait(seconds=1))
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.steps(2)
    await harness.ready()
    failed = harness.store.state.steps[-1]
    assert failed.error is not None
    assert (failed.error.code, failed.batch) == ("invalid_action", BatchPosition(index=2, size=4))
    assert failed.not_done == (Release(key="ctrl"), Wait(seconds=1))
    assert harness.store.state.pending is None
    assert [each.kind for each in harness.sandbox.acts] == ["press", "gesture"]
    assert harness.policy.asked[-1] == harness.store.state.steps


async def test_a_person_who_wants_something_else_stops_the_rest(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    harness.sandbox.settle_seconds = 30.0
    await harness.send(accept(harness, 1))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.send(act(2, "mine"))
    harness.sandbox.settle_seconds = 0.0
    await harness.steps(2)
    first, mine = harness.store.state.steps
    assert (first.action, first.not_done) == (THREE[0], THREE[1:])
    assert (mine.action, mine.batch) == (TypeText(text="mine"), None)


async def test_a_pause_stops_the_rest(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.send(accept(harness, 1))
    await harness.until(lambda: harness.store.state.pending is not None)
    await harness.answer(Pause(command_id="command-2", on=True))
    assert len(harness.store.state.steps) == 1
    assert harness.store.state.status == "paused"


async def test_a_pool_that_was_stopped_ends_it_after_the_present_action(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    harness.store.broken = {"append_step_and_next": CommandRejected("pool_stopped", "the pool was stopped")}
    await harness.send(accept(harness, 1))
    await harness.steps(1)
    await harness.ready()
    assert harness.store.state.steps[0].not_done == THREE[1:]
    assert harness.sandbox.acts == [THREE[0]]


async def test_the_step_limit_stops_the_rest(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"max_steps": 2}))
    propose(harness, *THREE)
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.steps(2)
    await harness.ready()
    assert harness.store.state.steps[-1].not_done == THREE[2:]


async def test_the_autopilot_does_all_of_a_reply(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    await harness.answer(ON)
    await harness.steps(3)
    assert [step.decision for step in harness.store.state.steps[:3]] == ["auto"] * 3
    assert positions(harness)[:3] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("last", [Finish(), CallUser()])
async def test_the_autopilot_leaves_an_end_to_a_person(harness: EpisodeHarness, last: Action) -> None:
    propose(harness, Click(x=1, y=1), last)
    await harness.started()
    await harness.answer(ON)
    await harness.until(lambda: not harness.store.state.autopilot)
    assert harness.store.state.steps == ()


async def test_an_accepted_end_follows_the_actions_before_it(harness: EpisodeHarness) -> None:
    propose(harness, TypeText(text="hello"), Finish(answer="7"))
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.end()
    assert (harness.store.state.status, harness.store.state.answer) == ("finished", "7")
    assert harness.sandbox.typed == "hello"


async def test_an_unattended_episode_does_them_and_ends() -> None:
    policy = FakePolicy([(("I type.", (Click(x=1, y=1), TypeText(text="hello"))),), (("Done.", (Wait(), Finish())),)])
    store = await run_episode(policy)
    assert [step.action.kind for step in store.state.steps] == ["click", "type_text", "wait", "finish"]
    assert [step.decision for step in store.state.steps] == ["auto", "auto", "accept", "accept"]
    assert store.state.outcome == "success"
    row = build_trajectory(store).proposals
    assert [len(each) for each in row] == [1, 0, 1, 0]


async def test_a_secret_for_another_host_stops_the_rest(harness: EpisodeHarness) -> None:
    class Rules:
        def to_confirm(self, action: Action, observation: Observation) -> tuple[SecretUse, ...]:
            typed = any(isinstance(each, TypeText) for each in harness.sandbox.acts)
            host = "other.test" if typed else "shop.test"
            return tuple(SecretUse(name=name, host=host) for name in find_secret_names(action))

        def holds_value(self, text: str) -> bool:
            return False

    harness.store.state = new_episode(secrets_confirmed=(SecretUse(name="PASSWORD", host="shop.test"),))
    harness.secrets = Rules()
    secret = TypeText(text="secret:PASSWORD")
    propose(harness, TypeText(text="x"), secret)
    await harness.started()
    await harness.send(accept(harness, 1))
    await harness.steps(1)
    await harness.ready()
    assert harness.store.state.steps[0].not_done == (secret,)
    assert harness.sandbox.acts == [TypeText(text="x")]


async def accept_all(client: Client) -> None:
    await client.until(lambda: client.store.state.status == "running")
    await client.offered()
    first = client.store.state.proposals[0]
    await client.send(Accept(command_id="command-1", proposal_id=first.id, base_version=0))
    await client.until(lambda: len(client.store.state.steps) == len(THREE))
    await client.send(FinishEpisode(command_id="command-2", outcome="success"))
    await client.until(lambda: client.store.state.status == "finished" and client.task.done())


async def test_every_action_is_done_once_wherever_the_runner_dies() -> None:
    for kill_at in itertools.count():
        client = Client(kill_at)
        client.policy = FakePolicy(itertools.repeat((("I do all of it.", THREE),)))
        await accept_all(client)
        where, steps = f"killed at suspension {kill_at}", client.store.state.steps
        assert tuple(client.sandbox.acts) == THREE, where
        assert tuple(step.action for step in steps) == THREE, where
        assert [(step.error, step.not_done) for step in steps] == [(None, ())] * 3, where
        assert len({step.command_id for step in steps}) == 3, where
        assert client.store.state.pending is None, where
        if not client.killed:
            break
    assert kill_at > 40, "the runner waits often enough for this to mean something"


async def test_a_stopped_runner_begins_no_further_action(harness: EpisodeHarness) -> None:
    propose(harness, *THREE)
    await harness.started()
    harness.sandbox.settle_seconds = 0.2
    await harness.send(accept(harness, 1))
    await harness.until(lambda: harness.store.state.pending is not None)
    harness.runner.stop()
    await harness.end()
    (step,) = harness.store.state.steps
    assert step.not_done == THREE[1:]
    assert harness.sandbox.acts == [THREE[0]]
