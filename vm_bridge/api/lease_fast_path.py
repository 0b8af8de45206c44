"""The calls asked thousands of times a second, answered without the framework's machinery.

They are the very endpoints of `routes`, which documents them; whatever is not plainly in order (the key, the
header, the body) is left to the framework, which says what is wrong with it.
"""

from collections.abc import Awaitable, Callable

from fastapi import Response
from redis.exceptions import RedisError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vm_bridge.api.error_handlers import error_response
from vm_bridge.api.lease_routes import allocate, release, renew_many
from vm_bridge.api.wire import FENCING_HEADER, AllocateRequest, LeaseRef, RenewManyRequest
from vm_bridge.errors import BridgeError
from vm_bridge.host_keys import CallVerifier
from vm_bridge.leases.manager import LeaseManager

LEASES_PATH = "/v1/leases"
FENCING_HEADER_BYTES = FENCING_HEADER.lower().encode()
Call = Callable[[], Awaitable[Response]]


class LeaseFastPath:
    """Stands before the application."""

    def __init__(self, app: ASGIApp, *, manager: LeaseManager, callers: CallVerifier) -> None:
        self._app = app
        self._manager = manager
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(LEASES_PATH):
            return await self._app(scope, receive, send)
        first = await receive()
        call = self._call(scope, first, receive)
        if call is None:
            return await self._app(scope, _replay_first(first, receive), send)
        try:
            response = await call()
        except (BridgeError, RedisError) as error:
            response = error_response(error)
        await response(scope, receive, send)

    def _call(self, scope: Scope, first: Message, wait_disconnect: Receive) -> Call | None:
        """What a request asks for; None where the framework has to look."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if first.get("more_body") or not self._callers.allows(headers.get(b"authorization", b"")):
            return None
        body: bytes = first.get("body", b"")
        try:
            match scope["method"], scope["path"]:
                case "POST", "/v1/leases":
                    claim_request = AllocateRequest.model_validate_json(body)
                    return lambda: allocate(wait_disconnect, self._manager, claim_request)
                case "POST", "/v1/leases/renew":
                    many = RenewManyRequest.model_validate_json(body)
                    return lambda: renew_many(self._manager, many)
                case "DELETE", path:
                    held = LeaseRef(
                        machine_id=path[len(LEASES_PATH) + 1 :],
                        fencing_token=int(headers.get(FENCING_HEADER_BYTES, b"")),
                    )
                    return lambda: release(self._manager, held.machine_id, held.fencing_token)
        except ValueError:  # pydantic's errors are such too
            return None
        return None


def _replay_first(first: Message, receive: Receive) -> Receive:
    """A `receive` that gives the first message once more."""
    rest: list[Message] = [first]

    async def replayed() -> Message:
        return rest.pop() if rest else await receive()

    return replayed
