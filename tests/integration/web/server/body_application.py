"""What daphne serves in `test_body_admission.py`: it counts bodies, and says what lies in temporary files."""

import asyncio
import os
from pathlib import Path
from typing import Any

from daphne import http_protocol

from annotation_app.web import body_admission

http_protocol.WebRequest = body_admission.AdmittedRequest
gate = asyncio.Event()


def spooled() -> int:
    """Bytes of this process's temporary files."""
    total = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            if os.readlink(link).endswith("(deleted)"):
                total += link.stat().st_size
        except OSError:
            continue  # the listing's own
    return total


async def signed_in(authorization: str) -> int:
    """What is answered to who brings this; `slow` waits until the gate is open."""
    if authorization == "slow":
        await gate.wait()
    if authorization == "broken":
        raise RuntimeError("out of order")
    return 204 if authorization in ("good", "slow") else 401


async def read_body(receive: Any) -> bytes:
    size = 0
    while True:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body"):
            return str(size).encode()


async def application(scope: Any, receive: Any, send: Any) -> None:
    status, said = 200, b""
    match scope["path"]:
        case body_admission.SIGNED_IN_PATH:
            status = await signed_in(dict(scope["headers"]).get(b"authorization", b"").decode())
        case "/open":
            gate.set()
        case "/spooled":
            said = f"{spooled()} {body_admission.SPOOL.held_bytes}".encode()
        case _:
            said = await read_body(receive)
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": said})
