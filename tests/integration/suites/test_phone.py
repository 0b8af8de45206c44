"""Every phone task on the real apps: its moves solve it, whatever the seed, and nothing else does."""

import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent_backend.scripted_policy.__main__ import PHONE
from agent_backend.scripted_policy.script import load_scripts
from protocol.actions.equivalence import equivalent
from protocol.actions.types import Finish
from tests.integration.suites.phone import Phone, phone_opened
from tests.integration.suites.phone_scripts import script_record
from tests.waiting import eventually
from vm_bridge.errors import UnknownTask
from vm_bridge.suites.phone.suite import MAKERS, judge, make_phone_task, make_task
from vm_bridge.suites.phone.task import PhoneTask

SCRIPTS = {script.task: script for script in load_scripts(PHONE)}
NEAR = 8
"""How far a recorded place may lie from where the apps have it now: well within what is touched (pixels)."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with phone_opened(tmp_path_factory.mktemp("phone")) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", MAKERS)
async def test_the_moves_solve_a_task_of_another_seed_and_nothing_done_does_not(phone: Phone, name: str) -> None:
    phone_task = make_phone_task(name, 1)
    await phone.load(phone_task.world)
    assert judge(phone_task, phone.world(), "").success is False
    answer = ""
    for move in phone_task.expert_steps:
        action = await phone.action_of(move.action)
        await phone.perform(action)
        answer = action.answer if isinstance(action, Finish) else answer
    await _solved(phone, phone_task, answer)


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
    await _solved(phone, make_phone_task(name, 0), last.answer)


async def _solved(phone: Phone, phone_task: PhoneTask, answer: str) -> None:
    with contextlib.suppress(AssertionError):
        await eventually(lambda: judge(phone_task, phone.world(), answer).success, limit=3.0)
    assert judge(phone_task, phone.world(), answer).reason == ""


def test_seeds_make_different_tasks_and_the_same_seed_the_same_one() -> None:
    assert make_task("reply", 7) == make_task("reply", 7)
    assert len({make_task("order", seed).instruction for seed in range(12)}) > 4


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownTask):
        make_task("../dark_mode")
