"""What a model is asked, and what becomes of its replies."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint, SamplingParams
from agent_backend.telemetry.requests import PolicyRequest, report_request
from protocol.actions.types import Click, Wait
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CLICK = "Thought: There it is.\nAction: click(point='<point>644 364</point>')"
ENDPOINT = PolicyEndpoint(
    base_url="http://model/v1",
    model="ui-tars",
    dialect="ui_tars_1_5",
    name="tars",
    revision="r1",
    sampling=SamplingParams(n=2, temperature=0.7, seed=5),
    budget=HistoryBudget(images=2),
)


def seen(number: int) -> Observation:
    ref = BlobRef.of(picture(number), "image/jpeg")
    return Observation(
        screenshot=ref, width=1280, height=720, captured_at=NOW, settled=True, rest="rested", settle_ms=0.0
    )


def picture(number: int) -> bytes:
    return f"picture {number}".encode()


def past(count: int) -> tuple[Step, ...]:
    return tuple(
        Step(
            index=index,
            command_id=f"command-{index}",
            actor="human",
            decision="override",
            thought=f"thought {index}",
            action=Click(x=100 + index, y=100),
            before=seen(index),
            after=seen(index + 1),
            started_at=NOW,
            ended_at=NOW,
        )
        for index in range(count)
    )


async def ignore_partials(partials: tuple[Partial, ...]) -> None:
    """Nobody listens."""


async def ask(
    server: ModelServer,
    steps: tuple[Step, ...] = (),
    endpoint: PolicyEndpoint = ENDPOINT,
    partial: Callable[[tuple[Partial, ...]], Awaitable[None]] = ignore_partials,
) -> tuple[Proposal, ...]:
    kept = {seen(number).screenshot: picture(number) for number in range(9)}

    async def blob(ref: BlobRef) -> bytes:
        return kept[ref]

    policy = OpenAIPolicy(endpoint, transport=server.transport)
    read: Callable[[BlobRef], Awaitable[bytes]] = blob
    task = Task(id="t1", instruction="Open the report")
    kinds = frozenset({"click", "finish"})
    return await policy.propose(task, steps, seen(len(steps)), kinds=kinds, blob=read, partial=partial)


def texts(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def pictures(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [] if isinstance(content, str) else [p["image_url"]["url"] for p in content if p["type"] == "image_url"]


async def test_the_request_holds_task_history_and_the_latest_pictures_as_they_were_stored() -> None:
    server = ModelServer(Events([chunk(0, CLICK)]))
    await ask(server, past(3))
    (body,) = server.asked
    said = "\n".join(texts(message) for message in body["messages"])
    assert "Open the report" in said
    assert all(f"thought {index}" in said for index in range(3)), "older steps stay as text"
    shown = [url for message in body["messages"] for url in pictures(message)]
    expected = [base64.b64encode(picture(number)).decode() for number in (2, 3)]
    assert shown == [f"data:image/jpeg;base64,{data}" for data in expected]
    assert "click(" in said
    assert "drag(" not in said, "what the machine cannot do is not offered"


async def test_the_request_says_how_to_sample() -> None:
    server = ModelServer(Events([chunk(0, CLICK)]))
    await ask(server)
    (body,) = server.asked
    drawn = {name: body[name] for name in ("model", "n", "temperature", "top_p", "seed", "stream", "return_token_ids")}
    assert drawn == {
        "model": "ui-tars",
        "n": 2,
        "temperature": 0.7,
        "top_p": 1.0,
        "seed": 5,
        "stream": True,
        "return_token_ids": True,
    }


async def test_replies_are_read_in_the_pixels_of_the_screen() -> None:
    (proposal,) = await ask(ModelServer(Events([chunk(0, CLICK, ids=[7], logprobs=[-0.5])])))
    assert proposal.action == Click(x=640, y=360)
    assert proposal.raw_text == CLICK
    assert proposal.sampling["temperature"] == 0.7
    assert (proposal.completion_token_ids, proposal.logprobs) == ((7,), (-0.5,))
    assert proposal.policy.revision == "r1"


async def test_a_policy_that_may_batch_is_told_so_and_read_so() -> None:
    reply = f"{CLICK}\n\nwait()"
    (alone,) = await ask(ModelServer(Events([chunk(0, reply)])))
    assert (alone.action, alone.error and alone.error.code) == (None, "several_actions")
    server = ModelServer(Events([chunk(0, reply)]))
    batching = ENDPOINT.model_copy(update={"sampling": SamplingParams(n=1, max_actions=3)})
    (proposal,) = await ask(server, endpoint=batching)
    assert proposal.actions == (Click(x=640, y=360), Wait())
    assert (proposal.error, proposal.sampling["max_actions"]) == (None, 3)
    (body,) = server.asked
    assert "max_actions" not in body
    assert "up to 3 actions" in "".join(map(texts, body["messages"]))


async def test_several_temperatures_are_as_many_requests() -> None:
    server = ModelServer(Events([chunk(0, CLICK, ids=[7], logprobs=[-0.5]), chunk(1, CLICK, ids=[8], logprobs=[-0.5])]))
    ladder = ENDPOINT.model_copy(update={"sampling": SamplingParams(n=4, temperatures=(0.5, 1.0), seed=5)})
    (proposal,) = await ask(server, endpoint=ladder)
    asked = sorted((body["temperature"], body["n"], body["seed"]) for body in server.asked)
    assert asked == [(0.5, 2, 5), (1.0, 2, 21)]
    assert all("temperatures" not in body for body in server.asked)
    assert (proposal.count, proposal.sampling["temperature"]) == (4, 0.5)
    assert [other.temperature for other in proposal.others] == [0.5, 1.0, 1.0]


async def test_a_temperature_that_fails_fails_the_question() -> None:
    server = ModelServer(httpx.Response(401, text="no"), Events([chunk(0, CLICK)], asyncio.Event()))
    ladder = ENDPOINT.model_copy(update={"sampling": SamplingParams(n=2, temperatures=(0.5, 1.0))})
    with pytest.raises(PolicyError, match="401"):
        await ask(server, endpoint=ladder)


@pytest.mark.parametrize(("n", "expected"), [(1, [1]), (2, [1, 1]), (5, [2, 2, 1])])
def test_replies_are_dealt_to_temperatures_in_turn(n: int, expected: list[int]) -> None:
    requests = SamplingParams(n=n, temperatures=(0.3, 0.7, 1.0)).requests()
    assert [request["n"] for request in requests] == expected


async def test_what_a_cancelled_request_computed_is_counted() -> None:
    first = {**chunk(0, "Thou", ids=[1, 2]), "prompt_token_ids": [7, 8, 9]}
    answer = Events([first, chunk(1, "Tho", ids=[3])], hold=asyncio.Event())
    ended: list[PolicyRequest] = []
    both_began = asyncio.Event()

    async def partial(partials: tuple[Partial, ...]) -> None:
        if len(partials) == 2:
            both_began.set()

    ref = PolicyRef(name="tars", revision="r1", dialect="ui_tars_1_5")

    async def sent(_: PolicyRequest) -> tuple[Proposal, ...]:
        return await ask(ModelServer(answer), partial=partial)

    asking = asyncio.create_task(report_request(None, ref, sent, ended.append))
    await both_began.wait()
    asking.cancel()
    await asyncio.wait((asking,))
    assert ended[0].count_tokens() == (3, 3)


async def test_a_key_is_never_shown() -> None:
    given = ENDPOINT.model_dump() | {"api_key": "very-secret"}
    assert "very-secret" not in repr(PolicyEndpoint.model_validate(given))


async def test_a_lost_screenshot_is_the_policys_silence() -> None:
    with pytest.raises(PolicyError, match="lost"):
        await ask(ModelServer(Events([])), past(9))


@pytest.mark.parametrize("address", ["http://model:99999/v1", "ftp://model/v1", "model", ""])
def test_an_address_nothing_can_be_sent_to_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="base_url"):
        PolicyEndpoint.model_validate({**ENDPOINT.model_dump(), "base_url": address})
