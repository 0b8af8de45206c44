"""Access to the environments: by the server's token, and by API tokens of the web app."""

import base64
import binascii
import hashlib
import hmac
import time
from collections import OrderedDict
from collections.abc import Mapping

import httpx

ACCESS_PATH = "/api/environments/access"
ACCESS_SECONDS = 60.0
"""How long the web app's answer about a token is cached. An expired token stays valid for at most so long."""
MAX_KNOWN_TOKENS = 1_000
REQUEST_TIMEOUT_SECONDS = 10.0


def read_token(headers: Mapping[str, str]) -> str:
    """The token of `Authorization: Bearer TOKEN`, or the password of `Basic`; empty where there is none.

    OpenEnv's older clients send no headers, but accept `http://any:TOKEN@HOST` as an address.
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
    """Checks the server's token. With `accounts` it asks the web app about other tokens."""

    def __init__(self, token: str, accounts: "AccountAccess | None" = None) -> None:
        self._token = token
        self._accounts = accounts

    async def principal(self, headers: Mapping[str, str]) -> str | None:
        """A name for the sender of these headers; None if they hold no valid token."""
        token = read_token(headers)
        if not token:
            return None
        if hmac.compare_digest(token.encode(), self._token.encode()):
            return hashlib.sha256(token.encode()).hexdigest()
        return None if self._accounts is None else await self._accounts.principal(token)


class AccountAccess:
    """Asks the web app which person an API token belongs to, and whether it has the scope `environments:write`.

    The person owns the sessions, so a renewed token still has access to them.
    """

    def __init__(self, http: httpx.AsyncClient) -> None:
        """`http`: with the web app's address as its base."""
        self._http = http
        self._known: OrderedDict[str, tuple[float, str | None]] = OrderedDict()

    async def principal(self, token: str) -> str | None:
        """A name for the token's person. None if the token is invalid or lacks the scope, or if the web app does not
        answer."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        known = self._known.get(digest)
        if known is None or known[0] <= time.monotonic():
            known = await self._ask(token)
            if known is None:
                return None
            self._known[digest] = known
            while len(self._known) > MAX_KNOWN_TOKENS:
                self._known.popitem(last=False)
        return known[1]

    async def _ask(self, token: str) -> tuple[float, str | None] | None:
        """When the answer about a token expires (monotonic seconds), and the person's name, None if the token is
        refused. None if the web app gives no answer."""
        headers = {"Authorization": f"Bearer {token}"}
        try:
            response = await self._http.post(ACCESS_PATH, headers=headers, timeout=REQUEST_TIMEOUT_SECONDS)
        except (httpx.HTTPError, UnicodeEncodeError):
            return None
        if response.status_code not in (httpx.codes.OK, httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            return None
        name = f"account:{response.json()['username']}" if response.is_success else None
        return time.monotonic() + ACCESS_SECONDS, name
