"""The environment `pilothouse` of Harbor: a leased machine for each trial, built by the task's Dockerfile."""

import io
import shlex
import tarfile
import uuid
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
from harbor.environments.base import BaseEnvironment, ExecResult, SandboxBuildFailedError
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.models.task.config import NetworkMode

from pilothouse_sandboxes.client import CompletedCommand, SandboxClient, server_url

IMAGES = {"pilothouse-terminal": "terminal", "pilothouse-desktop": "desktop"}
"""Kinds of machines by the base image of a Dockerfile."""
OWN_USERS = (None, "root", 0, "0", "user")
"""Names of the machine's only user, which owns /logs, /tests, /solution and its home folder."""
MAX_OUTPUT_BYTES, MAX_ARCHIVE_BYTES = 10 * 2**20, 2**30
TRANSFER_SECONDS = 300.0
Instruction = tuple[str, str]


class PilothouseEnvironment(BaseEnvironment):
    """A machine of `./pilothouse openenv`. Its commands run one after the other, each for at most 600 seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._client = SandboxClient(server_url())
        self._workdir = "/home/user"
        self._variables: dict[str, str] = {}

    @staticmethod
    def type() -> str:
        """Its name in Harbor's records."""
        return "pilothouse"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        """No network, or an allowlist of hosts."""
        return EnvironmentCapabilities(
            disable_internet=True,
            network_allowlist=True,
            network_allowlist_hostnames=True,
            network_allowlist_wildcard_hostnames=True,
        )

    def _validate_definition(self) -> None:
        """Raises FileNotFoundError, and ValueError for a Dockerfile that is not supported."""
        self._instructions()

    async def start(self, force_build: bool) -> None:
        """Lease a machine and run the Dockerfile's instructions. Raises SandboxBuildFailedError, SandboxLost."""
        policy = self.network_policy
        if policy.network_mode == NetworkMode.PUBLIC:
            raise ValueError(
                "a machine of pilothouse reaches only named hosts: set network_mode to allowlist or no-network"
            )
        hosts = list(policy.allowed_hosts) if policy.network_mode == NetworkMode.ALLOWLIST else []
        (_, base), *steps = self._instructions()
        await self._client.open(IMAGES[base], hosts)
        self._variables = self._startup_env()
        folders = "/logs/agent /logs/verifier /logs/artifacts /tests /solution"
        await self._build_command(f"mkdir -p {folders}", "/")
        for name, value in steps:
            await self._build(name, value)

    async def stop(self, delete: bool) -> None:
        """Give the machine back; nothing of it stays."""
        await self._client.close()

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Raises OSError, SandboxLost."""
        await self._client.write(target_path, await anyio.Path(source_path).read_bytes())

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Raises OSError, SandboxLost."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(source_dir, arcname=".")
        await self._unpack(packed.getvalue(), target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Raises OSError, SandboxLost."""
        content = await self._client.read(source_path, MAX_ARCHIVE_BYTES)
        if content is None:
            raise OSError(f"{source_path} has more than {MAX_ARCHIVE_BYTES} bytes")
        target = anyio.Path(target_path)
        await target.parent.mkdir(parents=True, exist_ok=True)
        await target.write_bytes(content)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Raises OSError, SandboxLost."""
        place = _temporary_path()
        packed = await self._run(("tar", "-cf", place, "-C", source_dir, "."), TRANSFER_SECONDS)
        if packed.returncode:
            raise FileNotFoundError(f"{source_dir}: {packed.stderr.decode('utf-8', 'replace')}")
        content = await self._client.read(place, MAX_ARCHIVE_BYTES)
        await self._run(("rm", "-f", place), TRANSFER_SECONDS)
        if content is None:
            raise OSError(f"{source_dir} has more than {MAX_ARCHIVE_BYTES} bytes")
        await anyio.Path(target_dir).mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(target_dir, filter="data")

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a command line. Raises ValueError for another user, TimeoutError, SandboxLost."""
        if self._resolve_user(user) not in OWN_USERS:
            raise ValueError(f"a machine of pilothouse has one user, so nothing runs as {self._resolve_user(user)!r}")
        done = await self._client.execute(
            ("bash", "-c", command),
            stdin=b"",
            cwd=cwd or self.task_env_config.workdir or self._workdir,
            env=self._variables | (self._merge_env(env) or {}),
            timeout=timeout_sec,
            max_output_bytes=MAX_OUTPUT_BYTES,
        )
        stdout, stderr = (part.decode("utf-8", "replace") for part in (done.stdout, done.stderr))
        return ExecResult(stdout=stdout, stderr=stderr, return_code=done.returncode)

    def _instructions(self) -> list[Instruction]:
        """The Dockerfile's instructions, FROM first. Raises FileNotFoundError, ValueError."""
        text = (self.environment_dir / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
        found = []
        for line in text.splitlines():
            name, _, value = line.strip().partition(" ")
            if not name or name.startswith("#"):
                continue
            name = name.upper()
            if not _is_supported(name, value.strip()):
                raise ValueError(f"a machine of pilothouse cannot be built by {line.strip()!r}")
            found.append((name, value.strip()))
        bases = [value for name, value in found if name == "FROM"]
        if not found or found[0][0] != "FROM" or len(bases) != 1 or bases[0] not in IMAGES:
            raise ValueError(f"the Dockerfile begins with FROM and one of {', '.join(IMAGES)}")
        return found

    async def _build(self, name: str, value: str) -> None:
        """Run one instruction. Raises SandboxBuildFailedError."""
        if name == "WORKDIR":
            self._workdir = str(PurePosixPath(self._workdir) / value)
            await self._build_command(f"mkdir -p {shlex.quote(self._workdir)}", "/")
        elif name == "ENV":
            self._variables |= dict(word.split("=", 1) for word in shlex.split(value))
        elif name == "COPY":
            await self._copy(shlex.split(value))
        else:
            await self._build_command(value, self._workdir)

    async def _build_command(self, command: str, cwd: str) -> None:
        seconds = float(self.task_env_config.build_timeout_sec)
        done = await self._run(("bash", "-c", f"cd {shlex.quote(cwd)} && {command}"), seconds)
        if done.returncode:
            raise SandboxBuildFailedError(f"{command}: {done.stderr.decode('utf-8', 'replace')[-2000:]}")

    async def _copy(self, words: list[str]) -> None:
        """Copy files and folders of the environment's folder, as COPY does. Raises SandboxBuildFailedError."""
        *sources, target = words
        root = self.environment_dir.resolve()
        place = PurePosixPath(self._workdir) / target
        for source in sources:
            path = (root / source).resolve()
            if not path.is_relative_to(root) or not path.exists():
                raise SandboxBuildFailedError(f"COPY {source}: there is no such file in the environment's folder")
            if path.is_dir():
                await self.upload_dir(path, str(place))
            else:
                into = place / path.name if target.endswith("/") or len(sources) > 1 else place
                await self.upload_file(path, str(into))

    async def _unpack(self, archive: bytes, target: str) -> None:
        place = _temporary_path()
        await self._client.write(place, archive)
        script = 'mkdir -p "$1" && tar -xf "$0" --no-same-owner -C "$1"; code=$?; rm -f "$0"; exit $code'
        done = await self._run(("bash", "-c", script, place, target), TRANSFER_SECONDS)
        if done.returncode:
            raise OSError(f"{target}: {done.stderr.decode('utf-8', 'replace')}")

    async def _run(self, argv: tuple[str, ...], seconds: float) -> CompletedCommand:
        return await self._client.execute(
            argv, stdin=b"", cwd="/", env=self._variables, timeout=seconds, max_output_bytes=MAX_OUTPUT_BYTES
        )


def _temporary_path() -> str:
    return f"/tmp/.pilothouse-{uuid.uuid4().hex}.tar"  # noqa: S108 - inside the machine


def _is_supported(name: str, value: str) -> bool:
    """Whether an instruction can be run: without flags, lists and, outside of RUN, variables."""
    if name not in ("FROM", "WORKDIR", "COPY", "ENV", "RUN") or value.startswith(("--", "[")):
        return False
    if name != "RUN" and "$" in value:
        return False
    return name != "ENV" or all("=" in word for word in shlex.split(value))
