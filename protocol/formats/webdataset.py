"""WebDataset: a sample a step, `KEY.json` and its picture; no key has a dot, since the first one ends it."""

from collections.abc import Iterator

from protocol.blobs import BlobRef
from protocol.formats.dataset_card import dataset_card, describe_columns
from protocol.formats.huggingface import COLUMNS
from protocol.formats.huggingface import records as rows
from protocol.formats.records import ExportFormat, ExportOptions, Record, RowError
from protocol.formats.training_examples import to_json_line
from protocol.trajectory.export_folders import EXTENSIONS
from protocol.trajectory.trajectories import Trajectory


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """One sample a step."""
    for row in rows(trajectory, options):
        key = row.key.replace(".", "_")  # a part of an attempt that was split is ID.1
        if "/" in key:
            raise RowError("key", f"{key}: a key with a slash is a folder's")
        files: dict[str, bytes | BlobRef] = {f"{key}.json": to_json_line(dict(row.row)).encode()}
        files |= {f"{key}.{EXTENSIONS[image.media_type]}": image for image in row.images}
        yield Record(key, row.images, files=files)


FEATURES = [
    {"name": "json", "struct": describe_columns(COLUMNS)},
    *describe_columns({"jpg": "image", "png": "image", "__key__": "string", "__url__": "string"}),
]
FORMAT = ExportFormat("webdataset", "shards", records, sidecar_files=dataset_card(FEATURES, shards="tar"))
