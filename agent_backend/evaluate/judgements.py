"""Reading folders of judgements: a judge's word on each attempt."""

from pathlib import Path

from pydantic import ValidationError

from agent_backend.folders import FolderUnusable, sha256_of
from vocabulary.exports import MANIFEST, UNFINISHED
from vocabulary.judgements import JUDGEMENTS, Judgement, JudgementsManifest


def judgements_read(folder: Path) -> tuple[JudgementsManifest, dict[str, Judgement]]:
    """What a folder says it holds, and the judgements by trajectory. Raises FolderUnusable."""
    if folder.name.endswith(UNFINISHED) or not (folder / MANIFEST).is_file():
        raise FolderUnusable(f"{folder} is no finished folder of judgements")
    try:
        manifest = JudgementsManifest.model_validate_json((folder / MANIFEST).read_bytes())
        lines = (folder / JUDGEMENTS).read_bytes().splitlines()
        judgements = [Judgement.model_validate_json(line) for line in lines]
    except (OSError, ValidationError) as error:
        raise FolderUnusable(f"{folder} cannot be read as judgements: {str(error).splitlines()[0]}") from None
    if manifest.sha256 != sha256_of(folder / JUDGEMENTS):
        raise FolderUnusable(f"{folder / JUDGEMENTS} is not the file that the manifest lists")
    return manifest, {judgement.trajectory: judgement for judgement in judgements}
