"""What servers say of their own tokens is what the trainer computes, before and after other weights are loaded."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import simplejpeg

from agent_backend.policy.reload import main
from annotation_app.operations.stack import ROOT
from benchmarks.parts.servers.starting import Server

CLOSE = 1e-5
"""Largest difference of a log-probability in single precision."""
BOUND = 600.0
TEMPERATURE = 0.7


def picture(seed: int, size: tuple[int, int] = (224, 168)) -> str:
    """Noise, which shows a pixel scaled otherwise; the usual size is one that is not scaled."""
    pixels = np.random.default_rng(seed).integers(0, 255, (*reversed(size), 3), np.uint8)
    data = simplejpeg.encode_jpeg(np.ascontiguousarray(pixels), quality=90, colorspace="RGB")
    return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}"


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=BOUND, trust_env=False) as made:
        yield made


def asked(client: httpx.Client, images: tuple[str, ...], **given: object) -> dict[str, Any]:
    """A whole answer to a conversation with these pictures."""
    parts: list[dict[str, object]] = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    messages = [
        {"role": "system", "content": "You drive a computer."},
        {"role": "user", "content": [*parts, {"type": "text", "text": "What is next?"}]},
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


class Likelihoods:
    """The trainer's log-probabilities: one process for each checkpoint, since its start takes longest."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python, self._folder = python, folder
        self._processes: dict[Path, subprocess.Popen[str]] = {}

    def of(self, checkpoint: Path, requests: list[dict[str, object]]) -> list[list[float]]:
        """Those of each reply's tokens. Raises AssertionError where the process ends before its answer."""
        process = self._processes.get(checkpoint) or self._start(checkpoint)
        assert process.stdin is not None
        assert process.stdout is not None
        found = []
        for request in requests:
            print(json.dumps(request), file=process.stdin, flush=True)
            line = process.stdout.readline()
            assert line, self._log(checkpoint).read_text()
            found.append(json.loads(line)["logprobs"])
        return found

    def close(self) -> None:
        for process in self._processes.values():
            process.communicate(timeout=BOUND)

    def _start(self, checkpoint: Path) -> "subprocess.Popen[str]":
        command = [self._python, "-m", "trainer.likelihood", checkpoint]
        with self._log(checkpoint).open("w") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT
            )
        self._processes[checkpoint] = process
        return process

    def _log(self, checkpoint: Path) -> Path:
        return self._folder / f"{checkpoint.name}.log"


@pytest.fixture(scope="session")
def likelihoods(trainer_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Likelihoods]:
    made = Likelihoods(trainer_python, tmp_path_factory.mktemp("likelihoods"))
    yield made
    made.close()


def difference(likelihoods: Likelihoods, checkpoint: Path, answer: dict[str, Any], images: tuple[str, ...]) -> float:
    """The largest between the server's log-probabilities and the trainer's."""
    prompt = {"prompt_token_ids": answer["prompt_token_ids"], "images": images, "temperature": TEMPERATURE}
    found = likelihoods.of(checkpoint, [{**prompt, "token_ids": choice["token_ids"]} for choice in answer["choices"]])
    said: list[list[float]] = [
        [token["logprob"] for token in choice["logprobs"]["content"]] for choice in answer["choices"]
    ]
    assert [len(one) for one in found] == [len(one) for one in said]
    return max(abs(a - b) for one, other in zip(found, said, strict=True) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_logprobs_are_the_trainers(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, count: int
) -> None:
    images = tuple(picture(seed) for seed in range(count))
    assert difference(likelihoods, checkpoint, asked(client, images), images) <= CLOSE


@pytest.mark.parametrize("size", [(320, 240), (301, 97), (640, 480), (45, 33)])
def test_pictures_are_scaled_as_the_trainer_scales_them(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, size: tuple[int, int]
) -> None:
    images = (picture(11, size), picture(12, size))
    assert difference(likelihoods, checkpoint, asked(client, images), images) <= CLOSE


def test_a_prompt_that_was_read_before_gives_the_same(
    client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path
) -> None:
    images = tuple(picture(seed) for seed in range(3))
    asked(client, images[:2])
    asked(client, images)
    assert difference(likelihoods, checkpoint, asked(client, images), images) <= CLOSE


def reload(server: Server, folder: Path, version: str) -> None:
    """Other weights, as `agent_backend.policy.reload` loads them."""
    assert main(["--server", server.url, "--weights", str(folder), "--version", version]) == 0


def test_other_weights_are_loaded_while_it_runs(
    server: Server, client: httpx.Client, likelihoods: Likelihoods, checkpoint: Path, other_checkpoint: Path
) -> None:
    images = (picture(7),)
    before = asked(client, images)
    reload(server, other_checkpoint, "two")
    try:
        after = asked(client, images)
        assert client.get("/weight_info").json()["weight_version"] == "two"
        assert difference(likelihoods, other_checkpoint, after, images) <= CLOSE
        assert difference(likelihoods, checkpoint, after, images) > 100 * CLOSE, "the weights are others indeed"
    finally:
        reload(server, checkpoint, "one")
    again = asked(client, images)
    assert [c["token_ids"] for c in again["choices"]] == [c["token_ids"] for c in before["choices"]]
