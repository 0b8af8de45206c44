"""The bundled games that a language model wrote: their files, their origins, and what is refused without a browser."""

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.parts.factory.planted_games import Defect, list_defects, make_replies
from task_factory.games.faults import CODES
from task_factory.games.origin import find_origin_faults, read_origin
from task_factory.games.replies import UnreadableReply, read_reply
from task_factory.games.static_checks import FILES, find_faults, find_script_faults
from task_factory.language_models import prompt_digest, read_transcript
from vm_bridge.suites.web import GAMES, MADE_GAMES
from vm_bridge.suites.web.task_folder import TaskFolder

NAMES = sorted(MADE_GAMES.folders)
SCRIPT_CODES = {"network", "external_resource", "dynamic_code", "clock", "unseeded_random", "storage", "tampering"}
TOLD_BY_TEXT = SCRIPT_CODES | {"files", "reply_unreadable"}
ONLY_IN_A_RUN = frozenset(
    {
        "randomness by another name",
        "network by another name",
        "a picture from elsewhere",
        "a clock on the page",
    }
)


def test_there_are_as_many_as_promised_and_one_is_in_webgl() -> None:
    assert len(NAMES) >= 8
    assert any(folder.manifest.webgl for folder in MADE_GAMES.folders.values())
    assert not set(NAMES) & set(GAMES.folders)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_what_its_transcript_says_and_says_who_wrote_it(name: str) -> None:
    folder = MADE_GAMES.folder(name)
    assert list(find_faults(folder)) == []
    assert find_origin_faults(folder) == []
    origin = read_origin(folder.path)
    exchanges = read_transcript(folder.path / origin.transcript)
    assert origin.prompt_sha256 == tuple(one.prompt_sha256 for one in exchanges)
    assert origin.prompt_sha256 == tuple(prompt_digest(one.messages) for one in exchanges)
    assert origin.repairs == len(exchanges) - 1
    files = read_reply(exchanges[-1].reply)
    measured = json.loads((folder.path / FILES[0]).read_text())
    measured.pop("reference", None)
    assert json.loads(files.pop(FILES[0])) == measured
    assert files == {file: (folder.path / file).read_text() for file in files}
    assert not origin.reviewed_by_a_person
    assert "No person has reviewed" in origin.author


@pytest.mark.parametrize("file", ["page/rules.js", "page/game.js", "verifier.js", "expert.js", "manifest.json"])
def test_an_edited_file_is_noticed(tmp_path: Path, file: str) -> None:
    shutil.copytree(MADE_GAMES.folder("stones").path.parent / "_transcripts", tmp_path / "_transcripts")
    copy = tmp_path / "stones"
    shutil.copytree(MADE_GAMES.folder("stones").path, copy)
    assert find_origin_faults(TaskFolder.read(copy, MADE_GAMES.kit)) == []
    text = (copy / file).read_text()
    (copy / file).write_text(text.replace("20", "21", 1) if file == "manifest.json" else f"{text}\n")
    assert {fault.code for fault in find_origin_faults(TaskFolder.read(copy, MADE_GAMES.kit))} == {"origin"}


def test_a_measured_reference_is_no_edit(tmp_path: Path) -> None:
    copy = tmp_path / "stones"
    shutil.copytree(MADE_GAMES.folder("stones").path, copy)
    shutil.copytree(MADE_GAMES.folder("stones").path.parent / "_transcripts", tmp_path / "_transcripts")
    manifest = json.loads((copy / "manifest.json").read_text()) | {"reference": {"score": 1.0, "random": 0.25}}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    folder = TaskFolder.read(copy, MADE_GAMES.kit)
    assert folder.manifest.reference is not None
    assert find_origin_faults(folder) == []


def test_planted_defects_are_many_and_of_many_kinds() -> None:
    defects = list_defects()
    assert len(defects) >= 10
    assert len({one.code for one in defects}) >= 20
    assert {one.code for one in defects} <= CODES.keys()


def found_without_a_run(reply: str) -> set[str]:
    """The codes of what a reply's text alone shows."""
    try:
        files = read_reply(reply)
    except UnreadableReply as unreadable:
        return {fault.code for fault in unreadable.faults}
    return {fault.code for file in FILES[1:] for fault in find_script_faults(file, files[file])}


@pytest.mark.parametrize(("defect", "reply"), list(make_replies()), ids=lambda one: getattr(one, "name", ""))
def test_what_can_be_said_of_a_defect_without_a_run_is_said(defect: Defect, reply: str) -> None:
    shown = defect.code in TOLD_BY_TEXT and defect.name not in ONLY_IN_A_RUN
    assert found_without_a_run(reply) == ({defect.code} if shown else set())
