"""A folder of judgements on its way: a line is added as an attempt is judged, and the folder renamed when it is whole.

What an interrupted run has written is gone on with, if it was the same judge, asked in the same way.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Self

from pydantic import ValidationError

from agent_backend.folders import FolderUnusable, sha256_of, whole_write
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.exports import MANIFEST, UNFINISHED
from vocabulary.judgements import JUDGEMENTS, PROMPTS, Judgement, JudgementsManifest, JudgeRef, JudgeSettings

PLAN = "plan.json"


class Plan(Frozen):
    """Who judges what, and how: what two runs must have in common to be one."""

    judge: JudgeRef
    settings: JudgeSettings | None
    model: str = ""
    folders: tuple[str, ...]


class JudgementFolder:
    """Opened for one plan; `judged` holds the ids of the attempts that need not be judged again."""

    def __init__(self, target: Path, plan: Plan) -> None:
        self.target = target
        self.aside = target.with_name(target.name + UNFINISHED)
        self.plan = plan
        self.judged: set[str] = set()
        self.unsaid = 0
        self._lines: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Raises FolderUnusable where the target is there, or another plan was begun."""
        if self.target.exists():
            raise FolderUnusable(f"{self.target} exists")
        (self.aside / PROMPTS).mkdir(parents=True, exist_ok=True)
        self._plan_keep()
        self._lines = (self.aside / JUDGEMENTS).open("ab")
        self._lines.truncate(self._read_back())
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines is not None:
            self._lines.close()

    def add(self, judgement: Judgement) -> None:
        """Take one judgement; on disk before this returns."""
        assert self._lines is not None
        self._lines.write(judgement.model_dump_json().encode() + b"\n")
        self._lines.flush()
        os.fdatasync(self._lines.fileno())
        self._count(judgement)

    async def keep(self, ref: BlobRef, data: bytes) -> None:
        """Keep what was asked."""
        whole_write(self.aside / PROMPTS / f"{ref.sha256}.json", data)

    def finish(self, *, at: datetime, refused: int = 0) -> JudgementsManifest:
        """Let the folder appear."""
        manifest = JudgementsManifest(
            created_at=at,
            judge=self.plan.judge,
            settings=self.plan.settings,
            folders=self.plan.folders,
            judged=len(self.judged),
            unsaid=self.unsaid,
            refused=refused,
            sha256=sha256_of(self.aside / JUDGEMENTS),
        )
        (self.aside / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
        (self.aside / PLAN).unlink(missing_ok=True)
        self.aside.rename(self.target)
        return manifest

    def _plan_keep(self) -> None:
        path = self.aside / PLAN
        if path.exists():
            try:
                begun = Plan.model_validate_json(path.read_bytes())
            except ValidationError:
                begun = None
            if begun != self.plan:
                raise FolderUnusable(f"{self.aside} was begun by another judge or for other folders: remove it first")
            return
        whole_write(path, self.plan.model_dump_json(indent=1).encode() + b"\n")

    def _read_back(self) -> int:
        """Take up the whole lines there are; how long they are together. A line cut off is judged again."""
        whole = 0
        for line in (self.aside / JUDGEMENTS).read_bytes().splitlines(keepends=True):
            try:
                judgement = Judgement.model_validate_json(line)
            except ValidationError:
                break
            if not line.endswith(b"\n"):
                break
            self._count(judgement)
            whole += len(line)
        return whole

    def _count(self, judgement: Judgement) -> None:
        self.judged.add(judgement.trajectory)
        self.unsaid += judgement.score is None
