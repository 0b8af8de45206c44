"""A host's key authorises calls on that host, at its address, for two minutes, and nothing else."""

import base64
import time

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from vm_bridge.host_keys import (
    CALL_SECONDS,
    MANAGER,
    RAY,
    RENEW_SECONDS,
    CallSigner,
    CallVerifier,
    derive_key,
    key_name,
    read_master_key,
    sign_call,
)

MASTER = "a master key of the tests, long enough"
URL = "http://h1:8010"


def verifier(name: str, *, audience: str = URL, master: str = MASTER) -> CallVerifier:
    return CallVerifier(name, (derive_key(master, name),), audience=audience)


def test_keys_are_made_by_hkdf_and_differ_by_name_and_master() -> None:
    expanded = HKDF(algorithm=SHA256(), length=32, salt=b"pilothouse bridge keys", info=b"h1").derive(MASTER.encode())
    assert derive_key(MASTER, "h1") == base64.urlsafe_b64encode(expanded).rstrip(b"=").decode()
    assert len({derive_key(MASTER, name) for name in ("h1", "h2", MANAGER, RAY)} | {derive_key("m", "h1")}) == 5


def test_a_host_takes_calls_that_its_key_signed_for_it() -> None:
    authorization = CallSigner(MASTER).for_host("h1", f"{URL}/").encode()
    assert verifier("h1").allows(authorization)


@pytest.mark.parametrize(
    "other",
    [
        verifier("h2"), verifier("h1", audience="http://h2:8010"), verifier("h1", master="another"), verifier(MANAGER),
        verifier(MANAGER, audience=""),
    ],
    ids=["host", "address", "master", "manager here", "manager"],
)  # fmt: skip
def test_a_call_to_one_host_is_refused_elsewhere(other: CallVerifier) -> None:
    assert not other.allows(CallSigner(MASTER).for_host("h1", URL).encode())


def test_what_a_host_knows_opens_nothing_of_others() -> None:
    """It has its own key, and every authorisation that was sent to it."""
    own = derive_key(MASTER, "h1")
    expires = int(time.time()) + CALL_SECONDS
    for name, audience in (("h2", "http://h2:8010"), (MANAGER, "")):
        forged = [f"Bearer {sign_call(own, name, audience, expires=expires)}", f"Bearer {own}"]
        sent = [CallSigner(MASTER).for_host("h1", URL), CallSigner(MASTER).for_host("h2", URL)]
        assert not any(verifier(name, audience=audience).allows(each.encode()) for each in forged + sent)


@pytest.mark.parametrize(
    "text",
    ["", "Bearer ", "Bearer v1", "Bearer v1.9999999999", "Bearer v1.9999999999.", "Bearer v1.x.y", "Bearer v2.1.z",
     "Bearer v1.٣٣.aa", f"Bearer v1.{'9' * 4000}.aa", "Basic abc"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    assert not verifier("h1").allows(text.encode())


def test_an_authorisation_ends_and_is_renewed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    signer, now = CallSigner(MASTER), time.time()
    first = signer.for_manager()
    assert signer.for_manager() == first
    monkeypatch.setattr(time, "time", lambda: now + RENEW_SECONDS + 1)
    second = signer.for_manager()
    checks = verifier(MANAGER, audience="")
    assert second != first
    assert checks.allows(first.encode())
    monkeypatch.setattr(time, "time", lambda: now + CALL_SECONDS + 1)
    assert not checks.allows(first.encode())
    assert checks.allows(second.encode())


def test_a_key_that_is_replaced_goes_on_beside_the_new_one() -> None:
    both = CallVerifier("h1", (derive_key("new", "h1"), derive_key(MASTER, "h1")), audience=URL)
    for master in (MASTER, "new"):
        assert both.allows(CallSigner(master).for_host("h1", URL).encode())


def test_the_one_secret_of_earlier_versions_is_taken_where_it_is_set() -> None:
    assert not verifier("h1").allows(b"Bearer " + MASTER.encode())
    assert CallVerifier("h1", (), shared_secret=MASTER).allows(b"Bearer " + MASTER.encode())


def test_hosts_that_ray_places_share_a_key() -> None:
    assert [key_name(name) for name in ("h1", "ray-12.0a1b", "ray-x.1", "ray-1.0a1b.example")] == [
        "h1", RAY, "ray-x.1", "ray-1.0a1b.example",
    ]  # fmt: skip


def test_the_master_key_is_read_by_its_own_name_first() -> None:
    assert read_master_key({}) == ""
    assert read_master_key({"PILOTHOUSE_SECRET": "old"}) == "old"
    assert read_master_key({"PILOTHOUSE_SECRET": "old", "PILOTHOUSE_BRIDGE_MASTER_KEY": "new"}) == "new"
