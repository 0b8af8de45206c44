"""Plays many attempts at once with the model in training: one forward pass for each token of all replies.

Replies are a few tokens after a short prompt, so recomputing the prompt for each token is cheaper than a key-value
cache. The server for longer replies has one (`trainer.serve`).
"""

from collections.abc import Sequence

import torch

from protocol.trajectory.proposals import WeightSpan
from trainer.data.packing import learned_logits, pack
from trainer.data.rendering import TokenizedSample
from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.replies import Reply
from trainer.serve.sampling import sample_tokens
from trainer.serve.schemas import Sampling
from trainer.toy.episodes import LightsEpisode, PolicyReply


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
