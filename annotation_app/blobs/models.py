"""What is known of stored bytes; the bytes themselves are files."""

from django.db import models


class Blob(models.Model):
    """Bytes in the blob folder, never changed."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    media_type = models.CharField(max_length=64)
    size = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256
