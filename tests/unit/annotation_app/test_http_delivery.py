"""Where messages go: to the internet, over https, to the address that was checked."""

import pytest

from annotation_app.notifications.http_delivery import UnsafeAddress, is_public, safe_address


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("1.1.1.1", True),
        ("2606:4700:4700::1111", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:1.1.1.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_which_addresses_are_the_internets(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_one_private_address_of_a_name_is_enough_to_refuse_it() -> None:
    assert safe_address("https://a.example/", private=False, resolve=lambda *_: ["1.1.1.1"]) == "1.1.1.1"
    with pytest.raises(UnsafeAddress):
        safe_address("https://a.example/", private=False, resolve=lambda *_: ["1.1.1.1", "10.0.0.1"])


def test_numbers_that_are_addresses_are_seen_through() -> None:
    for url in ("https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://[::1]/", "https://localhost/"):
        with pytest.raises(UnsafeAddress):
            safe_address(url, private=False)


def test_messages_leave_over_https_unless_the_installation_says_otherwise() -> None:
    with pytest.raises(UnsafeAddress):
        safe_address("http://a.example/", private=False, resolve=lambda *_: ["1.1.1.1"])
    assert safe_address("http://127.0.0.1:8/", private=True) == "127.0.0.1"
    seen: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        seen.append((host, port))
        return ["1.1.1.1"]

    safe_address("https://a.example:8443/x", private=False, resolve=resolve)
    assert seen == [("a.example", 8443)]
