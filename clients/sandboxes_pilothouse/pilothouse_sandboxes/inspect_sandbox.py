"""The sandbox environment `pilothouse`: a leased machine for each sample."""

from pathlib import PurePath
from typing import Any, Literal, NoReturn, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxConnection,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel, Field

from pilothouse_sandboxes.client import SandboxClient, SandboxLost, server_url


class PilothouseSandboxConfig(BaseModel, frozen=True, extra="forbid"):
    """Which machine a sample has."""

    image: str = "terminal"
    """The kind of machine: `terminal`, `desktop`, or an image of your own."""
    network: tuple[str, ...] = ()
    """Hosts it may reach, such as `example.org` or `*.example.org`; empty: no network."""
    url: str = Field(default_factory=server_url)
    """The address of `./pilothouse openenv`; by default that of PILOTHOUSE_OPENENV_URL."""


@sandboxenv(name="pilothouse")
class PilothouseSandbox(SandboxEnvironment):
    """One machine. Its commands run one after the other, as its ordinary user, each for at most 600 seconds."""

    def __init__(self, client: SandboxClient) -> None:
        super().__init__()
        self._client = client

    @classmethod
    async def sample_init(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Lease a machine. Raises SandboxUnavailableError where none becomes free."""
        chosen = _parse_config(config)
        client = SandboxClient(chosen.url)
        try:
            await client.open(chosen.image, chosen.network)
        except SandboxLost as lost:
            raise SandboxUnavailableError(f"no sandbox of pilothouse: {lost}") from lost
        return {"default": cls(client)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Give the machines back, also where the sample was cancelled."""
        for environment in environments.values():
            await environment.as_type(PilothouseSandbox)._client.close()

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """Parse the configuration of a log. Raises ValidationError."""
        return PilothouseSandboxConfig.model_validate(config)

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command. A command that times out is not retried.

        Raises:
            SandboxUserUnsupportedError: For any `user`: a machine has one.
            TimeoutError: After `timeout` seconds, or 600.
            OutputLimitExceededError: With the beginning of the output.
            PermissionError: Where the file may not be executed.
            SandboxUnavailableError: Where the machine or its server is lost.
        """
        if user is not None:
            raise SandboxUserUnsupportedError(f"a machine of pilothouse has one user, so nothing runs as {user!r}")
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            done = await self._client.execute(
                cmd,
                stdin=input.encode() if isinstance(input, str) else input or b"",
                cwd=cwd,
                env=env or {},
                timeout=timeout,
                max_output_bytes=limit,
            )
        except SandboxLost as lost:
            _raise_unavailable(lost)
        stdout, stderr = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
        for text, whole, kept in (
            (stdout, done.stdout_bytes, len(done.stdout)),
            (stderr, done.stderr_bytes, len(done.stderr)),
        ):
            if whole > kept:
                raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, text)
        return ExecResult(done.returncode == 0, done.returncode, stdout, stderr)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Create or replace a file, and the folders above it. Raises PermissionError, IsADirectoryError, TimeoutError,
        SandboxUnavailableError."""
        try:
            await self._client.write(file, contents.encode() if isinstance(contents, str) else contents)
        except SandboxLost as lost:
            _raise_unavailable(lost)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """A whole file. Raises FileNotFoundError, PermissionError, IsADirectoryError, UnicodeDecodeError,
        OutputLimitExceededError, TimeoutError, SandboxUnavailableError."""
        try:
            content = await self._client.read(file, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE)
        except SandboxLost as lost:
            _raise_unavailable(lost)
        if content is None:
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, None)
        return content.decode() if text else content

    async def connection(self, *, user: str | None = None) -> SandboxConnection:
        """Not supported: machines have no login. Raises NotImplementedError."""
        raise NotImplementedError("a machine of pilothouse has no login; watch it on the page Fleet")


def _parse_config(config: SandboxEnvironmentConfigType | None) -> PilothouseSandboxConfig:
    """The configuration; a string names an image. Raises ValueError for the configuration of another provider.

    Inspect resolves a string to a path in the task's folder, so only its last part counts.
    """
    if config is None or isinstance(config, str):
        return PilothouseSandboxConfig(image=PurePath(config).name) if config else PilothouseSandboxConfig()
    if isinstance(config, PilothouseSandboxConfig):
        return config
    raise ValueError(f"a sandbox of pilothouse takes PilothouseSandboxConfig, not {type(config).__name__}")


def _raise_unavailable(lost: SandboxLost) -> NoReturn:
    raise SandboxUnavailableError(f"the sandbox is lost: {lost}") from lost
