"""A policy asks to see: nothing is done to the machine, and what it sees is a step like any other."""

import io

import pytest
from PIL import Image

from agent_backend.episode.machine_session import crop_screenshot
from protocol.actions.types import Point, Screenshot, TypeText, Zoom
from protocol.dialects.conversations import build_conversation
from protocol.dialects.dialect import ImagePart
from protocol.messages.events import Act
from tests.unit.agent_backend.conftest import EpisodeHarness

PART = Zoom(start=Point(x=20, y=20), end=Point(x=99, y=64))


def test_a_part_is_enlarged_to_the_screen_whichever_corner_comes_first() -> None:
    picture = Image.new("RGB", (1280, 720))
    picture.paste((200, 30, 40), (20, 20, 100, 65))
    written = io.BytesIO()
    picture.save(written, "PNG")
    for action in (PART, Zoom(start=PART.end, end=PART.start)):
        ref, data = crop_screenshot(written.getvalue(), action, (1280, 720))
        with Image.open(io.BytesIO(data)) as part:
            assert (part.size, ref.media_type) == ((1280, 720), "image/png")
            assert {part.getpixel((0, 0)), part.getpixel((1279, 719))} == {(200, 30, 40)}


async def test_looks_are_steps_and_do_nothing(harness: EpisodeHarness) -> None:
    await harness.started()
    assert {"screenshot", "zoom"} <= set(harness.store.state.capabilities)
    for number, action in enumerate((Screenshot(), PART)):
        await harness.send(Act(command_id=f"command-{number}", action=action, thought="I look."))
        await harness.steps(number + 1)
    assert harness.sandbox.acts == []
    look, part = harness.store.state.steps
    assert (look.error, part.error) == (None, None)
    assert look.after is not None
    assert (look.after.screenshot, look.after.attachment) == (look.before.screenshot, None)
    assert part.after is not None
    assert part.after.attachment is not None
    assert part.after.attachment.sha256 in harness.store.blobs


async def test_the_part_is_shown_with_the_screen_in_place_of_an_older_one(harness: EpisodeHarness) -> None:
    await harness.started()
    for number, action in enumerate((TypeText(text="a"), PART)):
        await harness.send(Act(command_id=f"command-{number}", action=action, thought="I look."))
        await harness.steps(number + 1)
    steps, seen = harness.store.state.steps, harness.store.state.observation
    assert seen is not None

    def shown(images: int) -> list[ImagePart]:
        said = build_conversation(
            "Do it.", tuple((step,) for step in steps), seen, images=images, turn=lambda reply: reply[0].thought
        )
        return [part for message in said for part in message.content if isinstance(part, ImagePart)]

    assert len(shown(1)) == 1
    assert [one.image for one in shown(2)] == [seen.attachment, seen.screenshot]
    assert len(shown(3)) == 3


async def test_a_screenshot_that_cannot_be_read_rejects_the_zoom_alone(
    harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.started()
    with monkeypatch.context() as patch:
        patch.setattr("agent_backend.pictures.MAX_PIXELS", 1)
        await harness.send(Act(command_id="command-0", action=PART, thought="I look."))
        await harness.steps(1)
    await harness.send(Act(command_id="command-1", action=PART, thought="I look again."))
    await harness.steps(2)
    rejected, done = harness.store.state.steps
    assert rejected.error is not None
    assert rejected.error.code == "invalid_action"
    assert rejected.after is not None
    assert rejected.after.attachment is None
    assert done.error is None
