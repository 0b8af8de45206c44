"""Talks to a running QEMU (QMP, JSON lines over a socket): commands with their answers, and jobs to their end."""

import asyncio
import itertools
import json
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from vm_bridge.errors import MachineGone

CALL_TIMEOUT_SECONDS = 30.0
MAX_LINE = 1 << 20
FINAL_JOB_STATES = ("concluded", "null")

Message = dict[str, Any]


class QmpError(Exception):
    """QEMU did not do what it was asked; the message is its own."""


class QmpClient:
    """A QEMU that hangs up or stays silent is gone: MachineGone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Message]] = {}
        self._over: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._ended = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def connect(cls, path: Path) -> "QmpClient":
        """Raises MachineGone."""
        try:
            async with asyncio.timeout(CALL_TIMEOUT_SECONDS):
                reader, writer = await asyncio.open_unix_connection(path, limit=MAX_LINE)
        except (OSError, TimeoutError) as error:
            raise MachineGone(f"QEMU does not answer: {error}") from error
        qmp = cls(reader, writer)
        await qmp.ask("qmp_capabilities")
        return qmp

    async def ask(self, command: str, **arguments: Any) -> Any:
        """What one command returns. Raises QmpError, MachineGone."""
        return await self._asked(command, arguments, CALL_TIMEOUT_SECONDS)

    async def _asked(self, command: str, arguments: Message, seconds: float) -> Any:
        name = f"ask-{next(self._numbers)}"
        if self._ended.is_set():
            raise MachineGone("QEMU has ended")
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[name] = answer
        try:
            self._writer.write(json.dumps({"execute": command, "arguments": arguments, "id": name}).encode() + b"\n")
            async with asyncio.timeout(seconds):
                said = await answer
        except TimeoutError:
            raise MachineGone(f"QEMU did not answer {command} within {seconds:g} s") from None
        finally:
            del self._waiting[name]
        if "error" in said:
            raise QmpError(f"{command}: {said['error'].get('desc')}")
        return said["return"]

    async def do(self, command: str, *, seconds: float, **arguments: Any) -> None:
        """Run a job to its end. Raises QmpError with why it failed, MachineGone.

        QEMU may answer only when the job has ended: while it loads a state it does nothing else.
        """
        job = f"job-{next(self._numbers)}"
        over = self._over[job]
        await self._asked(command, {**arguments, "job-id": job}, seconds)
        ended = asyncio.create_task(self._ended.wait())
        done = asyncio.create_task(over.wait())
        try:
            await asyncio.wait({done, ended}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            done.cancel()
            ended.cancel()
            del self._over[job]
        if not over.is_set():
            raise MachineGone(f"QEMU did not end {command} within {seconds:g} s")
        told = [each for each in await self.ask("query-jobs") if each["id"] == job]
        await self.ask("job-dismiss", id=job)
        for each in told:
            if "error" in each:
                raise QmpError(f"{command}: {each['error']}")

    def close(self) -> None:
        """Disconnect; QEMU keeps running. Idempotent."""
        self._listening.cancel()
        self._end()

    async def _listen(self) -> None:
        try:
            with suppress(OSError, ValueError, RecursionError):
                while line := await self._reader.readline():
                    self._take(json.loads(line))
        finally:
            self._end()

    def _take(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        told = message.get("data")
        if message.get("event") == "JOB_STATUS_CHANGE" and isinstance(told, dict):
            job = str(told.get("id"))
            if told.get("status") in FINAL_JOB_STATES and job in self._over:
                self._over[job].set()
        future = self._waiting.get(str(message.get("id")))
        if future is not None and not future.done():
            future.set_result(message)

    def _end(self) -> None:
        self._ended.set()
        self._writer.close()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(MachineGone("QEMU has ended"))
                future.exception()  # may be unobserved
