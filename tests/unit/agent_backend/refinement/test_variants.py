"""Variants of a thought: what was said stays, what is not known is dropped, and nearly the same wordings are one."""

import asyncio
import json
from typing import Any

import pytest

from agent_backend.refinement.provenance import find_other_meaning, find_unsupported, is_near_identical
from agent_backend.refinement.variants import STYLES, VariantWriter, describe_step
from protocol.actions.types import Click, TypeText
from protocol.trajectory.variants import VariantKind
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.protocol.examples import step

EVIDENCE = (
    "Task: Enter the order of Anna Miller\nApplication: shop\nPage: Orders\nElements: button Save, field Amount\n"
    "Previous action: Click at (4, 4)\nAction: Type “42”"
)
THOUGHT = "I do not change the name. I type 42."


def answer(text: str) -> Events:
    return Events([chunk(0, text), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}])


def write(kind: VariantKind, *replies: str) -> tuple[Any, ModelServer]:
    server = ModelServer(*map(answer, replies))

    async def ask() -> Any:
        writer = VariantWriter("http://model/v1", "m", transport=server.transport)
        try:
            return await writer.write(kind, THOUGHT, EVIDENCE)
        finally:
            await writer.aclose()

    return asyncio.run(ask()), server


def test_an_enriched_thought_holds_what_was_said_word_for_word() -> None:
    made, server = write(
        "enriched",
        "The page Orders shows the field Amount. The order of Anna Miller costs 99. I need it for the order.",
    )
    (sentences,) = made.variants
    assert [(one.text, one.support) for one in sentences] == [
        ("The page Orders shows the field Amount.", "added"),
        ("I need it for the order.", "added"),
        ("I do not change the name.", "verbatim"),
        ("I type 42.", "verbatim"),
    ], "a number that nobody gave is dropped with its sentence"
    assert "Elements: button Save" in json.dumps(server.asked[0]["messages"])


def test_a_model_that_knows_nothing_is_asked_once_more_and_then_abstained_from() -> None:
    made, server = write("enriched", "The page of Bob Smith is open.", "There is no error in the field Amount.")
    assert (made.variants, made.problem) == ((), "a negation was added")
    assert "not known: bob" in server.asked[1]["messages"][-1]["content"]
    made, _ = write("enriched", "I type 42.", "")
    assert (made.variants, made.problem) == ((), "the reply is empty")


def test_other_wordings_keep_the_facts_and_differ() -> None:
    made, server = write(
        "diversified",
        "Without touching the name, 42 is what I type.",
        "I type 43 and do not change the name.",
        "The name is not changed; 42 is typed.",
        "Without touching the name, 42 is what I type now.",
    )
    texts = [" ".join(one.text for one in sentences) for sentences in made.variants]
    assert texts == ["Without touching the name, 42 is what I type.", "The name is not changed; 42 is typed."]
    assert all(one.support == "paraphrased" for sentences in made.variants for one in sentences)
    assert made.problem == ""
    assert len(server.asked) == len(STYLES) + 1, "a changed number is asked for again, a near copy is not"


def test_no_wording_is_better_than_a_wrong_one() -> None:
    made, server = write("diversified", *["I change the name and type 42."] * 2 * len(STYLES))
    assert (made.variants, made.problem) == ((), "a negation was changed")
    assert len(server.asked) == 2 * len(STYLES)


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("The window of the shop shows the button Save.", ""),
        ("The amount is 42.", ""),
        ("The amount is 43.", "not known: 43"),
        ("I see the button Cancel.", "not known: cancel"),
        ("The amount is not filled in.", "a negation was added"),
        ("Now the customer complains about slow delivery.", "most of it is not known"),
        ("Victor has the page open.", "not known: victor"),
        ("屏幕上显示应用 shop 的页面。", ""),
    ],
)
def test_an_added_sentence_follows_from_what_is_known(sentence: str, problem: str) -> None:
    assert find_unsupported(sentence, EVIDENCE) == problem


@pytest.mark.parametrize(
    ("reworded", "problem"),
    [
        ("I leave the name alone, not changing it, and type 42.", ""),
        ("I type 42.", "a negation was changed"),
        ("I do not change the name.", "left out: 42"),
        ("I do not change the name of Anna. I type 42.", "never said: anna"),
        ("No 42.", "most of what was said is left out"),
        (f"{THOUGHT} " + "I look at it for a while and then " * 4, "it says more than was said"),
    ],
)
def test_another_wording_means_the_same(reworded: str, problem: str) -> None:
    assert find_other_meaning(THOUGHT, reworded) == problem


def test_nearly_the_same_words_are_one_wording() -> None:
    assert is_near_identical("I type 42, not changing the name!", ["I type 42 not changing the name"])
    assert not is_near_identical("The name stays; 42 is typed", ["I type 42 not changing the name"])


def test_what_is_known_of_a_step_is_said_line_by_line() -> None:
    first = step(0, Click(x=4, y=4))
    second = step(1, TypeText(text="42"))
    look = second.before.model_copy(
        update={"application": "shop", "accessibility": "button Save", "url": None, "text": None, "page": None}
    )
    second = second.model_copy(update={"before": look})
    assert describe_step("Order it", (first, second), 1, "button “Save”").splitlines() == [
        "Task: Order it",
        "Application: shop",
        "Elements: button Save",
        "Previous action: Click at (4, 4)",
        "Action: Type “42”",
        "Element: button “Save”",
    ]
