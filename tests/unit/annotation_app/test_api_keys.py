"""The API key of the settings is sent to the policy servers it belongs to, and to no other."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation_app.policies.api_keys import api_key_for
from annotation_app.settings.env import read_environment


@pytest.fixture(autouse=True)
def _settings(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(
        update={"policy_api_key": "key", "policy_api_key_servers": "https://models.example.org, http://10.0.0.7:8000"}
    )


@pytest.mark.parametrize(
    "url",
    [
        *("https://models.example.org/v1", "https://MODELS.example.org:443/v1"),
        *("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
    ],
)
def test_its_servers_get_it(url: str) -> None:
    assert api_key_for(url) == "key"


@pytest.mark.parametrize(
    "url",
    [
        *("http://models.example.org/v1", "https://models.example.org:8443/v1", "http://10.0.0.7/v1", ""),
        *("https://models.example.org.evil.example/v1", "https://evil.example/https://models.example.org"),
        *("https://models.example.org@evil.example/v1", "https://models.example.org:x/v1", "models.example.org"),
    ],
)
def test_no_other_gets_it(url: str) -> None:
    assert api_key_for(url) == ""


def test_a_key_without_its_servers_is_refused_at_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="PILOTHOUSE_POLICY_API_KEY_SERVERS"):
        read_environment({"PILOTHOUSE_POLICY_API_KEY": "key"})
