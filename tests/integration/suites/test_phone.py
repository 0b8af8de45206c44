"""Every phone task on the real apps: its moves solve it, whatever the seed, and nothing else does."""

import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent_backend.scripted.__main__ import PHONE
from agent_backend.scripted.script import scripts_load
from tests.integration.suites.phone import Phone, phone_opened
from tests.integration.suites.phone_scripts import script_record
from tests.waiting import eventually
from vm_bridge.errors import UnknownTask
from vm_bridge.suites.phone.errand import Errand
from vm_bridge.suites.phone.suite import MAKERS, errand_make, judge, task_make
from vocabulary.actions import Finish
from vocabulary.equivalence import equivalent

SCRIPTS = {script.task: script for script in scripts_load(PHONE)}
NEAR = 8
"""How far a recorded place may lie from where the apps have it now: well within what is touched (pixels)."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with phone_opened(tmp_path_factory.mktemp("phone")) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", MAKERS)
async def test_the_moves_solve_a_task_of_another_seed_and_nothing_done_does_not(phone: Phone, name: str) -> None:
    errand = errand_make(name, 1)
    await phone.load(errand.world)
    assert judge(errand, phone.world(), "").success is False
    answer = ""
    for move in errand.moves:
        action = await phone.action_of(move.deed)
        await phone.perform(action)
        answer = action.answer if isinstance(action, Finish) else answer
    await _solved(phone, errand, answer)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", MAKERS)
async def test_the_script_is_what_the_apps_ask_for_and_solves_the_task(phone: Phone, name: str) -> None:
    now, written = await script_record(phone, name), SCRIPTS[name]
    assert (written.instruction, len(written.stages)) == (now.instruction, len(now.stages))
    for stage, other in zip(now.stages, written.stages, strict=True):
        assert [line.thought for line in stage.lines] == [line.thought for line in other.lines]
        assert all(
            equivalent(line.action, old.action, tolerance=NEAR)
            for line, old in zip(stage.lines, other.lines, strict=True)
        )
    last = now.stages[-1].lines[0].action
    assert isinstance(last, Finish)
    await _solved(phone, errand_make(name, 0), last.answer)


async def _solved(phone: Phone, errand: Errand, answer: str) -> None:
    with contextlib.suppress(AssertionError):
        await eventually(lambda: judge(errand, phone.world(), answer).success, limit=3.0)
    assert judge(errand, phone.world(), answer).reason == ""


def test_seeds_make_different_tasks_and_the_same_seed_the_same_one() -> None:
    assert task_make("reply", 7) == task_make("reply", 7)
    assert len({task_make("order", seed).instruction for seed in range(12)}) > 4


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownTask):
        task_make("../dark_mode")
