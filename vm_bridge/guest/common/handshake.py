"""How host and guest prove over a network that they share a secret, without sending it.

The guest sends GREETING and a nonce. The host sends a nonce and its proof. The guest sends its own proof. The usual
protocol follows.
"""

import hmac

GREETING = b"\2"
"""First byte if the frames are not in shared memory; otherwise it is `wire.GREETING`."""
NONCE = PROOF = 32
"""Lengths (bytes)."""
GUEST, HOST = b"guest", b"host"
"""The side that proves."""


def compute_proof(secret: str, who: bytes, guest: bytes, host: bytes) -> bytes:
    """A proof over both nonces, so that an overheard proof cannot be replayed."""
    return hmac.digest(secret.encode(), who + guest + host, "sha256")


def proofs_equal(one: bytes, other: bytes) -> bool:
    """Constant-time comparison."""
    return hmac.compare_digest(one, other)
