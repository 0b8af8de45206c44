"""Models that write tasks, and the transcript of what they were asked."""

import json
from pathlib import Path

import httpx
import pytest

from task_factory.language_models import (
    Message,
    RecordedModel,
    ServedModel,
    TranscribedModel,
    prompt_digest,
    read_transcript,
)

QUESTION = (Message(role="user", content="Write a game."),)


async def test_a_served_model_is_asked_for_one_reply() -> None:
    asked: list[dict[str, object]] = []

    def serve(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        events = ({"index": 0, "delta": {"content": "Here."}}, {"index": 0, "delta": {}, "finish_reason": "stop"})
        body = "".join(f"data: {json.dumps({'choices': [event]})}\n\n" for event in events) + "data: [DONE]\n\n"
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)

    model = ServedModel("http://models/v1", "writer", max_tokens=77, transport=httpx.MockTransport(serve))
    try:
        assert await model.complete(QUESTION) == "Here."
    finally:
        await model.aclose()
    assert asked[-1]["messages"] == [{"role": "user", "content": "Write a game."}]
    assert (asked[-1]["model"], asked[-1]["max_tokens"], asked[-1]["n"]) == ("writer", 77, 1)


async def test_recorded_replies_come_in_order_and_end() -> None:
    model = RecordedModel(["one", "two"])
    assert [await model.complete(QUESTION), await model.complete(QUESTION)] == ["one", "two"]
    with pytest.raises(LookupError):
        await model.complete(QUESTION)


async def test_a_transcript_has_every_exchange(tmp_path: Path) -> None:
    transcript = tmp_path / "made" / "transcript.jsonl"
    model = TranscribedModel(RecordedModel(["ünï", "二"], name="m"), transcript)
    await model.complete(QUESTION)
    await model.complete((*QUESTION, Message(role="assistant", content="ünï"), Message(role="user", content="Again.")))
    first, second = read_transcript(transcript)
    assert (first.model, first.reply, second.reply) == ("m", "ünï", "二")
    assert first.prompt_sha256 == prompt_digest(QUESTION) != second.prompt_sha256
    assert second.messages[-1].content == "Again."
