"""The environment of the web app, read once; a wrong value fails at start, with its name."""

import hashlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ProgrammingError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from protocol.legacy_names import REMOVED_IN, current_environment
from protocol.log_lines import LogLevel

logger = logging.getLogger(__name__)

PREFIX = "PILOTHOUSE_"


def _json_list(text: str) -> str:
    if not isinstance(json.loads(text), list):
        raise ValueError("it is not a list")
    return text


def _bucket_address(text: str) -> str:
    if text and not text.startswith("s3://"):
        raise ValueError("it is no address of a bucket (s3://bucket/prefix)")
    return text


class Environment(BaseModel):
    """Every variable the web app reads: the field's name in capitals after `PILOTHOUSE_`."""

    model_config = ConfigDict(frozen=True)

    database_url: str = "postgresql://pilothouse@127.0.0.1:5432/pilothouse"
    """Address of PostgreSQL, in any form that libpq reads."""
    database_direct_url: str = ""
    """The same database past a pooler that gives connections out by transaction. Empty: there is no such pooler."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    """Address of Redis: leases, events, jobs, cached answers."""
    secret_key: str = ""
    """Signs sessions. Empty: made once and kept under `data` (not in production)."""
    credentials_keys: str = ""
    """Seal credentials of tasks, secrets of webhooks and second factors, comma separated: the first seals, each opens.
    Empty: made once and kept under `data` (not in production)."""
    bridge_master_key: str = ""
    """Each bridge host's key is derived from it: those authorise calls and sign stream tickets. No bridge knows it."""
    secret: str = ""
    """Of earlier versions, read in its place until version 0.3.0: bridges know it too."""
    data: Path = Path(".data")
    """Folder with blobs, logs and what is made once."""
    blobs_url: Annotated[str, AfterValidator(_bucket_address)] = ""
    """`s3://bucket/prefix` where blobs are kept, and `data` has copies of some. Empty: `data` keeps them."""
    allowed_hosts: str = "localhost,127.0.0.1,[::1]"
    """Host names under which people reach the pages, comma separated."""
    web_origins: str = ""
    """Origins (scheme://host:port) people use, comma separated; needed behind a proxy."""
    https: bool = False
    """Whether people come over HTTPS."""
    bridge_url: str = "http://127.0.0.1:8010"
    """Where the web app reaches the manager of machines."""
    bridge_public_url: str = "http://{host}:8010"
    """Where browsers reach the bridge; `{host}` is the name they reached the pages under."""
    vnc_public_url: str = "ws://{host}:8011"
    """Where browsers reach the VNC gateway; `{host}` as above."""
    preview_url: str = ""
    """Origin of the web programs of machines, `{machine}` in it the machine's name. Empty: that of the bridge, and in
    production there are none."""
    ice_servers: Annotated[str, AfterValidator(_json_list)] = "[]"
    """STUN and TURN servers, as the bridge reads them; browsers get passes made from their secrets."""
    scripted_url: str = "http://127.0.0.1:8091/v1"
    """Where the demo's scripted policy is served."""
    nano_url: str = ""
    """Where the bundled policy is served. Empty: nowhere, and the demo has no pool for it."""
    policy_api_key: str = ""
    """Sent to the policy servers of `policy_api_key_servers`, and to no other."""
    policy_api_key_servers: str = ""
    """Origins (scheme://host:port) of the policy servers that the key belongs to, comma separated."""
    pseudonym_key: str = ""
    """Makes the names that stand for people in exports. Empty: `secret_key`; set, names outlive a change of that."""
    email_url: str = ""
    """Where mail is sent: `smtp://user:password@host:port`, `smtps://…` or `smtp+tls://…`. Empty: nothing is sent."""
    email_from: str = "pilothouse@localhost"
    """Sender of mail."""
    webhooks_allow_private: bool = False
    """Whether webhooks may lead into private networks, and go over plain http."""
    session_idle_hours: int = Field(default=24, gt=0)
    """Hours without use after which a sign-in ends."""
    session_limit_hours: int = Field(default=14 * 24, gt=0)
    """Hours after which a sign-in ends, used or not."""
    oidc_url: str = ""
    """Issuer of single sign-on by OpenID Connect. Empty: there is none."""
    oidc_name: str = "Single sign-on"
    """What its button says."""
    oidc_client_id: str = ""
    """What the issuer calls this installation."""
    oidc_client_secret: str = ""
    """What the issuer gave it."""
    frontend: Path = Path("frontend/dist")
    """Folder of the built pages."""
    log_level: Annotated[LogLevel, BeforeValidator(str.upper)] = "INFO"
    """The least level of what is logged; the bridge and the VNC gateway read the same variable."""
    log_format: Literal["plain", "json"] = "plain"
    """One line of text, or one JSON object, for each thing logged; both name the id of what it belongs to."""
    body_limit: int = Field(default=1024 * 1024, gt=0)
    """Largest request body (bytes)."""
    import_limit: int = Field(default=4 * 1024**3, gt=0)
    """Largest file to import (bytes); unpacked it may have four times as many."""
    evaluations_at_once: int = Field(default=2, gt=0)
    """Evaluations that were started in the app and run at once; more wait."""
    uploads_per_person_bytes: int = Field(default=8 * 1024**3, gt=0)
    """Bytes that the unfinished uploads of one person may have together."""
    uploads_total_bytes: int = Field(default=64 * 1024**3, gt=0)
    """Bytes that all unfinished uploads may have together."""
    uploads_expire_hours: int = Field(default=24, gt=0)
    """How long an unfinished upload is kept after its last part."""
    recording_limit_bytes: int = Field(default=2 * 1024**3, gt=0)
    """Largest recording that a person may upload."""
    recordings_per_day: int = Field(default=100, gt=0)
    """Recordings that one person may upload in 24 hours."""
    recordings_per_person_bytes: int = Field(default=50 * 1024**3, gt=0)
    """Bytes that the recordings of one person may have together; those they deleted do not count."""

    def list_of(self, name: str) -> list[str]:
        """A comma-separated field as a list."""
        return [part.strip() for part in getattr(self, name).split(",") if part.strip()]

    @property
    def bridge_master(self) -> str:
        """The master key of bridge hosts' keys, by its own or its earlier name."""
        return self.bridge_master_key or self.secret

    @property
    def celery_url(self) -> str:
        """The Redis address as Celery spells it."""
        return self.redis_url.replace("unix://", "redis+socket://", 1)


def read_environment(source: Mapping[str, str] = os.environ) -> Environment:
    """The environment as a typed value. Raises ImproperlyConfigured with the variable's name."""
    source = current_environment(source)
    values = {
        name: source[PREFIX + name.upper()] for name in Environment.model_fields if PREFIX + name.upper() in source
    }
    try:
        environment = Environment.model_validate(values)
    except ValidationError as error:
        lines = [f"{PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors()]
        raise ImproperlyConfigured("; ".join(lines)) from error
    if environment.policy_api_key and not environment.policy_api_key_servers:
        raise ImproperlyConfigured(KEY_WITHOUT_SERVERS)
    return environment


KEY_WITHOUT_SERVERS = (
    "PILOTHOUSE_POLICY_API_KEY needs PILOTHOUSE_POLICY_API_KEY_SERVERS: the origins of the policy servers it belongs to"
)
REQUIRED_FIELDS = (
    "secret_key",
    "credentials_keys",
    "database_url",
    "redis_url",
    "allowed_hosts",
    "web_origins",
)
FORMER_NAME_WARNING = (
    f"PILOTHOUSE_SECRET is no longer read by version {REMOVED_IN}, since every bridge knows it:"
    " set PILOTHOUSE_BRIDGE_MASTER_KEY, and PILOTHOUSE_BRIDGE_KEYS of each bridge (docs/architecture/bridge.md, Keys)"
)
MIN_SECRET_CHARACTERS = 32
"""Characters of a secret that cannot be guessed."""


def check_production(environment: Environment) -> None:
    """Raises ImproperlyConfigured, naming what a production start lacks."""
    missing = [
        name for name in REQUIRED_FIELDS if name not in environment.model_fields_set or not getattr(environment, name)
    ]
    if missing:
        raise ImproperlyConfigured("production needs " + ", ".join(PREFIX + name.upper() for name in missing))
    preview = urlsplit(environment.preview_url).hostname
    if preview and preview in {"{host}", *(urlsplit(origin).hostname for origin in environment.list_of("web_origins"))}:
        raise ImproperlyConfigured("PILOTHOUSE_PREVIEW_URL needs another host name than PILOTHOUSE_WEB_ORIGINS")
    if not environment.bridge_master:
        raise ImproperlyConfigured(f"production needs {PREFIX}BRIDGE_MASTER_KEY")
    if not environment.bridge_master_key:
        logger.warning("%s", FORMER_NAME_WARNING)
    for name in ("secret_key", "bridge_master_key" if environment.bridge_master_key else "secret"):
        if len(getattr(environment, name)) < MIN_SECRET_CHARACTERS:
            raise ImproperlyConfigured(f"{PREFIX}{name.upper()} needs at least {MIN_SECRET_CHARACTERS} characters")


def cookie_settings(secret_key: str, *, https: bool) -> dict[str, Any]:
    """Django's names of cookies, with a part that is this installation's own: a browser sends the cookies of a host
    name to all its ports, and thus to other installations there."""
    prefix = "__Host-" if https else ""
    installation = hashlib.sha256(f"cookies:{secret_key}".encode()).hexdigest()[:8]
    former = {name: f"{prefix}{name}" for name in ("sessionid", "csrftoken")}
    own = {name: f"{prefix}{installation}-{name}" for name in former}
    return {
        "SESSION_COOKIE_NAME": own["sessionid"],
        "CSRF_COOKIE_NAME": own["csrftoken"],
        "FORMER_COOKIE_NAMES": {own[name]: former[name] for name in former},
    }


def email_settings(url: str) -> dict[str, Any]:
    """Django's settings for a mail server's address."""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("smtp", "smtps", "smtp+tls") or not parts.hostname):
        raise ImproperlyConfigured("PILOTHOUSE_EMAIL_URL is no address of a mail server")
    return {
        "EMAIL_HOST": parts.hostname or "",
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_TIMEOUT": 10,
    }


def database_settings(url: str, *, pooled: bool = False) -> dict[str, Any]:
    """Django's DATABASES entry for a PostgreSQL address (any libpq form, Unix sockets included). `pooled`: by
    transaction, so that nothing may outlive one on a connection."""
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise ImproperlyConfigured("PILOTHOUSE_DATABASE_URL is no PostgreSQL address") from error
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    values = {django: str(parts.pop(libpq)) for libpq, django in names.items() if libpq in parts}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": parts,
        **values,
    }
