"""The exact prompt of a policy, so that it can be displayed and sent again."""

from typing import Literal

from protocol.base import FrozenModel, JsonObject
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage
from protocol.trajectory.proposals import ImageLimits, PolicyRef

PROMPT_MEDIA_TYPE = "application/json"


class Prompt(FrozenModel):
    """The conversation of one request: text as it was sent, pictures by the bytes they had. Kept as a blob; the
    proposals it led to name it."""

    format: Literal["pilothouse-prompt-1"] = "pilothouse-prompt-1"
    policy: PolicyRef
    model: str
    image_limits: ImageLimits
    messages: tuple[ChatMessage, ...]
    functions: tuple[JsonObject, ...] = ()
    """Functions that were declared to a hosted model beside its provider's computer tool."""

    def to_blob(self) -> tuple[BlobRef, bytes]:
        """The bytes that are kept, and what they are found by."""
        data = self.model_dump_json().encode()
        return BlobRef.of(data, PROMPT_MEDIA_TYPE), data
