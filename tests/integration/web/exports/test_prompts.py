"""What a policy was asked and how it was sampled goes through database and export into the trainer's hands."""

from typing import Any

from annotation_app.episodes import services
from annotation_app.exports import selectors
from annotation_app.exports.models import Export
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.dialects.families import get_dialect
from protocol.dialects.prompts import Prompt
from protocol.training.samples import training_samples
from protocol.trajectory.proposals import ImageLimits, WeightSpan
from tests.contract.test_store import PICTURE, POLICY, REF, proposal, step
from tests.integration.web.conftest import World
from trainer.data.samples import sampled_decisions
from trainer.data.trajectories import open_folder

LIMITS = ImageLimits(min_pixels=3_136, max_pixels=50_176)
ASKED = Prompt(
    policy=POLICY,
    model="nano",
    image_limits=LIMITS,
    messages=(
        ChatMessage(role="user", content=(TextPart(text="Do this."),)),
        ChatMessage(role="user", content=(ImagePart(image=REF),)),
    ),
)


def test_what_was_asked_and_sampled_reaches_the_trainer(committed: World) -> None:
    world = committed
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    token = services.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60)
    own: dict[str, Any] = {"episode_id": episode.id, "token": token}
    prompt, data = ASKED.to_blob()
    drawn = {
        "prompt": prompt,
        "prompt_token_ids": (1, 2, 3),
        "completion_token_ids": (7, 8),
        "logprobs": (-0.5, -0.25),
        "image_limits": LIMITS,
        "weight_versions": (WeightSpan(version="v7", tokens=1), WeightSpan(version="v8", tokens=1)),
        "sampling": {"temperature": 0.8, "top_p": 1.0, "top_k": -1, "min_p": 0.0},
    }
    offer = proposal(1).model_copy(update=drawn)
    services.blob_add(**own, ref=REF, data=PICTURE)
    services.blob_add(**own, ref=prompt, data=data)
    services.proposals_add(**own, proposals=(offer,), policy=POLICY)
    taken = {"decision": "accept", "proposal_id": offer.id, "thought": offer.thought, "policy": POLICY}
    services.step_append(**own, step=step(command_id=f"command-{episode.id}").model_copy(update=taken))
    services.episode_change(**own, fields={"status": "finished", "outcome": "success"})
    services.episode_review(reviewer=world.rosa, episode_id=episode.id, decision="accept")

    shown = world.client(world.ada).get(f"/api/episodes/{episode.id}/blobs/{prompt.sha256}")
    assert b"".join(shown) == data
    stranger = world.client(world.ben).get(f"/api/episodes/{episode.id}/blobs/{prompt.sha256}")
    assert stranger.status_code == 404

    assert world.client(world.ravi).post("/api/exports", {}, content_type="application/json").status_code < 300
    folder = open_folder(selectors.export_folder(Export.objects.get().id))
    assert folder.manifest.counts.images == 1, "a prompt is no picture"
    (trajectory,) = folder.trajectories()
    assert trajectory.policies == (POLICY,)
    assert folder.prompt(prompt) == ASKED
    (sampled,) = sampled_decisions(trajectory)
    assert (sampled.prompt_token_ids, sampled.completion_token_ids) == ((1, 2, 3), (7, 8))
    assert (sampled.logprobs, sampled.weight_versions) == ((-0.5, -0.25), drawn["weight_versions"])
    assert sampled.image_limits == LIMITS
    assert sampled.exact
    (sample,) = training_samples(trajectory, get_dialect(POLICY.dialect), prompts=folder.prompt)
    assert sample.messages == ASKED.messages
