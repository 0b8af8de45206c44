"""WebDataset: a sample a step, `KEY.json` and its picture; no key has a dot, since the first one ends it."""

from collections.abc import Iterator

from vocabulary.blobs import BlobRef
from vocabulary.exports import EXTENSIONS
from vocabulary.formats.huggingface import records as rows
from vocabulary.formats.record import Choice, Format, Record, RowRefused
from vocabulary.formats.telling import line
from vocabulary.trajectories import Trajectory


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One sample a step."""
    for row in rows(trajectory, choice):
        key = row.key.replace(".", "_")  # a part of an attempt that was split is ID.1
        if "/" in key:
            raise RowRefused("key", f"{key}: a key with a slash is a folder's")
        files: dict[str, bytes | BlobRef] = {f"{key}.json": line(dict(row.row)).encode()}
        files |= {f"{key}.{EXTENSIONS[image.media_type]}": image for image in row.images}
        yield Record(key, row.images, files=files)


FORMAT = Format("webdataset", "shards", records)
