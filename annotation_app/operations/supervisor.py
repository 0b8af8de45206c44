"""Keeps the programs of the platform running: ordered start, restart with back-off, stop in reverse order.

Every program leads a session of its own, so a Ctrl-C in the terminal reaches only the supervisor, and a signal to the
program's group reaches all its children. Should the supervisor itself be killed, the guard ends what it left.
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

from annotation_app.operations import guard
from annotation_app.operations.console import Console
from annotation_app.operations.errors import StartFailed
from annotation_app.operations.programs import Program, Says, until_ready

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
STEADY_SECONDS = 30.0
LINE_BYTES = 64 * 1024
TAIL_LINES = 15


class Supervisor:
    """Programs by name, in the order they were started. Use as an async context manager: leaving it stops them all."""

    def __init__(self, folder: Path, console: Console) -> None:
        """`folder` receives `logs/<name>.log` and, while it runs, `run/<name>.pid` of every program."""
        self.folder = folder
        self.console = console
        self.waves: list[list[_Keeper]] = []

    async def __aenter__(self) -> Self:
        (self.folder / "run").mkdir(parents=True, exist_ok=True)
        self.guard = guard.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        self.guard.communicate(timeout=guard.GRACE_SECONDS * 2)

    async def start(self, *programs: Program) -> None:
        """Start these together and return when all are ready; StartFailed tells the last lines of one that is not."""
        wave = [
            _Keeper(
                program, self.console.journal(program.name, self.folder / "logs" / f"{program.name}.log"), self._note,
                self.folder / "run" / f"{program.name}.pid",
            )
            for program in programs
        ]  # fmt: skip
        self.waves.append(wave)
        try:
            async with asyncio.TaskGroup() as starting:
                for keeper in wave:
                    starting.create_task(keeper.start())
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def stop(self) -> None:
        """Stop everything, the last wave first; never raises because of a program that will not end: it is killed."""
        while self.waves:
            await asyncio.gather(*(keeper.stop() for keeper in self.waves.pop()))

    async def watch(self) -> None:
        """Return only by an error: a program that cannot be started again at all, or cancellation."""
        await asyncio.gather(*(keeper.keeping for wave in self.waves for keeper in wave if keeper.keeping))

    def _note(self, line: str) -> None:
        assert self.guard.stdin
        with contextlib.suppress(BrokenPipeError):
            self.guard.stdin.write(f"{line}\n")
            self.guard.stdin.flush()


class _Keeper:
    """One program over all its lives."""

    def __init__(self, program: Program, journal: logging.Logger, note: Callable[[str], None], pid_file: Path) -> None:
        self.program = program
        self.journal = journal
        self.note = note
        self.pid_file = pid_file
        self.life: _Life | None = None
        self.keeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self.life = await self._begin()
        await self.life.until_ready()
        self.keeping = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        if self.keeping:
            self.keeping.cancel()
            await asyncio.wait({self.keeping})
        if self.life:
            await self.life.end()
            self._forget(self.life)
        for handler in self.journal.handlers:
            handler.close()

    async def _keep(self) -> None:
        delay = FIRST_DELAY
        while self.life:
            status = await self.life.ended()
            self._forget(self.life)
            delay = FIRST_DELAY if self.life.age() > STEADY_SECONDS else delay
            self.journal.warning(f"ended with status {status}; starting again in {delay:g} s")
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY)
            self.life = await self._begin()

    async def _begin(self) -> "_Life":
        life = await _Life.begin(self.program, self.journal)
        self.note(f"+ {life.process.pid} {int(self.program.stop_signal)}")
        self.pid_file.write_text(str(life.process.pid))
        return life

    def _forget(self, life: "_Life") -> None:
        self.note(f"- {life.process.pid}")
        self.pid_file.unlink(missing_ok=True)


class _Life:
    """One process of a program, from its start to its end."""

    def __init__(
        self,
        program: Program,
        process: asyncio.subprocess.Process,
        journal: logging.Logger,
        output: asyncio.StreamReader,
    ) -> None:
        self.program = program
        self.process = process
        self.journal = journal
        self.output = output
        self.began = time.monotonic()
        self.said = asyncio.Event()
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.reading = asyncio.create_task(self._read())

    @classmethod
    async def begin(cls, program: Program, journal: logging.Logger) -> Self:
        # A pipe of our own: asyncio's would make the process seem alive while a child of it holds the other end. It is
        # read before there is a process: whoever is cancelled once there is one has no time to say which.
        output, theirs = os.pipe()
        try:
            reader = await _reader_of(output)
            process = await asyncio.create_subprocess_exec(
                *program.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **program.environment},
                start_new_session=True,
            )
        except OSError as error:
            raise StartFailed(f"{program.name} cannot be started: {error}") from error
        finally:
            os.close(theirs)
        return cls(program, process, journal, reader)

    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    async def until_ready(self) -> None:
        """Return when it is ready; StartFailed when it ended first or took too long."""
        ready = asyncio.create_task(until_ready(self.program.ready, self.said))
        ended = asyncio.create_task(self.process.wait())
        try:
            done, _ = await asyncio.wait(
                {ready, ended}, timeout=self.program.ready_within, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
            ended.cancel()
        if ready in done:
            return ready.result()
        what = "ended before it was ready" if ended in done else f"was not ready in {self.program.ready_within:g} s"
        if ended in done:
            await self.ended()
        raise StartFailed(f"{self.program.name} {what}", hint="\n".join(["Its last lines:", *self.tail]))

    async def ended(self) -> int:
        """Its exit status, once it and all its children are gone."""
        status = await self.process.wait()
        self._signal(os.killpg, signal.SIGKILL)
        await self.reading
        return status

    async def end(self) -> None:
        """Ask it to stop, and kill it with its children when it does not in time."""
        self._signal(os.kill, self.program.stop_signal)
        try:
            async with asyncio.timeout(self.program.stop_within):
                await self.process.wait()
        except TimeoutError:
            self.journal.warning(f"did not stop in {self.program.stop_within:g} s: killed")
            self._signal(os.killpg, signal.SIGKILL)
        await self.ended()

    def _signal(self, send: Callable[[int, int], None], number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            send(self.process.pid, number)

    async def _read(self) -> None:
        rest = b""
        while chunk := await self.output.read(LINE_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LINE_BYTES:
                lines, rest = [*lines, rest], b""
            for line in lines:
                self._hear(line.decode(errors="replace").rstrip("\r"))
        if rest:
            self._hear(rest.decode(errors="replace"))

    def _hear(self, line: str) -> None:
        self.journal.info(line)
        self.tail.append(line)
        if isinstance(self.program.ready, Says) and self.program.ready.text in line:
            self.said.set()


async def _reader_of(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0))
    return reader
