"""The S3 bucket for blobs of hosts without a shared folder. The folder of each host is then a cache.

Credentials and endpoint come from the environment, as boto3 reads them. Every failure is an OSError, as for a disk.
"""

import errno
import functools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

CLIENT_CONFIG = Config(
    connect_timeout=5, read_timeout=30, retries={"max_attempts": 3, "mode": "standard"}, max_pool_connections=32
)
NOT_FOUND_CODES = frozenset({"404", "NoSuchKey", "NotFound"})


class BlobBucket:
    """Blobs under `s3://bucket/prefix`, in the layout of the folder: two characters of the digest before the rest."""

    def __init__(self, url: str) -> None:
        self._bucket, _, prefix = url.removeprefix("s3://").rstrip("/").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._client = boto3.client("s3", config=CLIENT_CONFIG)

    def size(self, sha256: str) -> int | None:
        """Size in bytes; None if there is no such blob."""
        with _client_errors_as_oserror():
            try:
                return int(self._client.head_object(Bucket=self._bucket, Key=self._key(sha256))["ContentLength"])
            except ClientError as error:
                if _is_not_found(error):
                    return None
                raise

    def put(self, sha256: str, data: bytes) -> None:
        """Store these bytes atomically."""
        with _client_errors_as_oserror():
            self._client.put_object(Bucket=self._bucket, Key=self._key(sha256), Body=data)

    def fetch(self, sha256: str, path: Path) -> None:
        """Copy a blob to a file, written to a temporary name and renamed. Does nothing if there is no such blob."""
        with _client_errors_as_oserror():
            try:
                data = self._client.get_object(Bucket=self._bucket, Key=self._key(sha256))["Body"].read()
            except ClientError as error:
                if _is_not_found(error):
                    return
                raise
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{sha256}.{secrets.token_hex(4)}.tmp")
        aside.write_bytes(data)
        aside.replace(path)

    def delete(self, sha256: str) -> None:
        """Delete a blob, if it exists."""
        with _client_errors_as_oserror():
            self._client.delete_object(Bucket=self._bucket, Key=self._key(sha256))

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}{sha256[:2]}/{sha256}"


@functools.cache
def open_bucket(url: str) -> BlobBucket:
    """The shared bucket object of this process for an address. Many threads may use its client."""
    return BlobBucket(url)


def _is_not_found(error: ClientError) -> bool:
    return error.response.get("Error", {}).get("Code") in NOT_FOUND_CODES


@contextmanager
def _client_errors_as_oserror() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise OSError(errno.EIO, f"the bucket of blobs: {error}") from error
