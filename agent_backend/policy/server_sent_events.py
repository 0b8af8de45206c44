"""Reads the answer of a model server as chunks: server-sent events, or what servers send instead."""

import json
import re
from collections.abc import AsyncIterator

import httpx
from pydantic import ValidationError

from agent_backend.errors import PolicyUnavailable
from agent_backend.policy.samples import Chunk, extract_error

MAX_ERROR_CHARACTERS = 500
"""Characters of a server's answer that an error quotes."""
MAX_LINE_BYTES = 8 * 2**20
"""Most bytes of one line of a stream, or of an answer that is not a stream."""
_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_UNTERMINATED = b"\0"
"""Marks the last line of a body that lacks its end; no line of JSON holds it."""
_HTML_MESSAGE = "the address answers with a web page, not as a model server: it usually ends in /v1"
_FIELDS = frozenset({b"data", b"event", b"id", b"retry", b"error"})


async def read_lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """The lines of a body, which end at CR and LF alone (HTML standard, server-sent events); the last may lack its end.

    Raises PolicyUnavailable for a line beyond the bound.
    """
    pending = b""
    async for part in response.aiter_bytes():
        *whole, pending = _LINE_END.split(pending + part)
        for line in whole:
            yield line
        if len(pending) > MAX_LINE_BYTES:
            raise PolicyUnavailable("the model server sent a line of over 8 MiB: look at what answers at its address")
    if pending.strip():
        yield pending.rstrip(b"\r") + _UNTERMINATED


async def read_chunks(response: httpx.Response) -> AsyncIterator[Chunk | None]:
    """The chunks of a stream of server-sent events, then None if the server marked it as complete.

    A completion that is not streamed counts as one chunk. Lines without a known field are ignored once a stream has
    begun. Raises PolicyUnavailable with the server's error, or with its answer if that is not a model server's.
    """
    event, started = "", False
    other = bytearray()
    async for line in read_lines(response):
        name, data = _parse_field(line.removesuffix(_UNTERMINATED))
        if other or (name is None and not started):
            other += line.removesuffix(_UNTERMINATED) + b"\n"
            if len(other) > MAX_LINE_BYTES or other.lstrip()[:1] == b"<":
                break
        elif name == b"data" and data == b"[DONE]":
            yield None
            return
        elif name and data:
            chunk = _chunk_from_field(name, data, event=event, ended=not started or not line.endswith(_UNTERMINATED))
            if chunk is not None:
                started = True
                yield chunk
        event = data.decode(errors="replace") if name == b"event" else event if line else ""
    if other:
        yield _parse_whole_body(bytes(other))
        yield None


def _chunk_from_field(name: bytes, data: bytes, *, event: str, ended: bool) -> Chunk | None:
    """The chunk of a field; None if it has no part of a reply. Raises PolicyUnavailable."""
    if name == b"error":
        raise PolicyUnavailable(f"the model server gave up: {_error_text(data)}")
    return _parse_chunk(data, event=event, ended=ended) if name == b"data" else None


def _parse_field(line: bytes) -> tuple[bytes | None, bytes]:
    """(name, value) of a line of server-sent events; no name for a line that is none of them."""
    name, colon, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
    if not line.strip() or (colon and not name):
        return b"", b""
    if name.strip() not in _FIELDS:
        return None, line
    return name.strip(), value.strip()


def _parse_chunk(data: bytes, *, event: str, ended: bool) -> Chunk | None:
    """The chunk of an event; None for one that broke off. Raises PolicyUnavailable."""
    chunk = _decode_chunk(data)
    if chunk is None and not ended:
        return None
    if chunk is not None and chunk.error:
        raise PolicyUnavailable(extract_error(chunk.error)[:MAX_ERROR_CHARACTERS])
    if event == "error" or (chunk is not None and chunk.choices is None and _is_error(data)):
        raise PolicyUnavailable(f"the model server gave up: {_error_text(data)}")
    if chunk is None:
        raise PolicyUnavailable(
            f"the model server sent no completion chunk: {data[:MAX_ERROR_CHARACTERS].decode(errors='replace')}. "
            "Look at what answers at its address."
        )
    return chunk


def _decode_chunk(data: bytes) -> Chunk | None:
    """JSON as a chunk, None where it is none; a text may hold half a character."""
    try:
        return Chunk.model_validate_json(data)
    except ValidationError:
        pass
    try:
        return Chunk.model_validate(json.loads(data.decode(errors="replace")))
    except (ValueError, RecursionError):
        return None


def _is_error(data: bytes) -> bool:
    """Whether an object without choices is an error, as some servers send it."""
    value = json.loads(data.decode(errors="replace"))
    return isinstance(value, dict) and (value.get("object") == "error" or "detail" in value or "message" in value)


def _error_text(data: bytes) -> str:
    try:
        return extract_error(json.loads(data))[:MAX_ERROR_CHARACTERS]
    except (ValueError, RecursionError):
        return data[:MAX_ERROR_CHARACTERS].decode(errors="replace")


def _parse_whole_body(body: bytes) -> Chunk:
    """A whole completion. Raises PolicyUnavailable for anything else."""
    text = body.strip()
    if text[:1] == b"<":
        raise PolicyUnavailable(f"{_HTML_MESSAGE}. It says: {text[:200].decode(errors='replace')}")
    chunk = _parse_chunk(text, event="", ended=True) if text[:1] == b"{" else None
    if chunk is None or chunk.choices is None:
        raise PolicyUnavailable(
            f"the model server sent no completion: {text[:MAX_ERROR_CHARACTERS].decode(errors='replace')}. "
            "Look at what answers at its address."
        )
    return chunk
