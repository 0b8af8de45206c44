"""Client of OSWorld's in-guest server: one method per request, with validated answers and distinct errors."""

import json
import warnings
from base64 import b64decode
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import Any

import httpx
import numpy as np
from PIL import Image

from vm_bridge.drivers.remote.captures import CaptureSource
from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.errors import ActionFailed, MachineGone

REQUEST_TIMEOUT_SECONDS = 30.0
"""Timeout of requests that take no time by themselves."""
SERVER_TIMEOUT_SECONDS = 120.0
"""Their server ends an execution after this time."""
UPLOAD_TIMEOUT_SECONDS = 300.0
SCREENSHOT_ATTEMPTS = 3
"""Attempts of a screenshot, which changes nothing."""
MAX_RESPONSE_BYTES = 20_000_000
"""Most pixels of a picture."""
GUEST_PROGRAM = Path(__file__).with_name("guest_program.py").read_text("utf-8")


class GuestClient:
    """One guest whose server is at `host:port`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._http = httpx.AsyncClient(base_url=f"http://{address}", timeout=REQUEST_TIMEOUT_SECONDS, trust_env=False)

    async def close(self) -> None:
        """End its connections."""
        await self._http.aclose()

    async def platform(self) -> str:
        """The name of its system; `Linux` for known guests."""
        return (await self._ask("GET", "/platform")).text.strip()

    async def screen_size(self) -> tuple[int, int]:
        """Width and height."""
        said = _parse_object(await self._ask("POST", "/screen_size"))
        width, height = said.get("width"), said.get("height")
        if not isinstance(width, int) or not isinstance(height, int) or width < 1 or height < 1:
            raise TransportError(f"the guest reports a screen of {width} by {height}")
        return width, height

    async def screenshot(self) -> bytes:
        """A picture file. Their server writes all pictures into one file, so request one at a time."""
        return (await self._ask("GET", "/screenshot")).content

    async def accessibility_tree(self) -> bytes:
        """The tree of AT-SPI as XML; the guest may take seconds for it."""
        tree = _parse_object(await self._ask("GET", "/accessibility")).get("AT")
        return tree.encode() if isinstance(tree, str) else b""

    async def put(self, path: str, data: bytes) -> None:
        """Atomically create or replace a file, and create its parent folders. Raises ActionFailed."""
        landing = f"~/.pilothouse-{token_hex(8)}"  # their server expands variables in file names
        form = {"file_path": landing}
        await self._ask(
            "POST", "/setup/upload", timeout=UPLOAD_TIMEOUT_SECONDS, data=form, files={"file_data": ("file", data)}
        )
        await self.inside({"do": "move", "source": landing, "path": path})

    async def read(self, path: str, most: int) -> bytes:
        """A whole file. Raises ActionFailed."""
        found = await self.inside({"do": "read", "path": path, "most": most})
        assert isinstance(found, bytes)
        return found

    async def inside(self, asked: Mapping[str, Any], *, timeout: float = SERVER_TIMEOUT_SECONDS) -> str | bytes | None:
        """Run an operation of our program in the guest. Raises ActionFailed."""
        argv = ["python", "-c", GUEST_PROGRAM, json.dumps(asked, ensure_ascii=False)]
        answer = await self._ask(
            "POST", "/execute", timeout=timeout + REQUEST_TIMEOUT_SECONDS, json={"command": argv, "shell": False}
        )
        ran = _parse_object(answer)
        try:
            said = json.loads(str(ran.get("output", "")).splitlines()[-1])
        except (ValueError, IndexError):
            raise TransportError(f"the guest's program ended with {str(ran.get('error', ''))[-500:]!r}") from None
        if "failed" in said:
            raise ActionFailed(said["failed"], said["why"], said.get("text"))
        return b64decode(said["bytes"]) if "bytes" in said else said.get("text")

    async def _ask(
        self, method: str, path: str, *, timeout: float = REQUEST_TIMEOUT_SECONDS, **given: Any
    ) -> httpx.Response:
        """Raises MachineGone if no request was sent, and TransportError for an error or no answer."""
        limits = httpx.Timeout(timeout, connect=min(timeout, REQUEST_TIMEOUT_SECONDS))
        try:
            answer = await self._http.request(method, path, timeout=limits, **given)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise MachineGone(f"{self.address} cannot be reached: {error}") from error
        except httpx.HTTPError as error:
            raise TransportError(f"{self.address}{path}: {type(error).__name__} {error}") from error
        if answer.status_code >= 400:
            raise TransportError(f"{self.address}{path} answered {answer.status_code}: {answer.text[:500]}")
        return answer


class Screenshots(CaptureSource):
    """Pictures from `/screenshot`, with the pointer, one request at a time."""

    def __init__(self, guest: GuestClient) -> None:
        super().__init__()
        self._guest = guest

    async def capture(self) -> tuple[int, int, bytes]:
        """See `CaptureSource.capture`."""
        for tries_left in reversed(range(SCREENSHOT_ATTEMPTS)):
            try:
                return decode_image(await self._guest.screenshot())
            except (TransportError, MachineGone) as error:
                if not tries_left:
                    raise TransportError(str(error)) from error
        raise AssertionError("the last look returns or raises")


def decode_image(file: bytes) -> tuple[int, int, bytes]:
    """Width, height and BGRX pixels of a picture file. Raises TransportError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(BytesIO(file), formats=("PNG", "JPEG"))
        if image.width * image.height > MAX_RESPONSE_BYTES:
            raise TransportError(f"a picture of {image.width} by {image.height}")
        rgbx = np.asarray(image.convert("RGBX"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TransportError(f"the guest gave no picture: {error}") from error
    height, width = rgbx.shape[:2]
    return width, height, rgbx[:, :, [2, 1, 0, 3]].tobytes()


def _parse_object(answer: httpx.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise TransportError(f"{answer.url.path} answered no JSON object: {answer.text[:200]!r}")
    return said
