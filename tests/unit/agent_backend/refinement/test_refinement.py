"""A folder of recorded sessions is refined through a model server with recorded replies."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_backend.refinement import __main__ as program
from agent_backend.refinement.refiner import RefinedThought, Refiner, refine_trajectory
from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_trajectories
from protocol.actions.types import TypeText
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.test_trajectory_folders import FIRST, content


def answer(text: str) -> Events:
    return Events([chunk(0, text), {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None}])


def refine(said: str, *replies: str) -> tuple[Any, ModelServer]:
    server = ModelServer(*map(answer, replies))

    async def ask() -> Any:
        refiner = Refiner("http://model/v1", "m", transport=server.transport)
        try:
            return await refiner.refine(said, "Fill in the form", "click", frozenset())
        finally:
            await refiner.aclose()

    return asyncio.run(ask()), server


def test_a_reply_that_keeps_the_facts_is_taken_and_traced() -> None:
    refined, server = refine("um so I, I type forty two", "I type 42. This completes the field properly.")
    assert [(one.text, one.support) for one in refined.sentences] == [
        ("I type 42.", "paraphrased"),
        ("This completes the field properly.", "added"),
    ]
    assert (refined.said, refined.problem) == ("um so I, I type forty two", "")
    assert (refined.text(), refined.text(drop_added=True)) == (
        "I type 42. This completes the field properly.",
        "I type 42.",
    )
    assert "Said: um so I, I type forty two" in json.dumps(server.asked[0]["messages"])


def test_a_changed_fact_is_asked_for_again_and_then_left_as_it_was_said() -> None:
    refined, server = refine("I do not type 42", "I type 42.", "I do not type 42.")
    assert refined.text() == "I do not type 42."
    assert "a negation was changed" in server.asked[1]["messages"][-1]["content"]
    refined, server = refine("I do not type 42", "I type 42.", "")
    assert (refined.text(), refined.problem, len(server.asked)) == ("I do not type 42", "the reply is empty", 2)
    assert [one.support for one in refined.sentences] == ["verbatim"]


@pytest.mark.parametrize(
    ("said", "reply", "problem"),
    [
        ("um I press the save button", "Everything continues elsewhere.", "nothing of it was said"),
        (
            "I press the save button",
            "I press the save button. Everything continues elsewhere. Afterwards comes something different.",
            "more than one sentence was added",
        ),
        (
            "I compare both hotels, the cheaper station hotel wins, and then I press book",
            "I press book.",
            "most of what was said is left out",
        ),
    ],
)
def test_a_reply_that_replaces_what_was_said_is_not_taken(said: str, reply: str, problem: str) -> None:
    refined, server = refine(said, reply, reply)
    assert (refined.problem, refined.text(), len(server.asked)) == (problem, said, 2)


def test_ordinary_words_that_were_typed_may_be_rephrased() -> None:
    class Recorder(Refiner):
        async def refine(self, said: str, instruction: str, action: str, names: frozenset[str]) -> RefinedThought:
            found.append(names)
            return RefinedThought(said, ())

    found: list[frozenset[str]] = []
    text = "the cheap hotel in Bonn The room42"
    typed = FIRST.steps[0].model_copy(update={"action": TypeText(text=text), "thought": "I type it."})
    one = FIRST.model_copy(update={"steps": (typed,)})

    async def run() -> None:
        refiner = Recorder("http://model/v1", "m")
        await refine_trajectory(refiner, one, "r")
        await refiner.aclose()

    asyncio.run(run())
    assert found == [frozenset({"bonn", "room42"})]


def test_a_folder_becomes_a_refined_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = TrajectoryFolderWriter(tmp_path / "said", {})
    thoughts = ["um I press the button", *["" for _ in FIRST.steps[1:]]]
    steps = [step.model_copy(update={"thought": text}) for step, text in zip(FIRST.steps, thoughts, strict=True)]
    writer.add(FIRST.model_copy(update={"steps": tuple(steps)}), content)
    writer.finish(at=datetime.now(UTC))
    server = ModelServer(answer("I press the button. Everything continues afterwards elsewhere."))
    monkeypatch.setattr(program, "Refiner", lambda *given, **more: Refiner(*given, **more, transport=server.transport))
    command = [str(tmp_path / "said"), "--model-url", "http://model/v1", "--model", "m", "--revision", "r"]
    assert program.main([*command, "--drop-added", "--out", str(tmp_path / "refined")]) == 0
    assert "1 added, 1 paraphrased" in capsys.readouterr().out
    ((_, refined),) = read_trajectories([tmp_path / "refined"])
    assert [step.thought for step in refined.steps] == ["I press the button.", *thoughts[1:]]
    recorded: Any = refined.task.parameters["recording"]
    assert recorded["refinement"]["thoughts"][0]["said"] == "um I press the button"
    assert (recorded["refinement"]["model"], recorded["refinement"]["revision"]) == ("m", "r")
    assert Trajectory.model_validate_json(refined.model_dump_json()) == refined
