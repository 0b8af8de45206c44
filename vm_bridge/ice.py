"""STUN and TURN servers, and passes to them that last for a day."""

import base64
import hashlib
import hmac
import time
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, TypeAdapter

from protocol.base import FrozenModel

CREDENTIAL_TTL_SECONDS = 86_400
"""How long a pass holds. A relay asks for it again and again while it is in use, so it must outlast a day's work."""


class IceServer(FrozenModel):
    """A STUN or TURN server in the browser's own words, and what those who hand out passes to it know beside."""

    urls: str | list[str]
    username: str | None = None
    credential: str | None = None
    secret: Annotated[str, Field(min_length=8)] | None = None
    """Shared with the TURN server (coturn's `static-auth-secret`); never leaves this side."""


ICE_SERVERS: TypeAdapter[tuple[IceServer, ...]] = TypeAdapter(tuple[IceServer, ...])


def with_credentials(servers: Iterable[IceServer], user: str) -> tuple[IceServer, ...]:
    """The servers as `user` may be told of them: where there is a secret, with a pass made from it now.

    The user name is when the pass ends and whose it is, the credential its HMAC-SHA1: the scheme of TURN's REST API
    (draft-uberti-behave-turn-rest), which coturn checks without asking anybody.
    """
    return tuple(
        server if server.secret is None else _with_credential(server, server.secret, user) for server in servers
    )


def _with_credential(server: IceServer, secret: str, user: str) -> IceServer:
    username = f"{int(time.time()) + CREDENTIAL_TTL_SECONDS}:{user}"
    digest = hmac.new(secret.encode(), username.encode(), hashlib.sha1).digest()
    return IceServer(urls=server.urls, username=username, credential=base64.b64encode(digest).decode())
