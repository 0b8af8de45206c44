"""How errors are answered over HTTP: always a `Failure`, with a stable code."""

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException

from vm_bridge.errors import BridgeError, BridgeUnavailable
from vm_bridge.wire import Failure

CODES = {401: "unauthorized", 404: "not_found", 405: "not_allowed", 413: "too_large"}
MAX_MESSAGE = 2_000


def refusal(error: Exception) -> JSONResponse:
    """What is answered for an error. Raises the error again when nobody foresaw it."""
    match error:
        case BridgeError():
            return _failure(error.status, error.code, str(error))
        case RequestValidationError():
            problems = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
            return _failure(422, "invalid", "; ".join(problems)[:MAX_MESSAGE])
        case HTTPException():
            return _failure(error.status_code, CODES.get(error.status_code, "http_error"), str(error.detail))
        case RedisError():
            return _failure(BridgeUnavailable.status, BridgeUnavailable.code, "Redis does not answer")
        case _:
            raise error


async def refuse(_: Request, error: Exception) -> JSONResponse:
    """The same for the framework."""
    return refusal(error)


FORESEEN = (BridgeError, RequestValidationError, HTTPException, RedisError)
"""What `refuse` handles."""


def _failure(status: int, code: str, message: str) -> JSONResponse:
    return JSONResponse(Failure(code=code, message=message).model_dump(), status)
