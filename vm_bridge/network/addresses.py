"""Which addresses lie out in the public network, and neither on this machine nor beside it."""

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

RESOLVER_THREADS = ThreadPoolExecutor(4, thread_name_prefix="resolve")
"""Slow names keep only each other waiting."""
GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
"""All that is given out of IPv6; what lies outside it is local or means an IPv4 address."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public network, and not one of this machine's own."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False  # with a zone, and so of a link
    if isinstance(parsed, ipaddress.IPv6Address) and (
        parsed not in GLOBAL_IPV6 or parsed.sixtofour is not None or parsed.teredo is not None
    ):
        return False
    return parsed.is_global and not parsed.is_multicast and not is_own_address(address)


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
