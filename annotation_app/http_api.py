"""Common parts of the HTTP API: authentication, error format, JSON encoding."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.parser import Parser
from ninja.renderers import BaseRenderer
from ninja.security import APIKeyCookie
from ninja.utils import check_csrf
from pydantic import StringConstraints
from pydantic_core import to_json

from annotation_app.errors import (
    DISK_FULL_ERRNOS,
    ApplicationError,
    DiskFull,
    Forbidden,
    Invalid,
    NotFound,
    NotSignedIn,
    TooLarge,
)
from protocol.base import find_json_error

ShortText = Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[^\x00]*$")]
"""A short text that PostgreSQL can store: it refuses NUL."""


class PydanticRenderer(BaseRenderer):
    """Writes times and numbers as the WebSocket does, so that each state has one representation."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return to_json(data, inf_nan_mode="null")


class StrictParser(Parser):
    """Reads bodies as strict JSON. Python's reader accepts NaN, Infinity and lone surrogates, which cannot be
    stored."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Raises ValueError, and Invalid with the name of the field."""
        value = json.loads(request.body)
        if (fault := find_json_error(value)) is not None:
            path, reason = fault
            raise _invalid_fields([{"field": path, "message": reason}])
        return value


class SessionAuth(APIKeyCookie):
    """The session cookie with its CSRF header. Every route requires it unless it declares otherwise."""

    param_name = settings.SESSION_COOKIE_NAME

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        return request.user if request.user.is_authenticated else None


def csrf_required(request: HttpRequest) -> None:
    """For routes without sign-in. Raises Forbidden if the token is missing or wrong."""
    if check_csrf(request) is not None:
        raise Forbidden("The page's token is missing or out of date; load the page again.", code="csrf")


def _error_body(error: ApplicationError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "extra": error.extra}


def _field_errors(error: ValidationError) -> ApplicationError:
    """The errors of each field, without repeating the input."""
    fields = [
        {
            "field": ".".join(_field_path(e["loc"])),
            "message": e["msg"].removeprefix("Value error, "),
        }
        for e in error.errors
    ]
    return _invalid_fields(fields)


def _field_path(place: Sequence[object]) -> Iterator[str]:
    """A field's path without the request part and without the name of the body argument."""
    inner = place[2:] if place[0] == "body" else place[1:]
    yield from map(str, inner or place)


def _invalid_fields(fields: list[dict[str, str]]) -> Invalid:
    """An error whose message names the first invalid field and what is wrong with it."""
    first = f"{fields[0]['field']}: {fields[0]['message']}" if fields else "it is empty"
    return Invalid(f"The request is not understood: {first}", extra={"fields": fields})


def _http_error(error: HttpError) -> ApplicationError:
    if isinstance(error.__cause__, ApplicationError):
        return error.__cause__
    if error.status_code == Forbidden.status:
        return Forbidden("The page's token is missing or out of date; load the page again.", code="csrf")
    return Invalid(error.message)


class Api(NinjaAPI):
    """Operations are named after their functions, so that generated clients read well."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._descriptions: dict[str, OpenAPISchema] = {}

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """The OpenAPI document, cached for each prefix. Building it takes a second, and any client may request it."""
        prefix = self.get_root_path(path_params or {}) if path_prefix is None else path_prefix
        if prefix not in self._descriptions:
            self._descriptions[prefix] = super().get_openapi_schema(path_prefix=prefix)
        return self._descriptions[prefix]

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


def api_make() -> Api:
    """An API that requires sign-in by default and returns every error in one format."""
    api = Api(
        title="Pilothouse",
        version="1",
        auth=SessionAuth(),
        docs_url=None,
        parser=StrictParser(),
        renderer=PydanticRenderer(),
    )

    def answer(request: HttpRequest, error: ApplicationError) -> HttpResponse:
        return api.create_response(request, _error_body(error), status=error.status)

    @api.exception_handler(ApplicationError)
    def refused(request: HttpRequest, error: ApplicationError) -> HttpResponse:
        return answer(request, error)

    @api.exception_handler(AuthenticationError)
    def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        return answer(request, NotSignedIn("Sign in first."))

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        return answer(request, _http_error(error))

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return answer(request, NotFound("There is no such thing."))

    @api.exception_handler(RequestDataTooBig)
    def too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return answer(request, TooLarge("The request is too large."))

    _storage_handlers_add(api, answer)

    @api.exception_handler(ValidationError)
    def not_understood(request: HttpRequest, error: ValidationError) -> HttpResponse:
        return answer(request, _field_errors(error))

    return api


def _storage_handlers_add(api: Api, answer: Callable[[HttpRequest, ApplicationError], HttpResponse]) -> None:
    """Handle errors of the database and the disk."""

    @api.exception_handler(DataError)
    def not_storable(request: HttpRequest, error: DataError) -> HttpResponse:
        return answer(request, Invalid(f"The database cannot keep it: {str(error).splitlines()[0]}"))

    @api.exception_handler(OSError)
    def not_kept(request: HttpRequest, error: OSError) -> HttpResponse:
        if error.errno not in DISK_FULL_ERRNOS:
            raise error
        return answer(request, DiskFull("The disk is full; nothing was kept. Tell an admin."))
