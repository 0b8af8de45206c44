"""origin.json: who or what wrote a game, from which prompts, and which files were accepted."""

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from protocol.base import FrozenModel
from task_factory.games.checksums import file_sha256, source_sha256
from task_factory.games.faults import Fault
from vm_bridge.suites.web.task_folder import TaskFolder

ORIGIN = "origin.json"
BY_RECORDED_REPLIES = (
    "A large language model whose replies were recorded; the record does not name it. No person has reviewed the game."
)


class Origin(FrozenModel):
    """origin.json."""

    format: Literal[1] = 1
    author: str
    """Who or what wrote it, in words, and whether a person has looked at it."""
    model: str
    """As the server or the file of replies is called."""
    made: date
    prompt_sha256: tuple[str, ...]
    """Of each prompt, the first one first."""
    transcript: str
    """Where prompts and replies are, from this file."""
    transcript_sha256: str
    repairs: int
    """How often the model was told of faults."""
    reviewed_by_a_person: bool = False
    source_sha256: str
    verifier_sha256: str


def author_of(model: str) -> str:
    """Words for a served model."""
    return f"The language model {model}. No person has reviewed the game."


def write_origin(folder: Path, origin: Origin) -> None:
    """Put it beside the game."""
    (folder / ORIGIN).write_text(f"{origin.model_dump_json(indent=2)}\n")


def read_origin(folder: Path) -> Origin:
    """The origin of a game. Raises ValueError where there is none or it cannot be read."""
    try:
        return Origin.model_validate_json((folder / ORIGIN).read_bytes())
    except (OSError, ValidationError) as error:
        raise ValueError(f"{folder.name}/{ORIGIN}: {error}") from error


def find_origin_faults(folder: TaskFolder) -> list[Fault]:
    """What of the files is not as it was when the game was accepted."""
    try:
        origin = read_origin(folder.path)
    except ValueError as error:
        return [Fault("origin", str(error)[:300])]
    transcript, faults = folder.path / origin.transcript, list[Fault]()
    if origin.source_sha256 != source_sha256(folder):
        faults.append(Fault("origin", "the source is another one than was accepted"))
    if origin.verifier_sha256 != folder.checksum:
        faults.append(Fault("origin", "the verifier is another one than was accepted"))
    if not transcript.is_file() or file_sha256(transcript) != origin.transcript_sha256:
        faults.append(Fault("origin", "the transcript is missing or another one"))
    return faults
