"""What a policy was asked is kept with what it offered, to be shown, asked again and trained on."""

import asyncio
from typing import Any

import pytest

from agent_backend.errors import PolicyError
from agent_backend.policy.openai_chat import OpenAIPolicy, openai_message
from protocol.blobs import BlobRef
from protocol.dialects.prompts import Prompt
from protocol.trajectory.proposals import ImageLimits, Proposal
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.test_openai_chat import CLICK, ENDPOINT, past, picture, seen
from tests.unit.protocol.examples import spans

PICTURES = {seen(number).screenshot: picture(number) for number in range(9)}


async def read(ref: BlobRef) -> bytes:
    return PICTURES[ref]


async def unheard(_: object) -> None:
    """Nobody listens."""


async def ask(server: ModelServer, kept: dict[BlobRef, bytes]) -> tuple[Proposal, ...]:
    async def save_blob(ref: BlobRef, data: bytes) -> None:
        kept[ref] = data

    policy = OpenAIPolicy(ENDPOINT, transport=server.transport)
    task, kinds = Task(id="t1", instruction="Open the report"), frozenset({"click"})
    return await policy.propose(task, past(3), seen(3), kinds=kinds, blob=read, partial=unheard, save_blob=save_blob)


async def test_what_was_asked_can_be_asked_again_byte_for_byte() -> None:
    server, kept = ModelServer(Events([chunk(0, CLICK)])), dict[BlobRef, bytes]()
    (proposal,) = await ask(server, kept)
    assert proposal.prompt is not None
    assert BlobRef.of(kept[proposal.prompt], "application/json") == proposal.prompt
    prompt = Prompt.model_validate_json(kept[proposal.prompt])
    assert [await openai_message(message, read) for message in prompt.messages] == server.asked[0]["messages"]
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
    assert (proposal.weight_versions, proposal.finish_reason) == (spans(v7=2), "stop")


async def test_weights_that_were_exchanged_meanwhile_are_both_named() -> None:
    gate = asyncio.Event()
    server = ModelServer(Events([chunk(0, CLICK)], gate))
    names = iter(("v1", "v2"))

    def weights() -> str:
        gate.set()  # the answer ends after its beginning's weights were named
        return next(names)

    server.weights = weights
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == spans(v1=None, v2=None), "nobody knows which token is whose"


def said_with_its_end(*spans: object, ids: list[int], index: int = 0) -> dict[str, Any]:
    """A chunk of a server that says which weights drew how many of a reply's tokens."""
    sent = chunk(index, CLICK, ids=ids)
    sent["choices"][0]["weight_versions"] = list(spans)
    return sent


async def test_each_reply_says_which_weights_drew_how_many_of_its_tokens() -> None:
    one, two, three = {"version": "v1", "tokens": 2}, {"version": "v2", "tokens": 1}, {"version": "v2", "tokens": 2}
    sent = [said_with_its_end(one, two, ids=[7, 8, 9]), said_with_its_end(three, ids=[5, 6], index=1)]
    (proposal,) = await ask(ModelServer(Events([chunk(0, "", ids=[]), *sent])), {})
    assert proposal.weight_versions == spans(v1=2, v2=1)
    assert [other.weight_versions for other in proposal.others] == [spans(v2=2)]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([{"version": "v1", "tokens": 2}, {"version": "v2", "tokens": 2}], spans(v1=None, v2=None)),
        ([{"version": "v1", "tokens": 9}], spans(v1=3)),
        (["v1"], ()),
        ([{"version": "v1", "start": 0, "end": 3}], ()),
    ],
)
async def test_counts_that_are_not_of_its_tokens_are_no_counts(said: list[object], kept: object) -> None:
    (proposal,) = await ask(ModelServer(Events([said_with_its_end(*said, ids=[7, 8, 9])])), {})
    assert proposal.weight_versions == kept


async def test_a_server_that_names_no_weights_is_asked_once() -> None:
    server = ModelServer(Events([chunk(0, CLICK)]))
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == ()


async def test_weights_a_chunk_names_need_no_question() -> None:
    server = ModelServer(Events([{**chunk(0, CLICK), "weight_version": "v9"}]))
    (proposal,) = await ask(server, {})
    assert proposal.weight_versions == spans(v9=None)
