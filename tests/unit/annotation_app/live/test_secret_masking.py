"""Secrets go to the machine, and do not come back."""

import json
from datetime import UTC, datetime

import pytest

from annotation_app.tasks.secret_masking import substitute_secrets
from protocol.actions.types import Click, RunCommand, TypeText
from protocol.trajectory.observations import ActionError, BrowserPage, Observation, PageEvent, Tab
from protocol.trajectory.secret_masks import mask_error, mask_secrets, mask_text

VALUES = {"SHOP": "hunter2!", "SHOP_ADMIN": "hunter2!!", "PIN": "7"}


def text_observation(text: str) -> Observation:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Observation(
        screenshot=None,
        width=0,
        height=0,
        captured_at=at,
        settled=True,
        rest="rested",
        settle_ms=0,
        text=text,
        url=text,
    )


def test_a_name_becomes_its_value_and_the_act_keeps_the_name() -> None:
    act = TypeText(text="secret:SHOP\n")
    assert substitute_secrets(act, VALUES) == TypeText(text="hunter2!\n")
    assert act.text == "secret:SHOP\n"
    assert substitute_secrets(RunCommand(command="login secret:SHOP_ADMIN"), VALUES).command == "login hunter2!!"


def test_what_names_nothing_is_typed_as_it_is() -> None:
    for act in (TypeText(text="secret:OTHER secret: the"), Click(x=1, y=2)):
        assert substitute_secrets(act, VALUES) is act


def test_a_value_is_not_looked_for_again_in_what_was_put_in() -> None:
    assert substitute_secrets(TypeText(text="secret:A"), {"A": "secret:B", "B": "no"}).text == "secret:B"


def test_answers_have_the_name_and_the_longest_value_is_found_first() -> None:
    shown = mask_secrets(text_observation("password hunter2!! and hunter2!, page 7"), VALUES)
    assert shown.text == "password secret:SHOP_ADMIN and secret:SHOP, page 7"
    assert shown.url == shown.text
    assert mask_secrets(shown, VALUES) is shown
    error = mask_error(ActionError(code="failed", message="hunter2! is wrong"), VALUES)
    assert error is not None
    assert error.message == "secret:SHOP is wrong"
    assert mask_error(None, VALUES) is None


def test_the_words_of_a_page_have_the_name() -> None:
    said = "it is hunter2!"
    page = BrowserPage(
        title=said,
        clock="exact",
        seed=0,
        time_ms=0,
        description=said,
        verifier_error=said,
        tabs=(Tab(id="1", title=said, url=said, active=True),),
        events=(PageEvent(kind="dialog", text=said),),
    )
    shown = mask_secrets(text_observation("").model_copy(update={"page": page}), VALUES).page
    assert shown is not None
    assert "hunter2!" not in shown.model_dump_json()
    assert shown.model_dump_json().count("it is secret:SHOP") == 6


@pytest.mark.parametrize("only_ascii", [True, False])
def test_a_value_that_json_escapes_is_found_in_json(only_ascii: bool) -> None:
    value = 'pa"ss\\wörd'
    text = json.dumps({"password": value, "plain": "a"}, ensure_ascii=only_ascii)
    assert mask_text(text, {"SHOP": value}) == '{"password": "secret:SHOP", "plain": "a"}'
    assert mask_text(value, {"SHOP": value}) == "secret:SHOP"
