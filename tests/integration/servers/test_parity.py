"""What servers say of their own tokens is what the trainer computes, before and after other weights are loaded."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import simplejpeg

from agent_backend.policy.reload import main
from benchmarks.parts.model_servers.launcher import Server
from tests.integration.servers.likelihoods import TEMPERATURE, Likelihoods, difference

CLOSE = 1e-5
"""Largest difference of a log-probability in single precision."""
BOUND = 600.0


def picture(seed: int, size: tuple[int, int] = (224, 168)) -> str:
    """Noise, which shows a pixel scaled otherwise; the usual size is one that is not scaled."""
    pixels = np.random.default_rng(seed).integers(0, 255, (*reversed(size), 3), np.uint8)
    data = simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), quality=90, colorspace="RGB")
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=BOUND, trust_env=False) as made:
        yield made


def request_completion(
    client: httpx.Client, images: tuple[str, ...], *, reply: str = "", **given: object
) -> dict[str, Any]:
    """A whole answer to a conversation with these pictures, and perhaps the beginning of a reply."""
    parts: list[dict[str, object]] = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    messages = [
        {"role": "system", "content": "You drive a computer."},
        {"role": "user", "content": [*parts, {"type": "text", "text": "What is next?"}]},
        *([{"role": "assistant", "content": reply}] if reply else []),
    ]
    body = {
        "model": "tiny",
        "messages": messages,
        "n": 2,
        "temperature": TEMPERATURE,
        "max_tokens": 24,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 0,
        "return_token_ids": True,
        **given,
    }
    answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    value: dict[str, Any] = answer.json()
    return value


def test_the_last_message_is_continued_where_it_ends(client: httpx.Client) -> None:
    beginning = "Thought: I open the me"
    plain = request_completion(client, (picture(1),))["prompt_token_ids"]
    asked = request_completion(
        client, (picture(1),), reply=beginning, add_generation_prompt=False, continue_final_message=True
    )["prompt_token_ids"]
    counted = client.post("/tokenize", json={"model": "tiny", "prompt": beginning, "add_special_tokens": False}).json()
    assert asked == [*plain, *counted["tokens"]]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_logprobs_are_the_trainers(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, count: int
) -> None:
    images = tuple(picture(seed) for seed in range(count))
    assert difference(likelihoods, checkpoint, request_completion(client, images), images) <= CLOSE


@pytest.mark.parametrize("size", [(320, 240), (301, 97), (640, 480), (45, 33)])
def test_pictures_are_scaled_as_the_trainer_scales_them(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, size: tuple[int, int]
) -> None:
    images = (picture(11, size), picture(12, size))
    assert difference(likelihoods, checkpoint, request_completion(client, images), images) <= CLOSE


def test_a_prompt_that_was_read_before_gives_the_same(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path
) -> None:
    images = tuple(picture(seed) for seed in range(3))
    request_completion(client, images[:2])
    request_completion(client, images)
    assert difference(likelihoods, checkpoint, request_completion(client, images), images) <= CLOSE


def reload(server: Server, folder: Path, version: str) -> None:
    """Other weights, as `agent_backend.policy.reload` loads them."""
    assert main(["--server", server.url, "--weights", str(folder), "--version", version]) == 0


def test_other_weights_are_loaded_while_it_runs(
    server: Server, client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, other_checkpoint: Path
) -> None:
    images = (picture(7),)
    before = request_completion(client, images)
    reload(server, other_checkpoint, "two")
    try:
        after = request_completion(client, images)
        assert client.get("/weight_info").json()["weight_version"] == "two"
        assert difference(likelihoods, other_checkpoint, after, images) <= CLOSE
        assert difference(likelihoods, checkpoint, after, images) > 100 * CLOSE, "the weights are others indeed"
    finally:
        reload(server, checkpoint, "one")
    again = request_completion(client, images)
    assert [c["token_ids"] for c in again["choices"]] == [c["token_ids"] for c in before["choices"]]
