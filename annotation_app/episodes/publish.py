"""Telling everybody who watches an episode; the only place events leave from.

Sockets of this process hear directly, those of others through the channel layer, which may drop messages:
durable events carry a version, so whoever misses one asks for the snapshot.
"""

import asyncio
import os
import secrets
import socket
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypedDict

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from vocabulary.messages import DurableEvent, Event

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
"""The name of this process; whoever starts with the same host and number but another end is its successor."""

Listener = Callable[[str], None]
_listeners: dict[str, set[tuple[asyncio.AbstractEventLoop, Listener]]] = defaultdict(set)


class Message(TypedDict):
    """An event on the channel layer."""

    type: str
    origin: str
    text: str


def group_of(episode_id: str) -> str:
    """The channel-layer group of an episode's viewers."""
    return f"episode.{episode_id}"


@contextmanager
def listening(episode_id: str, listener: Listener) -> Iterator[None]:
    """Hear this episode's events, as JSON text, in the running loop, while the block runs."""
    entry = (asyncio.get_running_loop(), listener)
    _listeners[episode_id].add(entry)
    try:
        yield
    finally:
        _listeners[episode_id].discard(entry)
        if not _listeners[episode_id]:
            del _listeners[episode_id]


def publish_on_commit(*, episode_id: str, event: DurableEvent) -> None:
    """Tell everybody once the transaction holds; a broken channel layer undoes nothing."""
    transaction.on_commit(partial(_publish_sync, episode_id, event.model_dump_json()), robust=True)


async def publish_live(episode_id: str, event: Event) -> None:
    """Tell everybody something that may be lost."""
    text = event.model_dump_json()
    _publish_here(episode_id, text)
    await _publish_elsewhere(episode_id, text)


def _publish_sync(episode_id: str, text: str) -> None:
    _publish_here(episode_id, text)
    async_to_sync(_publish_elsewhere)(episode_id, text)


def _publish_here(episode_id: str, text: str) -> None:
    for loop, listener in tuple(_listeners.get(episode_id, ())):
        loop.call_soon_threadsafe(listener, text)


async def _publish_elsewhere(episode_id: str, text: str) -> None:
    message = Message(type="episode.event", origin=PROCESS, text=text)
    await get_channel_layer().group_send(group_of(episode_id), message)
