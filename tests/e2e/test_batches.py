"""A reply with several actions at the desk: accepted in part by keys, done in order, shown as one reply."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from protocol.actions.types import Click, PressKeys, TypeText
from protocol.trajectory.steps import BatchPosition
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

POOL = "Several actions"
REPLY = "\n".join(
    json.dumps(each)
    for each in (
        {"thought": "I fill the file.", "action": "click", "arguments": {"point": [500, 500]}},
        {"action": "type", "arguments": {"content": "hello"}},
        {"action": "hotkey", "arguments": {"key": "enter"}},
    )
)
pytestmark = pytest.mark.slow


class Model(BaseHTTPRequestHandler):
    """A model server that always says the same three actions."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        choice = {"index": 0, "delta": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "several", "choices": [choice]}
        self.send_response(200 if "chat" in self.path else 404)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def model_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


async def test_some_actions_of_a_reply_are_accepted_by_keys(
    sign_in: SignIn, platform: TemporaryPlatform, model_url: str
) -> None:
    platform.manage(
        "shell", "-c", f"from tests.e2e.drills import batching_load; batching_load({POOL!r}, {model_url!r})"
    )
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(POOL)
    await expect(page.get_by_text("3 actions, one after another")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("-")
    await expect(page.get_by_text("Only the first 2 of 3 actions")).to_be_visible()
    await page.keyboard.press("1")
    await expect(page.get_by_role("button", name="Action 2 of 2")).to_be_visible(timeout=BOUND_MS)
    await episode_page.stepped(2)
    first, second = await episode_page.steps()
    assert (first.action, second.action) == (Click(x=640, y=360), TypeText(text="hello"))
    assert (first.batch, second.batch) == (BatchPosition(index=1, size=2), BatchPosition(index=2, size=2))
    assert (first.proposal_id, first.decision) == (second.proposal_id, "edit")
    await page.keyboard.press("1")
    await episode_page.stepped(5)
    steps = await episode_page.steps()
    assert [step.decision for step in steps] == ["edit"] * 2 + ["accept"] * 3
    assert steps[-1].action == PressKeys(keys=("enter",))
