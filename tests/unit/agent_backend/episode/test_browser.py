"""A browser's page under the runner: its own pace, its end, and its scripted expert."""

from dataclasses import replace

import pytest

from agent_backend.episode.executor import ExecutorLimits
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.proposal_requests import RetryPolicy
from agent_backend.episode.unattended import run_unattended
from agent_backend.errors import PolicyError
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import build_trajectory
from protocol.actions.types import CallUser, Click, ClosePage, Finish, Navigate, SwitchPage
from protocol.messages.events import Act, Autopilot, EpisodeState, SetTimeScale, Undo
from protocol.trajectory.observations import BrowserPage
from protocol.trajectory.proposals import PolicyRef
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, new_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy
from vm_bridge.errors import MachineGone
from vm_bridge.machine import ExpertSuggestion, Machine
from vm_bridge.simulators.fake.browser import ACTION_MS, GOAL_CLICKS
from vm_bridge.simulators.fake.sandbox import FakeSandbox

REF = PolicyRef(name="expert", revision="1", dialect="ui_tars_1_5", scripted=True)
LIMITS = RunnerLimits(executor=ExecutorLimits(reach=0.5), retry_policy=RetryPolicy(first=0.01, longest=0.01, tries=2))


def browser() -> FakeSandbox:
    return FakeSandbox("browser", width=320, height=240)


def expert_of(sandbox: FakeSandbox) -> ExpertPolicy:
    async def suggest_expert_action() -> ExpertSuggestion | None:
        return sandbox.browser.suggest_expert_action() if sandbox.browser else None

    return ExpertPolicy(REF, suggest_expert_action)


def page_of(harness: EpisodeHarness) -> BrowserPage:
    seen = harness.store.state.observation
    assert seen is not None
    assert seen.page is not None
    return seen.page


@pytest.fixture
async def paged(harness: EpisodeHarness) -> EpisodeHarness:
    harness.sandbox = browser()
    harness.store.state = new_episode(
        task=new_episode().task.model_copy(update={"platform": "browser", "suite": None, "name": None, "seed": 7})
    )
    harness.current = expert_of(harness.sandbox)
    return await harness.started()


async def test_the_expert_is_offered_as_a_script_and_can_be_accepted(paged: EpisodeHarness) -> None:
    (offer,) = paged.store.state.proposals
    assert (offer.action, offer.policy.scripted) == (Click(x=100, y=200), True)
    assert offer.action_text.startswith("click(")
    await paged.send(accept(paged, 1))
    await paged.steps(1)
    assert (page_of(paged).score, page_of(paged).seed) == (1, 7)


async def test_a_pace_is_no_step_and_is_told(paged: EpisodeHarness) -> None:
    assert await paged.code(SetTimeScale(command_id="command-1", rate=2)) == ""
    assert page_of(paged).pace == 2
    assert paged.store.state.steps == ()
    assert await paged.code(SetTimeScale(command_id="command-2", rate=0)) == ""
    assert page_of(paged).pace == 0


async def test_time_that_is_everybodys_has_no_pace(harness: EpisodeHarness) -> None:
    await harness.started()
    assert await harness.code(SetTimeScale(command_id="command-1", rate=1)) == "unsupported_action"


async def test_what_happens_while_time_goes_on_is_told(paged: EpisodeHarness) -> None:
    assert await paged.code(SetTimeScale(command_id="command-1", rate=1)) == ""
    assert paged.sandbox.browser is not None
    paged.sandbox.browser = replace(paged.sandbox.browser, clicks=2, time_ms=900.0)
    await paged.until(lambda: page_of(paged).score == 2)


async def test_pages_are_switched_and_closed_and_taken_back(paged: EpisodeHarness) -> None:
    acts = (Navigate(url="http://fake.test/popup"), SwitchPage(page="page-1"), ClosePage(page="page-2"))
    for number, action in enumerate(acts):
        await paged.send(Act(command_id=f"command-{number}", action=action, thought="It is asked for."))
        await paged.steps(number + 1)
        await paged.ready()
    assert [len(step.before.page.tabs) for step in paged.store.state.steps if step.before.page] == [1, 2, 2]
    assert [event.kind for event in paged.store.state.steps[1].before.page.events] == ["popup"]  # type: ignore[union-attr]
    assert await paged.code(Undo(command_id="undoing-1")) == ""
    assert [tab.id for tab in page_of(paged).tabs] == ["page-1", "page-2"]


async def test_the_autopilot_gives_the_wheel_back_when_the_page_has_ended(paged: EpisodeHarness) -> None:
    paged.current = FakePolicy()
    paged.runner.wake()
    await paged.send(Autopilot(command_id="command-1", on=True))
    await paged.steps(GOAL_CLICKS)
    await paged.until(lambda: not paged.store.state.autopilot)
    assert page_of(paged).done
    assert paged.store.state.status == "running"


async def attempted(policy: FakePolicy | None = None, **parameters: float | str) -> InMemoryEpisodeStore:
    """An attempt of a policy that clicks, at the task with these parameters."""
    sandbox, clicks = browser(), policy or FakePolicy()

    async def open_machine(state: EpisodeState) -> Machine:
        return sandbox.bind(1)

    paged = {"platform": "browser", "suite": None, "name": None, "parameters": parameters}
    return await run_unattended(
        new_episode(task=new_episode().task.model_copy(update=paged)), open_machine, lambda: clicks, LIMITS
    )


async def test_an_attempt_ends_with_its_page() -> None:
    policy = FakePolicy()
    store = await attempted(policy)
    trajectory = build_trajectory(store)
    assert (len(store.state.steps), store.state.outcome) == (GOAL_CLICKS, "success")
    assert [len(steps) for steps in policy.asked] == list(range(GOAL_CLICKS)), "nothing is asked about the ended page"
    assert (trajectory.terminated, trajectory.truncated) == (True, False)


async def test_an_attempt_whose_pages_time_ran_out_is_truncated() -> None:
    store = await attempted(limit_ms=1.5 * ACTION_MS)
    trajectory = build_trajectory(store)
    assert (len(store.state.steps), store.state.status, store.state.outcome) == (2, "finished", "failure")
    assert (trajectory.terminated, trajectory.truncated) == (False, True)


async def test_an_attempt_whose_verifier_throws_is_nobodys_failure() -> None:
    state = (await attempted(verifier_error="it threw")).state
    assert (state.status, state.outcome, state.steps) == ("left", "broken", ())


async def test_a_page_whose_time_is_over_takes_no_act(paged: EpisodeHarness) -> None:
    assert paged.sandbox.browser is not None
    paged.sandbox.browser = replace(paged.sandbox.browser, limit_ms=ACTION_MS)
    acts = [Act(command_id=f"command-{n}", action=Click(x=1, y=1), thought="It is asked for.") for n in range(2)]
    await paged.send(acts[0])
    await paged.steps(1)
    await paged.ready()
    assert page_of(paged).truncated
    assert await paged.code(acts[1]) == "time_over"
    assert isinstance(paged.store.state.proposals[0].action, Finish)


async def test_a_candidate_is_not_done_on_a_page_that_has_ended(paged: EpisodeHarness) -> None:
    for count in range(1, GOAL_CLICKS + 1):
        if count == GOAL_CLICKS:
            paged.current = FakePolicy()
        await paged.send(Act(command_id=f"command-{count}", action=Click(x=1, y=1), thought="It is asked for."))
        await paged.steps(count)
        await paged.ready()
    assert page_of(paged).done
    assert isinstance(paged.store.state.proposals[0].action, Click)
    assert await paged.code(accept(paged, 9)) == "page_done"
    await paged.send(Act(command_id="command-own", action=Click(x=1, y=1), thought="I look behind the message."))
    await paged.steps(GOAL_CLICKS + 1)


async def test_an_expert_that_knows_no_way_on_says_so() -> None:
    sandbox = browser()

    async def nothing() -> ExpertSuggestion | None:
        return None

    async def gone() -> ExpertSuggestion | None:
        raise MachineGone("it is gone")

    seen = await sandbox.bind(1).prepare(new_episode().task.model_copy(update={"suite": None, "name": None}))
    asked = {"kinds": frozenset[str](), "blob": None, "partial": None}
    (offer,) = await ExpertPolicy(REF, nothing).propose(new_episode().task, (), seen, **asked)  # type: ignore[arg-type]
    assert isinstance(offer.action, CallUser)
    assert seen.page is not None
    over = seen.model_copy(update={"page": seen.page.model_copy(update={"done": True})})
    (offer,) = await ExpertPolicy(REF, nothing).propose(new_episode().task, (), over, **asked)  # type: ignore[arg-type]
    assert isinstance(offer.action, Finish)
    with pytest.raises(PolicyError, match="could not be reached"):
        await ExpertPolicy(REF, gone).propose(new_episode().task, (), seen, **asked)  # type: ignore[arg-type]
