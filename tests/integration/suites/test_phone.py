"""Every phone task on the real apps: its moves solve it, whatever the seed, and nothing else does."""

import contextlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integration.suites.phone import Phone, phone_opened
from tests.waiting import eventually
from vm_bridge.errors import UnknownTask
from vm_bridge.suites.phone.suite import MAKERS, errand_make, judge, task_make
from vocabulary.actions import Finish

SEEDS = (0, 1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def phone(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Phone]:
    async with phone_opened(tmp_path_factory.mktemp("phone")) as opened:
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", MAKERS)
async def test_the_moves_solve_the_task_and_nothing_done_does_not(phone: Phone, name: str, seed: int) -> None:
    errand = errand_make(name, seed)
    await phone.load(errand.world)
    assert judge(errand, phone.world(), "").success is False
    answer = ""
    for move in errand.moves:
        action = await phone.action_of(move.deed)
        await phone.perform(action)
        answer = action.answer if isinstance(action, Finish) else answer
    with contextlib.suppress(AssertionError):
        await eventually(lambda: judge(errand, phone.world(), answer).success, limit=3.0)
    assert judge(errand, phone.world(), answer).reason == ""


def test_seeds_make_different_tasks_and_the_same_seed_the_same_one() -> None:
    assert task_make("reply", 7) == task_make("reply", 7)
    assert len({task_make("order", seed).instruction for seed in range(12)}) > 4


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownTask):
        task_make("../dark_mode")
