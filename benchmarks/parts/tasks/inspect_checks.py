"""Inspect's own checks of a sandbox, on ours: `python -m pytest inspect_checks.py`, in Inspect's environment."""

from collections.abc import AsyncIterator

import anyio
import pytest
from inspect_ai.util import OutputLimitExceededError, SandboxEnvironment, SandboxUnavailableError
from inspect_ai.util._sandbox.self_check import *  # noqa: F403 - as its documentation says
from pilothouse_sandboxes.inspect_sandbox import PilothouseSandbox, PilothouseSandboxConfig

pytestmark = pytest.mark.anyio
MOST_SESSIONS = 6
"""Of the server that these checks are run against."""
KNOWN_FAILURES = {"test_exec_as_user": "a machine has one user, and none becomes root"}
"""Each with its reason, as `docs/guides/researcher/environments.md` has it."""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Inspect's own default."""
    return "asyncio"


@pytest.fixture(scope="module")
async def machine(anyio_backend: str) -> AsyncIterator[SandboxEnvironment]:
    """One machine for all checks."""
    config = PilothouseSandboxConfig()
    made = await PilothouseSandbox.sample_init("checks", config, {})
    yield made["default"]
    await PilothouseSandbox.sample_cleanup("checks", config, made, False)


@pytest.fixture
def sandbox_env(request: pytest.FixtureRequest, machine: SandboxEnvironment) -> SandboxEnvironment:
    """What the checks ask for."""
    if reason := KNOWN_FAILURES.get(request.node.originalname):
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return machine


async def test_no_connection_is_offered(sandbox_env: SandboxEnvironment) -> None:
    with pytest.raises(NotImplementedError, match="has no login"):
        await sandbox_env.connection()


async def test_long_output_is_cut_with_its_beginning(sandbox_env: SandboxEnvironment) -> None:
    command = ["sh", "-c", "yes abc | head -c 12000000"]
    with pytest.raises(OutputLimitExceededError) as failed:
        await sandbox_env.exec(command)
    assert (failed.value.truncated_output or "").startswith("abc\nabc\n")


async def test_an_unknown_command_is_a_result(sandbox_env: SandboxEnvironment) -> None:
    done = await sandbox_env.exec(["no-such-command"])
    assert (done.success, done.returncode) == (False, 127)
    assert "no-such-command" in done.stderr


async def test_a_folder_that_is_not_there_is_an_error(sandbox_env: SandboxEnvironment) -> None:
    with pytest.raises(NotADirectoryError, match="absent"):
        await sandbox_env.exec(["ls"], cwd="/absent")


async def test_a_cancelled_sample_gives_its_machine_back(sandbox_env: SandboxEnvironment) -> None:
    for _ in range(2 * MOST_SESSIONS):
        with anyio.move_on_after(0.05):
            await PilothouseSandbox.sample_init("checks", PilothouseSandboxConfig(), {})
    config = PilothouseSandboxConfig()
    made = await PilothouseSandbox.sample_init("checks", config, {})
    await PilothouseSandbox.sample_cleanup("checks", config, made, True)
    with pytest.raises(SandboxUnavailableError):
        await made["default"].exec(["true"])


async def test_a_cancelled_command_ends(sandbox_env: SandboxEnvironment) -> None:
    with anyio.move_on_after(1) as scope:
        await sandbox_env.exec(["sleep", "500"])
    assert scope.cancelled_caught
    with anyio.fail_after(60):
        assert (await sandbox_env.exec(["true"])).success


async def test_an_image_that_is_not_there_is_told() -> None:
    with pytest.raises(SandboxUnavailableError, match="no sandbox"):
        await PilothouseSandbox.sample_init("checks", "absent-image", {})
