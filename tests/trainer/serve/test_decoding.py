"""Replies written together, and prompts read in parts, are what they would be alone and at once."""

import base64
import io

import pytest
import torch
from PIL import Image

from trainer.likelihood import compute_reply_logprobs
from trainer.model.checkpoints import Checkpoint
from trainer.serve.decoding import DecodingBatch, PromptCache
from trainer.serve.prompt_encoder import MAX_PIXELS, PAD, Prompt, PromptEncoder
from trainer.serve.schemas import InvalidRequest, Message

CLOSE = 1e-5


def link(shade: int, size: tuple[int, int] = (112, 84)) -> str:
    data = io.BytesIO()
    Image.new("RGB", size, (shade, 255 - shade, 90)).save(data, "PNG")
    return f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"


def prompt_of(reader: PromptEncoder, text: str, *shades: int) -> Prompt:
    parts = [{"type": "image_url", "image_url": {"url": link(shade)}} for shade in shades]
    return reader.read([Message.model_validate({"role": "user", "content": [*parts, {"type": "text", "text": text}]})])


def alone(checkpoint: Checkpoint, prompt: Prompt, reply: list[int]) -> torch.Tensor:
    """Log-probabilities of all tokens after prompt and reply, in one pass."""
    every = [token for token in range(512)]
    before = compute_reply_logprobs(checkpoint, prompt.ids, prompt.pictures, [*reply, 0])
    assert len(before) == len(reply) + 1
    last = [
        compute_reply_logprobs(checkpoint, prompt.ids, prompt.pictures, [*reply, token])[-1] for token in every[:24]
    ]
    return torch.stack(last)


def test_replies_of_different_lengths_do_not_see_each_other(checkpoint: Checkpoint, reader: PromptEncoder) -> None:
    prompts = [prompt_of(reader, "a"), prompt_of(reader, "a longer question", 10, 20), prompt_of(reader, "b", 30)]
    reads, batch = PromptCache(checkpoint.model, cache_tokens=10_000), DecodingBatch(checkpoint.model)
    replies: list[list[int]] = []
    for prompt in prompts:
        batch.join(reads.read(prompt), 1)
        replies.append([])
        tokens = [(7 * len(replies) + place) % 256 for place in range(len(replies))]
        logits = batch.step(tokens)
        for reply, token in zip(replies, tokens, strict=True):
            reply.append(token)
    for row, (prompt, reply) in enumerate(zip(prompts, replies, strict=True)):
        found = logits[row].log_softmax(-1)[:24]
        assert torch.allclose(found, alone(checkpoint, prompt, reply), atol=CLOSE, rtol=0)
    batch.keep([0, 2])
    logits = batch.step([1, 2])
    for row, kept in enumerate((0, 2)):
        found = logits[row].log_softmax(-1)[:24]
        expected = alone(checkpoint, prompts[kept], [*replies[kept], row + 1])
        assert torch.allclose(found, expected, atol=CLOSE, rtol=0)
    batch.keep([])
    assert len(batch) == 0


def test_what_prompts_have_in_common_is_read_once(checkpoint: Checkpoint, reader: PromptEncoder) -> None:
    reads = PromptCache(checkpoint.model, cache_tokens=10_000)
    first = reads.read(prompt_of(reader, "what now?", 10))
    again = reads.read(prompt_of(reader, "what now?", 10))
    assert first.reused == 0
    assert again.reused == again.tokens - 1
    assert torch.allclose(first.logits, again.logits, atol=CLOSE, rtol=0)
    fresh = PromptCache(checkpoint.model, cache_tokens=10_000)
    longer = prompt_of(reader, "what now? And then?", 10)
    assert torch.allclose(reads.read(longer).logits, fresh.read(longer).logits, atol=CLOSE, rtol=0)
    assert reads.read(longer).position == fresh.read(longer).position


def test_another_picture_is_not_taken_for_the_one_seen(checkpoint: Checkpoint, reader: PromptEncoder) -> None:
    reads = PromptCache(checkpoint.model, cache_tokens=10_000)
    one = reads.read(prompt_of(reader, "what now?", 10))
    other = reads.read(prompt_of(reader, "what now?", 11))
    assert 0 < other.reused < other.tokens / 2, "only what comes before the picture"
    assert not torch.allclose(one.logits, other.logits, atol=CLOSE, rtol=0)
    reads.forget()
    assert reads.read(prompt_of(reader, "what now?", 10)).reused == 0


def test_little_is_kept_where_little_may_be(checkpoint: Checkpoint, reader: PromptEncoder) -> None:
    reads = PromptCache(checkpoint.model, cache_tokens=1)
    reads.read(prompt_of(reader, "first", 10))
    reads.read(prompt_of(reader, "second", 20))
    assert reads.read(prompt_of(reader, "first", 10)).reused < 30


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}], "data URL"),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,@@"}}], "base64"),
        ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], "cannot be read"),
        ([{"type": "image_url", "image_url": {"url": link(1)}}] * 6, "At most 5 image"),
        (f"look: {PAD}", "may not hold"),
        ("x" * 3000, "maximum context length is 2048"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(reader: PromptEncoder, content: object, complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=complaint):
        reader.read([Message.model_validate({"role": "user", "content": content})])


def test_a_bomb_is_not_unpacked(reader: PromptEncoder) -> None:
    side = int(MAX_PIXELS**0.5) + 1
    data = io.BytesIO()
    Image.new("1", (side, side)).save(data, "PNG")
    bomb = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
    with pytest.raises(InvalidRequest, match="at most"):
        reader.picture(bomb)
