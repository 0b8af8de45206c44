"""References to immutable bytes, addressed by their content."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class BlobRef(FrozenModel):
    """Where bytes are found: their sha256, what they are, and how many (bytes)."""

    sha256: Sha256
    media_type: str
    size: int = Field(ge=0)

    @classmethod
    def of(cls, data: bytes, media_type: str) -> "BlobRef":
        """The reference of these very bytes."""
        return cls(sha256=hashlib.sha256(data).hexdigest(), media_type=media_type, size=len(data))


NO_BLOBS: Mapping[BlobRef, bytes] = MappingProxyType({})
"""No bytes to store."""
