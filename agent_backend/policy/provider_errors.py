"""Translates a provider's failures for annotators and admins: who must do what."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Protocol

from agent_backend.errors import PolicyError, PolicyMisconfigured, PolicyRejected, PolicyUnavailable
from agent_backend.policy.completions import (
    CONTEXT_LENGTH_ERROR,
    MAX_ERROR_CHARACTERS,
    MISCONFIGURED_STATUSES,
    RequestTimeouts,
    ServerBusy,
    parse_retry_after,
)

_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing|exceeded your current quota|payment", re.I)
_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
_SECRET = re.compile(r"\b(?:sk|key|AIza)[-_A-Za-z0-9*]{12,}")
OPTIONAL_FIELDS = ("temperature", "thinking", "parallel_tool_calls", "disable_parallel_tool_use")
"""Fields that not every model accepts; a model that refuses them gets the request without them."""


UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RuntimeError, AssertionError)
"""What clients and our reading of their events raise where an answer is not of its API."""


class OptionalFieldRejected(PolicyRejected):
    """The model does not accept an optional field."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def status_error(title: str, model: str, status: int, message: str, retry_after: str = "") -> PolicyError:
    """The error of a response with this status, in words for people."""
    words = _SECRET.sub("…", " ".join(message.split()))[:MAX_ERROR_CHARACTERS]
    told = f"{title} answers {status}: {words}" if words else f"{title} answers {status}"
    if _NO_CREDIT.search(message) and status in (400, 402, 403, 429):
        return PolicyMisconfigured(f"{told}. The account has no credit left: an admin must add some at {title}.")
    if status in _BUSY:
        wait = parse_retry_after(retry_after)
        what = "limits how often it is asked" if status == 429 else "is overloaded or fails"
        return ServerBusy(f"{title} {what} ({status}): {words}", retry_after=wait)
    kind = PolicyMisconfigured if status in MISCONFIGURED_STATUSES else PolicyRejected
    return kind(f"{told}. {_remedy(title, model, status, message)}")


def _remedy(title: str, model: str, status: int, message: str) -> str:
    """The remedy for a refusal: who must do what."""
    if status == 401:
        return f"It does not accept the API key: an admin must enter a valid key of {title}."
    if status == 403:
        return f"The API key may not use {model}: an admin must allow it at {title}, or enter another key."
    if status == 404:
        return f"It has no model “{model}” here: an admin must register a revision with a name that it has."
    if 300 <= status < 400:
        return "It sends to another address, which the key is not sent to: an admin must register the policy's own."
    if status == 413 or CONTEXT_LENGTH_ERROR.search(message):
        return "The prompt is longer than the model takes: an admin must show it fewer screenshots (its memory)."
    return "An admin must change the policy's settings; do this step yourself meanwhile."


def optional_field_error(title: str, message: str) -> OptionalFieldRejected | None:
    """The refusal of an optional field; None for any other error."""
    name = next((name for name in OPTIONAL_FIELDS if name in message), None)
    return None if name is None else OptionalFieldRejected(f"{title} refuses {name}: {message}", name)


def connection_error(title: str, reason: str) -> PolicyUnavailable:
    """The error of a request without a response."""
    return ServerBusy(f"{title} cannot be reached: {reason[:MAX_ERROR_CHARACTERS]}")


def silence_error(title: str, seconds: float) -> PolicyUnavailable:
    """The error of a provider that stopped answering."""
    return PolicyUnavailable(f"{title} sent nothing for {seconds:g} s: it is asked again later")


def malformed_answer(title: str, reason: str) -> PolicyUnavailable:
    """The error of an answer that does not follow this API."""
    words = _SECRET.sub("…", " ".join(reason.split()))[:MAX_ERROR_CHARACTERS]
    return PolicyUnavailable(f"{title} sent an answer that cannot be read ({words}): look at the policy's address")


class _Reply(Protocol):
    begun: bool


_STATUS_BY_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
}
"""Statuses of errors that come in a stream that began well, by their type or code."""


def error_of_type(title: str, model: str, error: Any) -> PolicyError:
    """The error that a stream reports in an event."""
    fields = error if isinstance(error, dict) else {}
    kinds = [str(fields.get(name)) for name in ("type", "code") if fields.get(name)]
    status = next((_STATUS_BY_TYPE[kind] for kind in kinds if kind in _STATUS_BY_TYPE), 500)
    return status_error(title, model, status, str(fields.get("message") or error or ""))


class SdkErrors:
    """What the exceptions of Anthropic's and OpenAI's clients mean; both have the same ones."""

    def __init__(self, title: str, sdk: ModuleType, timeouts: RequestTimeouts) -> None:
        import httpx2

        self._title, self._timeouts = title, timeouts
        self._sdk: Any = sdk
        self._transport = httpx2

    @contextmanager
    def told(self, model: str, reply: _Reply) -> Iterator[None]:
        """Raise PolicyError for what the client raises. A stream that breaks off after it began counts as a truncated
        reply."""
        sdk = self._sdk
        try:
            yield
        except sdk.APIStatusError as error:
            raise self._status_error(model, error) from None
        except (sdk.APITimeoutError, self._transport.TimeoutException):
            raise silence_error(self._title, self._timeouts.token) from None
        except sdk.APIConnectionError as error:
            if not reply.begun:
                raise connection_error(self._title, str(error.__cause__ or error)) from None
        except self._transport.HTTPError as error:
            if not reply.begun:
                raise connection_error(self._title, str(error) or type(error).__name__) from None
        except sdk.APIError as error:
            raise error_of_type(self._title, model, error.body or {"message": error.message}) from None
        except UNREADABLE as error:
            raise malformed_answer(self._title, str(error)) from None

    def _status_error(self, model: str, error: Any) -> PolicyError:
        body = error.body if isinstance(error.body, dict) else {}
        told = body.get("error", body)
        told = told if isinstance(told, dict) else {}
        if error.status_code == 200:
            return error_of_type(self._title, model, told)
        message = str(told.get("message") or error.message)
        optional = optional_field_error(self._title, message) if error.status_code == 400 else None
        wait = error.response.headers.get("retry-after", "")
        return optional or status_error(self._title, model, error.status_code, message, wait)


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that are trusted, read once: it takes longer than a request."""
    return ssl.create_default_context()


def http_client(timeouts: RequestTimeouts) -> Any:
    """The HTTP client of a provider's: no redirect takes a key to another origin, and no proxy of the environment."""
    import httpx2

    timeout = httpx2.Timeout(timeouts.token, connect=timeouts.connect)
    return httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=timeout, verify=_certificates())


def blocking_http_client() -> Any:
    """A blocking HTTP client, for SDKs that need one."""
    import httpx2

    return httpx2.Client(follow_redirects=False, trust_env=False, verify=_certificates())
