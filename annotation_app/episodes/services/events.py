"""How an event changes an episode's row, and how everybody who watches hears of it; the only place events leave from.

Sockets of this process hear directly, those of others through the channel layer, which may drop messages:
durable events carry a version, so whoever misses one asks for the snapshot.
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
"""The name of this process; whoever starts with the same host and number but another end is its successor."""

Listener = Callable[[str | None, int | None], None]
"""Hears an event as JSON text, with its version where it is durable; None for the text says which version is stored."""
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
    """Hear this episode's events in the running loop while the block runs."""
    entry = (asyncio.get_running_loop(), listener)
    _listeners[episode_id].add(entry)
    try:
        yield
    finally:
        _listeners[episode_id].discard(entry)
        if not _listeners[episode_id]:
            del _listeners[episode_id]


def publish_on_commit(*, episode_id: str, event: DurableEvent) -> None:
    """Tell everybody once the transaction holds."""
    transaction.on_commit(partial(_publish_sync, episode_id, _message(event)))


async def publish_live(episode_id: str, event: Event) -> None:
    """Tell everybody something that may be lost."""
    message = _message(event)
    _publish_local(episode_id, message)
    await _publish_remote(episode_id, message)


async def publish_version(episode_id: str, version: int) -> None:
    """Tell everybody which version is stored, so that they find out what they missed.

    The event of a commit whose answer was lost, with its connection or its process, is published by nobody.
    """
    message = ChannelMessage(type="episode.event", origin=PROCESS_ID, text=None, version=version)
    _publish_local(episode_id, message)
    await _publish_remote(episode_id, message)


async def publish_driver_moved(episode_id: str) -> None:
    """Tell the other processes that this one drives an episode now."""
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
    """Another process drives the episode now."""

    code = "episode_fenced"


def episode_lock(episode_id: UUID, token: int | None = None) -> Episode:
    """The row, for update; with a token, only for the runner that holds it. Raises NotFound and RunnerFenced."""
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
    """Raises Conflict where nobody may act in the episode's pool."""
    pool = episode.task.pool
    if pool.stopped_at is not None:
        raise Conflict(pool_stopped_message(pool.stop_reason), code="pool_stopped")


def pool_stopped_message(reason: str) -> str:
    """What annotators read of a pool that was stopped."""
    return f"An admin stopped this pool: {reason}" if reason else "An admin stopped this pool."


def event_apply(episode: Episode, event: DurableEvent) -> None:
    """Apply an event to the locked row and tell everybody after commit. Supervisors are notified when help is asked
    for, by the annotator or by the policy."""
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
