"""Signing webhook messages and telling whether one is ours, as Standard Webhooks has it (HMAC-SHA256).

A secret is `whsec_` and base64. Signed are the message's id, the time and the body: none of them can be changed, and a
message that was overheard is of use for five minutes only.
"""

import base64
import binascii
import hmac
import secrets
import time
from collections.abc import Mapping

from annotation_app.client.errors import InvalidSignature

SECRET_PREFIX = "whsec_"  # noqa: S105 - how a secret begins
TOLERANCE_SECONDS = 5 * 60
"""Seconds by which two clocks may differ."""
KEY_BYTES = 32
ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER = "webhook-id", "webhook-timestamp", "webhook-signature"


def generate_secret() -> str:
    """A new secret."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signed_headers(secret: str, message_id: str, payload: bytes, *, at: int) -> dict[str, str]:
    """The headers that go with a message."""
    return {
        ID_HEADER: message_id,
        TIMESTAMP_HEADER: str(at),
        SIGNATURE_HEADER: f"v1,{_sign(secret, message_id, at, payload)}",
    }


def verify(payload: bytes, headers: Mapping[str, str], secret: str, *, now: float | None = None) -> str:
    """The id of a message that was signed with this secret just now; a receiver acts on an id once. Raises
    InvalidSignature."""
    lower_headers = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, at, signatures = (
            lower_headers[ID_HEADER],
            int(lower_headers[TIMESTAMP_HEADER]),
            lower_headers[SIGNATURE_HEADER],
        )
    except (KeyError, ValueError):
        raise InvalidSignature("its headers are missing or no signature's") from None
    if abs((time.time() if now is None else now) - at) > TOLERANCE_SECONDS:
        raise InvalidSignature("it was signed too long ago, or in the future")
    expected = _sign(secret, message_id, at, payload).encode()
    versions = (one.partition(",") for one in signatures.split())
    matches = [hmac.compare_digest(value.encode(), expected) for version, _, value in versions if version == "v1"]
    if not any(matches):
        raise InvalidSignature("its signature is another one")
    return message_id


def _sign(secret: str, message_id: str, at: int, payload: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        raise InvalidSignature("the secret is none") from None
    signed = f"{message_id}.{at}.".encode() + payload
    return base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
