"""A benchmark ends at the first task or process that fails, and says what it waited for."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.parts.concurrency import in_background, run_together
from benchmarks.parts.waiting import read_line, wait_for, wait_until


class Broken(Exception):
    """What a task fails with."""


async def fail() -> None:
    raise Broken("this one failed")


async def stay(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")


async def test_a_background_task_that_fails_ends_the_block_with_its_error() -> None:
    ended = list[str]()
    with pytest.raises(Broken, match="this one failed"):
        async with in_background(stay(ended), fail()):
            await asyncio.Event().wait()
    assert ended == ["cancelled"]


async def test_background_tasks_end_with_the_block() -> None:
    ended = list[str]()
    async with in_background(stay(ended)) as (task,):
        await asyncio.sleep(0)
        assert not task.done()
    assert ended == ["cancelled"]


async def test_an_error_of_the_block_stays_what_it_is() -> None:
    ended = list[str]()
    beside = in_background(stay(ended))
    with pytest.raises(Broken):
        async with beside:
            await asyncio.gather(asyncio.sleep(0), fail())
    assert ended == ["cancelled"]


async def test_of_tasks_run_together_the_first_failure_ends_the_others() -> None:
    ended = list[str]()
    with pytest.raises(Broken):
        await run_together(stay(ended), fail())
    assert ended == ["cancelled"]


async def test_results_of_tasks_run_together_are_in_order() -> None:
    async def give(number: int) -> int:
        return number

    assert await run_together(*map(give, range(3))) == [0, 1, 2]


def test_a_wait_says_what_it_waited_for() -> None:
    with pytest.raises(TimeoutError, match="three machines are free"):
        wait_for(lambda: False, 0, "three machines are free")


async def test_a_wait_in_a_coroutine_says_how_far_it_came() -> None:
    with pytest.raises(TimeoutError, match="holder-2 holds another machine"):
        await wait_until(lambda: False, 0, lambda: "holder-2 holds another machine")


def test_a_wait_ends_when_a_process_it_depends_on_ends(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-c", "print('no room', flush=True); exit(3)"], stdout=output)
    with pytest.raises(RuntimeError, match="ended with 3 before Redis listens: no room"):
        wait_for(lambda: False, 40, "Redis listens", {log: process})


def read(program: str, seconds: float) -> str:
    command = [sys.executable, "-u", "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            return read_line(process, "port ", seconds)
        finally:
            process.kill()


def test_the_line_of_a_process_is_found_among_others() -> None:
    assert read("print('warning'); print('port 5'); input()", 40) == "port 5"


def test_a_process_that_ends_without_its_line_is_no_wait() -> None:
    with pytest.raises(RuntimeError, match="ended before"):
        read("print('warning')", 40)


def test_a_process_that_prints_nothing_is_killed() -> None:
    with pytest.raises(TimeoutError, match="did not print 'port '"):
        read("input()", 0)
