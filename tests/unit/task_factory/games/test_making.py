"""The chain that makes games, with recorded replies and a check that is not run."""

import os
from pathlib import Path

from task_factory.__main__ import main
from task_factory.games.faults import Fault
from task_factory.games.making import make_game
from task_factory.games.origin import BY_RECORDED_REPLIES, find_origin_faults, read_origin
from task_factory.games.prompts import CONTRACT, MAX_FAULTS, repair_messages
from task_factory.games.static_checks import FILES
from task_factory.games.validation import GameReport
from task_factory.language_models import Message, RecordedModel, read_transcript
from vm_bridge.suites.web import MADE_GAMES, FolderSuite
from vm_bridge.suites.web.task_folder import TaskFolder

STONES = MADE_GAMES.folder("stones").path
REPLY = read_transcript(STONES.parent / "_transcripts" / "stones.jsonl")[-1].reply


class Check:
    """Accepts a game when it is seen for the nth time."""

    def __init__(self, accepted: int = 1) -> None:
        self.accepted, self.seen = accepted, 0

    async def __call__(self, folder: Path) -> GameReport:
        self.seen += 1
        faults = [Fault("no_end", "it goes on")] if self.seen < self.accepted else []
        return GameReport(folder.name, faults)


async def test_a_model_is_told_of_faults_until_its_game_is_accepted(tmp_path: Path) -> None:
    model = RecordedModel(["I had no idea.", REPLY, REPLY])
    rounds = list[list[str]]()
    made = await make_game(
        model, tmp_path, Check(2), author=BY_RECORDED_REPLIES, idea="stones", names=("chess",),
        on_round=lambda number, faults: rounds.append([fault.code for fault in faults]),
    )  # fmt: skip
    assert rounds == [["reply_unreadable"], ["no_end"], []]
    assert made.folder == tmp_path / "stones"
    for file in FILES[1:]:  # a bundled manifest has its measured reference too
        assert (made.folder / file).read_bytes() == (STONES / file).read_bytes()
    exchanges = read_transcript(tmp_path / "_transcripts" / "stones.jsonl")
    assert [one.messages[0].content for one in exchanges] == [CONTRACT] * 3
    asked = [str(one.messages[-1].content) for one in exchanges]
    assert "stones" in asked[0]
    assert "chess" in asked[0]
    assert "reply_unreadable" in asked[1]
    assert "it goes on" in asked[2]
    assert [message.role for message in exchanges[2].messages] == ["system", "user", *["assistant", "user"] * 2]
    origin = read_origin(made.folder)
    assert (origin.repairs, origin.model, origin.author) == (2, "recorded replies", BY_RECORDED_REPLIES)
    assert origin.prompt_sha256 == tuple(one.prompt_sha256 for one in exchanges)
    assert find_origin_faults(TaskFolder.read(made.folder, MADE_GAMES.kit)) == []
    assert list(FolderSuite("made", tmp_path, MADE_GAMES.kit).folders) == ["stones"]


async def test_a_game_is_given_up_after_the_last_repair_and_leaves_nothing(tmp_path: Path) -> None:
    check = Check(9)
    made = await make_game(RecordedModel([REPLY] * 2), tmp_path, check, author=BY_RECORDED_REPLIES, repairs=1)
    assert (made.folder, len(made.rounds), check.seen) == (None, 2, 2)
    assert os.listdir(tmp_path) == []


async def test_a_name_that_is_taken_or_none_is_a_fault(tmp_path: Path) -> None:
    check = Check()
    replies = [REPLY, REPLY.replace('"name": "stones"', '"name": "../up"'), REPLY.replace('"format": 1,', "")]
    replies[2] = replies[2].replace('"name": "stones",', '"name" "stones"')
    made = await make_game(RecordedModel(replies), tmp_path, check, author="", names=("stones",))
    assert [[fault.code for fault in faults] for faults in made.rounds] == [["manifest"]] * 3
    assert check.seen == 0


def test_a_model_is_told_of_a_bounded_number_of_faults() -> None:
    before = (Message(role="user", content="Write a game."),)
    told = repair_messages(before, "reply", [Fault("clock", f"line {line}") for line in range(50)])[-1].content
    assert str(told).count("clock") == MAX_FAULTS


def test_the_command_needs_a_model_or_replies(tmp_path: Path) -> None:
    assert main(["games", "make", "--out", str(tmp_path)]) == 2
