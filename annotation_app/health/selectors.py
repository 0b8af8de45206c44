"""Asking the database and the cache whether they answer."""

from django.core.cache import cache
from django.db import DatabaseError, connection
from redis.exceptions import RedisError


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _cache_answers() -> bool:
    try:
        cache.set("health", 1, 10)
    except RedisError:
        return False
    return True


def checks_run() -> dict[str, bool]:
    """Each check by its name."""
    return {"database": _database_answers(), "redis": _cache_answers()}
