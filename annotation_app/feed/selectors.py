"""Queries for the feed, and one trajectory as a folder."""

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import catalogued_until, decode_cursor, encode_cursor, entries_matching
from annotation_app.errors import Conflict, NotFound
from annotation_app.exports.folder_writer import ExportOrder, MissingBlobs, write_export
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.selectors import exporter_check
from annotation_app.exports.zip_stream import create_zip, stream_zip
from annotation_app.feed.schemas import FeedItem, FeedPage

PAGE_SIZE = 100
SETTLE_TIME = timedelta(minutes=1)
"""After this time a change has been stored, and its episode is in the catalogue."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def feed_page(*, user: User, query: Query, ready_since: datetime | None, after: str | None) -> FeedPage:
    """Finished trajectories that match a query, in the order in which they became ready. Raises Forbidden, and Invalid
    for an invalid cursor."""
    exporter_check(user)
    settled = min(timezone.now() - SETTLE_TIME, catalogued_until())
    moment = "episode__finished_at" if query.review in (None, "pending") else "episode__reviewed_at"
    found = entries_matching(query).filter(episode__status="finished").annotate(ready_at=F(moment))
    found = found.filter(ready_at__gte=ready_since or EPOCH)
    if after:
        at, key = decode_cursor(after)
        found = found.filter(Q(ready_at__gt=at) | Q(ready_at=at, episode_id__gt=key))
    rows = list(found.order_by("ready_at", "episode_id").values_list("episode_id", "ready_at")[: PAGE_SIZE + 1])
    items = tuple(FeedItem(id=key, ready_at=at) for key, at in rows[:PAGE_SIZE])
    more = len(rows) > PAGE_SIZE
    return FeedPage(
        items=items,
        next=encode_cursor(items[-1].ready_at, items[-1].id) if more else None,
        settled=min(settled, items[-1].ready_at) if more else settled,
    )


def trajectory_archive_write(*, user: User, episode_id: UUID) -> Path:
    """Write a finished trajectory as a folder of its own in the canonical format. `trajectory_archive_stream` removes
    it after sending. Raises Forbidden, NotFound, and Conflict if one of its pictures is lost."""
    exporter_check(user)
    known = entries_matching(Query()).filter(pk=episode_id, episode__status="finished")
    entry = known.select_related("episode", "pool").first()
    if entry is None:
        raise NotFound("There is no such finished trajectory.")
    aside = Path(tempfile.mkdtemp(prefix="parcel-"))
    target = aside / str(episode_id)
    order = ExportOrder(
        target=target,
        filters=ExportFilters(review=None),
        plan=ExportPlan(),
        pool=entry.pool.name,
        created_at=entry.episode.finished_at or entry.created_at,
        select_episodes=lambda: [(episode_id, "train")],
    )
    with ExitStack() as undone:
        undone.callback(shutil.rmtree, aside, ignore_errors=True)
        try:
            write_export(order)
        except MissingBlobs as error:
            lost = {"first": error.first}
            raise Conflict("Pictures of this trajectory are lost.", code="pictures_missing", extra=lost) from None
        undone.pop_all()
    return target


async def trajectory_archive_stream(folder: Path) -> AsyncIterator[bytes]:
    """The folder as one zip stream. The folder is removed afterwards."""
    try:
        async for chunk in stream_zip(create_zip(folder)):
            yield chunk
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)
