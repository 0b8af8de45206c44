"""Real processes: started in order, started again after a crash, and never left behind."""

import asyncio
import contextlib
import io
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import StartFailed
from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.programs import HttpReadiness, OutputReadiness, PortReadiness, Program
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.supervisor import Supervisor

BOUND = 20.0
SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
PARENT = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]).pid); {SLEEPER}"


def program(name: str, code: str, **more: object) -> Program:
    return Program(name=name, command=(sys.executable, "-c", code), ready=OutputReadiness("up"), **more)  # type: ignore[arg-type]


def lives(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(BOUND):
        while not holds():  # noqa: ASYNC110 - another process sends no event
            await asyncio.sleep(0.02)


def pid_of(folder: Path, name: str) -> int:
    return int((folder / "run" / f"{name}.pid").read_text())


def pids_with_argument(word: str) -> list[int]:
    """The processes that were given a word."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if word.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


@pytest.fixture
def output() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def supervisor(tmp_path: Path, output: io.StringIO) -> Supervisor:
    return Supervisor(tmp_path, Console(output))


async def test_output_is_prefixed_on_the_terminal_and_kept_in_a_file(
    supervisor: Supervisor, output: io.StringIO, tmp_path: Path
) -> None:
    async with supervisor:
        await supervisor.start(program("one", f"print('hello'); {SLEEPER}"))
    assert "one     │ hello\n" in output.getvalue()
    assert "hello" in (tmp_path / "logs" / "one.log").read_text()


async def test_leaving_ends_every_program_and_its_children(supervisor: Supervisor, tmp_path: Path) -> None:
    async with supervisor:
        await supervisor.start(program("parent", PARENT), program("other", SLEEPER))
        child = int((tmp_path / "logs" / "parent.log").read_text().split()[2])
        pids = [pid_of(tmp_path, "parent"), pid_of(tmp_path, "other"), child]
        assert all(map(lives, pids))
    assert not any(map(lives, pids))
    assert list((tmp_path / "run").iterdir()) == []


async def test_programs_stop_in_reverse_order(supervisor: Supervisor, tmp_path: Path) -> None:
    order = tmp_path / "order"
    tell = "import pathlib, signal, sys; tell = lambda *_: (open({0!r}, 'a').write({1!r}), sys.exit()); "
    tell += "signal.signal(signal.SIGTERM, tell); " + SLEEPER
    async with supervisor:
        for name in "abc":
            await supervisor.start(program(name, tell.format(str(order), name)))
    assert order.read_text() == "cba"


async def test_a_killed_program_is_started_again(supervisor: Supervisor, output: io.StringIO, tmp_path: Path) -> None:
    async with supervisor:
        await supervisor.start(program("one", SLEEPER))
        first = pid_of(tmp_path, "one")
        os.kill(first, signal.SIGKILL)
        await until(lambda: (tmp_path / "run" / "one.pid").exists() and pid_of(tmp_path, "one") != first)
        second = pid_of(tmp_path, "one")
        assert lives(second)
    assert not lives(second)
    assert "ended with status -9; starting again in 0.5 s" in output.getvalue()


async def test_a_program_that_ends_before_it_is_ready_is_told_with_its_last_lines(supervisor: Supervisor) -> None:
    async with supervisor:
        with pytest.raises(StartFailed, match="one ended before it was ready") as failure:
            await supervisor.start(program("one", "raise SystemExit('no such database')"))
    assert "no such database" in failure.value.hint


async def test_a_program_that_is_not_ready_in_time_is_told_and_ended(supervisor: Supervisor, tmp_path: Path) -> None:
    silent = program("silent", "import time; time.sleep(600)", ready_timeout_seconds=0.3)
    async with supervisor:
        with pytest.raises(StartFailed, match=r"silent was not ready in 0\.3 s"):
            await supervisor.start(silent, program("other", SLEEPER))
        pids = [pid_of(tmp_path, "silent"), pid_of(tmp_path, "other")]
    assert not any(map(lives, pids))


async def test_nothing_is_left_of_a_start_that_is_cancelled_at_any_moment(tmp_path: Path, output: io.StringIO) -> None:
    for turns in range(12):
        word = f"{uuid4()}"
        silent = f"import time; time.sleep(600) # {word}"
        async with Supervisor(tmp_path, Console(output)) as supervisor:
            starting = asyncio.create_task(supervisor.start(program("one", silent)))
            for _ in range(turns):
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.wait({starting})
        assert not pids_with_argument(word), f"after {turns} turns of the loop"


async def test_a_program_that_does_not_exist_is_told(supervisor: Supervisor) -> None:
    async with supervisor:
        with pytest.raises(StartFailed, match="ghost cannot be started"):
            await supervisor.start(Program("ghost", ("/no/such/program",), OutputReadiness("up")))


async def test_a_program_that_will_not_stop_is_killed(
    supervisor: Supervisor, output: io.StringIO, tmp_path: Path
) -> None:
    async with supervisor:
        await supervisor.start(program("stubborn", STUBBORN, stop_timeout_seconds=0.2))
        pid = pid_of(tmp_path, "stubborn")
    assert not lives(pid)
    assert "did not stop in 0.2 s: killed" in output.getvalue()


async def test_very_long_and_undecodable_lines_are_no_obstacle(supervisor: Supervisor, output: io.StringIO) -> None:
    noisy = "import sys; sys.stdout.buffer.write(b'x' * 1_000_000 + b'\\xff\\n'); print('up', flush=True); "
    async with supervisor:
        await supervisor.start(program("noisy", noisy + "import time; time.sleep(600)"))
    assert output.getvalue().count("x") >= 1_000_000


async def test_ports_and_pages_tell_readiness(supervisor: Supervisor, tmp_path: Path) -> None:
    port, other = free_ports(2)
    serve = (sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(tmp_path))
    async with supervisor:
        await supervisor.start(
            Program("listens", (*serve, str(port)), PortReadiness("127.0.0.1", port)),
            Program("answers", (*serve, str(other)), HttpReadiness(f"http://127.0.0.1:{other}/")),
        )
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()


async def test_nothing_is_left_when_the_supervisor_itself_is_killed(tmp_path: Path) -> None:
    script = f"""
        import asyncio, pathlib
        from annotation_app.operations.console import Console
        from annotation_app.operations.runtime.programs import OutputReadiness, Program
        from annotation_app.operations.runtime.supervisor import Supervisor

        async def main():
            async with Supervisor(pathlib.Path({str(tmp_path)!r}), Console()) as supervisor:
                python = {sys.executable!r}
                await supervisor.start(Program("parent", (python, "-c", {PARENT!r}), OutputReadiness("up")))
                await supervisor.start(Program("stubborn", (python, "-c", {STUBBORN!r}), OutputReadiness("up")))
                print("all up", flush=True)
                await supervisor.watch()

        asyncio.run(main())
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(script), stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout
    async with asyncio.timeout(BOUND):
        while await process.stdout.readline() != b"all up\n":
            pass
    child = int((tmp_path / "logs" / "parent.log").read_text().split()[2])
    pids = [pid_of(tmp_path, "parent"), pid_of(tmp_path, "stubborn"), child]
    assert all(map(lives, pids))
    process.kill()
    await process.wait()
    await until(lambda: not any(map(lives, pids)))
