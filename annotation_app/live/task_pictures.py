"""Pictures of a suite's tasks at their start: made on a machine at the first request, and cached for a day.

A picture expires after a day, because tasks change. For each suite, level, seed, language and size one job at a time
makes the missing pictures on one machine.
"""

import asyncio
import base64
import contextlib
import hashlib
import io
import logging

from django.conf import settings
from django.core.cache import cache

from agent_backend.pictures import PictureUnreadable, open_picture
from annotation_app.live.suite_tasks import suite_tasks
from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Lease

logger = logging.getLogger(__name__)

PICTURE_LIFETIME_SECONDS = 86_400
MISSING_LIFETIME_SECONDS = 600
"""How long a task whose picture failed is not retried."""
JOB_TIMEOUT_SECONDS = 600
"""After this time without an end, the job of a variant counts as lost."""
WIDTH, HEIGHT, QUALITY = 320, 240, 80
"""Largest size of a picture (pixels), and the quality of its WebP."""
MACHINE_TTL_SECONDS = 60.0
MACHINE_WAIT_SECONDS = 60.0
"""How long the picture job waits for a free machine. People take priority."""
HOLDER = "task-pictures"


class TaskPicture(FrozenModel):
    """A task and its picture."""

    name: str
    picture: str
    """A `data:` URL; empty if there is no picture yet, or none could be made."""


class TaskPictures(FrozenModel):
    """The tasks of one variant of a suite."""

    tasks: tuple[TaskPicture, ...]
    pending: bool
    """Whether pictures are being made. If so, repeat the request."""


def pictures_known(suite: str, tasks: tuple[Task, ...], variant: TaskVariant) -> tuple[TaskPictures, bool]:
    """The cached pictures, and whether to queue a job for missing ones. If so, that job is marked as queued."""
    known = cache.get_many([_picture_key(task) for task in tasks])
    found = tuple(TaskPicture(name=task.name or task.id, picture=known.get(_picture_key(task), "")) for task in tasks)
    missing = len(known) < len(tasks)
    begins = missing and cache.add(_job_key(suite, variant), True, JOB_TIMEOUT_SECONDS)
    return TaskPictures(tasks=found, pending=missing), bool(begins)


async def pictures_make(suite: str, variant: TaskVariant) -> None:
    """Make the missing pictures. Failures are logged, and not retried for some minutes."""
    try:
        tasks = await suite_tasks(suite, variant)
        missing = [task for task in tasks if await cache.aget(_picture_key(task)) is None]
        if missing:
            await _make(missing)
    finally:
        await cache.adelete(_job_key(suite, variant))


async def _make(tasks: list[Task]) -> None:
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            lease = await bridge.allocate(
                image=tasks[0].platform, holder=HOLDER, ttl=MACHINE_TTL_SECONDS, wait=MACHINE_WAIT_SECONDS
            )
        except BridgeError as error:
            logger.warning("no pictures of tasks: %s", error)
            await cache.aset_many({_picture_key(task): "" for task in tasks}, MISSING_LIFETIME_SECONDS)
            return
        try:
            for task in tasks:
                picture = await _picture(bridge, lease, task)
                lifetime = PICTURE_LIFETIME_SECONDS if picture else MISSING_LIFETIME_SECONDS
                await cache.aset(_picture_key(task), picture, lifetime)
        finally:
            with contextlib.suppress(BridgeError):
                await bridge.release(lease)


async def _picture(bridge: BridgeClient, lease: Lease, task: Task) -> str:
    """A task's start as a `data:` URL; empty if its machine fails or has no screen."""
    machine = bridge.machine(lease)
    try:
        await bridge.renew(lease, ttl=MACHINE_TTL_SECONDS)
        screenshot = (await machine.prepare(task)).screenshot
        if screenshot is None:
            return ""
        return await asyncio.to_thread(thumbnail, await machine.blob(screenshot))
    except (BridgeError, PictureUnreadable) as error:
        logger.warning("no picture of %s: %s", task.id, error)
        return ""


def thumbnail(data: bytes) -> str:
    """A small WebP of a screenshot, as a `data:` URL. Raises PictureUnreadable."""
    small = io.BytesIO()
    with open_picture(data) as image:
        image.thumbnail((WIDTH, HEIGHT))
        image.save(small, "WEBP", quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(small.getvalue()).decode()}"


def _picture_key(task: Task) -> str:
    return f"task-picture:{hashlib.sha256(task.model_dump_json().encode()).hexdigest()}"


def _job_key(suite: str, variant: TaskVariant) -> str:
    size = "own" if variant.size is None else "{}x{}".format(*variant.size)
    return f"task-pictures:{suite}:{variant.level}:{variant.seed}:{variant.language}:{size}"
