"""What a policy was asked is kept with what it offered, to be shown, asked again and trained on."""

import asyncio

import pytest

from agent_backend.errors import PolicyError
from agent_backend.policy.openai import OpenAIPolicy, written
from tests.unit.agent_backend.model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.test_openai_policy import CLICK, ENDPOINT, past, picture, seen
from vocabulary.blobs import BlobRef
from vocabulary.prompts import Prompt
from vocabulary.proposals import ImageLimits, Proposal
from vocabulary.tasks import Task

PICTURES = {seen(number).screenshot: picture(number) for number in range(9)}


async def read(ref: BlobRef) -> bytes:
    return PICTURES[ref]


async def unheard(_: object) -> None:
    """Nobody listens."""


async def ask(server: ModelServer, kept: dict[BlobRef, bytes]) -> tuple[Proposal, ...]:
    async def keep(ref: BlobRef, data: bytes) -> None:
        kept[ref] = data

    policy = OpenAIPolicy(ENDPOINT, transport=server.transport)
    task, kinds = Task(id="t1", instruction="Open the report"), frozenset({"click"})
    return await policy.propose(task, past(3), seen(3), kinds=kinds, blob=read, partial=unheard, keep=keep)


async def test_what_was_asked_can_be_asked_again_byte_for_byte() -> None:
    server, kept = ModelServer(Events([chunk(0, CLICK)])), dict[BlobRef, bytes]()
    (proposal,) = await ask(server, kept)
    assert proposal.prompt is not None
    assert BlobRef.of(kept[proposal.prompt], "application/json") == proposal.prompt
    prompt = Prompt.model_validate_json(kept[proposal.prompt])
    assert [await written(message, read) for message in prompt.messages] == server.asked[0]["messages"]
    assert (prompt.model, prompt.policy) == ("ui-tars", proposal.policy)


async def test_the_same_question_is_kept_once() -> None:
    kept: dict[BlobRef, bytes] = {}
    for _ in range(2):
        await ask(ModelServer(Events([chunk(0, CLICK)])), kept)
    assert len(kept) == 1


async def test_a_question_that_nobody_answered_is_not_kept() -> None:
    kept: dict[BlobRef, bytes] = {}
    with pytest.raises(PolicyError):
        await ask(ModelServer(Events([{"error": {"message": "no"}}])), kept)
    assert not kept


async def test_all_that_training_needs_stands_with_the_proposal() -> None:
    sent = chunk(0, CLICK, ids=[7, 8], logprobs=[-0.5, -0.25])
    sent["choices"][0]["finish_reason"] = "stop"
    server = ModelServer(Events([{**sent, "prompt_token_ids": [1, 2, 3]}]))
    server.weights = lambda: "v7"
    (proposal,) = await ask(server, {})
    assert proposal.prompt_token_ids == (1, 2, 3)
    assert (proposal.completion_token_ids, proposal.logprobs) == ((7, 8), (-0.5, -0.25))
    assert proposal.sampling == ENDPOINT.sampling.model_dump(mode="json")
    assert proposal.image_limits == ImageLimits(min_pixels=78_400, max_pixels=12_845_056)
    assert (proposal.weight_versions, proposal.finish_reason) == (("v7",), "stop")


async def test_weights_that_were_exchanged_meanwhile_are_both_named() -> None:
    gate = asyncio.Event()
    server = ModelServer(Events([chunk(0, CLICK)], gate))
    names = iter(("v1", "v2"))

    def weights() -> str:
        gate.set()  # the answer ends after its beginning's weights were named
        return next(names)

    server.weights = weights
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == ("v1", "v2")


async def test_a_server_that_names_no_weights_is_asked_once() -> None:
    server = ModelServer(Events([chunk(0, CLICK)]))
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == ()


async def test_weights_a_chunk_names_need_no_question() -> None:
    server = ModelServer(Events([{**chunk(0, CLICK), "weight_version": "v9"}]))
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == ("v9",)
