"""Filling a trainer's inbox with trajectories as they become ready: each once, whatever is killed in between.

How far it got is kept in the inbox itself, in `.follow.json`, and is written after the folder: one that was written
just before is recognised by its name, also where the trainer has set it aside.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import Conflict, InboxInUse, NotFound
from annotation_app.client.responses import FeedItem, Query
from protocol.trajectory.export_folders import UNFINISHED_SUFFIX

POSITION_NAME, LOCK_NAME = ".follow.json", ".follow.lock"
TRAINER_SUFFIXES = ("", ".taken", ".refused")
"""Where the trainer has folders: waiting, learned from, refused."""


class InboxPosition(BaseModel):
    """How far an inbox is filled. `seen` became ready after `since`, and will be told again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: dict[str, Any]
    since: datetime | None = None
    seen: dict[UUID, datetime] = {}


class InboxFollower:
    """Follows a query into an inbox; one process at a time, which `following` sees to."""

    def __init__(self, client: Pilothouse, inbox: Path, query: Query) -> None:
        """Raises InboxInUse where the inbox was filled from another query."""
        self._client, self._inbox, self._query = client, inbox, query
        self._position = _read_position(inbox, query)
        self._present_ids = {name for place in TRAINER_SUFFIXES for name in _episode_ids(inbox / place)}

    def fetch_new(self) -> Iterator[tuple[FeedItem, str]]:
        """Bring in what became ready since; each with what became of it: `new`, or the reason's code why it cannot be
        had."""
        after: str | None = None
        while True:
            page = self._client.feed(self._query, ready_since=self._position.since, after=after)
            seen = dict(self._position.seen)
            for item in page.items:
                if item.id not in seen and str(item.id) not in self._present_ids:
                    yield item, self._download(item)
                seen[item.id] = item.ready_at
            # `since` only rises: what is told again is then always among what was seen.
            since = max(page.settled, self._position.since or page.settled)
            still_relevant = {key: at for key, at in seen.items() if at >= since}
            self._position = self._position.model_copy(update={"since": since, "seen": still_relevant})
            _write_position(self._inbox, self._position)
            if (after := page.next) is None:
                return

    def _download(self, item: FeedItem) -> str:
        try:
            self._client.download_trajectory(item.id, self._inbox / f"{item.ready_at:%Y%m%dT%H%M%S%f}-{item.id}")
        except (NotFound, Conflict) as error:
            return error.code
        self._present_ids.add(str(item.id))
        return "new"


@contextmanager
def follow_query(client: Pilothouse, inbox: Path, query: Query) -> Iterator[InboxFollower]:
    """The inbox's only follower while the block runs. Raises InboxInUse."""
    inbox.mkdir(parents=True, exist_ok=True)
    with (inbox / LOCK_NAME).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InboxInUse(f"another process fills {inbox}") from None
        yield InboxFollower(client, inbox, query)


def _episode_ids(folder: Path) -> Iterator[str]:
    """The trajectories whose folders lie here; their names end with the id."""
    if folder.is_dir():
        yield from (one.name[-36:] for one in folder.iterdir() if one.is_dir())


def _read_position(inbox: Path, query: Query) -> InboxPosition:
    query_fields = query.model_dump(mode="json", exclude_defaults=True)
    path = inbox / POSITION_NAME
    if not path.exists():
        return InboxPosition(query=query_fields)
    try:
        position = InboxPosition.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InboxInUse(f"{path} cannot be read: {error.errors()[0]['msg']}") from None
    if position.query != query_fields:
        raise InboxInUse(f"{inbox} follows another query: {json.dumps(position.query)}")
    return position


def _write_position(inbox: Path, position: InboxPosition) -> None:
    partial = inbox / f"{POSITION_NAME}{UNFINISHED_SUFFIX}"
    with partial.open("w") as file:
        file.write(position.model_dump_json())
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, inbox / POSITION_NAME)
