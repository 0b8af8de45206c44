"""Which split a task falls into: by its kind's digest, so that it is the same in every export and never in two."""

import hashlib
from typing import Literal

from pydantic import Field, model_validator

from protocol.base import FrozenModel

Split = Literal["train", "validation", "test"]
ALL: Split = "train"


class Shares(FrozenModel):
    """How much is held back, as shares of the kinds of task; `salt` makes another division."""

    validation: float = Field(default=0, ge=0, lt=1)
    test: float = Field(default=0, ge=0, lt=1)
    salt: str = Field(default="", max_length=64)

    @model_validator(mode="after")
    def _leaves_some(self) -> "Shares":
        if self.validation + self.test >= 1:
            raise ValueError("validation and test together leave nothing to train on")
        return self


def split_of(kind: str, shares: Shares) -> Split:
    """Attempts at one kind of task, whatever their seeds, are in one split: what is held back is never trained on."""
    digest = hashlib.sha256(f"{shares.salt}\x00{kind}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < shares.test:
        return "test"
    return "validation" if place < shares.test + shares.validation else "train"
