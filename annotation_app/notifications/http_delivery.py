"""One message to one address: to where the name leads at that moment and nowhere private, once, without redirects."""

import ipaddress
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

TIMEOUT = httpx.Timeout(10, connect=5)
DEFAULT_PORTS = {"http": 80, "https": 443}
NAT64_NETWORKS = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv6 addresses that lead to an IPv4 one (NAT64)."""

Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """What came of it; `status` is None where nobody answered, `error` empty where it was taken."""

    status: int | None
    error: str
    took_ms: float


class UnsafeAddress(Exception):
    """The address leads to where messages do not go."""


def resolve_host(host: str, port: int) -> list[str]:
    """The addresses a name has now. Raises OSError."""
    return list(
        dict.fromkeys(str(addresses[4][0]) for addresses in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    )


def is_public(address: str) -> bool:
    """Whether an address is one of the internet's, whatever it is wrapped in."""
    addresses = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(addresses, ipaddress.IPv6Address):
        inner = addresses.ipv4_mapped or addresses.sixtofour or (addresses.teredo[1] if addresses.teredo else None)
        if inner is not None or any(addresses in network for network in NAT64_NETWORKS):
            return False
    return addresses.is_global and not addresses.is_multicast


def safe_address(url: str, *, private: bool, resolve: Resolve = resolve_host) -> str:
    """The address that a URL leads to now, checked: this one is called, so that the name cannot lead elsewhere
    meanwhile. Raises UnsafeAddress and OSError."""
    parts = urlsplit(url)
    if not private and parts.scheme != "https":
        raise UnsafeAddress("Messages leave this installation over https only.")
    addresses = resolve(parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme])
    if not private and not all(map(is_public, addresses)):
        raise UnsafeAddress("The address leads into a private network.")
    return addresses[0]


def post_message(
    url: str, body: bytes, headers: Mapping[str, str], *, private: bool, resolve: Resolve = resolve_host
) -> DeliveryResult:
    """Post a message. Nothing of the answer is read but its status: it is nobody's business here."""
    began = time.perf_counter()
    status, error = None, ""
    try:
        status, error = _post(url, body, headers, safe_address(url, private=private, resolve=resolve))
    except UnsafeAddress as refusal:
        error = str(refusal)
    except socket.gaierror:
        error = "The name is unknown."
    except httpx.TimeoutException:
        error = "It did not answer in time."
    except (httpx.HTTPError, OSError) as failure:
        error = f"It cannot be reached: {failure}"[:200]
    return DeliveryResult(status, error, (time.perf_counter() - began) * 1000)


def _post(url: str, body: bytes, headers: Mapping[str, str], address: str) -> tuple[int, str]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    named = f"[{address}]" if ":" in address else address
    target = httpx.URL(url).copy_with(netloc=f"{named}:{parts.port or DEFAULT_PORTS[parts.scheme]}".encode())
    request_headers = {**headers, "Host": parts.netloc, "User-Agent": "Pilothouse", "Content-Type": "application/json"}
    with (
        httpx.Client(timeout=TIMEOUT, trust_env=False, follow_redirects=False) as client,
        client.stream(
            "POST", target, content=body, headers=request_headers, extensions={"sni_hostname": host}
        ) as answer,
    ):
        status = answer.status_code
    if 200 <= status < 300:
        return status, ""
    return status, "It sent us elsewhere." if 300 <= status < 400 else f"It answered {status}."
