"""The interface through which the client's parts send requests, so that none of them imports the client."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from protocol.base import FrozenModel


class RequestSender(Protocol):
    """Makes requests to the bridge."""

    async def call(
        self,
        method: str,
        url: str,
        body: FrozenModel | bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = ...,
        retry: bool = ...,
    ) -> bytes:
        """The answer's body. Raises BridgeError."""
        ...

    def host_headers(self, host_id: str, url: str) -> dict[str, str]:
        """Authorization headers for a call on a machine of this host, at this address."""
        ...

    def lines(self, url: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """The lines of an answer as they arrive. Raises BridgeError."""
        ...
