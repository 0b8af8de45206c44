"""The content security policy names our own servers and nobody else's."""

from typing import Any

import pytest

from annotation_app.live.stream_tickets import stream_url
from annotation_app.public_urls import public_url
from annotation_app.web.security_headers import content_security_policy
from vm_bridge.config import Config


@pytest.fixture(autouse=True)
def _addresses(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(
        update={"bridge_public_url": "http://{host}:8010", "vnc_public_url": "ws://{host}:8011"}
    )


@pytest.mark.parametrize(
    ("host", "name"),
    [("desk.example:8000", "desk.example"), ("127.0.0.1:8000", "127.0.0.1"), ("desk.example", "desk.example")],
)
def test_streams_are_reached_under_the_name_the_browser_used(host: str, name: str) -> None:
    connect = next(part for part in content_security_policy(host).split("; ") if part.startswith("connect-src"))
    assert connect.split()[1:] == [
        "'self'",
        f"ws://{host}",
        f"wss://{host}",
        f"http://{name}:8010",
        f"ws://{name}:8010",
        f"ws://{name}:8011",
    ]


def test_scripts_come_from_us_only() -> None:
    policy = content_security_policy("desk.example")
    assert "default-src 'self'" in policy
    assert "script-src" not in policy, "it falls back to default-src"
    assert "object-src 'none'" in policy


def test_a_vnc_ticket_travels_in_the_address_and_others_do_not() -> None:
    assert stream_url("vnc", "a.b", host="desk", bridge="h1") == "ws://desk:8011/?token=a.b"
    assert stream_url("webrtc", "a.b", host="desk", bridge="h1") == "http://desk:8010/streams/webrtc"


def test_streams_of_several_bridge_hosts_are_each_at_its_own_name(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(
        update={
            "bridge_public_url": "https://{bridge}.streams.example.org:8010/",
            "vnc_public_url": "wss://{bridge}.streams.example.org:8011",
            "preview_url": "https://{machine}.{bridge}.preview.example.org",
        }
    )
    assert stream_url("stills", "a.b", host="desk", bridge="h_2.x") == (
        "https://h-2-x.streams.example.org:8010/streams/stills"
    )
    assert stream_url("vnc", "a.b", host="desk", bridge="h1") == "wss://h1.streams.example.org:8011/?token=a.b"
    policy = content_security_policy("desk.example")
    assert " https://*.streams.example.org:8010 " in policy
    assert " wss://*.streams.example.org:8011;" in policy
    assert "frame-src https://*.preview.example.org;" in policy


def test_web_app_and_bridge_write_a_host_the_same_way() -> None:
    config = Config(secret="s" * 16, host_id="ray-0.ab_1", preview_url="https://{machine}.{bridge}.example.org")
    assert config.preview_origin == "https://{machine}.ray-0-ab-1.example.org"
    assert public_url("https://{bridge}.example.org", bridge=config.host_id) == "https://ray-0-ab-1.example.org"


def test_a_bridge_below_a_path_is_a_source_whatever_lies_below_it(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"bridge_public_url": "https://{host}/bridge"})
    assert " https://desk.example ws" in content_security_policy("desk.example:8443")
