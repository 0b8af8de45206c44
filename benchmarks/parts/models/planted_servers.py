"""Model servers with a known fault, which a probe has to name."""

import base64
import json
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any

import httpx

from agent_backend.probe.targets import Target, probe_targets, screen_picture
from protocol.dialects.coordinates import smart_resize
from protocol.evaluation.probes import ScreenSet

WriteReply = Callable[[Target, float, float], str]
"""A reply that clicks at a point of a target's screen (pixels)."""
SETS: tuple[ScreenSet, ...] = ("desktop", "small")
LONGEST_PROMPT_IMAGES = 4


def _click_reply(x: float, y: float) -> str:
    return f"Thought: There it is.\nAction: click(start_box='({x:.0f},{y:.0f})')"


def write_resized(target: Target, x: float, y: float) -> str:
    """In pixels of the picture as Qwen2.5-VL scales it: as `ui_tars_1_5` reads it."""
    rows, columns = smart_resize(target.size[1], target.size[0])
    return _click_reply(x * columns / target.size[0], y * rows / target.size[1])


def write_thousandths(target: Target, x: float, y: float) -> str:
    """In thousandths of the screen."""
    return _click_reply(x * 1000 / target.size[0], y * 1000 / target.size[1])


def write_other_factor(target: Target, x: float, y: float) -> str:
    """In pixels of a picture that another processor scaled."""
    rows, columns = smart_resize(target.size[1], target.size[0], factor=32, min_pixels=65_536, max_pixels=800_000)
    return _click_reply(x * columns / target.size[0], y * rows / target.size[1])


def write_stripped(target: Target, x: float, y: float) -> str:
    """Without the special tokens that the point was made of."""
    return "Thought: There it is.\nAction: click(start_box='')"


class PlantedServer(httpx.AsyncBaseTransport):
    """An OpenAI-compatible server whose model finds every target, and says so as `write` does.

    Args:
        write: Writes its replies.
        sees: Whether pictures come to the model; without, it clicks the middle of the screen.
        weights: What it calls its weights.
        seed: Of its log-probabilities: other weights have others.
        noise_px: Standard deviation of its points (pixels of the screen).
    """

    def __init__(
        self,
        write: WriteReply = write_resized,
        *,
        sees: bool = True,
        weights: str = "1",
        seed: int = 0,
        noise_px: float = 2.0,
    ) -> None:
        self._click_reply, self._sees, self._weights, self._seed, self._noise_px = write, sees, weights, seed, noise_px
        self._targets = {
            (sha256(screen_picture(target.screen)[1]).hexdigest(), target.instruction): target
            for screens in SETS
            for target in probe_targets(screens)
        }

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as vLLM does."""
        path = request.url.path
        if path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": "planted", "max_model_len": 32_768}]})
        if path.endswith("/weight_info"):
            return httpx.Response(200, json={"weight_version": self._weights})
        if not path.endswith("/chat/completions"):
            return httpx.Response(404)
        body = json.loads(await request.aread())
        pictures, texts = _parts(body["messages"])
        if len(pictures) > LONGEST_PROMPT_IMAGES:
            return httpx.Response(400, json={"message": f"At most {LONGEST_PROMPT_IMAGES} image(s) may be provided."})
        reply = self._reply(pictures, texts)
        if not body.get("stream"):
            choices = [{"index": place, "message": {"content": reply}} for place in range(body.get("n", 1))]
            return httpx.Response(200, json={"choices": choices})
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=self._stream(reply))

    def _reply(self, pictures: list[bytes], texts: str) -> str:
        digest = sha256(pictures[-1]).hexdigest() if pictures else ""
        found = [target for (picture, words), target in self._targets.items() if picture == digest and words in texts]
        if not found or not self._sees:
            return _click_reply(400, 300)
        target, random = found[0], Random(f"{self._seed} {found[0].screen} {found[0].instruction}")
        x, y = (random.gauss(middle, self._noise_px) for middle in target.center)
        return self._click_reply(target, x, y)

    def _stream(self, reply: str) -> bytes:
        random = Random(f"{self._seed} {reply}")
        tokens = [{"token": word, "logprob": -random.random()} for word in reply.split()]
        choice: dict[str, Any] = {
            "index": 0,
            "delta": {"content": reply},
            "logprobs": {"content": tokens},
            "token_ids": list(range(len(tokens))),
            "finish_reason": "stop",
        }
        return f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()


def _parts(messages: list[dict[str, Any]]) -> tuple[list[bytes], str]:
    """The pictures of a conversation, and its texts."""
    pictures, texts = list[bytes](), list[str]()
    for message in messages:
        content = message["content"]
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                texts.append(part["text"])
            else:
                pictures.append(base64.b64decode(part["image_url"]["url"].partition(",")[2]))
    return pictures, "\n".join(texts)
