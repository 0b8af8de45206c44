"""Which addresses lie out in the public network, and neither on this machine nor beside it."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

RESOLVER_THREADS = ThreadPoolExecutor(4, thread_name_prefix="resolve")
"""Slow names keep only each other waiting."""
GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All that is given out of IPv6; what lies outside it is local or means an IPv4 address."""
UNIQUE_LOCAL_IPV6 = ipaddress.IPv6Network("fc00::/7")
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public network, and not one of this machine's own."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False  # with a zone, and so of a link
    if isinstance(parsed, ipaddress.IPv6Address) and not _is_plain(parsed, GLOBAL_IPV6):
        return False
    return parsed.is_global and not parsed.is_multicast and not is_own_address(address)


def is_reachable(lab_networks: Sequence[Network]) -> Callable[[str], bool]:
    """Whether sandboxes may reach an IP address: a public one, or one of these networks of a lab that is neither
    loopback, of a link (cloud metadata), multicast nor of this machine's own."""

    def test(address: str) -> bool:
        return is_public(address) or _is_of_lab(address, lab_networks)

    return test


def _is_of_lab(address: str, networks: Sequence[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and not _is_plain(parsed, GLOBAL_IPV6, UNIQUE_LOCAL_IPV6):
        return False
    is_local = parsed.is_loopback or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified
    return not is_local and any(parsed in network for network in networks) and not is_own_address(address)


def _is_plain(address: ipaddress.IPv6Address, *networks: ipaddress.IPv6Network) -> bool:
    """Whether it is of one of these networks, and does not mean an IPv4 address."""
    return any(address in one for one in networks) and address.sixtofour is None and address.teredo is None


async def resolve(host: str, port: int) -> tuple[str, ...]:
    """The addresses a name has now, as this machine resolves it. Raises OSError when it has none."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(RESOLVER_THREADS, look_up)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def is_own_address(address: str) -> bool:
    """Whether the kernel would come to this address from the address itself, as it does to its own; sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, 9))
        except OSError:
            return False  # there is no way to it at all
        return bool(probe.getsockname()[0] == address)
