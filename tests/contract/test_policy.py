"""The contract of every policy: it offers ranked candidates of its own, tells its partial thoughts, stops when told."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from agent_backend.errors import PolicyError, PolicyUnavailable
from agent_backend.interfaces import Policy
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from protocol.actions.types import ACTION_CLASSES, Click
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.fake_policy import FakePolicy

PICTURE = b"any bytes"
REF = BlobRef.of(PICTURE, "image/png")
TASK = Task(id="t1", instruction="Open the report")
SEEN = Observation(
    screenshot=REF,
    width=1288,
    height=728,
    captured_at=datetime(2026, 3, 1, tzinfo=UTC),
    settled=True,
    rest="rested",
    settle_ms=0.0,
)
CLICK = "Thought: There it is.\nAction: click(point='<point>10 20</point>')"
ENDPOINT = PolicyEndpoint(base_url="http://model/v1", model="m", dialect="ui_tars_1_5", name="tars", revision="r1")


class PolicyRequester:
    """Questions to one policy, and what is heard of its answers."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.partials: list[tuple[Partial, ...]] = []
        self.read: list[BlobRef] = []
        self.heard = asyncio.Event()

    async def blob(self, ref: BlobRef) -> bytes:
        self.read.append(ref)
        return PICTURE

    async def partial(self, partials: tuple[Partial, ...]) -> None:
        self.partials.append(partials)
        self.heard.set()

    async def ask(self) -> tuple[Proposal, ...]:
        kinds = frozenset(ACTION_CLASSES)
        return await self.policy.propose(TASK, (), SEEN, kinds=kinds, blob=self.blob, partial=self.partial)


def fake(*, hold: asyncio.Event | None = None, broken: bool = False) -> Policy:
    policy = FakePolicy([(("There it is.", Click(x=10, y=20)), ("Hm.", None))])
    if hold is not None:
        policy.gate = hold
    if broken:
        policy.broken = PolicyUnavailable("nobody answers")
    return policy


def remote(*, hold: asyncio.Event | None = None, broken: bool = False) -> Policy:
    events = Events([chunk(0, CLICK, ids=[1, 2], logprobs=[-0.1, -0.2]), chunk(1, "I do not know.")], hold)
    endpoint = ENDPOINT.model_copy(update={"timeouts": ENDPOINT.timeouts.model_copy(update={"pause": 0.0})})
    server = ModelServer(httpx.ConnectError("refused")) if broken else ModelServer(events)
    return OpenAIPolicy(endpoint, transport=server.transport)


@pytest.fixture(params=[fake, remote], ids=["fake", "openai"])
def make(request: pytest.FixtureRequest) -> Callable[..., Policy]:
    made: Callable[..., Policy] = request.param
    return made


async def test_it_offers_ranked_candidates_of_its_own(make: Callable[..., Policy]) -> None:
    asking = PolicyRequester(make())
    first, second = await asking.ask()
    assert (first.thought, first.action, first.error) == ("There it is.", Click(x=10, y=20), None)
    assert (first.rank, second.rank) == (1, 2)
    assert first.policy == second.policy == asking.policy.ref
    assert len({first.id, second.id}) == 2


async def test_what_cannot_be_read_is_offered_with_its_error(make: Callable[..., Policy]) -> None:
    unread = (await PolicyRequester(make()).ask())[1]
    assert unread.action is None
    assert unread.error is not None
    assert unread.error.code
    assert unread.raw_text


async def test_it_looks_at_the_screen_and_thinks_aloud(make: Callable[..., Policy]) -> None:
    asking = PolicyRequester(make())
    await asking.ask()
    assert asking.read == [REF]
    assert asking.partials


async def test_it_stops_when_told(make: Callable[..., Policy]) -> None:
    asking = PolicyRequester(make(hold=asyncio.Event()))
    question = asyncio.create_task(asking.ask())
    await asyncio.wait_for(asking.heard.wait(), 5)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question


async def test_silence_is_a_policy_error(make: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError):
        await PolicyRequester(make(broken=True)).ask()
