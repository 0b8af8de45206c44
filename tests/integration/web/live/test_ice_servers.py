"""Who may watch over WebRTC is told of TURN servers, with a pass of their own and never the secret."""

import json
from typing import Any

import pytest

from annotation_app.live.store import run_in_db_thread
from tests.integration.web.conftest import Stack

SERVERS: list[dict[str, Any]] = [
    {"urls": "stun:stun.example:3478"},
    {"urls": ["turn:turn.example:3478", "turns:turn.example:5349"], "secret": "shared with coturn"},
]


@pytest.mark.parametrize("kind", ["webrtc", "stills"])
async def test_a_ticket_says_which_servers_help(stack: Stack, settings: Any, kind: str) -> None:
    settings.ENV = settings.ENV.model_copy(update={"ice_servers": json.dumps(SERVERS)})
    desk = await stack.deciding()
    url, client = f"/api/episodes/{desk.episode_id}/tickets", stack.world.client
    body = {"kind": kind}
    answer = await run_in_db_thread(lambda: client(stack.world.ada).post(url, body, content_type="application/json"))
    told = answer.json()["ice_servers"]
    if kind == "stills":
        assert told == []
        return
    assert told[0] == {"urls": ["stun:stun.example:3478"], "username": "", "credential": ""}
    assert told[1]["urls"] == SERVERS[1]["urls"]
    assert told[1]["username"].endswith(":ada")
    assert "shared with coturn" not in answer.content.decode()
