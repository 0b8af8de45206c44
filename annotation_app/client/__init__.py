"""A client of the web app for programs and notebooks; it needs pydantic and httpx, and nothing of the server."""

from annotation_app.client.answers import ExportOut, FeedItem, Found, Query, RevisionOut, RevisionSummary, SavedQueryOut
from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import PilothouseError, Refused
from annotation_app.client.inbox import Follower, following
from annotation_app.client.signatures import verify

__all__ = [
    "ExportOut",
    "FeedItem",
    "Follower",
    "Found",
    "Pilothouse",
    "PilothouseError",
    "Query",
    "Refused",
    "RevisionOut",
    "RevisionSummary",
    "SavedQueryOut",
    "following",
    "verify",
]
