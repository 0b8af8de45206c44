"""Many people over HTTPS: refuses to start without secrets, hosts and addresses of its own."""

from django.core.exceptions import ImproperlyConfigured

from annotation_app.settings.base import *  # noqa: F403
from annotation_app.settings.base import ENV

REQUIRED = ("secret_key", "secret", "database_url", "redis_url", "allowed_hosts", "web_origins")
SHORTEST_SECRET = 32

_missing = [name for name in REQUIRED if name not in ENV.model_fields_set or not getattr(ENV, name)]
if _missing:
    raise ImproperlyConfigured("production needs " + ", ".join(f"PILOTHOUSE_{name.upper()}" for name in _missing))
for _name in ("secret_key", "secret"):
    if len(getattr(ENV, _name)) < SHORTEST_SECRET:
        raise ImproperlyConfigured(f"PILOTHOUSE_{_name.upper()} needs at least {SHORTEST_SECRET} characters")

SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
SECURE_REDIRECT_EXEMPT = [r"^api/health$"]
SECURE_HSTS_SECONDS = 30 * 24 * 3600
