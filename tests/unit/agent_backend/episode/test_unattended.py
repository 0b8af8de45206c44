"""Episodes without a person: every way they can end, and the folder they end in."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.proposal_requests import RetryPolicy
from agent_backend.episode.unattended import MAX_INVALID_REPLIES, run_unattended
from agent_backend.errors import PolicyMisconfigured, PolicyRejected, PolicyUnavailable
from agent_backend.rollout.attempts import build_trajectory
from agent_backend.trajectory_folders import InvalidFolder, TrajectoryFolderWriter
from protocol.actions.types import CallUser, Finish, Infeasible, NoAction, OpenApp, TypeText
from protocol.base import JsonObject
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.sealing import HIDDEN_INSTRUCTION
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.conftest import new_episode
from tests.unit.agent_backend.policy.fake_policy import Answer, FakePolicy
from trainer.data.trajectories import open_folder
from vm_bridge.machine import Machine
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

LIMITS = RunnerLimits(executor=ExecutorLimits(reach=0.5), retry_policy=RetryPolicy(first=0.01, longest=0.01, tries=2))
OPENED = OpenApp(name="Clock")
SAID: tuple[Answer, ...] = ((("I type it.", TypeText(text="hello")),), (("Done.", Finish()),))


class Returning(FakePolicy):
    """Its server is away at every other question."""

    questions = 0

    async def propose(self, *given: Any, **more: Any) -> tuple[Proposal, ...]:
        self.questions += 1
        if self.questions % 2:
            raise PolicyUnavailable("it is started anew")
        return await super().propose(*given, **more)


async def run_episode(
    policy: FakePolicy | None, *, max_steps: int = 5, alive: bool = True, parameters: JsonObject | None = None
) -> InMemoryEpisodeStore:
    sandbox = FakeSandbox("desktop", width=320, height=240)
    if not alive:
        sandbox.crash()

    async def open_machine(state: EpisodeState) -> Machine:
        return sandbox.bind(1)

    start = new_episode(id="rollout-1")
    changes = {"max_steps": max_steps, "parameters": parameters or start.task.parameters}
    start = start.model_copy(update={"task": start.task.model_copy(update=changes)})
    return await run_unattended(start, open_machine, lambda: policy, LIMITS)


async def test_the_policy_finishes_and_the_verifier_judges() -> None:
    state = (await run_episode(FakePolicy(SAID))).state
    assert [step.decision for step in state.steps] == ["auto", "accept"]
    assert (state.status, state.outcome) == ("finished", "success")
    assert state.verdict is not None
    assert state.verdict.success


async def test_a_machine_gets_no_words_of_a_sealed_task(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[Task] = []
    prepare = FakeMachine.prepare

    async def note(machine: FakeMachine, task: Task) -> Observation:
        prepared.append(task)
        return await prepare(machine, task)

    monkeypatch.setattr(FakeMachine, "prepare", note)
    parameters: JsonObject = {"sealed": {"password": "own"}, "reference_answer": "Paris"}
    state = (await run_episode(FakePolicy(SAID), parameters=parameters)).state
    assert state.task.instruction == "Type hello", "the policy reads it"
    assert [(task.instruction, task.parameters) for task in prepared] == [(HIDDEN_INSTRUCTION, {})]


async def test_a_policy_ends_a_task_it_calls_infeasible() -> None:
    store = await run_episode(FakePolicy([(("No such app.", Infeasible(reason="none")),)]))
    trajectory = build_trajectory(store)
    assert (trajectory.outcome, trajectory.terminated, trajectory.truncated) == ("infeasible", True, False)
    assert not store.state.help_requested


async def test_a_finish_that_is_refused_again_and_again_ends_it() -> None:
    """A thought is required of it, and it has none."""
    async with asyncio.timeout(60):
        state = (await run_episode(FakePolicy([(("", Finish()),)]))).state
    assert (state.status, state.outcome, state.steps) == ("finished", "failure", ())


async def test_out_of_steps_is_a_failure() -> None:
    store = await run_episode(FakePolicy(), max_steps=3)
    assert (len(store.state.steps), store.state.outcome) == (3, "failure")
    trajectory = build_trajectory(store)
    assert (trajectory.terminated, trajectory.truncated) == (False, True)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((("?", None),), "no_action"),
        ((("help", CallUser()),), "nobody_there"),
        ((("up", OPENED),), "unsupported_action"),
    ],
)
async def test_what_is_no_action_is_a_step_that_did_nothing(answer: Answer, code: str) -> None:
    policy = FakePolicy([answer] * 20)
    store = await run_episode(policy)
    trajectory = build_trajectory(store)
    assert (trajectory.outcome, trajectory.terminated, trajectory.truncated) == ("failure", True, False)
    assert len(trajectory.steps) == MAX_INVALID_REPLIES
    assert len(policy.asked) == MAX_INVALID_REPLIES + 1, (
        "what it said last of all is offered, and nobody waits for more"
    )
    for step, offers in zip(trajectory.steps, trajectory.proposals, strict=True):
        assert step.error is not None
        assert (step.action.kind, step.error.code, step.decision) == ("no_action", code, "auto")
        assert (step.before, step.proposal_id) == (step.after, offers[0].id)
        assert isinstance(step.action, NoAction)
        assert step.action.said == offers[0].raw_text


async def test_what_is_no_action_counts_as_a_step_and_is_read_by_the_policy() -> None:
    policy = FakePolicy([(("?", None),), (("I type it.", TypeText(text="hello")),)] * 9)
    store = await run_episode(policy, max_steps=4)
    assert [step.action.kind for step in store.state.steps] == ["no_action", "type_text"] * 2
    assert store.state.outcome == "failure"
    assert not build_trajectory(store).terminated, "out of steps, not of words"
    assert [asked[0].error is not None for asked in policy.asked if len(asked) == 1] == [True]


async def test_one_bad_reply_does_not_end_it() -> None:
    store = await run_episode(FakePolicy([(("?", None),), *SAID]))
    assert store.state.outcome == "success"


async def test_a_policy_whose_server_stays_away_has_not_failed() -> None:
    policy = FakePolicy()
    policy.broken = PolicyUnavailable("nobody answers")
    with pytest.raises(PolicyUnavailable):
        await run_episode(policy)
    assert len(policy.asked) == LIMITS.retry_policy.tries


async def test_a_server_that_comes_back_is_asked_again() -> None:
    policy = Returning(SAID)
    assert (await run_episode(policy)).state.outcome == "success"
    assert policy.questions == 4


async def test_a_policy_that_is_refused_ends_it() -> None:
    policy = FakePolicy()
    policy.broken = PolicyRejected("the prompt is too long")
    store = await run_episode(policy)
    assert (store.state.outcome, build_trajectory(store).truncated) == ("failure", True)


async def test_no_policy_ends_it() -> None:
    assert (await run_episode(None)).state.outcome == "failure"


async def test_a_lost_machine_is_no_outcome() -> None:
    state = (await run_episode(FakePolicy(SAID), alive=False)).state
    assert (state.status, state.outcome) == ("left", None)
    assert "gone" in state.error


async def test_the_folder_is_what_the_trainer_reads(tmp_path: Path) -> None:
    store = await run_episode(FakePolicy(SAID))
    folder = TrajectoryFolderWriter(tmp_path / "out", {"origin": "rollout"})
    folder.add(build_trajectory(store), lambda ref: store.blobs.get(ref.sha256))
    assert not (tmp_path / "out").exists(), "a folder that is not whole has another name"
    manifest = folder.finish(at=datetime.now(UTC))
    assert os.listdir(tmp_path) == ["out"]
    opened = open_folder(tmp_path / "out")
    (trajectory,) = opened.trajectories()
    assert trajectory == build_trajectory(store)
    assert (trajectory.origin, trajectory.terminated) == ("rollout", True)
    assert {(step.actor, step.decision) for step in trajectory.steps} == {("policy", "auto")}
    assert [len(offers) for offers in trajectory.proposals] == [1, 1]
    assert manifest.counts.steps == 2
    with pytest.raises(InvalidFolder):
        TrajectoryFolderWriter(tmp_path / "out", {})


async def test_a_policy_without_a_key_is_no_failure_of_the_policy() -> None:
    class Keyless(FakePolicy):
        async def propose(self, *given: Any, **more: Any) -> tuple[Proposal, ...]:
            raise PolicyMisconfigured("it does not accept the API key")

    async with asyncio.timeout(60):
        with pytest.raises(PolicyMisconfigured):
            await run_episode(Keyless())
