"""The Jupyter kernel that runs code and keeps its state from one run to the next."""

import asyncio
import os
import re
import tempfile
import time
from pathlib import Path
from queue import Empty
from typing import Any

from vm_bridge.guest.common.actions import MAX_OUTPUT, ActionFailed, bounded_text

START_SECONDS = 40.0
INTERRUPT_SECONDS = 5.0
"""How long interrupted code may take to stop before its kernel is started anew."""
POLL_SECONDS = 0.2
"""How often to look whether a kernel that says nothing still lives, or is to be cut short (seconds)."""
MAX_PICTURE = 4 * 1024 * 1024
"""Largest picture that is brought out (bytes, as base64)."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

Message = dict[str, Any]


class KernelOutput:
    """What a run printed, showed and drew, bounded."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.picture: str | None = None
        """The last picture drawn: PNG as base64."""
        self.error = ""

    def add_message(self, kind: str, content: Message) -> None:
        """One message of the kernel."""
        if kind == "stream":
            self._add(content["text"])
        elif kind in ("execute_result", "display_data"):
            data = content["data"]
            if len(data.get("image/png", "")) in range(1, MAX_PICTURE + 1):
                self.picture = data["image/png"]
            self._add(data.get("text/plain", "") + "\n")
        elif kind == "error":
            self.error = f"{content['ename']}: {content['evalue']}"
            self._add(COLOUR.sub("", "\n".join(content["traceback"])) + "\n")

    @property
    def text(self) -> str:
        return bounded_text("".join(self._parts).encode("utf-8", "replace"))

    def _add(self, text: str) -> None:
        if self._size <= MAX_OUTPUT:
            self._parts.append(text[: MAX_OUTPUT + 1])
            self._size += len(text)


class JupyterKernel:
    """Started by the first run; runs come one after another."""

    def __init__(self) -> None:
        self._manager: Any = None
        self._client: Any = None
        self._one_at_a_time = asyncio.Lock()
        self._interrupted = False

    async def run(self, call: Message) -> Message:
        """Run code; returns its text output and its last picture.

        Raises ActionFailed when the code raises, is interrupted or its kernel dies."""
        async with self._one_at_a_time:
            await self._ensure_running()
            self._interrupted = False
            output = KernelOutput()
            outcome = await self._collect_output(call["code"], time.monotonic() + call["seconds"], output)
        if outcome != "idle":
            raise ActionFailed(*FAILURES[outcome], text=output.text)
        if output.error:
            raise ActionFailed("raised", output.error, output.text)
        return {"text": output.text, "picture": output.picture}

    async def interrupt(self, _call: Message) -> Message:
        """Cut a running run short."""
        if self._one_at_a_time.locked():
            self._interrupted = True
        return {}

    async def close(self) -> None:
        """End the kernel."""
        manager, self._manager = self._manager, None
        if manager is not None:
            self._client.stop_channels()
            await manager.shutdown_kernel(now=True)

    async def _ensure_running(self) -> None:
        from jupyter_client import AsyncKernelManager

        if self._manager is not None and await self._manager.is_alive():
            return
        await self.close()
        folder = Path(tempfile.mkdtemp(prefix="kernel-"))
        # Sockets in a private folder: ports of the loopback could be reached by every program of the sandbox. Windows
        # has only ports; what comes there is signed with a key of the connection file.
        place = {} if os.name == "nt" else {"transport": "ipc", "ip": str(folder / "socket")}
        manager = AsyncKernelManager(**place)
        manager.connection_file = str(folder / "connection.json")
        await manager.start_kernel(cwd=str(Path.home()))
        client = manager.client()
        client.start_channels()
        self._manager, self._client = manager, client
        try:
            await client.wait_for_ready(timeout=START_SECONDS)
        except RuntimeError as error:
            await self.close()
            raise ActionFailed("kernel_failed", f"the Python kernel did not start: {error}") from error

    async def _collect_output(self, code: str, ends: float, output: KernelOutput) -> str:
        """Collect what comes of the code: `idle` when it is done, otherwise a key of `ENDINGS`."""
        run = self._client.execute(code, allow_stdin=False)
        interrupted = ""
        while True:
            left = ends - time.monotonic()
            if interrupted and left <= 0:
                await self.close()
                return "lost"
            if not interrupted and (left <= 0 or self._interrupted):
                interrupted = "cut_short" if self._interrupted else "timed_out"
                ends = time.monotonic() + INTERRUPT_SECONDS
                await self._manager.interrupt_kernel()
            try:
                message = await self._client.get_iopub_msg(timeout=max(0.0, min(left, POLL_SECONDS)))
            except Empty:
                if not await self._manager.is_alive():
                    await self.close()
                    return "died"
                continue
            if message["parent_header"].get("msg_id") != run:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return interrupted or "idle"
            output.add_message(message["msg_type"], message["content"])


FAILURES = {
    "timed_out": ("timed_out", "the code did not end in time and was interrupted; its state is kept"),
    "cut_short": ("cut_short", "the code was cut short; its state is kept"),
    "lost": ("kernel_lost", "the code did not stop when interrupted: its kernel was ended, and its state is lost"),
    "died": (
        "kernel_died",
        "the kernel died while it ran this code, and its state is lost; the next run starts another",
    ),
}
"""How a run may end but well: code and message."""
