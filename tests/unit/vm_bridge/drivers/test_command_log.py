"""A command is done once, even when the process that took it ends and another reads what it left."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from protocol.actions.types import TypeText
from protocol.trajectory.observations import Observation, Transition
from vm_bridge.drivers import command_log
from vm_bridge.drivers.command_log import CommandLog
from vm_bridge.errors import CommandConflict, OutcomeUnknown, StaleLease

ACTION = TypeText(text="x")
NOW = datetime(2030, 1, 2, tzinfo=UTC)
SEEN = Observation(
    screenshot=None, width=0, height=0, captured_at=NOW, settled=True, rest="rested", settle_ms=1, text="done"
)
DONE = Transition(before=SEEN, after=SEEN, error=None, started_at=NOW, ended_at=NOW)


async def act() -> Transition:
    return DONE


async def crash() -> Transition:
    raise OutcomeUnknown("it crashed")


async def refuse() -> Transition:
    raise StaleLease("too late")


async def never() -> Transition:
    raise AssertionError("it was done before")


def cut_off(file: Path) -> None:
    file.write_text(file.read_text()[:-40])


def lines(file: Path) -> int:
    return len(file.read_text().splitlines())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "acts.jsonl"


async def test_the_next_process_gives_the_stored_result(file: Path) -> None:
    await CommandLog(file).once("command-1", ACTION, settle=True, act=act)
    assert await CommandLog(file).once("command-1", ACTION, settle=True, act=never) == DONE


async def test_it_refuses_another_action_under_the_same_id(file: Path) -> None:
    await CommandLog(file).once("command-1", ACTION, settle=True, act=act)
    with pytest.raises(CommandConflict):
        await CommandLog(file).once("command-1", TypeText(text="y"), settle=True, act=never)


async def test_what_was_under_way_stays_unknown(file: Path) -> None:
    with pytest.raises(OutcomeUnknown):
        await CommandLog(file).once("command-1", ACTION, settle=True, act=crash)
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await CommandLog(file).once("command-1", ACTION, settle=True, act=never)


async def test_what_was_refused_may_be_asked_for_again(file: Path) -> None:
    with pytest.raises(StaleLease):
        await CommandLog(file).once("command-1", ACTION, settle=True, act=refuse)
    assert await CommandLog(file).once("command-1", ACTION, settle=True, act=act) == DONE


async def test_a_line_cut_off_in_the_midst_is_passed_over(file: Path) -> None:
    await CommandLog(file).once("command-1", ACTION, settle=True, act=act)
    await CommandLog(file).once("command-2", ACTION, settle=True, act=act)
    cut_off(file)
    again = CommandLog(file)
    assert await again.once("command-1", ACTION, settle=True, act=never) == DONE
    with pytest.raises(OutcomeUnknown):
        await again.once("command-2", ACTION, settle=True, act=never)


async def test_the_file_does_not_grow_for_ever(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_log, "MAX_COMMANDS", 3)
    monkeypatch.setattr(command_log, "MAX_LINES", 12)
    kept = CommandLog(file)
    for number in range(50):
        await kept.once(f"command-{number}", ACTION, settle=True, act=act)
    assert lines(file) <= 12
    assert await CommandLog(file).once("command-49", ACTION, settle=True, act=never) == DONE
