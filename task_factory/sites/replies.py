"""Reads what models reply: JSON, perhaps within other text. What cannot be read is named, never guessed."""

import json
from typing import Any, TypeVar

from pydantic import ValidationError

from protocol.base import FrozenModel, find_json_error
from task_factory.sites.records import Proposal, SiteFunction

Item = TypeVar("Item", bound=FrozenModel)


class ReplyFault(Exception):
    """A reply, or an item of it, that cannot be used.

    `code` is `no_json` (there is no object in it), `bad_json` (it is cut off or malformed), `bad_shape` (it lacks what
    was asked for), `too_many`.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Refinement(FrozenModel):
    """A task in other words, or the verdict that it is not to be kept."""

    id: str
    proposed_task: str = ""
    criteria: tuple[str, ...] = ()
    drop: bool = False
    reason: str = ""


def read_object(reply: str) -> dict[str, Any]:
    """The JSON object of a reply. Text and fences around it, and what a model thought before it, do not matter.

    Raises ReplyFault.
    """
    _, mark, after = reply.rpartition("</think>")
    text = after if mark else reply
    decoder = json.JSONDecoder()
    begins = [place for place, character in enumerate(text) if character == "{"]
    if not begins:
        raise ReplyFault("no_json", text.strip()[:100] or "the reply is empty")
    for begin in begins[:50]:
        try:
            found, _ = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and ("tasks" in found or "functions" in found):
            if fault := find_json_error(found):
                raise ReplyFault("bad_json", ": ".join(filter(None, fault)))
            return found
    raise ReplyFault("bad_json", "no whole object with tasks or functions in it")


def read_functions(reply: str) -> tuple[list[SiteFunction], list[ReplyFault]]:
    """The functions of a page, and what of the reply could not be read. Raises ReplyFault where nothing can."""
    return _read_items(reply, "functions", SiteFunction, most=30)


def read_proposals(reply: str) -> tuple[list[Proposal], list[ReplyFault]]:
    """The proposed tasks, and what of the reply could not be read. Raises ReplyFault where nothing can."""
    return _read_items(reply, "tasks", Proposal, most=60)


def read_refinements(reply: str) -> tuple[list[Refinement], list[ReplyFault]]:
    """The refined tasks, and what of the reply could not be read. Raises ReplyFault where nothing can."""
    return _read_items(reply, "tasks", Refinement, most=60)


def _read_items(reply: str, key: str, model: type[Item], *, most: int) -> tuple[list[Item], list[ReplyFault]]:
    items = read_object(reply).get(key)
    if not isinstance(items, list):
        raise ReplyFault("bad_shape", f"{key} is no list")
    read, faults = list[Item](), list[ReplyFault]()
    for place, item in enumerate(items[:most]):
        try:
            known = {name: item[name] for name in model.model_fields if name in item}
            read.append(model.model_validate(known))
        except (ValidationError, TypeError) as error:
            faults.append(ReplyFault("bad_shape", f"{key}[{place}]: {_first_error(error)}"))
    if len(items) > most:
        faults.append(ReplyFault("too_many", f"{len(items)} {key}, {most} are read"))
    return read, faults


def _first_error(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "it is no object"
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
