"""Which addresses are public, and which others a lab can open."""

from ipaddress import ip_network

import pytest

from vm_bridge.network.addresses import is_own_address, is_public, is_reachable, resolve


@pytest.mark.parametrize("address", ["93.184.216.34", "1.1.1.1", "2606:2800:220:1:248:1893:25c8:1946"])
def test_the_public_network(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.2.3", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1"),
        *("::ffff:127.0.0.1", "::ffff:93.184.216.34", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1"),
        *("2002:7f00:1::", "2001:0:7f00:1::", "2001:db8::1", "100::1", "not an address", ""),
    ],
)
def test_what_is_local_shared_reserved_or_means_something_else(address: str) -> None:
    assert not is_public(address)


LAB = is_reachable([ip_network("10.20.0.0/16"), ip_network("fd00:20::/32")])
WHOLE_INTERNET = is_reachable([ip_network("0.0.0.0/0"), ip_network("::/0")])


@pytest.mark.parametrize("address", ["10.20.0.1", "10.20.255.7", "fd00:20::1", "1.1.1.1"])
def test_networks_of_the_lab_are_reachable(address: str) -> None:
    assert LAB(address)


@pytest.mark.parametrize("address", ["10.21.0.1", "192.168.1.1", "fd00:21::1", "::ffff:10.20.0.1", "10.20.0", ""])
def test_what_lies_beside_them_is_not(address: str) -> None:
    assert not LAB(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"),
    ],
)
def test_no_network_opens_this_machine_or_its_links(address: str) -> None:
    assert not WHOLE_INTERNET(address)


def test_the_kernel_tells_which_addresses_are_this_machines() -> None:
    assert is_own_address("127.0.0.1")
    assert not is_own_address("1.1.1.1")


async def test_names_are_resolved_by_this_machine() -> None:
    assert "127.0.0.1" in await resolve("localhost", 80)


async def test_odd_spellings_of_an_address_resolve_to_what_they_mean() -> None:
    assert await resolve("2130706433", 80) == ("127.0.0.1",)
    assert await resolve("0x7f.1", 80) == ("127.0.0.1",)
