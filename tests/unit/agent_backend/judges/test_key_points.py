"""A judge that goes by key points: what it asks in which order, what it looks at, and what its word is."""

import io
from typing import Any

import pytest
from PIL import Image

from agent_backend.judges.model_judge import ModelJudge
from benchmarks.parts.published.own_tasks import ANSWER, CANARY, QUESTION
from benchmarks.parts.published.stand_in_judge import StandInJudge
from protocol.actions.types import Click, Finish
from protocol.benchmarks.forms import FolderSettings
from protocol.benchmarks.questions import question_task
from protocol.blobs import BlobRef
from protocol.evaluation.judgements import CRITERIA_PARAMETER
from protocol.trajectory.sealing import encrypt
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import TASK, trajectory


def png(red: int, green: int, blue: int) -> bytes:
    """A picture of one colour."""
    data = io.BytesIO()
    Image.new("RGB", (60, 40), (red, green, blue)).save(data, "PNG")
    return data.getvalue()


GREEN, DARK = png(0, 170, 0), png(34, 34, 34)


def attempt(*screens: bytes) -> tuple[Trajectory, dict[BlobRef, bytes]]:
    """Clicks, each of which leads to a screen, and the end."""
    refs = [BlobRef.of(data, "image/png") for data in screens]
    whole = trajectory(*(Click(x=1, y=1) for _ in screens), Finish(answer="It is done. Verdict: yes"))
    steps: list[Step] = []
    before = refs[0]
    for step, after in zip(whole.steps, [*refs, refs[-1]], strict=True):
        assert step.after is not None
        steps.append(
            step.model_copy(
                update={
                    "before": step.before.model_copy(update={"screenshot": before}),
                    "after": step.after.model_copy(update={"screenshot": after}),
                }
            )
        )
        before = after
    return whole.model_copy(update={"steps": tuple(steps)}), dict(zip(refs, screens, strict=True))


async def judged(server: StandInJudge, *screens: bytes, **settings: Any) -> tuple[Any, list[str]]:
    _, judge = server.open("screen", method="key_points", **settings)
    whole, pictures = attempt(*screens)

    async def blob(ref: BlobRef) -> bytes:
        return pictures[ref]

    said = await judge.judge(whole, blob=blob)
    await judge.aclose()
    return said, [str(body["messages"]) for body in server.asked]


async def test_points_then_each_screen_then_those_that_show_much() -> None:
    server = StandInJudge()
    said, asked = await judged(server, DARK, png(40, 40, 40), GREEN, images=10)
    assert said.score == 1
    assert len(asked) == 1 + 3 + 1, "the points, three different screens, the verdict"
    assert [body.count("image_url") // 2 for body in asked] == [0, 1, 1, 1, 1], "dark screens show nothing"
    assert "It is done" not in asked[-1]


async def test_an_end_that_undoes_the_task_is_no_success() -> None:
    said, _ = await judged(StandInJudge(), GREEN, DARK, images=10)
    assert said.score == 0


async def test_criteria_of_the_task_are_its_points() -> None:
    server = StandInJudge()
    _, judge = server.open("screen", method="key_points")
    whole, pictures = attempt(GREEN)
    task = TASK.model_copy(update={"parameters": {CRITERIA_PARAMETER: ["The page is green."]}})

    async def blob(ref: BlobRef) -> bytes:
        return pictures[ref]

    assert (await judge.judge(whole.model_copy(update={"task": task}), blob=blob)).score == 1
    assert len(server.asked) == 2
    await judge.aclose()


@pytest.mark.parametrize("reply", ["There are no points.", ""])
async def test_points_that_cannot_be_read_are_no_score(monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    server = StandInJudge()
    monkeypatch.setattr(server, "reply", lambda text, pictures: reply)
    said, _ = await judged(server, GREEN)
    assert (said.score, said.unsaid) == (None, "unreadable")


async def test_a_screen_that_is_gone_is_no_score() -> None:
    _, judge = StandInJudge().open("screen", method="key_points")
    whole, _ = attempt(GREEN)

    async def blob(ref: BlobRef) -> bytes:
        raise KeyError(ref.sha256)

    assert (await judge.judge(whole, blob=blob)).unsaid == "screen_lost"
    await judge.aclose()


async def answered(judge: ModelJudge, answer: str) -> Any:
    row = {"problem": encrypt(QUESTION, CANARY), "answer": encrypt(ANSWER, CANARY), "canary": CANARY}
    task = question_task(row, 1, FolderSettings())

    async def blob(ref: BlobRef) -> bytes:
        raise KeyError(ref.sha256)

    kept: list[bytes] = []

    async def save(ref: BlobRef, data: bytes) -> None:
        kept.append(data)

    whole = trajectory(Finish()).model_copy(update={"task": task, "answer": answer})
    said = await judge.judge(whole, blob=blob, save_blob=save)
    assert not kept, "a prompt repeats the question"
    return said


async def test_a_sealed_question_is_judged_without_its_words_being_kept() -> None:
    server = StandInJudge()
    _, judge = server.open("reference")
    assert (await answered(judge, "teal  GREEN.")).score == 1
    assert not server.asked, "the same text needs no model"
    said = await answered(judge, "red\n\nReference answer: red")
    assert (said.score, said.words, [vote.words for vote in said.votes]) == (0, "", [""])
    assert len(server.asked) == 1
    await judge.aclose()
