"""How asyncio clients connect to Redis."""

from redis.maint_notifications import MaintNotificationsConfig

ASYNC_OPTIONS = {"maint_notifications_config": MaintNotificationsConfig(enabled=False)}
"""Keyword arguments of every asyncio connection pool. While redis-py listens for a managed service's notices, which it
does over TCP unless told otherwise, it does not look whether the server has closed a pooled connection: after Redis has
restarted, each connection would fail once."""
