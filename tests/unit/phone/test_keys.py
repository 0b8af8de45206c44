"""Signing in with an RSA key, as adb does it."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

from vm_bridge.simulators.phone.keys import SHAPE, SIZE, WORDS, parse_key, read_keys

TOKEN = bytes(range(20))


@pytest.fixture(scope="module")
def private() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def line(private: rsa.RSAPrivateKey) -> str:
    """The public key in adb's own form; the two constants of Montgomery's are not looked at."""
    numbers = private.public_key().public_numbers()
    packed = SHAPE.pack(WORDS, 0, numbers.n.to_bytes(SIZE, "little"), bytes(SIZE), numbers.e)
    return f"{base64.b64encode(packed).decode()} somebody@somewhere"


def signature(private: rsa.RSAPrivateKey, token: bytes) -> bytes:
    return private.sign(token, padding.PKCS1v15(), Prehashed(hashes.SHA1()))


def test_a_signature_over_the_token_is_taken(private: rsa.RSAPrivateKey, line: str) -> None:
    key = parse_key(line)
    assert key is not None
    assert key.signed(TOKEN, signature(private, TOKEN))


def test_no_other_signature_is(private: rsa.RSAPrivateKey, line: str) -> None:
    key = parse_key(line)
    assert key is not None
    good = signature(private, TOKEN)
    assert not key.signed(TOKEN[::-1], good)
    assert not key.signed(TOKEN, good[:-1] + bytes([good[-1] ^ 1]))
    assert not key.signed(TOKEN, good[:-1])
    assert not key.signed(TOKEN, b"\xff" * SIZE)
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert not key.signed(TOKEN, signature(stranger, TOKEN))


@pytest.mark.parametrize(
    "text", ["", "#", "AAAA who@where", "not base64! who@where", base64.b64encode(b"x" * 524).decode()]
)
def test_what_is_no_key_is_none(text: str) -> None:
    assert parse_key(text) is None


def test_a_file_gives_its_keys_and_no_file_none(tmp_path: Path, line: str) -> None:
    file = tmp_path / "adb_keys"
    assert read_keys(file) == ()
    file.write_text(f"{line}\nnonsense\n")
    assert len(read_keys(file)) == 1
