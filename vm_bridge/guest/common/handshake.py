"""How host and guest show each other over a network that they have the same secret, without saying it.

The guest says GREETING and a number; the host a number and its proof; the guest its own. What follows is as everywhere.
"""

import hmac

GREETING = b"\2"
"""Comes first where the frames are not in shared memory; see `wire.GREETING` for where they are."""
NONCE = PROOF = 32
"""Lengths (bytes)."""
GUEST, HOST = b"guest", b"host"
"""Who proves."""


def compute_proof(secret: str, who: bytes, guest: bytes, host: bytes) -> bytes:
    """Over both sides' numbers, so that none that was heard before serves again."""
    return hmac.digest(secret.encode(), who + guest + host, "sha256")


def proofs_equal(one: bytes, other: bytes) -> bool:
    """Compared so that the time it takes tells nothing."""
    return hmac.compare_digest(one, other)
