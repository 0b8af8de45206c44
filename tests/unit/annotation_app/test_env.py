"""The environment: read once, wrong values named."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation_app.settings.env import check_production, database_settings, read_environment

ROOT = Path(__file__).resolve().parents[3]
WHOLE = {
    "PILOTHOUSE_SECRET_KEY": "k" * 40,
    "PILOTHOUSE_CREDENTIALS_KEYS": "c" * 40,
    "PILOTHOUSE_BRIDGE_MASTER_KEY": "s" * 40,
    "PILOTHOUSE_DATABASE_URL": "postgresql://me@db/pilothouse",
    "PILOTHOUSE_REDIS_URL": "redis://cache:6379/0",
    "PILOTHOUSE_ALLOWED_HOSTS": "pilothouse.example",
    "PILOTHOUSE_WEB_ORIGINS": "https://pilothouse.example",
}


def test_only_its_own_variables_count() -> None:
    read = read_environment({"PILOTHOUSE_DATA": "/somewhere", "DATA": "/elsewhere"})
    assert read.data == Path("/somewhere")
    assert read.list_of("allowed_hosts") == ["localhost", "127.0.0.1", "[::1]"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("PILOTHOUSE_BODY_LIMIT", "much"), ("PILOTHOUSE_BODY_LIMIT", "0"), ("PILOTHOUSE_HTTPS", "so so")],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        read_environment({name: value})


def test_a_redis_socket_is_spelt_for_celery() -> None:
    assert read_environment({"PILOTHOUSE_REDIS_URL": "unix:///run/redis"}).celery_url == "redis+socket:///run/redis"


@pytest.mark.parametrize(
    ("url", "name", "host"),
    [
        ("postgresql://ann:pw@db.example:5433/house", "house", "db.example"),
        ("postgresql:///house?host=/run/postgres&port=5499", "house", "/run/postgres"),
    ],
)
def test_any_form_of_a_database_address_is_read(url: str, name: str, host: str) -> None:
    settings = database_settings(url)
    assert (settings["NAME"], settings["HOST"]) == (name, host)
    assert settings["ENGINE"].endswith("postgresql")


def test_what_is_no_database_address_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_DATABASE_URL"):
        database_settings("sqlite:///file")


def production(**changes: str) -> None:
    check_production(read_environment({name: value for name, value in {**WHOLE, **changes}.items() if value}))


def test_production_starts_with_everything_it_needs() -> None:
    production()


@pytest.mark.parametrize("name", WHOLE)
def test_production_refuses_to_start_without(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=name):
        production(**{name: ""})


@pytest.mark.parametrize(
    "url", ["https://pilothouse.example:8010", "https://{host}:8010", "https://pilothouse.example"]
)
def test_production_shows_programs_under_a_host_name_of_their_own(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_PREVIEW_URL"):
        check_production(read_environment({**WHOLE, "PILOTHOUSE_PREVIEW_URL": url}))
    check_production(read_environment({**WHOLE, "PILOTHOUSE_PREVIEW_URL": "https://{machine}.preview.example"}))


def test_production_refuses_short_secrets_without_showing_them() -> None:
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_BRIDGE_MASTER_KEY needs at least") as refused:
        production(PILOTHOUSE_BRIDGE_MASTER_KEY="hunter2")
    assert "hunter2" not in str(refused.value)


def test_the_one_secret_of_earlier_versions_starts_production_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    production()
    assert not caplog.records
    production(PILOTHOUSE_BRIDGE_MASTER_KEY="", PILOTHOUSE_SECRET="s" * 40)
    assert "set PILOTHOUSE_BRIDGE_MASTER_KEY" in caplog.text
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_SECRET needs at least"):
        production(PILOTHOUSE_BRIDGE_MASTER_KEY="", PILOTHOUSE_SECRET="short")


def test_the_production_settings_make_that_check() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PILOTHOUSE_")}
    command = [sys.executable, "-c", "import annotation_app.settings.production"]
    refused = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert "production needs PILOTHOUSE_SECRET_KEY" in refused.stderr


@pytest.mark.parametrize("value", ["{}", "stun:a.example", ""])
def test_ice_servers_are_a_list(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_ICE_SERVERS"):
        read_environment({"PILOTHOUSE_ICE_SERVERS": value})
