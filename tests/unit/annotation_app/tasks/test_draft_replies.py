"""What a model's reply with task drafts is read as, and why a draft of it is left out."""

import json
from typing import Any

import pytest

from annotation_app.design.difficulty import Rubric
from annotation_app.design.draft_replies import (
    Cell,
    LeftOutReason,
    Topic,
    has_secret,
    is_level_contradicted,
    is_vague,
    parse_drafts,
    render_prompt,
    share_out,
)

TOPIC = Topic(path=("Mail", "Send"), applications=("Mail", "Calendar"), known=("Send  a mail to Bo.",))
CELL = Cell(expertise="novice", scope="single", count=2)


def draft(**more: object) -> dict[str, Any]:
    """A draft as the prompt asks for it."""
    criteria = ["The folder Sent shows a mail to Ann"]
    return {
        "text": "Send a mail to Ann",
        "applications": ["Mail"],
        "criteria": criteria,
        "rubric": {"steps": 3},
        **more,
    }


ONE = json.dumps(draft())


@pytest.mark.parametrize(
    "reply",
    [
        f"[{ONE}]",
        f"Sure, here you are:\n```json\n[{ONE},]\n```\nAnything else?",
        f'{{"tasks": [{ONE}]}}',
        f'[{ONE}, {{"text": "cut off he',
        f'{{"a": 1}}\n{ONE}',
        json.dumps(draft(text="Send  a\nmail to Ann", applications="mail")),
        json.dumps({**draft(), "text": None, "instruction": "Send a mail to Ann"}),
    ],
)
def test_a_draft_is_read_whatever_stands_around_it(reply: str) -> None:
    drafts, left_out = parse_drafts(reply, TOPIC, CELL)
    assert [(one.text, one.applications, one.rubric.steps) for one in drafts] == [("Send a mail to Ann", ("Mail",), 3)]
    assert left_out == ()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (draft(text=""), "empty"),
        (draft(text="x" * 2_001), "too_long"),
        (draft(criteria=["y" * 301]), "too_long"),
        (draft(criteria=[]), "no_criterion"),
        (draft(criteria=["The mail is sent", "It looks good"]), "vague_criterion"),
        (draft(applications=["Mail", "Telegraph"]), "unknown_application"),
        (draft(applications=["Mail", "Calendar"]), "wrong_scope"),
        (draft(rubric={"steps": "many"}), "bad_rubric"),
        (draft(preconditions=[f"Mail {number} is there" for number in range(13)]), "too_many_statements"),
        (draft(text='Sign in with the password "hunter2"'), "names_secret"),
        (draft(text="send a mail to BO"), "duplicate"),
    ],
)
def test_what_is_of_no_use_is_left_out_and_says_why(said: dict[str, Any], reason: LeftOutReason) -> None:
    drafts, left_out = parse_drafts(json.dumps([said]), TOPIC, CELL)
    assert (drafts, [one.reason for one in left_out]) == ((), [reason])


def test_a_reply_has_as_many_drafts_as_were_asked_for_and_each_once() -> None:
    said = [draft(text=f"Send mail {number}") for number in (1, 2, 2, 3)]
    drafts, left_out = parse_drafts(json.dumps(said), TOPIC, CELL)
    assert [one.text for one in drafts] == ["Send mail 1", "Send mail 2"]
    assert [one.reason for one in left_out] == ["duplicate", "beyond_count"]
    assert [one.reason for one in parse_drafts("I cannot do that.", TOPIC, CELL)[1]] == ["no_draft"]


def test_replies_that_are_nested_or_endless_end() -> None:
    for reply in ("{" * 50_000, '{"a":' * 20_000, "[" * 100_000):
        assert parse_drafts(reply, TOPIC, CELL)[0] == ()


@pytest.mark.parametrize(
    ("criterion", "vague"),
    [
        ("It looks good", True),
        ("The page works as expected", True),
        ("The user is happy", True),
        ("Task is completed successfully.", True),
        ("看起来不错", True),
        ("任务完成", True),
        ("ok", True),
        ("The order's state is “completed”", False),
        ("The cell B2 shows 14", False),
        ("购物车里有3个杯子", False),
    ],
)
def test_a_criterion_can_be_checked_or_not(criterion: str, vague: bool) -> None:
    assert is_vague(criterion) == vague


def test_secrets_are_known_by_their_values_and_not_by_their_names() -> None:
    assert all(map(has_secret, ("Type secret:SHOP", "The PIN is 4711", "密码是 abc", "Use sk-abcdefgh1234")))
    assert not any(map(has_secret, ("Change your password", "Pin the note", "Reset the API key", "修改密码")))


def test_a_count_is_shared_out_and_a_rubric_may_contradict() -> None:
    cells = share_out(5, ("expert", "novice"), ("several", "single"))
    assert [(one.expertise, one.scope, one.count) for one in cells] == [
        ("novice", "single", 2),
        ("novice", "several", 1),
        ("expert", "single", 1),
        ("expert", "several", 1),
    ]
    assert len(share_out(1, ("novice", "expert"), ("single",))) == 1
    assert is_level_contradicted("novice", Rubric(steps=60, pages=2))
    assert not is_level_contradicted("expert", Rubric(steps=60, pages=2))


def test_the_prompt_names_the_place_the_person_and_the_other_applications() -> None:
    prompt = render_prompt(Topic(**{**vars(TOPIC), "persona": "a nurse"}), CELL.model_copy(update={"scope": "several"}))
    assert all(
        words in prompt for words in ("Mail / Send", "a nurse", "other of these applications: Calendar", "beginner")
    )
