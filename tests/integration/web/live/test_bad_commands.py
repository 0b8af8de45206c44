"""What must be refused at the socket: each with its code, changing nothing, losing nothing."""

import json
from typing import Any
from uuid import uuid4

import pytest

from annotation_app.episodes.selectors import trajectories
from annotation_app.live.consumers import COMMAND_BURST, MAX_REJECTIONS, MESSAGE_LIMIT_CHARACTERS
from annotation_app.live.store import run_in_db_thread
from tests.integration.web.conftest import EpisodeSocket, Stack

CLICK = {"kind": "click", "x": 5, "y": 6}


def act(**fields: Any) -> dict[str, Any]:
    return {"type": "act", "command_id": uuid4().hex, "thought": "because", "action": CLICK, **fields}


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown command": ({"type": "format_disk", "command_id": "12345678"}, "invalid"),
    "an unknown field": (act(colour="red"), "invalid"),
    "an unknown field of an action": (act(action={**CLICK, "button": "left"}), "invalid"),
    "an unknown action": (act(action={"kind": "teleport", "x": 1, "y": 1}), "invalid"),
    "a text for a number": (act(action={"kind": "click", "x": "5", "y": 6}), "invalid"),
    "a fraction of a pixel": (act(action={"kind": "click", "x": 5.5, "y": 6}), "invalid"),
    "a negative pixel": (act(action={"kind": "click", "x": -1, "y": 6}), "invalid"),
    "a command_id with spaces": (act(command_id="a b c d e f g h"), "invalid"),
    "a command_id that is a path": (act(command_id="../../etc/passwd"), "invalid"),
    "a number for a thought": (act(thought=7), "invalid"),
    "a thought too long": (act(thought="x" * 8_001), "invalid"),
    "a text too long": (act(action={"kind": "type_text", "text": "x" * 20_001}), "invalid"),
    "no thought": (act(thought="  "), "thought_required"),
    "a pixel off the screen": (act(action={"kind": "click", "x": 32_000, "y": 6}), "off_screen"),
    "a drag that ends off the screen": (
        act(action={"kind": "drag", "start": {"x": 1, "y": 1}, "end": {"x": 1, "y": 32_000}}),
        "off_screen",
    ),
    "an action this machine cannot do": (act(action={"kind": "press_home"}), "unsupported_action"),
    "a stale accept": (
        {"type": "accept", "command_id": "12345678", "proposal_id": "p", "base_version": 7},
        "stale_accept",
    ),
    "an unknown proposal": (
        {"type": "accept", "command_id": "12345678", "proposal_id": "p", "base_version": 0},
        "unknown_proposal",
    ),
    "a mark on an unknown proposal": (
        {"type": "mark", "command_id": "12345678", "proposal_id": "p", "mark": "wrong"},
        "unknown_proposal",
    ),
    "input without a takeover": (
        {"type": "input", "command_id": "12345678", "inputs": [{"kind": "move_to", "x": 1, "y": 1}]},
        "not_in_takeover",
    ),
    "undo where the machine cannot": ({"type": "undo", "command_id": "12345678"}, "cannot_undo"),
}


async def stored(desk: EpisodeSocket) -> Any:
    return await run_in_db_thread(trajectories.episode_state, episode_id=desk.episode_id)


async def test_bad_commands_are_refused_and_change_nothing(stack: Stack) -> None:
    desk = await stack.deciding()
    before = await stored(desk)
    codes = {name: (await desk.ask(**command))["code"] for name, (command, _) in BAD.items()}
    assert codes == {name: code for name, (_, code) in BAD.items()}
    assert await stored(desk) == before
    assert (await desk.ask(**act()))["type"] == "acknowledged", "the socket still works"


@pytest.mark.parametrize("text", ["{", "null", "[]", '"act"', "\x00", '{"type": 5}', "[" * 100_000])
async def test_what_is_no_command_is_refused(stack: Stack, text: str) -> None:
    desk = await stack.deciding()
    await desk.socket.send_to(text_data=text)
    assert (await desk.until(type="rejected"))["code"] == "invalid"


async def test_binary_and_oversized_messages_are_refused(stack: Stack) -> None:
    desk = await stack.deciding()
    await desk.socket.send_to(bytes_data=b"\x00\x01")
    assert (await desk.until(type="rejected"))["code"] == "invalid"
    await desk.socket.send_to(text_data=json.dumps(act(thought="x" * MESSAGE_LIMIT_CHARACTERS)))
    assert (await desk.until(type="rejected"))["code"] == "invalid"


async def test_a_command_id_with_another_body_is_a_conflict(stack: Stack) -> None:
    desk = await stack.deciding()
    command = act()
    await desk.ask(**command)
    await desk.until(type="step.added")
    answer = await desk.ask(**{**command, "action": {"kind": "click", "x": 9, "y": 9}})
    assert (answer["type"], answer["code"]) == ("rejected", "command_conflict")
    assert len((await stored(desk)).steps) == 1


async def test_hostile_task_text_is_only_text(stack: Stack) -> None:
    desk = await stack.deciding()
    hostile = "</script><script>alert(1)</script> \u202e {{7*7}} '; DROP TABLE episodes_step; --"
    await desk.ask(**act(thought=hostile, action={"kind": "type_text", "text": hostile}))
    added = await desk.until(type="step.added")
    assert added["step"]["thought"] == hostile
    assert (await stored(desk)).steps[0].action.text == hostile


async def test_the_refusal_does_not_repeat_the_input(stack: Stack) -> None:
    desk = await stack.deciding()
    answer = await desk.ask(**act(action={"kind": "click", "x": "hunter2", "y": 6}))
    assert "hunter2" not in answer["message"]
    assert "action.click.x" in answer["message"]


async def test_flooding_is_refused_and_then_ended(stack: Stack) -> None:
    desk = await stack.deciding()
    for _ in range(COMMAND_BURST + MAX_REJECTIONS * 2):
        await desk.send(type="ping", at=1.0)
    assert (await desk.until(type="rejected"))["code"] == "flooding"
    assert await desk.closed() == 4429


async def test_two_accepts_of_one_decision_make_one_step(stack: Stack) -> None:
    desk = await stack.deciding()
    offered = desk.heard[-1]["proposals"]
    for proposal in offered:
        await desk.send(type="accept", command_id=uuid4().hex, proposal_id=proposal["id"], base_version=0)
    refused = await desk.until(type="rejected")
    assert refused["code"] == "stale_accept"
    steps = (await stored(desk)).steps
    assert [step.proposal_id for step in steps] == [offered[0]["id"]]
