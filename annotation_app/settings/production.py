"""Many people over HTTPS: refuses to start without secrets, hosts and addresses of its own."""

from annotation_app.settings.base import *  # noqa: F403
from annotation_app.settings.base import ENV
from annotation_app.settings.env import check_production, cookie_settings

check_production(ENV)

PREVIEWS = bool(ENV.preview_url)
globals().update(cookie_settings(ENV.secret_key, https=True))
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
SECURE_REDIRECT_EXEMPT = [r"^api/health$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
