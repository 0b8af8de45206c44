"""The bucket that keeps blobs where hosts share no folder for them; the folder is then each host's own copy of some.

Credentials and endpoint are the environment's, as boto3 reads them. Whatever fails is an OSError, as of a disk.
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
    """Blobs under `s3://bucket/prefix`, two characters of the digest before the rest, as in the folder."""

    def __init__(self, url: str) -> None:
        self._bucket, _, prefix = url.removeprefix("s3://").rstrip("/").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._client = boto3.client("s3", config=CLIENT_CONFIG)

    def size(self, sha256: str) -> int | None:
        """How many bytes it has; None where there is none such."""
        with _client_errors_as_oserror():
            try:
                return int(self._client.head_object(Bucket=self._bucket, Key=self._key(sha256))["ContentLength"])
            except ClientError as error:
                if _is_not_found(error):
                    return None
                raise

    def put(self, sha256: str, data: bytes) -> None:
        """Keep these bytes; whole, or not at all."""
        with _client_errors_as_oserror():
            self._client.put_object(Bucket=self._bucket, Key=self._key(sha256), Body=data)

    def fetch(self, sha256: str, path: Path) -> None:
        """Copy it to a file, written aside and renamed; nothing where there is none such."""
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
        """Let go of it, if it is there."""
        with _client_errors_as_oserror():
            self._client.delete_object(Bucket=self._bucket, Key=self._key(sha256))

    def _key(self, sha256: str) -> str:
        return f"{self._prefix}{sha256[:2]}/{sha256}"


@functools.cache
def open_bucket(url: str) -> BlobBucket:
    """The one of this process at an address; its client may be used by many threads."""
    return BlobBucket(url)


def _is_not_found(error: ClientError) -> bool:
    return error.response.get("Error", {}).get("Code") in NOT_FOUND_CODES


@contextmanager
def _client_errors_as_oserror() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise OSError(errno.EIO, f"the bucket of blobs: {error}") from error
