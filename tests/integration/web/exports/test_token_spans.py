"""Weights change in the middle of a reply: it is stored, exported and read by the trainer with what each drew."""

import asyncio
import base64
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_backend.policy.openai_chat import OpenAIPolicy
from agent_backend.policy.reload import ModelServerClient
from annotation_app.episodes import services
from annotation_app.exports import selectors
from annotation_app.exports.models import Export
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.model_servers.checkpoint import token_id
from benchmarks.parts.model_servers.launcher import trainer_server, write_checkpoint
from protocol.actions.types import NoAction
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.observations import ActionError
from protocol.trajectory.proposals import Proposal
from tests.contract.test_store import step
from tests.integration.servers.likelihoods import TEMPERATURE, Likelihoods, difference
from tests.integration.servers.test_openai_policy import KINDS, PICTURES, TASK, endpoint, make_observation
from tests.integration.servers.test_parity import CLOSE
from tests.integration.web.conftest import World
from trainer.data.samples import SampledDecision, sampled_decisions
from trainer.data.trajectories import open_folder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.xdist_group("servers")]

REPLIES, TOKENS = 8, 100
"""Some are still on their way when weights are exchanged, and hold no token that stands for a picture: random weights
draw one of those in 268."""
SCREEN = next(iter(PICTURES))
"""What `seen(0)` shows."""


async def propose_during_reload(url: str, weights: Path, kept: dict[BlobRef, bytes]) -> tuple[Proposal, ...]:
    """What is proposed while the server is given other weights, which it begins once the first words are heard."""
    policy = OpenAIPolicy(endpoint(url, n=REPLIES, temperature=TEMPERATURE, max_tokens=TOKENS))
    server = ModelServerClient(url)
    changed = False

    async def blob(ref: BlobRef) -> bytes:
        return PICTURES[ref]

    async def partial(_: tuple[Partial, ...]) -> None:
        nonlocal changed
        if not changed:
            changed = True
            await server.reload(str(weights), "two", freeze=True)

    async def save_blob(ref: BlobRef, data: bytes) -> None:
        kept[ref] = data

    try:
        return await policy.propose(
            TASK, (), make_observation(0), kinds=KINDS, blob=blob, partial=partial, save_blob=save_blob
        )
    finally:
        await server.aclose()
        await policy.aclose()


def exported(world: World, offer: Proposal, kept: dict[BlobRef, bytes]) -> SampledDecision:
    """A proposal that was taken, through database and export, as the trainer reads it."""
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    token = services.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60)
    own: dict[str, Any] = {"episode_id": episode.id, "token": token}
    for ref, data in {SCREEN: PICTURES[SCREEN], **kept}.items():
        services.blob_add(**own, ref=ref, data=data)
    services.proposals_add(**own, proposals=(offer,), policy=offer.policy)
    lapse: dict[str, Any] = {
        "actor": "policy",
        "decision": "auto",
        "proposal_id": offer.id,
        "policy": offer.policy,
        "action": NoAction(said="?"),
        "error": ActionError(code="no_action", message="The reply holds no action."),
    }
    done = step(command_id=f"command-{episode.id}", before=make_observation(0), after=None, **lapse)
    services.step_append(**own, step=done)
    services.episode_change(**own, fields={"status": "finished", "outcome": "failure"})
    services.episode_review(reviewer=world.rosa, episode_id=episode.id, decision="accept")
    assert world.client(world.ravi).post("/api/exports", {}, content_type="application/json").status_code < 300
    (trajectory,) = open_folder(selectors.export_folder(Export.objects.get().id)).trajectories()
    (sampled,) = sampled_decisions(trajectory)
    return sampled


def test_each_token_is_known_by_the_weights_that_drew_it(committed: World, tmp_path: Path) -> None:
    python, kept = ensure_trainer(Console()), dict[BlobRef, bytes]()
    one = write_checkpoint(python, tmp_path / "one")
    two = write_checkpoint(python, tmp_path / "two", "--seed", "1")
    with trainer_server(one, tmp_path) as server:
        offered = asyncio.run(propose_during_reload(server.url, two, kept))
    picture = token_id("image_pad")
    offer = next(
        one
        for one in offered
        if len(one.weight_versions) > 1 and one.completion_token_ids and picture not in one.completion_token_ids
    )

    sampled = exported(committed, offer, kept)
    first, second = sampled.weight_versions
    assert (first.version, second.version) == ("default", "two")
    assert first.tokens
    assert second.tokens
    assert first.tokens + second.tokens == len(sampled.completion_token_ids)
    assert sampled.exact
    image = f"data:image/jpeg;base64,{base64.b64encode(PICTURES[SCREEN]).decode()}"

    def apart(weights: Path, begin: int, end: int) -> float:
        """By how much these weights find the tokens from here to there otherwise than was said."""
        said = [{"logprob": value} for value in sampled.logprobs[begin:end]]
        choice = {"token_ids": sampled.completion_token_ids[begin:end], "logprobs": {"content": said}}
        read = (*sampled.prompt_token_ids, *sampled.completion_token_ids[:begin])
        return difference(likelihoods, weights, {"prompt_token_ids": read, "choices": [choice]}, (image,))

    with closing(Likelihoods(python, tmp_path)) as likelihoods:
        assert apart(one, 0, first.tokens) <= CLOSE
        assert apart(two, first.tokens, len(sampled.completion_token_ids)) <= CLOSE
