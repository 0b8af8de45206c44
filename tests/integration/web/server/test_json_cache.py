"""The cache in Redis holds JSON, of which nothing can be run."""

from typing import Any

import pytest

from tests.integration.web.conftest import cache_of_the_web_app


@pytest.fixture
def cache(redis_url: str) -> Any:
    made = cache_of_the_web_app(redis_url)
    yield made
    made.delete("test:value")


@pytest.mark.parametrize("value", [True, False, None, 7, 1.5, "text", "\u4e2d", ["a", [1, 2]], {"a": {"b": None}}])
def test_what_is_stored_is_read(cache: Any, value: object) -> None:
    cache.set("test:value", value, 60)
    assert cache.get("test:value", "nothing") == value
    assert type(cache.get("test:value")) is type(value)


def test_what_is_counted_is_a_number(cache: Any) -> None:
    assert cache.add("test:value", 0, 60)
    assert cache.incr("test:value") == 1
    assert cache.get("test:value") == 1


def test_what_is_no_json_is_refused(cache: Any) -> None:
    with pytest.raises(TypeError):
        cache.set("test:value", object(), 60)
