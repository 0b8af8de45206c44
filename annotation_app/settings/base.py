"""Settings that all environments share."""

from pathlib import Path

import django_stubs_ext
from redis.maint_notifications import MaintNotificationsConfig

from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE, dedicated_queue
from annotation_app.settings.env import database_settings, email_settings, read_environment

django_stubs_ext.monkeypatch()  # lets Django's generic classes be subscripted at run time

ENV = read_environment()
ROOT = Path(__file__).resolve().parents[2]

SECRET_KEY = ENV.secret_key
PREVIEWS = True
"""Whether people may open the web programs of machines."""
CREDENTIALS_KEYS = ENV.list_of("credentials_keys")
"""Seal what is stored and never shown again. The first seals, each opens, and so does the secret key."""
DEBUG = False
ALLOWED_HOSTS = ENV.list_of("allowed_hosts")
CSRF_TRUSTED_ORIGINS = ENV.list_of("web_origins")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "ninja",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
    "annotation_app.accounts",
    "annotation_app.audit",
    "annotation_app.blobs",
    "annotation_app.health",
    "annotation_app.notifications",
    "annotation_app.policies",
    "annotation_app.tasks",
    "annotation_app.probes",
    "annotation_app.promotions",
    "annotation_app.episodes",
    "annotation_app.recordings",
    "annotation_app.catalogue",
    "annotation_app.exports",
    "annotation_app.imports",
    "annotation_app.judges",
    "annotation_app.benchmark_runs",
    "annotation_app.evaluations",
    "annotation_app.reviews",
    "annotation_app.flywheel",
    "annotation_app.retention",
    "annotation_app.recorder",
    "annotation_app.design",
    "annotation_app.live",
    "annotation_app.pools",
    "annotation_app.refills",
    "annotation_app.demo",
]

MIDDLEWARE = [
    "annotation_app.web.request_logging.trace_requests",
    "annotation_app.web.audit_sources.note_audit_source",
    "django.middleware.security.SecurityMiddleware",
    "annotation_app.web.security_headers.security_headers",
    "annotation_app.web.error_responses.api_errors",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "annotation_app.urls"
ASGI_APPLICATION = "annotation_app.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": database_settings(ENV.database_url, pooled=bool(ENV.database_direct_url))}
DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 20, "timeout": 10}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": ENV.redis_url,
        "KEY_PREFIX": "json",  # apart from the pickles of earlier versions
        "OPTIONS": {"serializer": "annotation_app.json_cache.JsonSerializer"},
    }
}
# Maintenance notices are off for the reason given at `vm_bridge.__main__.connect_redis`.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [
                {"address": ENV.redis_url, "maint_notifications_config": MaintNotificationsConfig(enabled=False)}
            ],
            "prefix": "pilothouse",
        },
    }
}

CELERY_BROKER_URL = ENV.celery_url
CELERY_TASK_QUEUES = (dedicated_queue(DEFAULT_QUEUE), dedicated_queue(TRAINING_QUEUE))
CELERY_TASK_ROUTES = {"flywheel.turn": {"queue": TRAINING_QUEUE}}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 3600
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULE = {
    "heartbeat": {"task": "health.heartbeat", "schedule": 30.0, "options": {"expires": 30}},
    "health-look": {"task": "health.look", "schedule": 60.0, "options": {"expires": 60}},
    "sessions-clear": {"task": "retention.sessions_clear", "schedule": 3600.0, "options": {"expires": 3600}},
    "retention-run": {"task": "retention.run", "schedule": 3600.0, "options": {"expires": 3600}},
    "leases-expire": {"task": "episodes.leases_expire", "schedule": 30.0, "options": {"expires": 30}},
    "branches-refresh": {"task": "episodes.branches_refresh", "schedule": 60.0, "options": {"expires": 60}},
    "recordings-collect": {"task": "live.recordings_collect", "schedule": 10.0, "options": {"expires": 10}},
    "catalogue-refresh": {"task": "catalogue.refresh", "schedule": 10.0, "options": {"expires": 10}},
    "exports-again": {"task": "exports.again", "schedule": 10.0, "options": {"expires": 10}},
    "imports-again": {"task": "imports.again", "schedule": 10.0, "options": {"expires": 10}},
    "uploads-expire": {"task": "imports.uploads_expire", "schedule": 300.0, "options": {"expires": 300}},
    "reviews-stale": {"task": "reviews.stale", "schedule": 10.0, "options": {"expires": 10}},
    "webhooks-due": {"task": "webhooks.due", "schedule": 5.0, "options": {"expires": 5}},
    "notices-mail": {"task": "notices.mail", "schedule": 30.0, "options": {"expires": 30}},
    "design-again": {"task": "design.again", "schedule": 10.0, "options": {"expires": 10}},
    "refills-due": {"task": "refills.due", "schedule": 60.0, "options": {"expires": 60}},
    "flywheel-due": {"task": "flywheel.due", "schedule": 20.0, "options": {"expires": 20}},
    "probes-again": {"task": "probes.again", "schedule": 10.0, "options": {"expires": 10}},
    "probes-due": {"task": "probes.due", "schedule": 600.0, "options": {"expires": 600}},
    "benchmark-runs-due": {"task": "benchmark_runs.due", "schedule": 10.0, "options": {"expires": 10}},
    "judges-again": {"task": "judges.again", "schedule": 10.0, "options": {"expires": 10}},
}

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "annotation_app.accounts.hashers.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "annotation_app.accounts.single_sign_on.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_ADAPTER = "annotation_app.accounts.single_sign_on.ProviderAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form that another origin answers is what the page's policy forbids
SOCIALACCOUNT_OPENID_CONNECT_URL_PREFIX = ""
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": ENV.oidc_name,
                "client_id": ENV.oidc_client_id,
                "secret": ENV.oidc_client_secret,
                "settings": {"server_url": ENV.oidc_url},
            }
        ],
    }
}
MFA_ADAPTER = "annotation_app.accounts.second_factor.FactorAdapter"
MFA_TOTP_ISSUER = "Pilothouse"
MFA_TOTP_TOLERANCE = 1  # a phone's clock may be off by half a minute; see factors.code_take for what is used once
globals().update(email_settings(ENV.email_url))
DEFAULT_FROM_EMAIL = ENV.email_from
SESSION_ENGINE = "django.contrib.sessions.backends.db"  # in Redis, who reaches it could sign in as anybody
SESSION_COOKIE_NAME = "__Host-sessionid" if ENV.https else "sessionid"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = ENV.https
CSRF_COOKIE_NAME = "__Host-csrftoken" if ENV.https else "csrftoken"
FORMER_COOKIE_NAMES: dict[str, str] = {}
"""By the name of a cookie, the one it had before: sign-ins of that time go on."""
CSRF_COOKIE_HTTPONLY = True  # pages get the token with the session; those of other ports share the cookies of a host
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = ENV.https
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = ENV.body_limit
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
WHITENOISE_ROOT = ENV.frontend if ENV.frontend.is_dir() else None
WHITENOISE_USE_FINDERS = True
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/assets/.+-[\w-]{8}\."

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "trace": {"()": "annotation_app.trace.TraceFilter"},
        "repeats": {"()": "protocol.log_lines.RepeatFilter"},
        "routine": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: not str(record.msg).startswith("Scheduler: Sending due task"),
        },
    },
    "formatters": {"chosen": {"()": "annotation_app.trace.log_formatter", "form": ENV.log_format}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "chosen", "filters": ["trace", "repeats"]}},
    "loggers": {
        name: {"level": "WARNING"}
        for name in (
            # The clients of providers log whole requests at DEBUG.
            *("httpx", "httpx2", "httpcore2", "anthropic", "openai", "google_genai", "daphne.access"),
            # Three lines for each job, thousands an hour at rest; a job that fails is an error.
            *(() if ENV.log_level == "DEBUG" else ("celery.worker.strategy", "celery.app.trace")),
        )
    }
    | {
        # Their first lines stay at every level: the supervisor waits for them.
        "celery.apps.worker": {"level": "INFO"},
        "celery.beat": {"level": "INFO", "filters": [] if ENV.log_level == "DEBUG" else ["routine"]},
    },
    "root": {"handlers": ["console"], "level": ENV.log_level},
}
