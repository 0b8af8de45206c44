"""Keeps the programs of the platform running: ordered start, restart with back-off, stop in reverse order.

Every program leads a session of its own. So a Ctrl-C in the terminal reaches only the supervisor, and a signal to the
program's group reaches all its children. If the supervisor itself is killed, the guard ends its programs.
"""

import asyncio
import contextlib
import logging
import os
import signal
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from annotation_app.operations.console import Console
from annotation_app.operations.errors import StartFailed
from annotation_app.operations.runtime import orphan_guard
from annotation_app.operations.runtime.programs import OutputReadiness, Program, wait_until_ready

FIRST_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 30.0
STABLE_SECONDS = 30.0
MAX_LINE_BYTES = 64 * 1024
TAIL_LINES = 15


class Supervisor:
    """Programs by name, in start order. Use as an async context manager, which stops them all on exit."""

    def __init__(self, folder: Path, console: Console) -> None:
        """`folder` receives `logs/<name>.log` and, while it runs, `run/<name>.pid` of every program."""
        self.folder = folder
        self.console = console
        self.groups: list[list[_SupervisedProgram]] = []

    async def __aenter__(self) -> Self:
        (self.folder / "run").mkdir(parents=True, exist_ok=True)
        self.guard = orphan_guard.start_guard()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        self.guard.communicate(timeout=orphan_guard.GRACE_SECONDS * 2)

    async def start(self, *programs: Program) -> None:
        """Start these together and return when all are ready. Raises StartFailed with the last lines of one that is
        not."""
        group = [
            _SupervisedProgram(
                program, self.console.program_log(program.name, self.folder / "logs" / f"{program.name}.log"),
                self._notify_guard, self.folder / "run" / f"{program.name}.pid",
            )
            for program in programs
        ]  # fmt: skip
        self.groups.append(group)
        try:
            async with asyncio.TaskGroup() as starting:
                for supervised in group:
                    starting.create_task(supervised.start())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def stop(self) -> None:
        """Stop everything, the last group first. Never raises for a program that does not end: it is killed."""
        while self.groups:
            await asyncio.gather(*(supervised.stop() for supervised in self.groups.pop()))

    async def watch(self) -> None:
        """Returns only by an error: a program that cannot be restarted at all, or cancellation."""
        await asyncio.gather(
            *(supervised.restart_task for group in self.groups for supervised in group if supervised.restart_task)
        )

    def _notify_guard(self, line: str) -> None:
        assert self.guard.stdin
        with contextlib.suppress(BrokenPipeError):
            self.guard.stdin.write(f"{line}\n")
            self.guard.stdin.flush()


class _SupervisedProgram:
    """One program over all its restarts."""

    def __init__(
        self, program: Program, program_log: logging.Logger, notify_guard: Callable[[str], None], pid_file: Path
    ) -> None:
        self.program = program
        self.program_log = program_log
        self.notify_guard = notify_guard
        self.pid_file = pid_file
        self.run: _ProgramRun | None = None
        self.restart_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.run = await self._start_run()
        await self.run.until_ready()
        self.restart_task = asyncio.create_task(self._restart_forever())

    async def stop(self) -> None:
        if self.restart_task:
            self.restart_task.cancel()
            await asyncio.wait({self.restart_task})
        if self.run:
            await self.run.end()
            self._unregister(self.run)
        for handler in self.program_log.handlers:
            handler.close()

    async def _restart_forever(self) -> None:
        delay = FIRST_DELAY_SECONDS
        while self.run:
            status = await self.run.ended()
            self._unregister(self.run)
            delay = FIRST_DELAY_SECONDS if self.run.age() > STABLE_SECONDS else delay
            self.program_log.warning(f"ended with status {status}; starting again in {delay:g} s")
            await asyncio.sleep(delay)
            delay = min(delay * 2, MAX_DELAY_SECONDS)
            self.run = await self._start_run()

    async def _start_run(self) -> "_ProgramRun":
        run = await _ProgramRun.start_process(self.program, self.program_log)
        self.notify_guard(f"+ {run.process.pid} {int(self.program.stop_signal)}")
        self.pid_file.write_text(str(run.process.pid))
        return run

    def _unregister(self, run: "_ProgramRun") -> None:
        self.notify_guard(f"- {run.process.pid}")
        self.pid_file.unlink(missing_ok=True)


class _ProgramRun:
    """One process of a program, from its start to its end."""

    def __init__(
        self,
        program: Program,
        process: asyncio.subprocess.Process,
        program_log: logging.Logger,
        output: asyncio.StreamReader,
    ) -> None:
        self.program = program
        self.process = process
        self.program_log = program_log
        self.output = output
        self.began = time.monotonic()
        self.ready_line_seen = asyncio.Event()
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.read_task = asyncio.create_task(self._read())

    @classmethod
    async def start_process(cls, program: Program, program_log: logging.Logger) -> Self:
        # Use our own pipe: with asyncio's, the process would seem alive while a child of it holds the other end. Open
        # it before the process exists: after that, a cancelled caller has no time to report the process.
        output, write_end = os.pipe()
        try:
            reader = await _open_reader(output)
            process = await asyncio.create_subprocess_exec(
                *program.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **program.environment},
                start_new_session=True,
            )
        except OSError as error:
            raise StartFailed(f"{program.name} cannot be started: {error}") from error
        finally:
            os.close(write_end)
        return cls(program, process, program_log, reader)

    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    async def until_ready(self) -> None:
        """Return when it is ready. Raises StartFailed when it ends first or takes too long."""
        ready = asyncio.create_task(wait_until_ready(self.program.ready, self.ready_line_seen))
        ended = asyncio.create_task(self.process.wait())
        try:
            done, _ = await asyncio.wait(
                {ready, ended}, timeout=self.program.ready_timeout_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
            ended.cancel()
        if ready in done:
            return ready.result()
        what = (
            "ended before it was ready"
            if ended in done
            else f"was not ready in {self.program.ready_timeout_seconds:g} s"
        )
        if ended in done:
            await self.ended()
        raise StartFailed(f"{self.program.name} {what}", hint="\n".join(["Its last lines:", *self.tail]))

    async def ended(self) -> int:
        """Its exit status, once it and all its children have ended."""
        status = await self.process.wait()
        self._signal(os.killpg, signal.SIGKILL)
        await self.read_task
        return status

    async def end(self) -> None:
        """Ask it to stop. If it does not stop in time, kill it with its children."""
        self._signal(os.kill, self.program.stop_signal)
        try:
            async with asyncio.timeout(self.program.stop_timeout_seconds):
                await self.process.wait()
        except TimeoutError:
            self.program_log.warning(f"did not stop in {self.program.stop_timeout_seconds:g} s: killed")
            self._signal(os.killpg, signal.SIGKILL)
        await self.ended()

    def _signal(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            send(self.process.pid, number)

    async def _read(self) -> None:
        rest = b""
        while chunk := await self.output.read(MAX_LINE_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > MAX_LINE_BYTES:
                lines, rest = [*lines, rest], b""
            for line in lines:
                self._handle_line(line.decode(errors="replace").rstrip("\r"))
        if rest:
            self._handle_line(rest.decode(errors="replace"))

    def _handle_line(self, line: str) -> None:
        self.program_log.info(line)
        self.tail.append(line)
        if isinstance(self.program.ready, OutputReadiness) and self.program.ready.text in line:
            self.ready_line_seen.set()


async def _open_reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0))
    return reader
