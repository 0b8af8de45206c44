"""Where HTTP and WebSocket come in; nothing else joins the two."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings.local")
django = get_asgi_application()

from annotation_app.live.consumers import EpisodeConsumer  # noqa: E402  # needs the apps loaded

routes = [path("ws/episodes/<uuid:episode_id>/", EpisodeConsumer.as_asgi())]  # type: ignore[arg-type]  # as documented

application = ProtocolTypeRouter(
    {
        "http": django,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter(routes))  # type: ignore[arg-type]  # as documented
        ),
    }
)
