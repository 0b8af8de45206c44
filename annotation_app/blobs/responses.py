"""Stored bytes as an HTTP response, whole or in part, because video players request ranges."""

import re

from django.http import HttpRequest, HttpResponse

from annotation_app.blobs.selectors import blob_path
from protocol.blobs import BlobRef

RANGE_PATTERN = re.compile(r"bytes=(\d*)-(\d*)")


def blob_response(request: HttpRequest, ref: BlobRef) -> HttpResponse:
    """200 with everything, 206 with the one requested range, 416 if it is not satisfiable (RFC 9110, section 14)."""
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "ETag": f'"{ref.sha256}"',
        "Accept-Ranges": "bytes",
    }
    requested = RANGE_PATTERN.fullmatch(request.headers.get("Range", ""))
    if requested is None or not any(requested.groups()):
        return HttpResponse(blob_path(ref.sha256).read_bytes(), content_type=ref.media_type, headers=headers)
    first, last = _byte_bounds(requested[1], requested[2], ref.size)
    if first > last:
        return HttpResponse(status=416)
    with blob_path(ref.sha256).open("rb") as file:
        file.seek(first)
        data = file.read(last - first + 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{ref.size}"
    return HttpResponse(data, status=206, content_type=ref.media_type, headers=headers)


def _byte_bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """The first and last requested byte; without a first, that many from the end."""
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1
