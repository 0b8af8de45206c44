"""Cache values as JSON. With pickle, anyone with write access to Redis could run code in the web app."""

import json
from typing import Any


class JsonSerializer:
    """The serializer for Django's Redis cache. Integers are stored plain, so that Redis can increment them."""

    def dumps(self, value: Any) -> bytes | int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return json.dumps(value, separators=(",", ":")).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)
