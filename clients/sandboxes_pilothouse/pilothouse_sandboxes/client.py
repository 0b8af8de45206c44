"""One sandbox of `./pilothouse openenv` over HTTP."""

import base64
import contextlib
import errno
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
import httpx

TOKEN_VARIABLE = "PILOTHOUSE_OPENENV_TOKEN"  # noqa: S105 - the name of a variable
URL_VARIABLE, DEFAULT_URL = "PILOTHOUSE_OPENENV_URL", "http://127.0.0.1:8030"
MACHINE_TIMEOUT_SECONDS = 180.0
"""Longest wait for a machine; the server gives up earlier."""
REQUEST_TIMEOUT_SECONDS = 120.0
"""Longest an answer may take beyond the command's own time."""
CLOSE_TIMEOUT_SECONDS = 30.0
MAX_EXECUTE_SECONDS = 600.0
"""Longest that the server lets a command run."""
PART_BYTES = 16 * 2**20
"""Most bytes of one request."""
SIZE_HEADER = "X-File-Size"
UPLOADS_FOLDER = "/tmp/.pilothouse-uploads"  # noqa: S108 - inside the machine


def server_url() -> str:
    """The address of `./pilothouse openenv`, by PILOTHOUSE_OPENENV_URL."""
    return os.environ.get(URL_VARIABLE, DEFAULT_URL)


class SandboxLost(Exception):
    """The server or the machine failed, or refused the request; the message says why."""


@dataclass(frozen=True)
class CompletedCommand:
    """The exit status of a command, the beginnings of its outputs, and how many bytes it wrote to each."""

    returncode: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int


class SandboxClient:
    """Creates, uses and ends one sandbox. System errors inside it are raised as `OSError`."""

    def __init__(self, url: str) -> None:
        """The address of the server; its token is read from PILOTHOUSE_OPENENV_TOKEN."""
        self._path = f"/pilothouse/sandboxes/{uuid.uuid4().hex}"
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {os.environ.get(TOKEN_VARIABLE, '')}"},
            timeout=httpx.Timeout(REQUEST_TIMEOUT_SECONDS, connect=10.0),
        )

    async def open(self, image: str, network: Sequence[str]) -> None:
        """Lease a machine. If this fails or is cancelled, the machine is given back. Raises SandboxLost."""
        body = {"image": image, "network": list(network)}
        try:
            await self._send("PUT", "", json=body, timeout=httpx.Timeout(MACHINE_TIMEOUT_SECONDS, connect=10.0))
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Give the machine back, also when the caller is cancelled.

        If this request does not reach the server, the server ends the idle sandbox later.
        """
        with anyio.move_on_after(CLOSE_TIMEOUT_SECONDS, shield=True):
            with contextlib.suppress(SandboxLost):
                await self._send("DELETE", "")
            await self._http.aclose()

    async def execute(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes,
        cwd: str | None,
        env: Mapping[str, str],
        timeout: float | None,
        max_output_bytes: int,
    ) -> CompletedCommand:
        """Run a command. Raises TimeoutError, OSError where it cannot start, SandboxLost."""
        seconds = MAX_EXECUTE_SECONDS if timeout is None else min(timeout, MAX_EXECUTE_SECONDS)
        body = {
            "argv": list(argv),
            "cwd": cwd,
            "env": dict(env),
            "timeout_seconds": seconds,
            "max_output_bytes": min(max_output_bytes, PART_BYTES),
        }
        uploaded = f"{UPLOADS_FOLDER}/{uuid.uuid4().hex}" if len(stdin) > PART_BYTES else None
        if uploaded is not None:
            await self.write(uploaded, stdin)
            body["stdin_path"] = uploaded
        else:
            body["stdin"] = base64.b64encode(stdin).decode()
        try:
            waited = httpx.Timeout(seconds + REQUEST_TIMEOUT_SECONDS, connect=10.0)
            found = (await self._send("POST", "/execute", json=body, timeout=waited)).json()
        except anyio.get_cancelled_exc_class():
            await self._interrupt()
            raise
        finally:
            if uploaded is not None:
                with anyio.move_on_after(CLOSE_TIMEOUT_SECONDS, shield=True):
                    with contextlib.suppress(SandboxLost, OSError):  # neither hides the result nor a cancellation
                        await self.write(uploaded, b"")
        if found["timed_out"]:
            raise TimeoutError(f"the command did not end within {seconds:g} s")
        if found["failure"] is not None:
            raise _system_error(found["failure"], argv[0])
        stdout, stderr = found["stdout"], found["stderr"]
        return CompletedCommand(
            found["returncode"],
            base64.b64decode(stdout["data"]),
            base64.b64decode(stderr["data"]),
            stdout["size"],
            stderr["size"],
        )

    async def read(self, path: str, limit: int) -> bytes | None:
        """A whole file; None where it has more than `limit` bytes. Raises OSError, SandboxLost."""
        content, size = bytearray(), 1
        while len(content) < size:
            wanted = {"path": path, "offset": len(content), "length": min(PART_BYTES, limit + 1)}
            response = await self._send("GET", "/files", params=wanted, path=path)
            size = int(response.headers[SIZE_HEADER])
            if size > limit:
                return None
            if not response.content:
                break
            content += response.content
        return bytes(content)

    async def write(self, path: str, data: bytes) -> None:
        """Create or replace a file, and the folders above it. Raises OSError, SandboxLost."""
        for start in range(0, max(len(data), 1), PART_BYTES):
            part = data[start : start + PART_BYTES]
            where = {"path": path, "append": str(start > 0).lower()}
            await self._send("PUT", "/files", params=where, content=part, path=path)

    async def _interrupt(self) -> None:
        with anyio.move_on_after(CLOSE_TIMEOUT_SECONDS, shield=True):
            with contextlib.suppress(SandboxLost):
                await self._send("DELETE", "/execute")

    async def _send(self, method: str, name: str, *, path: str = "", **options: Any) -> httpx.Response:
        """Send one request. Raises SandboxLost, and OSError for a system error of the file `path`."""
        if self._http.is_closed:
            raise SandboxLost("the sandbox has ended")
        try:
            response = await self._http.request(method, f"{self._path}{name}", **options)
        except httpx.HTTPError as error:
            raise SandboxLost(f"the server of sandboxes does not answer: {error or type(error).__name__}") from error
        if response.is_success:
            return response
        try:
            failure = response.json()
            message = str(failure.get("message") or failure.get("detail"))
        except (ValueError, AttributeError):
            failure, message = {}, response.text[:500]
        if failure.get("code") == "system_failure":
            raise _system_error(failure, path)
        raise SandboxLost(f"{response.status_code}: {message}")


def _system_error(failure: Mapping[str, str], path: str) -> OSError:
    """The OSError of an errno name; Python chooses the subclass, such as FileNotFoundError."""
    return OSError(getattr(errno, failure["errno"], errno.EIO), failure["message"], path)
