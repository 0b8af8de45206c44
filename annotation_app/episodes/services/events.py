"""How an event changes an episode's row and reaches every viewer. Events are published only here.

Sockets of this process receive events directly. Those of other processes receive them through the channel layer,
which may drop messages. Durable events carry a version, so a socket that misses one requests a snapshot.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TypedDict
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis.exceptions import RedisError

from annotation_app.episodes import selectors
from annotation_app.episodes.models import Episode, EpisodeStateDocument
from annotation_app.errors import Conflict, NotFound
from annotation_app.notifications.services.notices import supervisors_notify
from protocol.messages.events import (
    DurableEvent,
    Event,
)
from protocol.messages.state import apply_event

logger = logging.getLogger(__name__)


PROCESS_ID = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
"""The name of this process. A process with the same host and PID but another suffix is its successor."""

Listener = Callable[[str | None, int | None], None]
"""Called with an event as JSON text, and its version if it is durable. If the text is None, the version is the stored
one."""
_listeners: dict[str, set[tuple[asyncio.AbstractEventLoop, Listener]]] = defaultdict(set)


class ChannelMessage(TypedDict):
    """An event on the channel layer."""

    type: str
    origin: str
    text: str | None
    version: int | None


def channel_group_name(episode_id: str) -> str:
    """The channel-layer group of an episode's viewers."""
    return f"episode.{episode_id}"


@contextmanager
def subscription(episode_id: str, listener: Listener) -> Iterator[None]:
    """Receive this episode's events in the running loop while the block runs."""
    entry = (asyncio.get_running_loop(), listener)
    _listeners[episode_id].add(entry)
    try:
        yield
    finally:
        _listeners[episode_id].discard(entry)
        if not _listeners[episode_id]:
            del _listeners[episode_id]


def publish_on_commit(*, episode_id: str, event: DurableEvent) -> None:
    """Publish an event to all viewers after the transaction commits."""
    transaction.on_commit(partial(_publish_sync, episode_id, _message(event)))


async def publish_live(episode_id: str, event: Event) -> None:
    """Publish an event that may be lost to all viewers."""
    message = _message(event)
    _publish_local(episode_id, message)
    await _publish_remote(episode_id, message)


async def publish_version(episode_id: str, version: int) -> None:
    """Publish the stored version to all viewers, so that they detect what they missed.

    No process publishes the event of a commit whose answer was lost with its connection or its process.
    """
    message = ChannelMessage(type="episode.event", origin=PROCESS_ID, text=None, version=version)
    _publish_local(episode_id, message)
    await _publish_remote(episode_id, message)


async def publish_driver_moved(episode_id: str) -> None:
    """Notify the other processes that this one now drives an episode."""
    await _publish_remote(episode_id, {"type": "episode.moved", "origin": PROCESS_ID})


def _message(event: Event) -> ChannelMessage:
    version = getattr(event, "version", None)
    return ChannelMessage(type="episode.event", origin=PROCESS_ID, text=event.model_dump_json(), version=version)


def _publish_sync(episode_id: str, message: ChannelMessage) -> None:
    _publish_local(episode_id, message)
    async_to_sync(_publish_remote)(episode_id, message)


def _publish_local(episode_id: str, message: ChannelMessage) -> None:
    for loop, listener in tuple(_listeners.get(episode_id, ())):
        loop.call_soon_threadsafe(listener, message["text"], message["version"])


async def _publish_remote(episode_id: str, message: Mapping[str, object]) -> None:
    layer = get_channel_layer()
    assert layer is not None, "the settings name a channel layer"
    try:
        await layer.group_send(channel_group_name(episode_id), dict(message))
    except (OSError, RedisError) as error:
        logger.warning("other processes miss an event of episode %s: %s", episode_id, error)


class RunnerFenced(Conflict):
    """Another process now drives the episode."""

    code = "episode_fenced"


def episode_lock(episode_id: UUID, token: int | None = None) -> Episode:
    """The row, locked for update. With a token, only the runner that holds it gets the row. Raises NotFound and
    RunnerFenced."""
    episode = (
        Episode.objects.select_for_update(of=("self",))
        .select_related("task__pool", "assignment")
        .filter(pk=episode_id)
        .first()
    )
    if episode is None:
        raise NotFound(selectors.NO_EPISODE)
    if token is not None and episode.runner_token != token:
        raise RunnerFenced("Another process drives this episode now.")
    return episode


def pool_running_check(episode: Episode) -> None:
    """Raises Conflict if the episode's pool is stopped."""
    pool = episode.task.pool
    if pool.stopped_at is not None:
        raise Conflict(pool_stopped_message(pool.stop_reason), code="pool_stopped")


def pool_stopped_message(reason: str) -> str:
    """The message that annotators see when a pool is stopped."""
    return f"An admin stopped this pool: {reason}" if reason else "An admin stopped this pool."


def event_apply(episode: Episode, event: DurableEvent) -> None:
    """Apply an event to the locked row and publish it after commit. Supervisors are notified when the annotator or the
    policy requests help."""
    after = apply_event(selectors.state_of(episode), event)
    if after.help_requested and not episode.help_requested:
        details = {"reason": episode.task.definition.instruction[:500]}
        supervisors_notify(kind="help.requested", subject=f"episode:{episode.id}", details=details)
    episode.version = after.version
    episode.status = after.status
    episode.outcome = after.outcome or ""
    episode.help_requested = after.help_requested
    episode.finished_at = after.finished_at
    episode.desk = EpisodeStateDocument(**{name: getattr(after, name) for name in EpisodeStateDocument.model_fields})
    episode.save(update_fields=["version", "status", "outcome", "help_requested", "finished_at", "desk", "pending"])
    if after.lease_expires_at is not None and after.lease_expires_at != episode.assignment.expires_at:
        episode.assignment.expires_at = after.lease_expires_at
        episode.assignment.save(update_fields=["expires_at"])
    publish_on_commit(episode_id=str(episode.id), event=event)
