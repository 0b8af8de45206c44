"""Turns errors into HTTP responses: always an `ErrorResponse`, with a stable code."""

import logging

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException

from vm_bridge.api.wire import ErrorResponse
from vm_bridge.errors import BridgeError, BridgeUnavailable

logger = logging.getLogger(__name__)

HTTP_ERROR_CODES = {401: "unauthorized", 404: "not_found", 405: "not_allowed", 413: "too_large"}
MAX_MESSAGE = 2_000


def error_response(error: Exception) -> JSONResponse:
    """The response for an error. Reraises unexpected errors."""
    match error:
        case BridgeError():
            return _json_error(error.status, error.code, str(error))
        case RequestValidationError():
            problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
            return _json_error(422, "invalid", "; ".join(problems)[:MAX_MESSAGE])
        case HTTPException():
            return _json_error(
                error.status_code, HTTP_ERROR_CODES.get(error.status_code, "http_error"), str(error.detail)
            )
        case RedisError():
            logger.warning("a call failed at Redis: %s: %s", type(error).__name__, error)
            return _json_error(BridgeUnavailable.status, BridgeUnavailable.code, "Redis does not answer")
        case _:
            raise error


async def handle_error(_: Request, error: Exception) -> JSONResponse:
    """`error_response` as the framework's error handler."""
    return error_response(error)


HANDLED_ERRORS = (BridgeError, RequestValidationError, HTTPException, RedisError)
"""Errors that `handle_error` handles."""


def _json_error(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse(ErrorResponse(code=code, message=message).model_dump(), status)
