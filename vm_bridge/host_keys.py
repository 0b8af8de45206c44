"""Keys of bridge hosts: the web app has a master key and derives a key for each host; a host has its own alone.

A host's key signs the tickets to its machines and authorises the calls on them, so that whoever takes one host over
opens nothing of another's. Managers share a key of their own, which authorises claims and what operators ask.

This file imports the standard library alone: `docker/keys.py` loads it without the packages of Pilothouse.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache

MANAGER = "@manager"
"""Name of the key that all managers share."""
RAY = "@ray"
"""Name of the key of all hosts that Ray placed: a program on one of Ray's nodes can run on all of them."""
_RAY_HOST_ID = re.compile(r"ray-\d+\.[0-9a-f]+")
SALT = b"pilothouse bridge keys"
CALL_SECONDS = 120
"""How long the authorisation of a call holds; clocks may differ by less."""
RENEW_SECONDS = 60
MAX_CACHED_CALLS = 1_000
SCHEME = "Bearer "
VERSION = "v1"


def key_name(host_id: str) -> str:
    """The name of a host's key: its id, or `RAY` for a host that Ray placed."""
    return RAY if _RAY_HOST_ID.fullmatch(host_id) else host_id


def derive_key(master: str, name: str) -> str:
    """The key of this name: HKDF-SHA256 (RFC 5869) of the master key, one block, as text of 43 characters."""
    extracted = hmac.new(SALT, master.encode(), hashlib.sha256).digest()
    key = hmac.new(extracted, name.encode() + b"\x01", hashlib.sha256).digest()
    return base64.urlsafe_b64encode(key).rstrip(b"=").decode()


def read_master_key(environment: Mapping[str, str]) -> str:
    """The master key from an environment, also under the name of earlier versions. Empty if there is none."""
    return environment.get("PILOTHOUSE_BRIDGE_MASTER_KEY", "") or environment.get("PILOTHOUSE_SECRET", "")


def format_keys(master: str, names: Iterable[str]) -> str:
    """What `PILOTHOUSE_BRIDGE_KEYS` says of these names: `name=key`, comma separated."""
    return ",".join(f"{name}={derive_key(master, name)}" for name in names)


class CallSigner:
    """Authorises calls of bridges with keys derived from the master key."""

    def __init__(self, master: str) -> None:
        self._master = master
        self._cached: dict[tuple[str, str], tuple[float, str]] = {}
        """When to renew an authorisation, and what it is, by the key's name and the audience."""

    def for_manager(self) -> str:
        """The `Authorization` of a call that a manager answers."""
        return self._authorization(MANAGER, "")

    def for_host(self, host_id: str, url: str) -> str:
        """The `Authorization` of a call on a machine of this host.

        It holds for the host at `url` alone. Addresses of hosts come from the lease store, where a bridge that was
        taken over can write. One that names itself in another's place gets nothing that the other accepts.
        """
        return self._authorization(key_name(host_id), url.rstrip("/"))

    def _authorization(self, name: str, audience: str) -> str:
        now = time.time()
        renew_at, authorization = self._cached.get((name, audience), (0.0, ""))
        if now >= renew_at:
            if len(self._cached) > MAX_CACHED_CALLS:
                self._cached.clear()
            key = derive_key(self._master, name)
            authorization = SCHEME + sign_call(key, name, audience, expires=int(now) + CALL_SECONDS)
            self._cached[name, audience] = (now + RENEW_SECONDS, authorization)
        return authorization


def sign_call(key: str, name: str, audience: str, *, expires: int) -> str:
    """What a call's `Authorization` says behind the scheme, good until `expires` (seconds since the epoch)."""
    words = "\n".join(("call", name, audience, str(expires)))
    return f"{VERSION}.{expires}.{hmac.new(key.encode(), words.encode(), hashlib.sha256).hexdigest()}"


class CallVerifier:
    """Checks the `Authorization` of calls on the side of a bridge.

    Args:
        name: Of the key: a host's, or `MANAGER`.
        keys: Those that are good: the newest, and older ones while they are replaced.
        audience: The address under which the host is known; empty for managers.
        shared_secret: The one secret of earlier versions, accepted as it stands; empty: none.
    """

    def __init__(self, name: str, keys: Iterable[str], *, audience: str = "", shared_secret: str = "") -> None:
        self._name, self._keys, self._audience = name, tuple(keys), audience.rstrip("/")
        self._shared = (SCHEME + shared_secret).encode() if shared_secret else None
        self._expiry = lru_cache(maxsize=256)(self._verified_expiry)

    def allows(self, authorization: bytes) -> bool:
        """Whether the caller of this header knows the key."""
        if self._shared is not None and hmac.compare_digest(authorization, self._shared):
            return True
        return self._expiry(authorization) > time.time()

    def _verified_expiry(self, authorization: bytes) -> int:
        """Expiry of a header's value; 0 if no key here has signed it."""
        version, _, rest = authorization.decode("latin-1").removeprefix(SCHEME).partition(".")
        written = rest.partition(".")[0]
        if version != VERSION or not re.fullmatch(r"\d{1,12}", written, re.ASCII):
            return 0
        expires = int(written)
        good = [SCHEME + sign_call(key, self._name, self._audience, expires=expires) for key in self._keys]
        return expires if any([hmac.compare_digest(authorization, each.encode()) for each in good]) else 0
