"""Schemas of retention."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from annotation_app.judges.schemas import PoolName
from protocol.base import FrozenModel

RuleWhat = Literal["practice", "left", "unaccepted", "recordings", "exports", "audit"]
AUDIT_DAYS = 365
"""The shortest retention of the audit log: a year."""


class RuleIn(FrozenModel):
    """A rule to create. Without a pool it applies to all of them."""

    what: RuleWhat
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    days: Annotated[int, Field(ge=1, le=36_500)]

    @model_validator(mode="after")
    def _of_the_whole(self) -> "RuleIn":
        if self.what == "audit" and (self.pool is not None or self.days < AUDIT_DAYS):
            raise ValueError(f"the audit log is that of every pool, and kept for {AUDIT_DAYS} days at the least")
        return self


class Preview(FrozenModel):
    """What a rule would delete now."""

    at: datetime
    items: int
    """Episodes, recordings, exports or entries."""
    files: int
    """Pictures and videos that only these show."""
    bytes: int
    spared: int
    """Episodes or exports that are old enough but stay, because a dataset version has them or they are needed."""


class RuleOut(FrozenModel):
    """A rule, the result of its last preview, and what it has deleted."""

    id: int
    what: RuleWhat
    pool_id: int | None
    pool: str | None
    days: int
    active: bool
    preview: Preview | None
    ran_at: datetime | None
    removed: int
    freed: int
    error: str
    created_by: str


class RetentionPage(FrozenModel):
    """All rules and all pools."""

    rules: tuple[RuleOut, ...]
    pools: tuple[PoolName, ...]


class Removed(FrozenModel):
    """What was deleted: `items` of the rule's kind, and the bytes of their files."""

    items: int = 0
    files: int = 0
    bytes: int = 0

    def __add__(self, other: "Removed") -> "Removed":
        return Removed(items=self.items + other.items, files=self.files + other.files, bytes=self.bytes + other.bytes)
