"""Makes a game: asks a model, checks the reply, tells the model of faults, and keeps what is accepted."""

import json
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from task_factory.games.checksums import file_sha256, source_sha256
from task_factory.games.faults import Fault
from task_factory.games.origin import Origin, write_origin
from task_factory.games.prompts import first_messages, repair_messages
from task_factory.games.replies import UnreadableReply, read_reply
from task_factory.games.validation import GameReport
from task_factory.language_models import LanguageModel, TranscribedModel, prompt_digest
from vm_bridge.suites.web import MADE_GAMES
from vm_bridge.suites.web.manifest import NAME_PATTERN
from vm_bridge.suites.web.task_folder import TaskFolder

REPAIRS = 2
"""How often a model is told of its faults before a game is given up."""
TRANSCRIPTS = "_transcripts"
"""Beside the games: what was asked and replied for each."""

Validate = Callable[[Path], Awaitable[GameReport]]


@dataclass(slots=True)
class MadeGame:
    """What came of one request."""

    name: str = ""
    folder: Path | None = None
    """Where it lies; None where it was not accepted."""
    rounds: list[list[Fault]] = field(default_factory=list)
    """The faults of each reply."""
    report: GameReport | None = None
    """Of the last reply that could be read."""


async def make_game(
    model: LanguageModel,
    out: Path,
    validate: Validate,
    *,
    author: str,
    idea: str = "",
    names: Sequence[str] = (),
    repairs: int = REPAIRS,
    on_round: Callable[[int, Sequence[Fault]], None] = lambda number, faults: None,
) -> MadeGame:
    """Ask for one game until it is accepted, or `repairs` times more.

    Args:
        model: Who writes.
        out: Accepted games go into a folder of their name in here, and their transcripts beside them.
        validate: Judges a folder.
        author: For origin.json: who or what writes.
        idea: What the game shall be about.
        names: Games that exist; a game of one of these names is a fault.
        repairs: How often faults are told.
        on_round: Called with the number of each round and what was wrong in it.

    Raises PolicyError where the model does not reply, LookupError where recorded replies are used up.
    """
    made = MadeGame()
    with tempfile.TemporaryDirectory(prefix="game-") as place:
        transcript = Path(place) / "transcript.jsonl"
        transcribed, messages = TranscribedModel(model, transcript), first_messages(idea, names)
        digests = list[str]()
        for number in range(repairs + 1):
            digests.append(prompt_digest(messages))
            reply = await transcribed.complete(messages)
            candidate, faults = _write_candidate(reply, Path(place) / str(number), names)
            if candidate is not None:
                made.name, made.report = candidate.name, await validate(candidate)
                faults = made.report.faults
            made.rounds.append(faults)
            on_round(number, faults)
            if candidate is not None and not faults:
                made.folder = _keep(candidate, transcript, out, model.name, author, digests)
                return made
            messages = repair_messages(messages, reply, faults)
    return made


def _write_candidate(reply: str, place: Path, names: Sequence[str]) -> tuple[Path | None, list[Fault]]:
    """The folder of a reply's files, which is called as its manifest says."""
    try:
        files = read_reply(reply)
        name = str(json.loads(files["manifest.json"])["name"])
    except UnreadableReply as unreadable:
        return None, unreadable.faults
    except (ValueError, KeyError, TypeError) as error:
        return None, [Fault("manifest", f"manifest.json cannot be read: {type(error).__name__} {error}")]
    if not re.match(NAME_PATTERN, name):
        return None, [Fault("manifest", "a name has small letters, digits, _ and -")]
    if name in names:
        return None, [Fault("manifest", f"there is a game {name} already")]
    for path, text in files.items():
        (place / name / path).parent.mkdir(parents=True, exist_ok=True)
        (place / name / path).write_text(text)
    return place / name, []


def _keep(candidate: Path, transcript: Path, out: Path, model: str, author: str, digests: Sequence[str]) -> Path:
    """Copy an accepted game to where it stays."""
    kept, said = out / candidate.name, out / TRANSCRIPTS / f"{candidate.name}.jsonl"
    said.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(candidate, kept)
    shutil.copyfile(transcript, said)
    folder = TaskFolder.read(kept, MADE_GAMES.kit)
    origin = Origin(
        author=author,
        model=model,
        made=datetime.now(UTC).date(),
        prompt_sha256=tuple(digests),
        transcript=f"../{TRANSCRIPTS}/{said.name}",
        transcript_sha256=file_sha256(said),
        repairs=len(digests) - 1,
        source_sha256=source_sha256(folder),
        verifier_sha256=folder.checksum,
    )
    write_origin(kept, origin)
    return kept
