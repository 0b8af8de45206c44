"""Playing many attempts at once with the model that is being trained, in step: one pass a token for all of them.

Replies are a few tokens after a short prompt, so reading all of it again for each token costs less than keeping what
was read. Who serves longer ones keeps it (`trainer.serve`).
"""

from collections.abc import Sequence

import torch

from trainer.data.packing import learned_logits, pack
from trainer.data.rendering import TokenizedSample
from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.replies import Reply
from trainer.serve.sampling import sample_tokens
from trainer.serve.schemas import Sampling
from trainer.toy.episodes import LightsEpisode, PolicyReply
from vocabulary.proposals import WeightSpan


def play_episodes(
    checkpoint: Checkpoint, reader: PromptEncoder, plays: Sequence[LightsEpisode], *, version: str, temperature: float
) -> Sequence[LightsEpisode]:
    """Every attempt to its end, by these weights; the same attempts draw the same words."""
    while going := [one for one in plays if not one.over]:
        prompts = [reader.read([one.asked()]) for one in going]
        said = generate_replies(checkpoint, reader, prompts, [one.sampling(temperature) for one in going], version)
        for one, prompt, words in zip(going, prompts, said, strict=True):
            one.apply_reply(prompt.ids, words, temperature)
    return plays


def generate_replies(
    checkpoint: Checkpoint,
    reader: PromptEncoder,
    prompts: Sequence[Prompt],
    samplings: Sequence[Sampling],
    version: str,
) -> list[PolicyReply]:
    """A reply to each prompt, by its own sampling."""
    pictures = {checkpoint.model.config.image_token_id, checkpoint.model.config.video_token_id}
    end = frozenset({checkpoint.tokenizer.eos_token_id, *pictures})  # a place for a picture cannot be read on
    written = [
        Reply(place, sampling, sampling.max_tokens or 1, end, reader.text) for place, sampling in enumerate(samplings)
    ]
    logprobs: list[list[float]] = [[] for _ in written]
    while going := [reply for reply in written if reply.finish is None]:
        samples = [_next_token_sample(prompts[reply.index], reply) for reply in going]
        with torch.inference_mode():
            logits = learned_logits(checkpoint.model, pack(samples, checkpoint.model))
        drawn = sample_tokens(logits, [reply.sampling for reply in going], [reply.source for reply in going])
        for reply, token, logprob in zip(going, *drawn, strict=True):
            reply.add(token, logprob, version)
            logprobs[reply.index].append(logprob)
    return [
        PolicyReply(
            text=reader.text(reply.ids),
            ids=tuple(reply.ids),
            logprobs=tuple(said),
            versions=(WeightSpan(version=version, tokens=len(reply.ids)),),
            finish=reply.finish or "",
        )
        for reply, said in zip(written, logprobs, strict=True)
    ]


def _next_token_sample(prompt: Prompt, reply: Reply) -> TokenizedSample:
    """What was read and said so far, and a place for what comes next."""
    known = (*prompt.ids, *reply.ids)
    flags = (False,) * len(known)
    return TokenizedSample(
        "", 0, "policy", (*known, 0), (*flags, True), (0.0,) * len(known) + (1.0,), prompt.pictures, None
    )
