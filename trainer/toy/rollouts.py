"""Attempts in the toy world: those of an update of training, and those of an evaluation.

Many are played at once, with one forward pass for each token of all replies. Replies are a few tokens after a short
prompt, so recomputing the prompt for each token is cheaper than a key-value cache. The server for longer replies has
one (`trainer.serve`).
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from protocol.training.checkpoints import checkpoint_name
from protocol.trajectory.proposals import PolicyRef, WeightSpan
from trainer.data.packing import learned_logits, pack
from trainer.data.rendering import TokenizedSample
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.rl.config import OnPolicyConfig
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.replies import Reply, sample_tokens
from trainer.serve.schemas import Sampling
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.trajectory_folders import write_trajectory_folder

CONTEXT = 256
TOOL_VARIANTS = {"lights": (False,), "lights helped": (True,), "lights both": (False, True)}
"""Whether the tool is offered: never, always, or at each task once without it and once with it."""


class LightsSource:
    """Plays the toy world between two updates."""

    def prepare(self, checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> int:
        """Play the attempts into one folder. Returns 1: the folder counts, however many of its attempts are usable."""
        play_lights(checkpoint, config, update)
        return 1


def play_lights(checkpoint: Checkpoint, config: OnPolicyConfig, update: int) -> None:
    """Play an update's attempts into the inbox, unless they are there already. Each update has its own tasks."""
    target = config.inbox / f"played-{update:06}"
    if target.exists():
        return
    ways = TOOL_VARIANTS[config.world]
    first = (config.seed * 1_000_000 + update) * 1_000
    tries = [divmod(number // len(ways), config.group) for number in range(config.attempts)]
    plays = [
        LightsEpisode(first + task, draw, with_tool=ways[number % len(ways)])
        for number, (task, draw) in enumerate(tries)
    ]
    _play_into(target, checkpoint, plays, version=checkpoint_name(update - 1), temperature=config.temperature)


def create_attempts(
    checkpoint: Path, target: Path, seeds: Sequence[int], *, by: PolicyRef, temperature: float, with_tool: bool = False
) -> Path:
    """Write a folder of attempts that are called this revision's; one that is there is left as it is."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    loaded = load_checkpoint(checkpoint)
    plays = [LightsEpisode(seed, policy=by.name, with_tool=with_tool) for seed in seeds]
    _play_into(target, loaded, plays, version=by.revision, temperature=temperature)
    return target


def _play_into(
    target: Path, checkpoint: Checkpoint, plays: Sequence[LightsEpisode], *, version: str, temperature: float
) -> None:
    """Play attempts to their end and write them as a folder."""
    reader = PromptEncoder(checkpoint, max_images=1, context=CONTEXT)
    play_episodes(checkpoint, reader, plays, version=version, temperature=temperature)
    blobs = {ref: data for play in plays for ref, data in play.blobs.items()}
    write_trajectory_folder(target, [play.trajectory() for play in plays], blobs)


def play_episodes(
    checkpoint: Checkpoint, reader: PromptEncoder, plays: Sequence[LightsEpisode], *, version: str, temperature: float
) -> Sequence[LightsEpisode]:
    """Play every attempt to its end. The same attempts and weights give the same replies."""
    while going := [one for one in plays if not one.is_over]:
        prompts = [reader.read([one.request()]) for one in going]
        replies = generate_replies(checkpoint, reader, prompts, [one.sampling(temperature) for one in going], version)
        for one, prompt, words in zip(going, prompts, replies, strict=True):
            one.apply_reply(prompt.ids, words, temperature)
    return plays


def generate_replies(
    checkpoint: Checkpoint,
    reader: PromptEncoder,
    prompts: Sequence[Prompt],
    samplings: Sequence[Sampling],
    version: str,
) -> list[PolicyReply]:
    """Sample a reply to each prompt, each with its own sampling settings."""
    pictures = {checkpoint.model.config.image_token_id, checkpoint.model.config.video_token_id}
    end = frozenset({checkpoint.tokenizer.eos_token_id, *pictures})  # a reply must not contain a picture's placeholder
    replies = [
        Reply(place, sampling, sampling.max_tokens or 1, end, reader.text) for place, sampling in enumerate(samplings)
    ]
    logprobs: list[list[float]] = [[] for _ in replies]
    while going := [reply for reply in replies if reply.finish is None]:
        samples = [_next_token_sample(prompts[reply.index], reply) for reply in going]
        with torch.inference_mode():
            logits = learned_logits(checkpoint.model, pack(samples, checkpoint.model))
        sampled = sample_tokens(logits, [reply.sampling for reply in going], [reply.source for reply in going])
        for reply, token, logprob in zip(going, *sampled, strict=True):
            reply.add(token, logprob, version)
            logprobs[reply.index].append(logprob)
    return [
        PolicyReply(
            text=reader.text(reply.ids),
            ids=tuple(reply.ids),
            logprobs=tuple(reply_logprobs),
            versions=(WeightSpan(version=version, tokens=len(reply.ids)),),
            finish=reply.finish or "",
        )
        for reply, reply_logprobs in zip(replies, logprobs, strict=True)
    ]


def _next_token_sample(prompt: Prompt, reply: Reply) -> TokenizedSample:
    """The prompt and the reply so far, with a placeholder for the next token."""
    known = (*prompt.ids, *reply.ids)
    flags = (False,) * len(known)
    return TokenizedSample(
        "", 0, "policy", (*known, 0), (*flags, True), (0.0,) * len(known) + (1.0,), prompt.pictures, None
    )
