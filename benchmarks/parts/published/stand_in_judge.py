"""A model server that judges by rule: it stands for a model in tests of what a judge is asked, and is none.

It reads what stands between the fences of a prompt and nothing else of it. An answer is right where it is the reference
and no longer than that; a screen shows the lamp where it is green.
"""

import base64
import io
import json
import re
from typing import Any

import httpx
from PIL import Image
from pydantic import SecretStr

from agent_backend.judges.model_judge import JudgeEndpoint, ModelJudge
from agent_backend.judges.reward_judges import RewardJudge
from agent_backend.policy.completions import RequestTimeouts
from protocol.evaluation.answer_matching import normalize_answer
from protocol.evaluation.judgements import JudgeSettings

URL = "http://judge.test/v1"
_FENCED = re.compile(r"^(=== [0-9a-f]{24} ===)$(.*?)^\1$", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^(Reference answer|The agent's answer): (.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
GREEN = (0, 170, 0)
NEAR = 60
"""How far a colour may be from green, in each of its parts."""


class StandInJudge:
    """Answers requests of judges; `gone` makes it a server that does not answer."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.gone = False

    def open(self, kind: str, **settings: Any) -> tuple[RewardJudge, ModelJudge]:
        """A judge that asks it."""
        judge = RewardJudge.model_validate(
            {"kind": kind, "url": URL, "model": "stand-in", "revision": "1", "scripted": True, "settings": settings}
        )
        endpoint = JudgeEndpoint(
            ref=judge.ref,
            base_url=URL,
            model=judge.model,
            api_key=SecretStr(""),
            settings=JudgeSettings.model_validate(settings),
            timeouts=RequestTimeouts(pause=0.0),
        )
        return judge, ModelJudge(endpoint, transport=httpx.MockTransport(self._answer))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        if self.gone:
            raise httpx.ConnectError("nobody listens")
        if request.method == "GET":
            return httpx.Response(404)
        body = json.loads(request.content)
        self.asked.append(body)
        parts = [part for message in body["messages"] for part in _parts(message["content"])]
        reply = self.reply("\n".join(part["text"] for part in parts if part["type"] == "text"), _pictures(parts))
        delta = {"index": 0, "delta": {"content": reply}, "finish_reason": "stop"}
        event = json.dumps({"object": "chat.completion.chunk", "choices": [delta], "usage": None})
        lines = f"data: {event}\n\ndata: [DONE]\n\n"
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=lines.encode())

    def reply(self, text: str, pictures: list[Image.Image]) -> str:
        """What it says to a prompt."""
        fenced = _FENCED.search(text)
        question = text[fenced.end() :] if fenced else text
        if "List the key points" in question:
            return "1. The lamp is on: the page is green."
        if "`Rating: N`" in question:
            return f"The page is seen.\nRating: {5 if any(map(is_green, pictures)) else 1}"
        if pictures:
            return f"Verdict: {'yes' if is_green(pictures[-1]) else 'no'}"
        sections = _SECTION.findall(fenced[2]) if fenced else []
        references = [normalize_answer(value) for name, value in sections if name == "Reference answer"]
        answers = [normalize_answer(value) for name, value in sections if name != "Reference answer"]
        right = len(answers) == 1 and answers[0] in references
        return f"I compare the two.\nVerdict: {'yes' if right else 'no'}"


def is_green(picture: Image.Image) -> bool:
    """Whether the corner of a screen, which no text covers, is green."""
    pixel = picture.convert("RGB").getpixel((picture.width - 5, 5))
    return isinstance(pixel, tuple) and all(abs(a - b) < NEAR for a, b in zip(pixel, GREEN, strict=True))


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _pictures(parts: list[dict[str, Any]]) -> list[Image.Image]:
    found = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in found]
