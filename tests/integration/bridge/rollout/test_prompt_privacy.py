"""What a policy of small screens is asked with: the instruction, the picture and what it did itself, nothing else."""

import json
import re
import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from protocol.actions.types import CONTROL_KINDS, Click
from protocol.blobs import BlobRef
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.steps import Step
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.registry import WEB_SUITES

TOLD = "Thought: At the middle centre.\nAction: click(point='<point>80 120</point>')"


@pytest.mark.parametrize(("suite", "name"), [("miniwob", "click-button"), ("sites", "login"), ("games", "lights")])
async def test_no_prompt_holds_an_address_or_the_name_of_its_task(tmp_path: Path, suite: str, name: str) -> None:
    size = (160, 210) if suite == "miniwob" else (320, 240)
    task = WEB_SUITES[suite].make(name, seed=7, size=size)
    server = ModelServer(Events([chunk(0, TOLD)]))
    endpoint = PolicyEndpoint(
        base_url="http://model/v1",
        model="nano",
        dialect="ui_tars_1_5",
        name="nano",
        revision="1",
        budget=HistoryBudget(images=1, stride=1),
    )
    policy, host = OpenAIPolicy(endpoint, transport=server.transport), BrowserHost(tmp_path, WEB_SUITES)
    steps = list[Step]()
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        view = sandbox.bind(1)
        seen = await view.prepare(task)

        async def blob(ref: BlobRef) -> bytes:
            return await view.blob(ref)

        async def partial(_: object) -> None: ...

        for index in range(3):
            kinds = CONTROL_KINDS.union(view.capabilities.kinds)
            (first, *_) = await policy.propose(task, tuple(steps), seen, kinds=kinds, blob=blob, partial=partial)
            assert isinstance(first.action, Click)
            began, before = datetime.now(UTC), seen
            seen = (await view.perform(uuid.uuid4().hex, first.action)).after
            steps.append(
                Step(
                    index=index,
                    command_id=uuid.uuid4().hex,
                    actor="policy",
                    decision="auto",
                    thought=first.thought,
                    action=first.action,
                    before=before,
                    after=seen,
                    started_at=began,
                    ended_at=datetime.now(UTC),
                )
            )
    finally:
        await policy.aclose()
        await host.close()
    assert len(server.asked) == 3
    for body in server.asked:
        said = json.dumps(body["messages"], ensure_ascii=False).replace("https://…", "")  # of the list of actions
        pictures = re.findall(r"data:image/[a-z]+;base64,[A-Za-z0-9+/=]+", said)
        assert len(pictures) == 1
        words = said.replace(pictures[0], "")
        instruction = json.dumps(task.instruction, ensure_ascii=False)[1:-1]
        assert instruction in words
        for hidden in ("http:", "https:", ".html", "miniwob", name, str(task.id)):
            assert hidden not in words.replace(instruction, ""), hidden
