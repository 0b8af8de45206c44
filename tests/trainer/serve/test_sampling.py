"""Tokens are drawn from the distribution whose log-probabilities are given."""

import math

import pytest
import torch

from trainer.serve.replies import reply_generator, sample_tokens, sampling_logprobs
from trainer.serve.schemas import Sampling

FOUR = torch.log(torch.tensor([0.4, 0.3, 0.2, 0.1]))


def probabilities(**given: object) -> list[float]:
    return [round(value, 6) for value in sampling_logprobs(FOUR, Sampling.model_validate(given)).exp().tolist()]


def test_each_cut_by_hand() -> None:
    assert probabilities() == [0.4, 0.3, 0.2, 0.1]
    assert probabilities(top_k=2) == [round(4 / 7, 6), round(3 / 7, 6), 0, 0]
    assert probabilities(top_p=0.69) == [round(4 / 7, 6), round(3 / 7, 6), 0, 0]
    assert probabilities(top_p=0.71) == [round(4 / 9, 6), round(3 / 9, 6), round(2 / 9, 6), 0]
    assert probabilities(top_p=0.01) == [1, 0, 0, 0], "the likeliest always stays"
    assert probabilities(min_p=0.49) == [round(4 / 9, 6), round(3 / 9, 6), round(2 / 9, 6), 0]
    squares = [0.16, 0.09, 0.04, 0.01]
    assert probabilities(temperature=0.5) == [round(value / sum(squares), 6) for value in squares]


def test_no_temperature_takes_the_likeliest_and_says_what_it_is_worth() -> None:
    (token,), (logprob,) = sample_tokens(FOUR[None], [Sampling(temperature=0)], [torch.Generator()])
    assert token == 0
    assert logprob == pytest.approx(math.log(0.4))


def test_frequencies_are_the_probabilities() -> None:
    source = torch.Generator().manual_seed(5)
    setting = Sampling(top_k=3)
    drawn = [sample_tokens(FOUR[None], [setting], [source])[0][0] for _ in range(6000)]
    shares = [drawn.count(token) / len(drawn) for token in range(4)]
    assert shares == pytest.approx([4 / 9, 3 / 9, 2 / 9, 0], abs=0.03)


def test_a_seed_repeats_itself_and_replies_of_one_request_differ() -> None:
    logits = torch.zeros(1, 1000)

    def first(seed: int, index: int) -> list[int]:
        setting = Sampling(seed=seed)
        source = reply_generator(setting, index)
        return [sample_tokens(logits, [setting], [source])[0][0] for _ in range(8)]

    assert first(1, 0) == first(1, 0)
    assert len({tuple(first(seed, index)) for seed in (-1, 0, 1, 2**62) for index in range(4)}) == 16


def test_rows_have_settings_of_their_own() -> None:
    tokens, logprobs = sample_tokens(
        torch.stack([FOUR, FOUR.flip(0)]),
        [Sampling(temperature=0), Sampling(top_k=1)],
        [torch.Generator(), torch.Generator()],
    )
    assert tokens == [0, 3]
    assert logprobs == pytest.approx([math.log(0.4), 0.0])
