"""Records of played games: a hash chain of rows, bound to the game's source and its verifier.

A record is believed when its moves, made again, give every state and score that it tells of.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from pydantic import JsonValue

from protocol.base import FrozenModel
from task_factory.games.checksums import source_sha256
from task_factory.games.faults import Fault
from task_factory.games.harness import DerivedState
from vm_bridge.suites.web.task_folder import TaskFolder

FIRST_HASH = "0" * 64
"""What stands for the row before the first."""


class GameRow(FrozenModel):
    """The state after one move; row 0, whose action is empty, is the start."""

    game_id: str
    version: str
    source_sha256: str
    verifier_sha256: str
    seed: int
    level: int
    step: int
    action: str
    reward: float
    """What the move added to the verifier's score."""
    done: bool
    score: float
    """The game's own."""
    state_hash: str
    prev_hash: str
    """SHA-256 of the row before."""

    @property
    def digest(self) -> str:
        """SHA-256 of the row."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def make_rows(
    folder: TaskFolder, task: dict[str, JsonValue], history: Sequence[str], states: Sequence[DerivedState]
) -> tuple[GameRow, ...]:
    """The record of an episode in which these moves led to these states."""
    rows, before = list[GameRow](), FIRST_HASH
    source, verifier = source_sha256(folder), folder.checksum
    for step, (action, state) in enumerate(zip(("", *history), states, strict=True)):
        row = GameRow(
            game_id=folder.manifest.name,
            version=folder.manifest.version,
            source_sha256=source,
            verifier_sha256=verifier,
            seed=int(str(task["seed"])),
            level=state.level,
            step=step,
            action=action,
            reward=_gain(states, step),
            done=state.done,
            score=state.score,
            state_hash=state.hash,
            prev_hash=before,
        )
        rows.append(row)
        before = row.digest
    return tuple(rows)


def chain_rows(rows: Sequence[GameRow]) -> tuple[GameRow, ...]:
    """The same rows with their steps and hashes made to follow each other."""
    chained, before = list[GameRow](), FIRST_HASH
    for step, row in enumerate(rows):
        chained.append(row.model_copy(update={"step": step, "prev_hash": before}))
        before = chained[-1].digest
    return tuple(chained)


def find_record_faults(rows: Sequence[GameRow], folder: TaskFolder, states: Sequence[DerivedState]) -> Iterator[Fault]:
    """What is wrong with a record, at most one fault a code.

    Args:
        rows: The record.
        folder: The game that it tells of, as it is now.
        states: What `Harness.derive` makes of the record's task and moves.
    """
    if not rows or chain_rows(rows) != tuple(rows) or rows[0].action:
        yield Fault("record_chain", "steps or hashes of rows do not follow each other")
    if any(row.source_sha256 != source_sha256(folder) for row in rows):
        yield Fault("record_source", "the checksum of the source is another one")
    if any(row.verifier_sha256 != folder.checksum for row in rows):
        yield Fault("record_verifier", "the checksum of the verifier is another one")
    if any(row.done for row, _ in pairwise(rows)):
        yield Fault("record_end", "rows follow the end")
    elif len(states) < len(rows):
        yield Fault("record_action", f"the move {rows[len(states)].action!r} is not legal")
    pairs = [(row, state) for row, state in zip_longest(rows, states) if row and state]
    if any((row.state_hash, row.done, row.level) != (state.hash, state.done, state.level) for row, state in pairs):
        yield Fault("record_state", "a state does not follow from the moves")
    rewards = [_gain(states, step) for step in range(len(pairs))]
    if any(row.score != state.score or row.reward != gain for (row, state), gain in zip(pairs, rewards, strict=True)):
        yield Fault("record_score", "a score does not follow from the moves")


def moves_of(rows: Sequence[GameRow]) -> tuple[str, ...]:
    """The moves that a record tells of."""
    return tuple(row.action for row in rows[1:])


def _gain(states: Sequence[DerivedState], step: int) -> float:
    return round(states[step].reward - (states[step - 1].reward if step else 0.0), 9)
