"""A client of the web app for programs and notebooks; it needs pydantic and httpx, and nothing of the server."""

from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import PilothouseError, RequestRejected
from annotation_app.client.inbox_follower import InboxFollower, follow_query
from annotation_app.client.responses import (
    ExportOut,
    FeedItem,
    FoundEpisode,
    Query,
    RevisionOut,
    RevisionSummary,
    SavedQueryOut,
)
from annotation_app.client.signatures import verify

__all__ = [
    "ExportOut",
    "FeedItem",
    "FoundEpisode",
    "InboxFollower",
    "Pilothouse",
    "PilothouseError",
    "Query",
    "RequestRejected",
    "RevisionOut",
    "RevisionSummary",
    "SavedQueryOut",
    "follow_query",
    "verify",
]
