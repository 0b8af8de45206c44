"""The two queues of jobs: what any worker does, and what needs the trainer; and whether anybody listens to that."""

from django.core.cache import cache
from kombu import Exchange, Queue

DEFAULT_QUEUE, TRAINING_QUEUE = "celery", "training"
"""A worker that is told nothing listens to both, one with `--queues` to those it names."""
WORKER_TIMEOUT_SECONDS = 90
"""So long after it was heard last, a worker is taken to be gone (seconds)."""
_TRAINING_WORKER_KEY = "health:training"


def dedicated_queue(name: str) -> Queue:
    """A queue with a door of its own: Celery would give both the same one, and each job to both."""
    return Queue(name, Exchange(name), routing_key=name)


def training_worker_heartbeat() -> None:
    """Say that a worker listens for what needs the trainer."""
    cache.set(_TRAINING_WORKER_KEY, True, WORKER_TIMEOUT_SECONDS)


def training_worker_alive() -> bool:
    """Whether a worker listens for what needs the trainer, be it busy or not. Raises RedisError."""
    return bool(cache.get(_TRAINING_WORKER_KEY))
