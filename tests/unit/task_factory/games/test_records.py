"""Records of games: what is noticed when a row is changed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from task_factory.games.harness import DerivedState, LevelPlay
from task_factory.games.records import GameRow, chain_rows, find_record_faults, make_rows, moves_of
from task_factory.games.validation import find_easier_levels
from vm_bridge.suites.web import MADE_GAMES

FOLDER = MADE_GAMES.folder("stones")
MOVES = ("heap 0 take 1", "heap 1 take 2")
STATES = tuple(
    DerivedState(hash=f"{step:064x}", score=step, level=1, done=step == 2, reward=step / 2, success=step == 2)
    for step in range(3)
)
ROWS = make_rows(FOLDER, {"seed": 4, "level": 1}, MOVES, STATES)


def edited(at: int, **changes: Any) -> Sequence[GameRow]:
    rows = list(ROWS)
    rows[at] = rows[at].model_copy(update=changes)
    return chain_rows(rows)


def test_an_honest_record_is_believed() -> None:
    assert list(find_record_faults(ROWS, FOLDER, STATES)) == []
    assert moves_of(ROWS) == MOVES
    assert [row.prev_hash for row in ROWS[1:]] == [row.digest for row in ROWS[:-1]]
    assert [row.reward for row in ROWS] == [0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("forge", "code"),
    [
        (lambda: (ROWS[0], ROWS[1].model_copy(update={"score": 9.0}), ROWS[2]), "record_chain"),
        (lambda: (ROWS[0], ROWS[2]), "record_chain"),
        (lambda: (), "record_chain"),
        (lambda: edited(2, score=1e9), "record_score"),
        (lambda: edited(1, reward=1.0), "record_score"),
        (lambda: edited(1, state_hash="f" * 64), "record_state"),
        (lambda: edited(1, done=True), "record_end"),
        (lambda: edited(0, source_sha256="0" * 64), "record_source"),
        (lambda: edited(0, verifier_sha256="0" * 64), "record_verifier"),
        (lambda: chain_rows([*ROWS, ROWS[1]]), "record_end"),
    ],
)
def test_a_change_has_its_code(forge: Callable[[], Sequence[GameRow]], code: str) -> None:
    assert code in {fault.code for fault in find_record_faults(forge(), FOLDER, STATES)}


def test_a_move_that_is_not_legal_is_named() -> None:
    faults = {fault.code: fault.text for fault in find_record_faults(ROWS, FOLDER, STATES[:2])}
    assert "heap 1 take 2" in faults["record_action"]


def play(score: float, count: int = 400) -> LevelPlay:
    return LevelPlay(count=count, won=0, steps=count, score=score * count, most=9)


@pytest.mark.parametrize(
    ("scores", "steps", "easier"),
    [
        ((0.5, 0.4, 0.3), (5, 5, 5), 0),
        ((0.5, 0.5, 0.5), (5, 8, 12), 0),
        ((0.5, 0.5, 0.3), (5, 5, 5), 1),
        ((0.3, 0.5, 0.5), (5, 9, 9), 2),
    ],
)
def test_levels_must_be_harder_for_chance_or_longer_for_the_expert(
    scores: tuple[float, ...], steps: tuple[float, ...], easier: int
) -> None:
    levels = {level: play(score) for level, score in enumerate(scores, 1)}
    assert len(find_easier_levels(levels, steps)) == easier
