"""Converts Django's own errors under /api/ to the format of all API errors."""

import json
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

from annotation_app.web.middleware import response_middleware

ERROR_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 500: "server_error"}


def _as_json_error(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """The response, or what it says as `{"code", "message", "extra"}`."""
    plain = response.status_code >= HTTPStatus.BAD_REQUEST and not response.headers.get("Content-Type", "").startswith(
        "application/json"
    )
    if not (plain and request.path_info.startswith("/api/")):
        return response
    body = {
        "code": ERROR_CODES.get(response.status_code, "bad_request"),
        "message": HTTPStatus(response.status_code).phrase,
        "extra": {},
    }
    return HttpResponse(json.dumps(body), status=response.status_code, content_type="application/json")


api_errors = response_middleware(_as_json_error)
