"""Judging by key points: which points and ratings are read, which screens are looked at, and what is left out."""

import pytest

from protocol.actions.types import CallUser, Click, Finish, TypeText
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, TextPart
from protocol.evaluation.key_points import (
    RatedScreen,
    build_rating_prompt,
    build_verdict_prompt,
    choose_screens,
    parse_points,
    parse_rating,
)
from tests.unit.protocol.examples import TASK, trajectory


def screen(number: int, rating: int | None = None) -> RatedScreen:
    ref = BlobRef.of(str(number).encode(), "image/png")
    return RatedScreen(caption=f"Screen {number}:", image=ref, rating=rating, note=f"note {number}")


def text_of(messages: tuple[ChatMessage, ...]) -> str:
    return "\n".join(part.text for message in messages for part in message.content if isinstance(part, TextPart))


def test_points_are_the_numbered_lines_of_a_reply() -> None:
    reply = "<think>1. no</think>Key points:\n1. The cart has one mug.\n 2) It is the cheapest.\n- Paid.\nThat is all."
    assert parse_points(reply) == ("The cart has one mug.", "It is the cheapest.", "Paid.")
    assert parse_points("There are none.") == ()


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("It shows the cart.\nRating: 4", 4),
        ("**Rating:** 5", 5),
        ("Rating: 3/5.", 3),
        ("Rating: 9", None),
        ("Rating: 4\nor 5", None),
        ("", None),
        ("<think>Rating: 5</think>Nothing.\nrating: 1", 1),
    ],
)
def test_a_rating_is_the_last_line(reply: str, rating: int | None) -> None:
    assert parse_rating(screen(1), reply).rating == rating


def test_the_last_screen_and_those_that_show_much_are_looked_at_in_order() -> None:
    screens = [screen(0, 3), screen(1, 1), screen(2, 5), screen(3, None), screen(4, 3), screen(5, 1)]
    chosen = choose_screens(screens, threshold=3, most=10)
    assert [one.caption for one in chosen] == ["Screen 0:", "Screen 2:", "Screen 3:", "Screen 4:", "Screen 5:"]
    fewer = choose_screens(screens, threshold=3, most=4)
    assert [one.caption for one in fewer] == ["Screen 2:", "Screen 3:", "Screen 4:", "Screen 5:"]
    assert choose_screens(screens, threshold=3, most=1) == (screens[5],)
    assert choose_screens([], threshold=3, most=5) == ()


def test_the_verdict_is_asked_for_without_a_claim_of_the_agent() -> None:
    acts = (Click(x=1, y=2), TypeText(text="a mug"), CallUser(message="claim one"), Finish(answer="claim two"))
    attempt = trajectory(*acts).model_copy(update={"answer": "claim three"})
    attempt = attempt.model_copy(
        update={"steps": tuple(step.model_copy(update={"thought": "claim four"}) for step in attempt.steps)}
    )
    messages = build_verdict_prompt(attempt, ("The cart has a mug.",), [screen(7, 5)])
    text = text_of(messages)
    assert "claim" not in text
    for said in ("Key point 1: The cart has a mug.", "a mug", "note 7", TASK.instruction):
        assert said in text
    images = [part.image for message in messages for part in message.content if isinstance(part, ImagePart)]
    assert images == [screen(7).image]


def test_a_rating_is_asked_for_one_screen() -> None:
    messages = build_rating_prompt(TASK, ("Done.",), screen(2))
    assert "Key point 1: Done." in text_of(messages)
    assert sum(isinstance(part, ImagePart) for part in messages[0].content) == 1
