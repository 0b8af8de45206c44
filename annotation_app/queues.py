"""The two job queues: for any worker, and for workers with the trainer. Also whether any worker serves the second."""

from django.core.cache import cache
from kombu import Exchange, Queue

DEFAULT_QUEUE, TRAINING_QUEUE = "celery", "training"
"""The default queues of a worker are both. With `--queues` it serves those named."""
WORKER_TIMEOUT_SECONDS = 90
"""A worker without a heartbeat for this time counts as gone (seconds)."""
_TRAINING_WORKER_KEY = "health:training"


def dedicated_queue(name: str) -> Queue:
    """A queue with its own exchange. Celery would give both queues the same exchange, and deliver each job to both."""
    return Queue(name, Exchange(name), routing_key=name)


def training_worker_heartbeat() -> None:
    """Record that a worker serves the training queue."""
    cache.set(_TRAINING_WORKER_KEY, True, WORKER_TIMEOUT_SECONDS)


def training_worker_alive() -> bool:
    """Whether a worker serves the training queue, busy or not. Raises RedisError."""
    return bool(cache.get(_TRAINING_WORKER_KEY))
