"""A Redis for bridges, as the bridge's tests have it."""

from tests.integration.bridge import conftest as bridge_fixtures

private_redis = bridge_fixtures.private_redis
bridge_redis = bridge_fixtures.bridge_redis
