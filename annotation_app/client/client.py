"""Pilothouse as a program sees it: find trajectories, have them exported, follow them, register revisions."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError

from annotation_app.client.connection import Connection, read_token, read_url
from annotation_app.client.errors import ExportFailed, ImportFailed, NotFound, ServerFailed
from annotation_app.client.folders import check_download_target, check_importable, download, unpack_export, zip_folder
from annotation_app.client.responses import (
    ENDED_STATUSES,
    ExportOut,
    FeedPage,
    FoundEpisode,
    FoundPage,
    ImportOut,
    Query,
    RefusalOut,
    RefusalPage,
    RevisionOut,
    RevisionSummary,
    SavedQueryOut,
)
from annotation_app.client.uploads import ProgressCallback, upload_file
from protocol.trajectory.export_folders import TRAJECTORIES, ExportManifest
from protocol.trajectory.trajectories import Trajectory

ModelT = TypeVar("ModelT", bound=BaseModel)
POLL_SECONDS = 1.0
"""Seconds between two looks at an export that is being written."""
ALL_EPISODES = Query()
SAVED_QUERIES_ADAPTER = TypeAdapter(tuple[SavedQueryOut, ...])
EXPORTS_ADAPTER = TypeAdapter(tuple[ExportOut, ...])
REVISIONS_ADAPTER = TypeAdapter(tuple[RevisionSummary, ...])


class Pilothouse:
    """A server, and what the token's person may do there; a context manager. Every method raises what `errors` lists.

    Without arguments, address and token are the environment's.
    """

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._connection = Connection(url or read_url(), token or read_token())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def trajectories(self, query: Query = ALL_EPISODES) -> Iterator[FoundEpisode]:
        """What a query finds, newest first, page by page as it is read."""
        after: str | None = None
        while True:
            page = _validate(FoundPage, self._connection.get("/trajectories", _query_params(query, after=after)))
            yield from page.items
            if (after := page.next) is None:
                return

    def queries(self) -> tuple[SavedQueryOut, ...]:
        """The queries that people keep."""
        return SAVED_QUERIES_ADAPTER.validate_python(self._connection.get("/queries"))

    def query(self, name: str) -> Query:
        """A kept query, by its number or its name. Raises NotFound."""
        for saved in self.queries():
            if name in (str(saved.id), saved.name):
                return _validate(Query, saved.query)
        raise NotFound(f"There is no query {name!r}.")

    def trajectory(self, episode_id: UUID) -> Trajectory:
        """A finished trajectory, without its pictures."""
        with TemporaryDirectory() as temporary_folder:
            folder = Path(temporary_folder) / "one"
            self.download_trajectory(episode_id, folder)
            return Trajectory.model_validate_json((folder / TRAJECTORIES).read_bytes())

    def feed(self, query: Query, *, ready_since: datetime | None, after: str | None = None) -> FeedPage:
        """A page of what became ready, the oldest first."""
        response = self._connection.get("/feed", _query_params(query, ready_since=ready_since, after=after))
        return _validate(FeedPage, response)

    def download_trajectory(self, episode_id: UUID, target: Path) -> ExportManifest:
        """A finished trajectory as a folder of its own, checked."""
        archive = target.with_name(target.name + ".zip")
        try:
            download(self._connection, f"/feed/{episode_id}", archive)
            return unpack_export(archive, target)
        finally:
            archive.unlink(missing_ok=True)

    def exports(self) -> tuple[ExportOut, ...]:
        """The newest hundred exports."""
        return EXPORTS_ADAPTER.validate_python(self._connection.get("/exports"))

    def export(self, export_id: UUID) -> ExportOut:
        """How far an export is."""
        return _validate(ExportOut, self._connection.get(f"/exports/{export_id}"))

    def export_start(
        self, filters: dict[str, Any] | None = None, plan: dict[str, Any] | None = None, *, destination: str = ""
    ) -> ExportOut:
        """Ask for an export; filters and plan are as docs/guides/researcher/exports.md says."""
        body = {"filters": filters or {}, "plan": plan or {}, "destination": destination or None}
        return _validate(ExportOut, self._connection.post("/exports", body))

    def export_wait(self, export_id: UUID, progress: Callable[[ExportOut], None] = lambda _: None) -> ExportOut:
        """The export when it is done; `progress` hears how far it is. Raises ExportFailed."""
        while True:
            export = self.export(export_id)
            progress(export)
            if export.status == "done":
                return export
            if export.status in ENDED_STATUSES:
                raise ExportFailed(export.error or f"The export was {export.status}.")
            time.sleep(POLL_SECONDS)

    def export_cancel(self, export_id: UUID) -> None:
        """Stop an export."""
        self._connection.post(f"/exports/{export_id}/cancel", repeatable=True)

    def export_download(self, export_id: UUID, target: Path) -> ExportManifest:
        """A finished export's folder, under `target` once every file matches the manifest. An interrupted download is
        resumed, also one of an earlier process."""
        check_download_target(target)
        archive = target.with_name(f"{target.name}.{export_id}.zip")
        tag = download(self._connection, f"/exports/{export_id}/download", archive)
        try:
            return unpack_export(archive, target, manifest_sha256=tag.strip('"') or None)
        finally:
            archive.unlink(missing_ok=True)

    def import_start(
        self, file: Path, *, pool: str = "", form: str = "", progress: ProgressCallback = lambda *_: None
    ) -> ImportOut:
        """Upload a zip, a tar or lines of trajectories, or a folder, which is zipped first.

        docs/guides/researcher/imports.md lists the formats. The upload is in parts: one that broke off, also in an
        earlier process, is resumed.

        Args:
            progress: Hears how many bytes arrived, and of how many.

        Raises:
            NothingToImport: Before anything is sent.
        """
        check_importable(file)
        with TemporaryDirectory() as temporary_folder:
            sent = zip_folder(file, Path(temporary_folder)) if file.is_dir() else file
            return _validate(ImportOut, upload_file(self._connection, sent, pool=pool, form=form, progress=progress))

    def import_wait(self, import_id: UUID, progress: Callable[[ImportOut], None] = lambda _: None) -> ImportOut:
        """The import when it is through; `progress` hears how far it is. Raises ImportFailed, also where no row came in
        and none was there."""
        while True:
            job = _validate(ImportOut, self._connection.get(f"/imports/{import_id}"))
            progress(job)
            if job.status == "done":
                return job
            if job.status in ENDED_STATUSES:
                raise ImportFailed(job.error or f"The import was {job.status}.", job.code)
            time.sleep(POLL_SECONDS)

    def import_refused(self, import_id: UUID) -> Iterator[RefusalOut]:
        """The rows that did not come in, in order, each with the reason."""
        after: int | None = 0
        while after is not None:
            page = _validate(RefusalPage, self._connection.get(f"/imports/{import_id}/refused", {"after": after}))
            yield from page.items
            after = page.next

    def policies(self) -> tuple[RevisionSummary, ...]:
        """Every registered revision."""
        return REVISIONS_ADAPTER.validate_python(self._connection.get("/policies"))

    def policy_register(self, **revision: Any) -> RevisionOut:
        """Register a revision; the very same one again changes nothing. Fields: docs/guides/admin/policies.md."""
        return _validate(RevisionOut, self._connection.post("/policies", revision, repeatable=True))

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Call any other route. Returns its JSON answer, or None for an empty one. Only a GET is retried.

        Args:
            path: Below `/api`, such as `/pools`.
        """
        return self._connection.call(method, path, body)


def _query_params(query: Query, **more: Any) -> dict[str, Any]:
    filters = query.model_dump(mode="json", exclude_defaults=True)
    extra = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in more.items()}
    return {**filters, **{name: value for name, value in extra.items() if value is not None}}


def _validate(kind: type[ModelT], response: object) -> ModelT:
    try:
        return kind.model_validate(response)
    except ValidationError as error:
        first = error.errors()[0]
        raise ServerFailed(
            f"The server's answer is not understood: {first['loc']}: {first['msg']}", code="answer_unknown"
        ) from None
