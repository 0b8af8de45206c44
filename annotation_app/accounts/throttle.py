"""Limits on guessing. Failures are counted in the cache; a full bucket refuses further tries for a while."""

from dataclasses import dataclass

from django.core.cache import cache

from annotation_app.errors import TooMany

TOO_MANY_MESSAGE = "Too many failed tries. Wait five minutes."


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `limit` tries in `seconds`, counted from the first of them, for each key."""

    name: str
    limit: int
    seconds: int

    def take(self, key: str, *, code: str) -> None:
        """Count a try. Raises TooMany with this code when the bucket is full."""
        stored = self._key(key)
        cache.add(stored, 0, self.seconds)
        try:
            count = cache.incr(stored)
        except ValueError:  # it expired between the two calls
            cache.add(stored, 1, self.seconds)
            return
        if count > self.limit:
            raise TooMany(TOO_MANY_MESSAGE, code=code, extra={"seconds": self.seconds})

    def allows(self, key: str) -> bool:
        """Count a try. Returns whether the bucket had room for it."""
        try:
            self.take(key, code=self.name)
        except TooMany:
            return False
        return True

    def refund(self, key: str) -> None:
        """Take the last try back, because it was no failure."""
        stored = self._key(key)
        if (cache.get(stored) or 0) > 0:
            cache.decr(stored)

    def clear(self, key: str) -> None:
        """Reset the count."""
        cache.delete(self._key(key))

    def _key(self, key: str) -> str:
        return f"throttle:{self.name}:{key.encode().hex()}"


SIGN_IN_LIMIT = AttemptLimit("sign-in", limit=10, seconds=300)
"""Failed sign-ins for one name from one address."""
ADDRESS_SIGN_IN_LIMIT = AttemptLimit("sign-in-from", limit=100, seconds=300)
"""Failed sign-ins from one address, for any names. A laboratory may share one address."""
MAIL_REQUEST_LIMIT = AttemptLimit("mail-request", limit=20, seconds=3600)
"""Requests for a password link from one address."""
MAIL_LIMIT = AttemptLimit("mail", limit=3, seconds=3600)
"""Password links sent to one account."""
FACTOR_LIMIT = AttemptLimit("factor", limit=10, seconds=300)
"""Wrong second factors and reauthentication passwords for one account, from any address."""
