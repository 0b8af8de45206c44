"""Values of the cache as JSON: who can write to Redis must not be able to run code in the web app, as pickles would."""

import json
from typing import Any


class JsonSerializer:
    """What Django's Redis cache asks for. Integers are stored plain, so that Redis can count them."""

    def dumps(self, value: Any) -> bytes | int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return json.dumps(value, separators=(",", ":")).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)
