"""Writes a folder of judgements: one line for each judged attempt; the folder is renamed when it is complete.

An interrupted run is resumed if the judge and its settings are the same.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Self

from pydantic import ValidationError

from agent_backend.trajectory_folders import InvalidFolder, file_sha256, write_atomically
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import JUDGEMENTS, PROMPTS, Judgement, JudgementsManifest, JudgeRef, JudgeSettings
from protocol.trajectory.export_folders import MANIFEST, UNFINISHED_SUFFIX

PLAN_FILE = "plan.json"


class JudgingPlan(FrozenModel):
    """The judge, its settings and its input: two runs with equal plans are the same run."""

    judge: JudgeRef
    settings: JudgeSettings | None
    model: str = ""
    folders: tuple[str, ...]


class JudgementFolderWriter:
    """Writes the judgements of one plan; `judged` holds the ids of the attempts that are already judged."""

    def __init__(self, target: Path, plan: JudgingPlan) -> None:
        self.target = target
        self.unfinished = target.with_name(target.name + UNFINISHED_SUFFIX)
        self.plan = plan
        self.judged: set[str] = set()
        self.unsaid = 0
        self._lines: BinaryIO | None = None

    def __enter__(self) -> Self:
        """Raises InvalidFolder if the target exists, or if another plan was begun."""
        if self.target.exists():
            raise InvalidFolder(f"{self.target} exists")
        (self.unfinished / PROMPTS).mkdir(parents=True, exist_ok=True)
        self._write_plan()
        self._lines = (self.unfinished / JUDGEMENTS).open("ab")
        self._lines.truncate(self._resume())
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines is not None:
            self._lines.close()

    def add(self, judgement: Judgement) -> None:
        """Append one judgement; it is on disk before this returns."""
        assert self._lines is not None
        self._lines.write(judgement.model_dump_json().encode() + b"\n")
        self._lines.flush()
        os.fdatasync(self._lines.fileno())
        self._count(judgement)

    async def save_blob(self, ref: BlobRef, data: bytes) -> None:
        """Store a blob of a prompt."""
        write_atomically(self.unfinished / PROMPTS / f"{ref.sha256}.json", data)

    def finish(self, *, at: datetime, refused: int = 0) -> JudgementsManifest:
        """Give the folder its final name."""
        manifest = JudgementsManifest(
            created_at=at,
            judge=self.plan.judge,
            settings=self.plan.settings,
            folders=self.plan.folders,
            judged=len(self.judged),
            unsaid=self.unsaid,
            refused=refused,
            sha256=file_sha256(self.unfinished / JUDGEMENTS),
        )
        (self.unfinished / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n")
        (self.unfinished / PLAN_FILE).unlink(missing_ok=True)
        self.unfinished.rename(self.target)
        return manifest

    def _write_plan(self) -> None:
        path = self.unfinished / PLAN_FILE
        if path.exists():
            try:
                stored_plan = JudgingPlan.model_validate_json(path.read_bytes())
            except ValidationError:
                stored_plan = None
            if stored_plan != self.plan:
                raise InvalidFolder(
                    f"{self.unfinished} was begun by another judge or for other folders: remove it first"
                )
            return
        write_atomically(path, self.plan.model_dump_json(indent=1).encode() + b"\n")

    def _resume(self) -> int:
        """Read the complete lines; returns their total length. An attempt with a truncated line is judged again."""
        whole = 0
        for line in (self.unfinished / JUDGEMENTS).read_bytes().splitlines(keepends=True):
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


def read_judgements(folder: Path) -> tuple[JudgementsManifest, dict[str, Judgement]]:
    """What a folder says it holds, and the judgements by trajectory. Raises InvalidFolder."""
    if folder.name.endswith(UNFINISHED_SUFFIX) or not (folder / MANIFEST).is_file():
        raise InvalidFolder(f"{folder} is no finished folder of judgements")
    try:
        manifest = JudgementsManifest.model_validate_json((folder / MANIFEST).read_bytes())
        lines = (folder / JUDGEMENTS).read_bytes().splitlines()
        judgements = [Judgement.model_validate_json(line) for line in lines]
    except (OSError, ValidationError) as error:
        raise InvalidFolder(f"{folder} cannot be read as judgements: {str(error).splitlines()[0]}") from None
    if manifest.sha256 != file_sha256(folder / JUDGEMENTS):
        raise InvalidFolder(f"{folder / JUDGEMENTS} is not the file that the manifest lists")
    return manifest, {judgement.trajectory: judgement for judgement in judgements}
