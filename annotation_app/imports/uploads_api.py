"""Uploads in parts over HTTP: the tus resumable upload protocol 1.0.0 (https://tus.io/protocols/resumable-upload) with
its extensions creation, checksum, expiration and termination."""

import base64
import binascii
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date
from ninja import Router, Status
from pydantic import BaseModel, ValidationError

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.errors import Invalid, TooLarge, VersionUnsupported
from annotation_app.imports import jobs, selectors, services
from annotation_app.imports.schemas import ImportIn, ImportOut, UploadIn, UploadOut

router = Router(tags=["imports"], auth=TOKEN_OR_SESSION_AUTH)
TUS_VERSION = "1.0.0"
PART_MEDIA_TYPE = "application/offset+octet-stream"
CHECKSUM_ALGORITHM = "sha256"
Metadata = TypeVar("Metadata", bound=BaseModel)


@router.get("/imports/uploads", response=list[UploadOut])
def uploads_list(request: HttpRequest) -> list[UploadOut]:
    """Your unfinished uploads, the newest first."""
    return selectors.uploads_list(user=user_of(request))


@router.post("/imports/uploads", response={201: UploadOut})
def upload_create(request: HttpRequest, response: HttpResponse) -> Status[UploadOut]:
    """Announce a file (`Upload-Length`, `Upload-Metadata`); `Location` is where its parts go."""
    user = user_of(request)
    selectors.importer_check(user)
    size, wish = announcement(request, UploadIn)
    upload = services.upload_create(user=user, size=size, wish=wish)
    return created(response, selectors.upload_out(upload), "/api/imports/uploads")


@router.api_operation(["HEAD"], "/imports/uploads/{uuid:upload_id}", response={200: None})
def upload_head(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> Status[None]:
    """Where the next part begins: `Upload-Offset`."""
    upload = selectors.upload_of(user=user_of(request), upload_id=upload_id)
    return offset_shown(response, selectors.upload_out(upload))


@router.patch("/imports/uploads/{uuid:upload_id}", response={204: None})
def upload_append(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> Status[None]:
    """One part, which begins at `Upload-Offset`. A part that arrived before changes nothing."""
    return part_appended(request, response, upload_id, selectors.IMPORTERS)


@router.delete("/imports/uploads/{uuid:upload_id}", response={204: None})
def upload_cancel(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> Status[None]:
    """Forget it and the parts that arrived."""
    return cancelled(request, response, upload_id, selectors.IMPORTERS)


@router.post("/imports/uploads/{uuid:upload_id}/import", response={202: ImportOut})
def upload_import(request: HttpRequest, upload_id: UUID, wish: ImportIn) -> Status[ImportOut]:
    """Import a complete upload in the background; what `wish` leaves empty is as announced. Repeating it is safe."""
    started = jobs.import_uploaded(user=user_of(request), upload_id=upload_id, pool=wish.pool, form=wish.format)
    return Status(202, started)


def announcement(request: HttpRequest, kind: type[Metadata]) -> tuple[int, Metadata]:
    """The size of an announced file, and its metadata. Raises VersionUnsupported and Invalid."""
    _check_tus_version(request)
    return _byte_count(request, "Upload-Length"), _read_metadata(request, kind)


def created(response: HttpResponse, upload: UploadOut, folder: str) -> Status[UploadOut]:
    """The answer to an announcement; `folder` is the path below which uploads are."""
    _set_upload_headers(response, upload)
    response["Location"] = f"{folder}/{upload.id}"
    return Status(201, upload)


def offset_shown(response: HttpResponse, upload: UploadOut) -> Status[None]:
    """Where the next part begins, in the headers."""
    _set_upload_headers(response, upload)
    return Status(200, None)


def part_appended(
    request: HttpRequest, response: HttpResponse, upload_id: UUID, access: selectors.UploadAccess
) -> Status[None]:
    """Write the part that the request brings. Raises what `services.upload_append` raises."""
    user = user_of(request)
    selectors.upload_of(user=user, upload_id=upload_id, access=access)
    _check_tus_version(request)
    if request.content_type != PART_MEDIA_TYPE:
        raise Invalid(f"A part has the content type {PART_MEDIA_TYPE}.")
    offset, checksum = _byte_count(request, "Upload-Offset"), _read_checksum(request)
    data = request.read(selectors.PART_BYTES + 1)
    if len(data) > selectors.PART_BYTES:
        raise TooLarge(f"A part may have {selectors.PART_BYTES} bytes.")
    upload = services.upload_append(
        user=user, upload_id=upload_id, offset=offset, data=data, sha256=checksum, access=access
    )
    _set_upload_headers(response, selectors.upload_out(upload))
    return Status(204, None)


def cancelled(
    request: HttpRequest, response: HttpResponse, upload_id: UUID, access: selectors.UploadAccess
) -> Status[None]:
    """Forget an upload. Raises Forbidden and NotFound."""
    services.upload_cancel(user=user_of(request), upload_id=upload_id, access=access)
    response["Tus-Resumable"] = TUS_VERSION
    return Status(204, None)


def _set_upload_headers(response: HttpResponse, upload: UploadOut) -> None:
    response["Tus-Resumable"] = TUS_VERSION
    response["Upload-Offset"] = str(upload.offset)
    response["Upload-Length"] = str(upload.size)
    response["Upload-Expires"] = http_date(upload.expires_at.timestamp())
    response["Cache-Control"] = "no-store"


def _check_tus_version(request: HttpRequest) -> None:
    if request.headers.get("Tus-Resumable") != TUS_VERSION:
        raise VersionUnsupported(f"Uploads speak version {TUS_VERSION} of the tus protocol (header Tus-Resumable).")


def _byte_count(request: HttpRequest, header: str) -> int:
    value = request.headers.get(header, "")
    if not (value.isascii() and value.isdecimal() and len(value) <= 18):
        raise Invalid(f"{header} is not a number of bytes.")
    return int(value)


def _read_metadata(request: HttpRequest, kind: type[Metadata]) -> Metadata:
    """The pairs of `Upload-Metadata`: a key, a space, and the value in Base64; separated by commas."""
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in request.headers.get("Upload-Metadata", "").split(","))):
        key, _, value = pair.partition(" ")
        if key not in kind.model_fields:
            continue
        try:
            found[key] = base64.b64decode(value, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise Invalid(f"Upload-Metadata: {key} is not UTF-8 in Base64.") from None
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(f"Upload-Metadata: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _read_checksum(request: HttpRequest) -> bytes | None:
    """The digest in `Upload-Checksum`; None where there is no such header. Raises Invalid."""
    value = request.headers.get("Upload-Checksum")
    if value is None:
        return None
    algorithm, _, value = value.partition(" ")
    try:
        digest = base64.b64decode(value, validate=True)
    except binascii.Error:
        digest = b""
    if algorithm != CHECKSUM_ALGORITHM or len(digest) != 32:
        raise Invalid(f"Upload-Checksum must be `{CHECKSUM_ALGORITHM}` and the digest in Base64.")
    return digest
