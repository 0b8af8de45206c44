"""For the test-suite: real PostgreSQL, messages inside the process, cheap passwords."""

from annotation_app.settings.base import *  # noqa: F403
from annotation_app.settings.base import ENV

ENV = ENV.model_copy(update={"secret": "a-secret-only-the-tests-know-of-123"})
SECRET_KEY = "a-key-only-the-tests-know-of-1234567890"  # noqa: S105 - signs nothing but tests
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CELERY_TASK_ALWAYS_EAGER = True
WHITENOISE_AUTOREFRESH = True
"""Static files are looked up when they are asked for: each client of a test would list all of them."""
