"""The bundled policy is an ordinary folder: vLLM serves it unchanged, and it clicks there as in the bundled server."""

import asyncio
import io
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from random import Random

import pytest

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint, SamplingParams
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.model_servers.launcher import trainer_server, vllm_server
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable
from protocol.actions.types import Action, Click
from protocol.blobs import BlobRef
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.tasks import Task
from trainer.nano.prompts import KINDS
from trainer.nano.synthetic.instructions import request_widget
from trainer.nano.synthetic.screens import Screen, Widget, draw_screen

BUNDLED = ROOT / "trainer" / "nano" / "checkpoint"
SCREENS = 12
MOST = 7
"""Of them are hit by the bundled policy; a widget at random comes to two or three."""
NEAR = 3
"""Pixels that a server's rounding may move a click."""
BOUND = 120.0


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The bundled server and vLLM, both with the bundled folder."""
    with ExitStack() as stack:
        own = stack.enter_context(trainer_server(BUNDLED, tmp_path_factory.mktemp("own")))
        try:
            other = stack.enter_context(vllm_server(BUNDLED, tmp_path_factory.mktemp("vllm")))
        except EnvironmentUnavailable as error:
            pytest.skip(f"missing capability: vLLM on CPU ({error})")
        yield own.url, other.url


def random_screen(seed: int) -> tuple[Screen, Widget, str]:
    """A screen of words that training keeps away from, and what is asked for on it."""
    random = Random(f"served {seed}")
    screen = draw_screen(random, page=(320, 240), dense=False, held_out=True)
    widget = random.choice(screen.widgets)
    return screen, widget, request_widget(random, widget).sentence


async def predict_action(url: str, screen: Screen, instruction: str) -> Action | None:
    """What the policy served there does first, greedily."""
    data = io.BytesIO()
    screen.image.save(data, "PNG")
    ref = BlobRef.of(data.getvalue(), "image/png")
    width, height = screen.image.size
    now = datetime.now(UTC)
    seen = Observation(
        screenshot=ref, width=width, height=height, captured_at=now, settled=True, rest="rested", settle_ms=0.0
    )
    policy = OpenAIPolicy(
        PolicyEndpoint(
            base_url=f"{url}/v1",
            model="tiny",
            dialect="ui_tars_1_5",
            name="nano",
            revision="1",
            sampling=SamplingParams(n=1, temperature=0.0, max_tokens=64),
            timeouts=RequestTimeouts(token=BOUND, total=BOUND),
            budget=HistoryBudget(images=1, stride=1),
        )
    )

    async def blob(_: BlobRef) -> bytes:
        return data.getvalue()

    async def partial(_: object) -> None: ...

    try:
        task = Task(id="t1", instruction=instruction, platform="browser")
        (first, *_) = await policy.propose(task, (), seen, kinds=KINDS, blob=blob, partial=partial)
    finally:
        await policy.aclose()
    return first.action


@pytest.mark.vllm
def test_vllm_serves_the_bundled_folder_and_it_clicks_what_is_asked_for(addresses: tuple[str, str]) -> None:
    hits, apart = [0, 0], list[tuple[str, Action | None, Action | None]]()
    for seed in range(SCREENS):
        screen, widget, instruction = random_screen(seed)
        acts = [asyncio.run(predict_action(url, screen, instruction)) for url in addresses]
        for number, act in enumerate(acts):
            hits[number] += isinstance(act, Click) and widget.hit(act.x, act.y)
        own, other = acts
        if not (isinstance(own, Click) and isinstance(other, Click) and _near(own, other)):
            apart.append((instruction, own, other))
    assert min(hits) >= MOST, hits
    assert len(apart) <= 1, apart  # two letters may be as likely; which of them is drawn is a server's rounding


def _near(one: Click, other: Click) -> bool:
    return abs(one.x - other.x) <= NEAR and abs(one.y - other.y) <= NEAR
