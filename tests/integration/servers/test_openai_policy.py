"""The policy client against real servers: tokens, pictures, refusals, and a cancelled request."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest
import simplejpeg

from agent_backend.errors import PolicyRejected
from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint, SamplingParams
from agent_backend.policy.samples import Samples
from benchmarks.parts.model_servers.checkpoint import token_id
from benchmarks.parts.model_servers.launcher import IMAGES, Server
from protocol.actions.types import Click
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

BOUND = 60.0
ENDLESS = 7500
"""Tokens that take the server much longer than a cancellation; they fit its context."""
REST = 1.0
"""A server whose count stands still for so long generates nothing (seconds)."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
TASK = Task(id="t1", instruction="Open the report")
KINDS = frozenset({"click", "type_text", "finish"})


def picture(number: int) -> bytes:
    pixels = np.full((168, 224, 3), 40 * number, np.uint8)
    return bytes(simplejpeg.encode_jpeg(pixels, quality=90, colorspace="RGB"))


PICTURES = {BlobRef.of(picture(number), "image/jpeg"): picture(number) for number in range(IMAGES + 2)}


def make_observation(number: int) -> Observation:
    ref = list(PICTURES)[number]
    return Observation(
        screenshot=ref, width=224, height=168, captured_at=NOW, settled=True, rest="rested", settle_ms=0.0
    )


def past(count: int) -> tuple[Step, ...]:
    return tuple(
        Step(
            index=index,
            command_id=f"command-{index}",
            actor="human",
            decision="override",
            thought="next",
            action=Click(x=10, y=10),
            before=make_observation(index),
            after=make_observation(index + 1),
            started_at=NOW,
            ended_at=NOW,
        )
        for index in range(count)
    )


def endpoint(url: str, **sampling: object) -> PolicyEndpoint:
    drawn = {"n": 3, "temperature": 1.0, "max_tokens": 24, "seed": 1, **sampling}
    return PolicyEndpoint(
        base_url=f"{url}/v1",
        model="tiny",
        dialect="ui_tars_1_5",
        name="tiny",
        revision="random-0",
        sampling=SamplingParams.model_validate(drawn),
        timeouts=RequestTimeouts(token=BOUND, total=2 * BOUND),
        budget=HistoryBudget(images=IMAGES),
    )


class Asking:
    """One policy, its candidates, and the texts it thought aloud."""

    def __init__(self, given: PolicyEndpoint) -> None:
        self.policy = OpenAIPolicy(given)
        self.partials: list[tuple[Partial, ...]] = []

    async def ask(self, steps: tuple[Step, ...] = ()) -> tuple[Proposal, ...]:
        async def blob(ref: BlobRef) -> bytes:
            return PICTURES[ref]

        async def partial(partials: tuple[Partial, ...]) -> None:
            self.partials.append(partials)

        now = make_observation(len(steps))
        return await self.policy.propose(TASK, steps, now, kinds=KINDS, blob=blob, partial=partial)


@pytest.fixture
async def asking(server: Server) -> AsyncIterator[Asking]:
    made = Asking(endpoint(server.url))
    yield made
    await made.policy.aclose()


async def test_random_weights_give_candidates_with_parse_errors(asking: Asking) -> None:
    proposals = await asking.ask()
    assert sum(proposal.count for proposal in proposals) == 3
    for proposal in proposals:
        assert proposal.action is None
        assert proposal.error is not None
        assert proposal.error.message
        assert proposal.latency_ms > 0


async def test_every_sampled_token_has_its_logprob(asking: Asking) -> None:
    for proposal in await asking.ask():
        assert proposal.completion_token_ids is not None
        assert proposal.logprobs is not None
        assert len(proposal.completion_token_ids) == len(proposal.logprobs) > 0
        assert all(value <= 0 for value in proposal.logprobs)


async def test_thoughts_stream_in(asking: Asking) -> None:
    await asking.ask()
    lengths = [sum(len(part.text) for part in partials) for partials in asking.partials]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 2, "they grew in more than one go"
    assert {part.index for part in asking.partials[-1]} == {0, 1, 2}


async def test_each_picture_is_in_the_prompt(asking: Asking) -> None:
    async def pads(steps: int) -> int:
        (first, *_) = await asking.ask(past(steps))
        assert first.prompt_token_ids is not None
        return first.prompt_token_ids.count(token_id("image_pad"))

    one = await pads(0)
    assert one == (224 // 28) * (168 // 28)
    assert await pads(2) == 3 * one
    assert await pads(IMAGES - 1) == IMAGES * one
    left = IMAGES + 1 - HistoryBudget().stride
    assert await pads(IMAGES) == left * one, "the oldest leave together, so that prompts grow at their end in between"


async def test_a_seed_gives_the_same_tokens_again(asking: Asking) -> None:
    first, again = await asking.ask(), await asking.ask()
    assert {p.completion_token_ids for p in first} == {p.completion_token_ids for p in again}


async def test_several_temperatures_are_drawn_beside_each_other(server: Server) -> None:
    asking = Asking(endpoint(server.url, n=4, temperatures=(0.3, 1.5)))
    proposals = await asking.ask(past(2))
    assert sum(proposal.count for proposal in proposals) == 4
    drawn = [proposal.sampling["temperature"] for proposal in proposals]
    drawn += [other.temperature for proposal in proposals for other in proposal.others]
    assert sorted(map(str, drawn)) == ["0.3", "0.3", "1.5", "1.5"]
    assert all(proposal.logprobs for proposal in proposals)
    assert len({proposal.prompt_token_ids for proposal in proposals}) == 1
    await asking.policy.aclose()


async def test_a_processor_with_other_limits_is_told(asking: Asking) -> None:
    (first, *_) = await asking.ask()
    assert "48 tokens where 108 are expected" in first.warning, (
        "the tiny model scales pictures to less than the dialect"
    )


async def test_the_server_counts_tokens(server: Server) -> None:
    client = CompletionsClient(f"{server.url}/v1", timeouts=RequestTimeouts())
    text = "naïve 你好\n<|im_end|>"
    assert await client.count("tiny", text) == len("naïve 你好\n".encode()) + 1
    await client.aclose()


async def test_what_the_server_will_not_have_is_told_in_its_words(server: Server) -> None:
    given = endpoint(server.url)
    asking = Asking(given.model_copy(update={"budget": HistoryBudget(images=IMAGES + 1)}))
    with pytest.raises(PolicyRejected, match=f"At most {IMAGES} image"):
        await asking.ask(past(IMAGES))
    assert len(await asking.ask()) > 0, "and the next request is answered"
    await asking.policy.aclose()


async def test_cancelling_frees_the_server(server: Server) -> None:
    client = CompletionsClient(f"{server.url}/v1", timeouts=RequestTimeouts(token=BOUND, total=2 * BOUND))
    heard = asyncio.Event()

    async def hear(samples: Samples) -> None:
        heard.set()

    message = {"role": "user", "content": "Count."}
    endless = {"model": "tiny", "messages": [message], "stream": True, "max_tokens": ENDLESS, "ignore_eos": True}
    before = await settled_token_count(server)
    asked = asyncio.create_task(client.sample(endless, hear))
    await asyncio.wait_for(heard.wait(), BOUND)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await settled_token_count(server) - before < ENDLESS, "it was given up, not finished"
    await client.aclose()


async def settled_token_count(server: Server) -> float:
    """How many tokens the server has generated so far, once it generates no more."""
    async with asyncio.timeout(2 * BOUND):
        last = -1.0
        while (now := await metric(server, "generation_tokens_total")) != last:
            last = now
            await asyncio.sleep(REST)
    return last


async def metric(server: Server, name: str) -> float:
    """The sum of one of the server's metrics over all its labels."""
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{server.url}/metrics", timeout=BOUND)).text
    return sum(float(value) for value in re.findall(rf"^{server.metrics}:{name}\{{.*\}} (\S+)$", text, re.MULTILINE))
