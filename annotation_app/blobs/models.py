"""Metadata of stored bytes. The bytes themselves are files."""

from django.db import models


class Blob(models.Model):
    """Bytes in the blob folder, never changed."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    media_type = models.CharField(max_length=64)
    size = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256


class SharedFolder(models.Model):
    """The data folder of this installation. A file in it holds the same mark."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    mark = models.UUIDField()

    def __str__(self) -> str:
        return str(self.mark)
