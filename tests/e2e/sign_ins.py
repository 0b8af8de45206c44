"""A person for the tests of signing in, and a proof of who asks that is too old."""

from importlib import import_module

from django.conf import settings

from annotation_app.accounts.services import user_ensure
from annotation_app.accounts.services.sign_ins import REAUTHENTICATED_KEY


def person_make(username: str, password: str, *, stale: str) -> None:
    """Add an annotator; the session `stale` has to prove again who it belongs to."""
    user_ensure(username=username, password=password, name=username, roles=["annotator"])
    session = import_module(settings.SESSION_ENGINE).SessionStore(stale)
    session[REAUTHENTICATED_KEY] = 0
    session.save()
