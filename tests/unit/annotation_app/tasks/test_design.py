"""Task design without a database: the rubric, what is wanted, wordings that a model may say, graphs in files."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_app.design.coverage import Cell, CoverageNode, gaps, weights
from annotation_app.design.difficulty import LEVELS, Rubric, guess_rubric, level_of
from annotation_app.design.graph import graph_read
from annotation_app.design.rewording import MAX_WORDING_LENGTH, parse_wordings, quoted_texts
from protocol.trajectory.tasks import Task

RUBRICS = st.builds(
    Rubric,
    steps=st.integers(0, 1_000),
    pages=st.integers(0, 1_000),
    prerequisites=st.integers(0, 1_000),
    exceptions=st.integers(0, 1_000),
)
ASKED = 'Rename report.txt to "final.txt".'


@pytest.mark.parametrize(
    ("rubric", "level"),
    [
        (Rubric(steps=2), 1),
        (Rubric(steps=8), 2),
        (Rubric(steps=8, pages=1), 2),
        (Rubric(steps=15, pages=1), 3),
        (Rubric(steps=25, pages=2, prerequisites=1), 4),
        (Rubric(steps=60, pages=2, exceptions=1), 5),
    ],
)
def test_what_is_counted_makes_a_level(rubric: Rubric, level: int) -> None:
    assert level_of(rubric) == level


@given(RUBRICS, st.sampled_from(sorted(Rubric.model_fields)))
def test_more_of_anything_is_never_easier(rubric: Rubric, name: str) -> None:
    more = rubric.model_copy(update={name: getattr(rubric, name) + 1})
    assert level_of(rubric) in LEVELS
    assert level_of(more) >= level_of(rubric)


def test_a_guess_comes_from_what_a_task_says_of_itself() -> None:
    easy = Task(id="a", instruction="Do it.", max_steps=6)
    hard = Task(id="b", instruction="Do it.", max_steps=90, parameters={"level": 3})
    assert guess_rubric(easy) == Rubric(steps=3)
    assert (guess_rubric(hard).prerequisites, level_of(guess_rubric(hard))) == (2, 4)


def test_importance_is_shared_down_the_graph() -> None:
    places = [CoverageNode(1, None, 3), CoverageNode(2, None, 1), CoverageNode(3, 1, 1), CoverageNode(4, 1, 2)]
    assert weights(places) == pytest.approx({1: 0.75, 2: 0.25, 3: 0.25, 4: 0.5})
    assert weights([CoverageNode(1, None, 0)]) == {1: 0.0}


def test_the_most_important_cell_that_lacks_attempts_comes_first() -> None:
    places = [CoverageNode(1, None, 3), CoverageNode(2, None, 1)]
    found = gaps(places, {Cell(1, 1): 3, Cell(1, 2): 1})
    assert found[0] == (Cell(1, 3), 0.75)
    assert Cell(1, 1) not in [cell for cell, _ in found], "it has enough"
    assert dict(found)[Cell(1, 2)] == pytest.approx(0.5)
    assert all(cell.node != 1 for cell, _ in gaps([*places, CoverageNode(3, 1, 1)], {})), "only leaves are cells"


def test_wordings_are_read_from_a_list_or_from_numbered_lines() -> None:
    said = ['Call report.txt "final.txt".', 'Give report.txt the name "final.txt".']
    for reply in (
        json.dumps(said),
        f"Here you are:\n```json\n{json.dumps(said)}\n```",
        "\n".join(f"{number}. {one}" for number, one in enumerate(said, start=1)),
    ):
        assert parse_wordings(reply, instruction=ASKED, count=5) == tuple(said)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot do that.",
        "[1, 2]",
        "[" * 5_000,
        json.dumps([ASKED, ASKED.upper()]),
        json.dumps(['Call it "other.txt".']),
        json.dumps(["x" * (MAX_WORDING_LENGTH + 1) + '"final.txt"']),
        json.dumps(['\x00 "final.txt"']),
    ],
)
def test_bad_replies_are_worth_nothing(reply: str) -> None:
    assert parse_wordings(reply, instruction=ASKED, count=5) == ()


def test_no_more_than_was_asked_for_and_nothing_twice() -> None:
    said = [f'Wording {number} of "final.txt"' for number in range(50)]
    assert len(parse_wordings(json.dumps(said + said), instruction=ASKED, count=7)) == 7
    assert parse_wordings(json.dumps([said[0], said[0] + " !"]), instruction=ASKED, count=7) == (said[0],)


@given(st.text(max_size=500))
def test_whatever_a_model_says_is_read_within_bounds(reply: str) -> None:
    found = parse_wordings(reply, instruction="Do it.", count=3)
    assert len(found) <= 3
    assert all(0 < len(text) <= MAX_WORDING_LENGTH for text in found)


def test_quotes_of_several_kinds_are_kept() -> None:
    assert quoted_texts('Call “one” and "two" and 「三」.') == ("one", "two", "三")


def test_graphs_are_read_with_every_fault() -> None:
    rows, faults = graph_read(b"application,function,part,importance\nshop,,,3\nshop,cart,pay,\n", "csv")
    assert not faults
    assert [(row.application, row.function, row.part, row.importance) for row in rows] == [
        ("shop", "", "", 3.0),
        ("shop", "cart", "pay", 1.0),
    ]
    wrong = b"application,function,part,importance\n,a,,1\nshop,,pay,1\nshop,,,x\nshop,,,1\nshop,,,1\na,b,c,1,2\n"
    _rows, faults = graph_read(wrong, "csv")
    assert [fault.row for fault in faults] == [1, 2, 3, 5, 6]
    partly = b"application,frequency,benefit\nshop,8,5\n"
    assert [one.reason for one in graph_read(partly, "csv")[1]] == [
        "frequency, benefit and transfer are given together"
    ]


@pytest.mark.parametrize("data", [b"{", b'{"application": "shop"}', b"\xff\xfe", b"[[[[" * 4_000])
def test_what_is_no_graph_is_told(data: bytes) -> None:
    rows, faults = graph_read(data, "json")
    assert rows == ()
    assert len(faults) == 1
