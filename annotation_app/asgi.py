"""Entry point for HTTP and WebSocket connections."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django import setup
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings.local")
setup(set_prefix=False)

from annotation_app.live.consumers import EpisodeConsumer  # noqa: E402 - it needs the apps loaded
from annotation_app.web.former_cookies import with_former_cookies  # noqa: E402 - it needs the settings
from annotation_app.web.request_handler import RequestHandler, without_root_path  # noqa: E402 - it needs the settings
from annotation_app.web.sign_in_admission import bounded_sign_ins  # noqa: E402 - it needs the settings
from annotation_app.web.websocket_origins import same_origin_only  # noqa: E402 - it needs the settings

routes = [path("ws/episodes/<uuid:episode_id>/", EpisodeConsumer.as_asgi())]  # type: ignore[arg-type]  # as documented

application = without_root_path(
    with_former_cookies(
        ProtocolTypeRouter(
            {
                "http": bounded_sign_ins(RequestHandler()),
                "websocket": same_origin_only(AuthMiddlewareStack(URLRouter(routes))),  # type: ignore[arg-type]  # as documented
            }
        )
    )
)
