"""QMP: answers to their questions, jobs to their end, and a QEMU that goes away."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.qemu.qmp import QmpClient, QmpError

Message = dict[str, Any]
Answer = Callable[[Message], list[Message]]
"""What is sent for a command, answer and events."""


class FakeQemu:
    """Answers by `answer`; an empty list hangs up."""

    def __init__(self) -> None:
        self.answer: Answer = lambda asked: [{"return": {}, "id": asked["id"]}]
        self.asked: list[Message] = []
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _say(writer, {"QMP": {}})
        while line := await reader.readline():
            asked = json.loads(line)
            self.asked.append(asked)
            said = self.answer(asked)
            for message in said:
                _say(writer, message)
            if not said:
                break
        writer.close()
        await writer.wait_closed()
        self.left.set()


def _say(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(json.dumps(message).encode() + b"\n")


def ends(job: str) -> Message:
    return {"event": "JOB_STATUS_CHANGE", "data": {"id": job, "status": "concluded"}}


@pytest.fixture
def qemu() -> FakeQemu:
    return FakeQemu()


@pytest_asyncio.fixture
async def qmp(qemu: FakeQemu, tmp_path: Path) -> AsyncIterator[QmpClient]:
    async with await asyncio.start_unix_server(qemu.serve, tmp_path / "qmp.sock"):
        qmp = await QmpClient.connect(tmp_path / "qmp.sock")
        yield qmp
        qmp.close()
        await asyncio.wait_for(qemu.left.wait(), 20)


async def test_each_question_has_its_own_answer(qemu: FakeQemu, qmp: QmpClient) -> None:
    waiting: list[Message] = []

    def answer(asked: Message) -> list[Message]:
        waiting.append({"return": asked["execute"], "id": asked["id"]})
        return waiting[::-1] if len(waiting) == 2 else [{"event": "STOP", "data": {}}]

    qemu.answer = answer
    assert list(await asyncio.gather(qmp.ask("one"), qmp.ask("two"))) == ["one", "two"]


async def test_a_refusal_says_what_qemu_said(qemu: FakeQemu, qmp: QmpClient) -> None:
    qemu.answer = lambda asked: [{"error": {"class": "GenericError", "desc": "no such node"}, "id": asked["id"]}]
    with pytest.raises(QmpError, match="blockdev-add: no such node"):
        await qmp.ask("blockdev-add", node="x")


@pytest.mark.parametrize("error", [None, "the disk is full"])
async def test_a_job_is_over_when_it_says_so(qemu: FakeQemu, qmp: QmpClient, error: str | None) -> None:
    def answer(asked: Message) -> list[Message]:
        given = asked["arguments"]
        match asked["execute"]:
            case "snapshot-save":
                return [ends(given["job-id"]), {"return": {}, "id": asked["id"]}]
            case "query-jobs":
                job = {"id": qemu.asked[-2]["arguments"]["job-id"], "status": "concluded"}
                return [{"return": [job | ({"error": error} if error else {})], "id": asked["id"]}]
        return [{"return": {}, "id": asked["id"]}]

    qemu.answer = answer
    if error is None:
        await qmp.do("snapshot-save", seconds=10, tag="x")
    else:
        with pytest.raises(QmpError, match=error):
            await qmp.do("snapshot-save", seconds=10, tag="x")
    assert [each["execute"] for each in qemu.asked[1:]] == ["snapshot-save", "query-jobs", "job-dismiss"]


async def test_a_qemu_that_hangs_up_is_gone(qemu: FakeQemu, qmp: QmpClient) -> None:
    qemu.answer = lambda asked: []
    with pytest.raises(MachineGone):
        await qmp.ask("stop")
    with pytest.raises(MachineGone):
        await qmp.ask("cont")


async def test_where_nobody_listens_there_is_no_qemu(tmp_path: Path) -> None:
    with pytest.raises(MachineGone):
        await QmpClient.connect(tmp_path / "qmp.sock")
