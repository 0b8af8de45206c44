"""Episodic memory: what a policy wrote for itself of steps it no longer reads in full."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from vocabulary.base import Frozen
from vocabulary.proposals import PolicyRef

MemoryText = Annotated[str, StringConstraints(max_length=4_000)]


class Memory(Frozen):
    """Notes on the steps after the last memory's, up to and with the one of index `through`."""

    through: int = Field(ge=0)
    text: MemoryText
    policy: PolicyRef
    revised: bool = False
    """The annotator put it right."""
    original: MemoryText | None = None
    """What the policy wrote, where it was put right."""
    written_at: datetime
