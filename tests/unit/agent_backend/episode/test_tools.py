"""Acts inside a machine: what is told of tools, files in and out, and machines that show no picture."""

import pytest

from protocol.actions.types import (
    Action,
    CallTool,
    Click,
    DownloadFile,
    RunCommand,
    TypeTerminal,
    UploadFile,
    WriteFile,
)
from protocol.blobs import BlobRef
from protocol.messages.events import Act
from protocol.trajectory.steps import Step
from tests.unit.agent_backend.conftest import EpisodeHarness
from vm_bridge.simulators.fake.machine_io import TOOLS
from vm_bridge.simulators.fake.sandbox import FakeSandbox

DATA = b"bytes of a file"
REF = BlobRef.of(DATA, "application/octet-stream")


async def done(harness: EpisodeHarness, number: int, action: Action) -> Step:
    """A person's act, carried out."""
    assert await harness.code(Act(command_id=f"command-{number}", action=action, thought="because")) == ""
    await harness.steps(number)
    return harness.store.state.steps[number - 1]


async def test_an_episode_knows_what_can_be_called_and_asks_the_policy_with_it(harness: EpisodeHarness) -> None:
    await harness.started()
    assert harness.store.state.tools == TOOLS
    assert harness.policy.offered == TOOLS
    step = await done(harness, 1, CallTool(name="fake.echo", arguments={"text": "hi"}))
    assert step.after is not None
    assert step.after.text == "hi"


async def test_an_upload_brings_the_episodes_own_bytes(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.store.save_blob(REF, DATA)
    step = await done(harness, 1, UploadFile(path="a.bin", blob=REF))
    assert step.error is None
    assert harness.sandbox.inside.files == {"a.bin": DATA}


async def test_an_upload_of_bytes_nobody_has_changes_nothing(harness: EpisodeHarness) -> None:
    await harness.started()
    step = await done(harness, 1, UploadFile(path="a.bin", blob=REF))
    assert step.error is not None
    assert step.error.code == "invalid_action"
    assert harness.sandbox.inside.files == {}
    assert harness.store.state.status == "running"


async def test_a_file_brought_out_is_kept_with_the_record(harness: EpisodeHarness) -> None:
    await harness.started()
    harness.sandbox.inside.files["a.bin"] = DATA
    step = await done(harness, 1, DownloadFile(path="a.bin"))
    assert step.after is not None
    assert step.after.attachment == REF
    assert harness.store.blobs[REF.sha256] == DATA


async def test_a_file_that_is_lost_on_its_way_leaves_the_step(
    harness: EpisodeHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await harness.started()
    harness.sandbox.inside.files["a.bin"] = DATA
    monkeypatch.setattr("vm_bridge.drivers.file_staging.MAX_STAGED_BYTES", 0)
    step = await done(harness, 1, DownloadFile(path="a.bin"))
    assert step.after is not None
    assert step.after.attachment == REF
    assert harness.store.state.status == "running"
    assert REF.sha256 not in harness.store.blobs


async def test_a_machine_without_a_picture_is_worked_like_any_other(harness: EpisodeHarness) -> None:
    harness.sandbox = FakeSandbox("terminal", width=0, height=0)
    await harness.started()
    first = harness.store.state.observation
    assert first is not None
    assert (first.screenshot, first.text) == (None, "$ ")
    assert harness.store.state.capabilities == harness.sandbox.capabilities.kinds
    step = await done(harness, 1, RunCommand(command="ls"))
    assert step.before.text == "$ "
    assert step.after is not None
    assert step.after.text == "ran ls"
    step = await done(harness, 2, TypeTerminal(text="pwd\n"))
    assert step.after is not None
    assert step.after.text == "$ pwd\n"
    step = await done(harness, 3, WriteFile(path="a", text="b"))
    assert step.after is not None
    assert step.after.text == "$ pwd\n", "where an act says nothing, the terminal is shown"
    assert harness.store.blobs == {}


async def test_a_click_where_there_is_no_screen_is_refused(harness: EpisodeHarness) -> None:
    harness.sandbox = FakeSandbox("terminal", width=0, height=0)
    await harness.started()
    assert (
        await harness.code(Act(command_id="command-1", action=Click(x=0, y=0), thought="why")) == "unsupported_action"
    )
