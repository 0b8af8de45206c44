"""Settings: defaults that work, and messages that name the variable."""

import pytest

from vm_bridge.config import Address, ConfigError, IceServer, config_read

SECRET = {"PILOTHOUSE_SECRET": "long enough a secret"}


def test_only_the_secret_is_needed() -> None:
    config = config_read(SECRET)
    assert config.bridge_bind == Address("127.0.0.1", 8010)
    assert config.ice_servers == ()


def test_every_kind_of_value_is_read_from_text() -> None:
    config = config_read(
        {
            **SECRET,
            "PILOTHOUSE_BRIDGE_BIND": "0.0.0.0:9000",
            "PILOTHOUSE_WEB_ORIGINS": "https://a.example, https://b.example",
            "PILOTHOUSE_WARM": '{"desktop": 2}',
            "PILOTHOUSE_ICE_SERVERS": '[{"urls": "turn:turn.example", "username": "u", "credential": "c"}]',
            "PILOTHOUSE_STREAM_FPS": "15",
            "PILOTHOUSE_UNRELATED": "x",
        }
    )
    assert config.bridge_bind == Address("0.0.0.0", 9000)
    assert config.web_origins == ("https://a.example", "https://b.example")
    assert config.warm == {"desktop": 2}
    assert config.ice_servers == (IceServer(urls="turn:turn.example", username="u", credential="c"),)
    assert config.stream_fps == 15


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PILOTHOUSE_SECRET", "short"),
        ("PILOTHOUSE_BRIDGE_BIND", "nowhere"),
        ("PILOTHOUSE_WARM", "{"),
        ("PILOTHOUSE_MACHINES", "magic"),
        ("PILOTHOUSE_STREAM_FPS", "0"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        config_read({**SECRET, name: value})


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(ConfigError, match="PILOTHOUSE_SECRET"):
        config_read({})
