"""Access to the environments by the server's token."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping


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
    """Knows the server's token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def principal(self, headers: Mapping[str, str]) -> str | None:
        """A name for whoever sends these headers; None where they bring no valid token."""
        token = read_token(headers)
        if not token or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        return hashlib.sha256(token.encode()).hexdigest()
