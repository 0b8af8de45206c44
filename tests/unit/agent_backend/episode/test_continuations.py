"""Half-written thoughts: one request an episode, beside the work, and never instead of it."""

import asyncio

import pytest

from agent_backend.episode import continuations
from agent_backend.episode.continuations import ContinuationRequester
from agent_backend.episode.proposal_requests import ProposalRequest
from agent_backend.episode.secret_confirmation import NoSecrets
from agent_backend.errors import ContinuationUnsupported, PolicyUnavailable
from agent_backend.interfaces import Policy
from agent_backend.telemetry.requests import PolicyRequest
from protocol.messages.events import ContinueText, Resample, TextContinued
from tests.unit.agent_backend.conftest import EpisodeHarness, accept, act, new_episode
from tests.unit.agent_backend.policy.fake_policy import FakePolicy


class ContinuingFake(FakePolicy):
    """Ends every text with its own length, once `may_end` is set; `failing` is raised instead."""

    continues_text = True

    def __init__(self) -> None:
        super().__init__()
        self.may_end = asyncio.Event()
        self.failing: Exception | None = None
        self.drafts: list[str] = []
        self.given_up = 0

    async def continue_text(self, *about: object, **more: object) -> str:
        thought = str(about[3])
        self.drafts.append(thought)
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.failing is not None:
            raise self.failing
        return f" ({len(thought)})"


def half(request: int, thought: str = "I op") -> ContinueText:
    return ContinueText(request=request, thought=thought)


def answers(harness: EpisodeHarness) -> list[tuple[int, str, str]]:
    found = [event for event in harness.events if isinstance(event, TextContinued)]
    return [(event.request, event.text, event.code) for event in found]


@pytest.fixture
async def policy(harness: EpisodeHarness) -> ContinuingFake:
    made = ContinuingFake()
    harness.current = made
    harness.store.state = new_episode(text_continuation=True)
    await harness.started()
    return made


async def test_only_the_latest_text_is_continued(harness: EpisodeHarness, policy: ContinuingFake) -> None:
    for request, thought in enumerate(("I", "I op", "I ope")):
        harness.runner.continuations.request(half(request, thought), harness.hear)
        await harness.until(lambda: len(policy.drafts) == request + 1)  # noqa: B023 - it is awaited here
    policy.may_end.set()
    await harness.until(lambda: bool(answers(harness)))
    assert answers(harness) == [(2, " (5)", "")]
    assert (policy.given_up, len(policy.asked)) == (2, 1)


async def test_proposals_come_first(harness: EpisodeHarness, policy: ContinuingFake) -> None:
    harness.runner.continuations.request(half(1), harness.hear)
    await harness.until(lambda: bool(policy.drafts))
    policy.gate.clear()
    await harness.send(Resample(command_id="resample-1"))
    await harness.until(lambda: policy.given_up == 1)
    await harness.until(lambda: len(policy.asked) == 2)
    harness.runner.continuations.request(half(2), harness.hear)
    await harness.until(lambda: bool(answers(harness)))
    assert answers(harness) == [(2, "", "busy")]
    assert len(policy.drafts) == 1
    policy.gate.set()
    await harness.ready()
    assert len(harness.store.state.proposals) == 1, "a continuation is no proposal"


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        (PolicyUnavailable("gone"), "failed"),
        (ContinuationUnsupported("cannot"), "unsupported"),
        (KeyError("a fault of the program"), "failed"),
    ],
)
async def test_a_failure_is_told_and_nothing_else_changes(
    harness: EpisodeHarness, policy: ContinuingFake, failing: Exception, code: str
) -> None:
    policy.failing = failing
    policy.may_end.set()
    harness.runner.continuations.request(half(1), harness.hear)
    await harness.until(lambda: bool(answers(harness)))
    assert answers(harness) == [(1, "", code)]
    assert harness.runner.state.thinking == "ready"
    (answer,) = (event for event in harness.events if isinstance(event, TextContinued))
    assert answer.policy == (policy.ref if code == "unsupported" else None), "the page learns which policy cannot"


async def test_a_request_before_the_episode_is_read_or_without_a_policy_is_answered(harness: EpisodeHarness) -> None:
    harness.current = ContinuingFake()
    harness.runner.continuations.request(half(1), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 1)
    harness.current = None
    harness.store.state = new_episode(text_continuation=True)
    await harness.started("off")
    harness.runner.continuations.request(half(2), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 2)
    assert answers(harness) == [(1, "", "busy"), (2, "", "busy")]


async def test_a_text_with_the_value_of_a_secret_is_not_sent(harness: EpisodeHarness) -> None:
    policy = ContinuingFake()
    requests: list[PolicyRequest] = []
    policy.may_end.set()
    await harness.started()
    assert harness.runner.state.observation is not None
    question = ProposalRequest(harness.runner.state.task, (), harness.runner.state.observation, frozenset())
    requester = ContinuationRequester(
        lambda: policy,
        lambda: question,
        harness.store.load_blob,
        holds_secret=lambda text: "hunter2" in text,
        on_request=requests.append,
    )
    requester.request(half(1, "I type hunter2"), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 1)
    assert (answers(harness), policy.drafts, requests) == ([(1, "", "")], [], [])
    requester.request(half(2), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 2)
    assert [request.policy for request in requests] == [policy.ref], "spans show what was asked"
    await requester.close()


async def test_the_runner_asks_its_rules_for_secrets(harness: EpisodeHarness) -> None:
    class Rules(NoSecrets):
        def holds_value(self, text: str) -> bool:
            return "hunter2" in text

    policy = ContinuingFake()
    harness.current, harness.secrets = policy, Rules()
    harness.store.state = new_episode(text_continuation=True)
    await harness.started()
    harness.runner.continuations.request(half(1, "I type hunter2"), harness.hear)
    await harness.until(lambda: bool(answers(harness)))
    assert (answers(harness), policy.drafts) == ([(1, "", "")], [])


async def test_requests_of_an_episode_have_a_distance(
    harness: EpisodeHarness, policy: ContinuingFake, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy.may_end.set()
    harness.runner.continuations.request(half(1), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 1)
    monkeypatch.setattr(continuations, "MIN_INTERVAL_SECONDS", 0.0)
    loop = asyncio.get_running_loop()
    before = loop.time()
    harness.runner.continuations.request(half(2), harness.hear)
    harness.runner.continuations.request(half(3), harness.hear)
    await harness.until(lambda: len(answers(harness)) == 2)
    assert loop.time() - before > 0.1
    assert [request for request, *_ in answers(harness)] == [1, 3]
    assert len(policy.drafts) == 2


async def test_a_slow_continuation_times_out(harness: EpisodeHarness, policy: ContinuingFake) -> None:
    assert harness.runner.state.observation is not None
    question = ProposalRequest(harness.runner.state.task, (), harness.runner.state.observation, frozenset())
    requester = ContinuationRequester(lambda: policy, lambda: question, harness.store.load_blob, 0.0)
    requester.request(half(1), harness.hear)
    await harness.until(lambda: bool(answers(harness)))
    assert answers(harness) == [(1, "", "failed")]
    await requester.close()


@pytest.mark.parametrize("switched_off", [True, False])
async def test_a_pool_or_a_policy_without_continuations_is_not_asked(
    harness: EpisodeHarness, *, switched_off: bool
) -> None:
    policy: Policy = ContinuingFake() if switched_off else FakePolicy()
    harness.current = policy
    harness.store.state = new_episode(text_continuation=not switched_off)
    await harness.started()
    harness.runner.continuations.request(half(1), harness.hear)
    await harness.until(lambda: bool(answers(harness)))
    assert answers(harness) == [(1, "", "unsupported")]


async def test_the_step_says_how_much_of_its_thought_was_taken(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.send(act(1, thought="because").model_copy(update={"continued_characters": 5}))
    await harness.steps(1)
    await harness.ready()
    await harness.send(accept(harness, 2, continued_characters=5))
    await harness.steps(2)
    await harness.ready()
    await harness.send(accept(harness, 3, thought="Mine.", continued_characters=400))
    await harness.steps(3)
    taken = [step.continued_characters for step in harness.store.state.steps]
    assert taken == [5, 0, len("Mine.")], "an unchanged thought was not typed, and no count is larger than its thought"
