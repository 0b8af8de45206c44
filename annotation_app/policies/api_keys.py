"""Which policy servers are sent the API key of the settings: those that it belongs to, by origin."""

from urllib.parse import urlsplit

from django.conf import settings

DEFAULT_PORTS = {"http": 80, "https": 443}


def api_key_for(base_url: str) -> str:
    """The API key of this policy server, or nothing where the key belongs to other servers."""
    allowed = {_origin(url) for url in settings.ENV.list_of("policy_api_key_servers")}
    return str(settings.ENV.policy_api_key) if _origin(base_url) in allowed else ""


def origin_of(base_url: str) -> str:
    """Scheme, host and port of a server's address as one text."""
    scheme, host, port = _origin(base_url)
    return f"{scheme}://{host}:{port}"


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; of what is no URL of a server, itself."""
    parts = urlsplit(url)
    try:
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", url, 0
    return parts.scheme, parts.hostname or url, port
