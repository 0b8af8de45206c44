"""Settings: defaults that work, and messages that name the variable."""

import re
from ipaddress import ip_network

import pytest

from vm_bridge.config import HOST_ID_PATTERN, BindAddress, ConfigError, lab_networks, read_config
from vm_bridge.fleet import Quota
from vm_bridge.host_keys import MANAGER, derive_key, format_keys
from vm_bridge.ice import IceServer

MASTER = "m" * 32
SECRET = {"PILOTHOUSE_HOST_ID": "h1", "PILOTHOUSE_BRIDGE_KEYS": format_keys(MASTER, (MANAGER, "h1"))}


def test_only_keys_are_needed() -> None:
    config = read_config(SECRET)
    assert config.bridge_bind == BindAddress("127.0.0.1", 8010)
    assert config.ice_servers == ()


def test_every_kind_of_value_is_read_from_text() -> None:
    config = read_config(
        {
            **SECRET,
            "PILOTHOUSE_BRIDGE_BIND": "0.0.0.0:9000",
            "PILOTHOUSE_WEB_ORIGINS": "https://a.example, https://b.example",
            "PILOTHOUSE_WARM_POOL": '{"desktop": 2}',
            "PILOTHOUSE_ICE_SERVERS": '[{"urls": "turn:turn.example", "username": "u", "credential": "c"}]',
            "PILOTHOUSE_STREAM_FPS": "15",
            "PILOTHOUSE_OSWORLD": "10.0.0.5:5000, [::1]:5001:9223:8007:8081",
            "PILOTHOUSE_OSWORLD_HOSTS": "huggingface.co, *.hf.co",
            "PILOTHOUSE_UNRELATED": "x",
        }
    )
    assert config.bridge_bind == BindAddress("0.0.0.0", 9000)
    assert config.web_origins == ("https://a.example", "https://b.example")
    assert config.warm_pool == {"desktop": 2}
    assert config.ice_servers == (IceServer(urls="turn:turn.example", username="u", credential="c"),)
    assert config.stream_fps == 15
    assert config.osworld == ("10.0.0.5:5000", "[::1]:5001:9223:8007:8081")
    assert config.osworld_hosts == ("huggingface.co", "*.hf.co")


def test_networks_of_the_lab_are_read_with_and_without_a_bridge() -> None:
    given = {"PILOTHOUSE_LAB_NETWORKS": "10.20.0.0/16, fd00:20::/32"}
    networks = (ip_network("10.20.0.0/16"), ip_network("fd00:20::/32"))
    assert read_config({**SECRET, **given}).lab_networks == lab_networks(given) == networks
    assert lab_networks({}) == ()
    with pytest.raises(ConfigError, match="PILOTHOUSE_LAB_NETWORKS"):
        lab_networks({"PILOTHOUSE_LAB_NETWORKS": "10.20.0.7/16"})


def test_machines_of_windows_need_their_secret() -> None:
    machine = {**SECRET, "PILOTHOUSE_WINDOWS": "127.0.0.1:8015"}
    with pytest.raises(ConfigError, match="PILOTHOUSE_WINDOWS_SECRET"):
        read_config(machine)
    assert read_config({**machine, "PILOTHOUSE_WINDOWS_SECRET": "s" * 16}).windows == ("127.0.0.1:8015",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PILOTHOUSE_SECRET", "short"),
        ("PILOTHOUSE_BRIDGE_KEYS", "h1=short"),
        ("PILOTHOUSE_BRIDGE_KEYS", "h1"),
        ("PILOTHOUSE_BRIDGE_BIND", "nowhere"),
        ("PILOTHOUSE_OSWORLD", "guest"),
        ("PILOTHOUSE_OSWORLD", "guest:5000:9222"),
        ("PILOTHOUSE_OSWORLD_HOSTS", "https://files.example"),
        ("PILOTHOUSE_LAB_NETWORKS", "lab.example"),
        ("PILOTHOUSE_LAB_NETWORKS", "10.20.0.7/16"),
        ("PILOTHOUSE_WARM_POOL", "{"),
        ("PILOTHOUSE_MACHINES", "magic"),
        ("PILOTHOUSE_STREAM_FPS", "0"),
        ("PILOTHOUSE_ROLE", "captain"),
        ("PILOTHOUSE_WORKERS", "2"),
        ("PILOTHOUSE_HOST_ID", "Not a name"),
        ("PILOTHOUSE_QUOTAS", '[{"scope": "planet", "name": "*", "limit": 1}]'),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read_config({**SECRET, name: value})


@pytest.mark.parametrize(
    ("role", "names", "missing"),
    [
        ("both", (), "@manager and h1"), ("both", (MANAGER,), "h1"), ("both", ("h1",), "@manager"),
        ("host", (MANAGER, "h2"), "h1"), ("manager", ("h1",), "@manager"),
    ],
)  # fmt: skip
def test_a_missing_key_is_named(role: str, names: tuple[str, ...], missing: str) -> None:
    with pytest.raises(ConfigError, match=f"PILOTHOUSE_BRIDGE_KEYS has no key of {missing} "):
        read_config({**SECRET, "PILOTHOUSE_ROLE": role, "PILOTHOUSE_BRIDGE_KEYS": format_keys(MASTER, names)})


def test_a_new_key_stands_beside_the_old_one_while_it_is_replaced() -> None:
    both = f"{format_keys('n' * 32, ('h1',))},{format_keys(MASTER, (MANAGER, 'h1'))}"
    config = read_config({**SECRET, "PILOTHOUSE_BRIDGE_KEYS": both})
    assert config.host_keys == config.ticket_keys == (derive_key("n" * 32, "h1"), derive_key(MASTER, "h1"))


def test_the_one_secret_of_earlier_versions_stands_for_all_keys() -> None:
    config = read_config({"PILOTHOUSE_SECRET": "s" * 16, "PILOTHOUSE_HOST_ID": "h1"})
    assert config.ticket_keys == (derive_key("s" * 16, "h1"), "s" * 16)
    assert config.keys_of(MANAGER) == (derive_key("s" * 16, MANAGER),)


def test_all_hosts_that_ray_places_have_one_key() -> None:
    placed = {
        "PILOTHOUSE_ROLE": "host",
        "PILOTHOUSE_HOST_ID": "ray-3.0af",
        "PILOTHOUSE_BRIDGE_KEYS": "@ray=" + "k" * 32,
    }
    assert read_config(placed).host_keys == ("k" * 32,)


def test_a_manager_may_have_several_processes_and_a_host_has_a_name() -> None:
    config = read_config({**SECRET, "PILOTHOUSE_ROLE": "manager", "PILOTHOUSE_WORKERS": "2"})
    assert (config.role, config.workers) == ("manager", 2)
    assert re.fullmatch(HOST_ID_PATTERN, config.host_id)


def test_quotas_are_given_as_json() -> None:
    config = read_config({**SECRET, "PILOTHOUSE_QUOTAS": '[{"scope": "user", "name": "*", "limit": 4}]'})
    assert config.quotas == (Quota(scope="user", name="*", limit=4),)
