"""Who may use the environments: tokens of this server, or of the web app."""

import base64
import binascii
import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Mapping

import httpx

MAX_CACHED_TOKENS = 1_000
CACHE_SECONDS = 60.0
"""How long a token of the web app is believed without asking again."""


def read_token(headers: Mapping[str, str]) -> str:
    """The token of `Authorization: Bearer TOKEN`, or the password of `Basic`; empty where there is none.

    OpenEnv's older clients send no headers, but take `http://any:TOKEN@HOST` for an address.
    """
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


class TokenAccess:
    """Knows the server's own token, and asks the web app about others where its address is given."""

    def __init__(self, own_token: str, web_app: httpx.AsyncClient | None = None) -> None:
        self._own_token, self._web_app = own_token, web_app
        self._known: OrderedDict[str, float] = OrderedDict()

    async def principal(self, headers: Mapping[str, str]) -> str | None:
        """A name for whoever sends these headers; None where they bring no valid token."""
        token = read_token(headers)
        if not token:
            return None
        digest = hashlib.sha256(token.encode()).hexdigest()
        if self._own_token and hmac.compare_digest(token.encode(), self._own_token.encode()):
            return digest
        return digest if await self._known_to_web_app(token, digest) else None

    async def _known_to_web_app(self, token: str, digest: str) -> bool:
        if self._web_app is None:
            return False
        if self._known.get(digest, 0.0) > time.monotonic():
            return True
        try:
            answer = await self._web_app.post("/api/environments/access", headers={"Authorization": f"Bearer {token}"})
        except httpx.HTTPError:
            return False
        if not answer.is_success:
            self._known.pop(digest, None)
            return False
        self._known[digest] = time.monotonic() + CACHE_SECONDS
        while len(self._known) > MAX_CACHED_TOKENS:
            self._known.popitem(last=False)
        return True
