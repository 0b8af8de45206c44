"""Exports to S3-compatible storage; credentials and endpoint are the environment's, as boto3 reads them."""

from pathlib import Path

from protocol.trajectory.export_folders import MANIFEST

CLIENT_SETTINGS = {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 4, "mode": "standard"}}


class UploadFailed(Exception):
    """The storage refused it, or is not there."""


def upload_folder(folder: Path, destination: str) -> None:
    """Put a folder's files under `s3://bucket/prefix`, the manifest last: where it lies, all lies. What is there with
    the same size is kept. Raises UploadFailed."""
    import boto3  # it takes a tenth of the start of every program that could upload
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = destination.removeprefix("s3://").rstrip("/").partition("/")
    base = f"{prefix}/{folder.name}" if prefix else folder.name
    try:
        client = boto3.client("s3", config=Config(**CLIENT_SETTINGS))
        for path in (*_files(folder), folder / MANIFEST):
            key = f"{base}/{path.relative_to(folder).as_posix()}"
            if path.name == MANIFEST or not _is_uploaded(client, bucket, key, path.stat().st_size):
                client.upload_file(str(path), bucket, key)
    except (BotoCoreError, ClientError, boto3.exceptions.Boto3Error) as error:
        raise UploadFailed(f"{destination}: {error}") from error


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)


def _is_uploaded(client: object, bucket: str, key: str, size: int) -> bool:
    from botocore.exceptions import ClientError

    try:
        head = client.head_object(Bucket=bucket, Key=key)  # type: ignore[attr-defined]  # boto3 has no types of its own
    except ClientError:
        return False
    return bool(head["ContentLength"] == size)
