"""Who may use the phone: adb's public keys, and the signatures they verify."""

import base64
import binascii
import hashlib
import hmac
import struct
from pathlib import Path
from typing import NamedTuple

WORDS = 64
"""Of 32 bits in a modulus: the keys are RSA with 2048."""
SIZE = WORDS * 4
SHAPE = struct.Struct(f"<II{SIZE}s{SIZE}sI")
"""Number of words, a constant of Montgomery's, modulus, a power of it, exponent; all little-endian."""
SHA1_PREFIX = bytes.fromhex("3021300906052b0e03021a05000414")
"""What PKCS #1 puts before a SHA-1 sum; adb signs its random token as if that were one."""
TOKEN_SIZE = hashlib.sha1(usedforsecurity=False).digest_size


class PublicKey(NamedTuple):
    """An RSA key that a computer signs in with."""

    modulus: int
    exponent: int

    def signed(self, token: bytes, signature: bytes) -> bool:
        """Whether `signature` was made over `token` by the owner of this key."""
        if len(signature) != SIZE:
            return False
        opened = pow(int.from_bytes(signature, "big"), self.exponent, self.modulus).to_bytes(SIZE, "big")
        ending = b"\x00" + SHA1_PREFIX + token
        return hmac.compare_digest(opened, b"\x00\x01".ljust(SIZE - len(ending), b"\xff") + ending)


def parse_key(line: str) -> PublicKey | None:
    """The key of one line of an `adbkey.pub` file; None where it is no such line."""
    try:
        words, _, modulus, _, exponent = SHAPE.unpack(base64.b64decode(line.split(maxsplit=1)[0], validate=True))
    except (IndexError, binascii.Error, struct.error):
        return None
    return PublicKey(int.from_bytes(modulus, "little"), exponent) if words == WORDS else None


def read_keys(path: Path) -> tuple[PublicKey, ...]:
    """The keys the phone trusts, one a line; none where there is no such file."""
    try:
        lines = path.read_text("ascii", "replace").splitlines()
    except FileNotFoundError:
        return ()
    return tuple(key for key in map(parse_key, lines) if key is not None)
