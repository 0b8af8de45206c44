"""Drawing the next token of several replies at once, each by its own settings."""

import hashlib
from collections.abc import Sequence

import torch

from trainer.serve.schemas import Sampling


def sample_tokens(
    logits: torch.Tensor, settings: Sequence[Sampling], sources: Sequence[torch.Generator]
) -> tuple[list[int], list[float]]:
    """A token for each row and its log-probability under the distribution it was drawn from.

    `logits` has shape (rows, vocabulary), any float type. Temperature 0 takes the likeliest token and gives its
    log-probability at temperature 1, as vLLM does.
    """
    logits = logits.float()
    tokens: list[int] = []
    logprobs: list[float] = []
    for row, setting, source in zip(logits, settings, sources, strict=True):
        known = sampling_logprobs(row, setting)
        token = int(known.argmax()) if setting.temperature == 0 else _sample_token(known, source)
        tokens.append(token)
        logprobs.append(float(known[token]))
    return tokens, logprobs


def sampling_logprobs(logits: torch.Tensor, setting: Sampling) -> torch.Tensor:
    """Log-probabilities after temperature, top-k, top-p and min-p; what is cut away has minus infinity.

    One dimension in, the same out.
    """
    if setting.temperature > 0:
        logits = logits / setting.temperature
    if 0 < setting.top_k < logits.numel():
        logits = logits.masked_fill(logits < logits.topk(setting.top_k).values[-1], -torch.inf)
    if setting.min_p > 0:
        probabilities = logits.softmax(-1)
        logits = logits.masked_fill(probabilities < setting.min_p * probabilities.max(), -torch.inf)
    if setting.top_p < 1:
        ordered, places = logits.softmax(-1).sort(descending=True)
        beyond = ordered.cumsum(0) - ordered >= setting.top_p
        logits = logits.index_fill(0, places[beyond], -torch.inf)
    return logits.log_softmax(-1)


def reply_generator(setting: Sampling, index: int) -> torch.Generator:
    """The randomness of one reply: a seed gives the same replies again, whoever is served beside it."""
    source = torch.Generator()
    if setting.seed is None:
        source.seed()
    else:
        # torch's generator heeds 32 bits of a seed: all of ours go into them
        mixed = hashlib.blake2b(f"{setting.seed} {index}".encode(), digest_size=4).digest()
        source.manual_seed(int.from_bytes(mixed))
    return source


def _sample_token(logprobs: torch.Tensor, source: torch.Generator) -> int:
    return int(torch.multinomial(logprobs.exp(), 1, generator=source))
