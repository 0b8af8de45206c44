"""One message to one address: to where the name leads at that moment and nowhere private, once, without redirects."""

import ipaddress
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

BOUNDS = httpx.Timeout(10, connect=5)
PORTS = {"http": 80, "https": 443}
TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv6 addresses that lead to an IPv4 one (NAT64)."""

Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of it; `status` is None where nobody answered, `error` empty where it was taken."""

    status: int | None
    error: str
    took_ms: float


class Unsafe(Exception):
    """The address leads to where messages do not go."""


def resolved(host: str, port: int) -> list[str]:
    """The addresses a name has now. Raises OSError."""
    return list(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def is_public(address: str) -> bool:
    """Whether an address is one of the internet's, whatever it is wrapped in."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None or any(found in network for network in TRANSLATED):
            return False
    return found.is_global and not found.is_multicast


def address_of(url: str, *, private: bool, resolve: Resolve = resolved) -> str:
    """The address that a URL leads to now, checked: this one is called, so that the name cannot lead elsewhere
    meanwhile. Raises Unsafe and OSError."""
    parts = urlsplit(url)
    if not private and parts.scheme != "https":
        raise Unsafe("Messages leave this installation over https only.")
    found = resolve(parts.hostname or "", parts.port or PORTS[parts.scheme])
    if not private and not all(map(is_public, found)):
        raise Unsafe("The address leads into a private network.")
    return found[0]


def send(url: str, body: bytes, headers: Mapping[str, str], *, private: bool, resolve: Resolve = resolved) -> Sent:
    """Post a message. Nothing of the answer is read but its status: it is nobody's business here."""
    began = time.perf_counter()
    status, error = None, ""
    try:
        status, error = _post(url, body, headers, address_of(url, private=private, resolve=resolve))
    except Unsafe as refusal:
        error = str(refusal)
    except socket.gaierror:
        error = "The name is unknown."
    except httpx.TimeoutException:
        error = "It did not answer in time."
    except (httpx.HTTPError, OSError) as failure:
        error = f"It cannot be reached: {failure}"[:200]
    return Sent(status, error, (time.perf_counter() - began) * 1000)


def _post(url: str, body: bytes, headers: Mapping[str, str], address: str) -> tuple[int, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    named = f"[{address}]" if ":" in address else address
    target = httpx.URL(url).copy_with(netloc=f"{named}:{parts.port or PORTS[parts.scheme]}".encode())
    told = {**headers, "Host": parts.netloc, "User-Agent": "Pilothouse", "Content-Type": "application/json"}
    with (
        httpx.Client(timeout=BOUNDS, trust_env=False, follow_redirects=False) as client,
        client.stream("POST", target, content=body, headers=told, extensions={"sni_hostname": host}) as answer,
    ):
        status = answer.status_code
    if 200 <= status < 300:
        return status, ""
    return status, "It sent us elsewhere." if 300 <= status < 400 else f"It answered {status}."
