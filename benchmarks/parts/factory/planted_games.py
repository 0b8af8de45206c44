"""Replies with planted defects: a good game that was spoiled in one way, and the code that has to name it."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from protocol.base import FrozenModel
from task_factory.games.making import TRANSCRIPTS
from task_factory.games.replies import read_reply, write_files
from task_factory.language_models import read_transcript
from vm_bridge.suites.web import HOME
from vm_bridge.suites.web.task_folder import PAGE, RULES

GAME = "pancakes"
DEFECTS = Path(__file__).with_suffix(".toml")


class Defect(FrozenModel):
    """What is planted where, and the code of the fault that must be found."""

    name: str
    code: str
    file: str
    old: str
    new: str


@cache
def list_defects() -> tuple[Defect, ...]:
    """Every defect."""
    return tuple(Defect.model_validate(one) for one in tomllib.loads(DEFECTS.read_text())["defect"])


def make_replies() -> Iterator[tuple[Defect, str]]:
    """Each defect with the reply that has it. Raises LookupError where the good game lacks what is to be spoiled."""
    transcript = HOME / "made_games" / TRANSCRIPTS / f"{GAME}.jsonl"
    good = read_reply(read_transcript(transcript)[-1].reply)
    rules = f"{PAGE}/{RULES}"
    for defect in list_defects():
        files = dict(good)
        if defect.old not in files[defect.file]:
            raise LookupError(f"{defect.name}: {GAME} has no {defect.old!r}")
        files[defect.file] = files[defect.file].replace(defect.old, defect.new, 1)
        if "turns" in defect.new:
            files[rules] = files[rules].replace("const flipped", "let turns = 0;\nconst flipped", 1)
        if defect.code == "files":
            files[f"{PAGE}/extra.js"] = "\n"
        reply = write_files(files, "A game.")
        yield defect, reply.replace("```", "") if defect.code == "reply_unreadable" else reply
