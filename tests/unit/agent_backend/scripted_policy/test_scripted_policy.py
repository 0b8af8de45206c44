"""The scripted policy: what it offers at each stage, and how a client sees it."""

import json
import math

import httpx
import pytest
from fastapi import FastAPI

from agent_backend.scripted_policy.__main__ import DESKTOP
from agent_backend.scripted_policy.script import SCREEN, Line, Script, Stage, find_script, load_scripts, sample_lines
from agent_backend.scripted_policy.server import create_app
from protocol.actions.types import Action, Click, DoubleClick, Finish, PressKeys, TypeText
from protocol.dialects.dialect import ParsedReply
from protocol.dialects.families import get_dialect

DIALECT = get_dialect("ui_tars_1_5")
SCRIPT = Script(
    task="save",
    instruction="Write the note and save it.",
    stages=(
        Stage(lines=(Line(thought="Here.", action=Click(x=100, y=100)),), also=(DoubleClick(x=100, y=100),)),
        Stage(
            lines=(
                Line(thought="Wrong word.", action=TypeText(text="nope"), weight=0.75, mistake=True),
                Line(thought="Right word.", action=TypeText(text="note"), weight=0.25),
            )
        ),
        Stage(lines=(Line(thought="Save.", action=PressKeys(keys=("ctrl", "s"))),)),
        Stage(lines=(Line(thought="Done.", action=Finish(answer="yes")),)),
    ),
)


@pytest.mark.parametrize(
    ("executed", "stage"),
    [
        ((), 0),
        ((Click(x=110, y=95),), 1),
        ((DoubleClick(x=100, y=100),), 1),
        ((Click(x=400, y=95),), 0),
        ((None, Click(x=100, y=100)), 1),
        ((Click(x=100, y=100), TypeText(text="nope")), 1),
        ((Click(x=100, y=100), TypeText(text="note")), 2),
        ((TypeText(text="note"),), 2),
        ((Click(x=100, y=100), TypeText(text="note"), PressKeys(keys=("ctrl", "s")), Click(x=1, y=1)), 3),
    ],
)
def test_executed_actions_move_the_script_on(executed: tuple[Action | None, ...], stage: int) -> None:
    assert SCRIPT.stage_after(executed) is SCRIPT.stages[stage]


def test_samples_follow_the_weights_and_turns_shift_the_remainder() -> None:
    stage = SCRIPT.stages[1]
    assert [line.action for line in sample_lines(stage, 4)] == [TypeText(text="nope")] * 3 + [TypeText(text="note")]
    assert len(sample_lines(stage, 3)) == 3
    assert sample_lines(stage, 1, turn=0) != sample_lines(stage, 1, turn=1)


def test_the_longest_instruction_found_in_the_prompt_wins() -> None:
    longer = SCRIPT.model_copy(update={"instruction": SCRIPT.instruction + " Then close it."})
    assert find_script((SCRIPT, longer), f"x {longer.instruction} y") is longer
    assert find_script((SCRIPT, longer), f"x {SCRIPT.instruction} y") is SCRIPT
    assert find_script((SCRIPT,), "something else") is None


def test_every_bundled_line_can_be_said_and_read_back_in_the_dialect() -> None:
    lines = [line for script in load_scripts(DESKTOP) for stage in script.stages for line in stage.lines]
    assert len(lines) > 40
    for line in lines:
        reply = DIALECT.parse(DIALECT.write(line.thought, line.action, SCREEN), SCREEN)
        assert isinstance(reply, ParsedReply), line
        assert (reply.thought, reply.action) == (line.thought, line.action)


MESSAGES: list[dict[str, object]] = [
    {"role": "user", "content": [{"type": "text", "text": f"## User Instruction\n{SCRIPT.instruction}"}]},
    {"role": "assistant", "content": DIALECT.write("Here.", Click(x=100, y=100), SCREEN)},
]


@pytest.fixture
def app() -> FastAPI:
    return create_app((SCRIPT,), DIALECT, pace=0)


def ask(**fields: object) -> dict[str, object]:
    return {"model": "scripted", "messages": MESSAGES, "n": 4, "logprobs": True, **fields}


async def post(app: FastAPI, body: dict[str, object]) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://scripted") as client:
        return await client.post("/v1/chat/completions", json=body)


async def test_a_whole_answer_has_the_lines_and_their_log_likelihood(app: FastAPI) -> None:
    choices = (await post(app, ask())).json()["choices"]
    texts = [choice["message"]["content"] for choice in choices]
    assert [("nope" in text, "note" in text) for text in texts] == [(True, False)] * 3 + [(False, True)]
    for choice, share in zip(choices, (0.75, 0.75, 0.75, 0.25), strict=True):
        assert math.isclose(sum(entry["logprob"] for entry in choice["logprobs"]["content"]), math.log(share))


async def test_a_streamed_answer_says_the_same(app: FastAPI) -> None:
    whole = (await post(app, ask())).json()["choices"]
    streamed = (await post(app, ask(stream=True))).text.split("\n\n")
    assert streamed[-2:] == ["data: [DONE]", ""]
    texts = {choice["index"]: "" for choice in whole}
    for event in streamed[:-2]:
        for choice in json.loads(event.removeprefix("data: "))["choices"]:
            texts[choice["index"]] += choice["delta"]["content"]
    assert texts == {choice["index"]: choice["message"]["content"] for choice in whole}


async def test_an_unknown_task_asks_for_a_person(app: FastAPI) -> None:
    body = ask() | {"messages": [{"role": "user", "content": "Paint the fence."}]}
    text = (await post(app, body)).json()["choices"][0]["message"]["content"]
    assert "call_user" in text


async def test_a_reply_of_the_stage_is_continued(app: FastAPI) -> None:
    for beginning, rest in (("Thought: Right w", "ord.\nAction: type"), ("Thought: Save", "")):
        messages = [*MESSAGES, {"role": "assistant", "content": beginning}]
        body = ask(n=1, continue_final_message=True) | {"messages": messages}
        text = (await post(app, body)).json()["choices"][0]["message"]["content"]
        assert text.startswith(rest) if rest else text == ""


async def test_another_model_is_not_served(app: FastAPI) -> None:
    answer = await post(app, ask(model="gpt"))
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "model_not_found"
