"""The programs of the platform on one machine, and their environment; one definition for demo, tests and benchmarks."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.runtime.postgres import Postgres
from annotation_app.operations.runtime.programs import HttpReadiness, OutputReadiness, PortReadiness, Program
from annotation_app.operations.runtime.redis import Redis
from annotation_app.operations.runtime.secrets import InstallationSecrets
from annotation_app.operations.runtime.served_weights import ServedWeights, read_served_weights
from protocol.legacy_names import current_environment
from vm_bridge.host_keys import MANAGER, format_keys

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = "127.0.0.1"
TOOLS_FOLDER = ROOT / ".data" / "tools"
"""The content of /image/tools in all desktops of this installation. Its folders are named after their inputs."""
NANO_CHECKPOINT = ROOT / "trainer" / "nano" / "checkpoint"
"""The bundled policy: a small model that operates small screens from pixels."""

WEB_ONLY_VARIABLES = (
    "DJANGO_SETTINGS_MODULE", "PILOTHOUSE_DATABASE_URL", "PILOTHOUSE_SECRET_KEY", "PILOTHOUSE_BRIDGE_MASTER_KEY"
)  # fmt: skip
"""Variables that are withheld from bridges."""
BRIDGE_HOST_ID = "bridge"


@dataclass(frozen=True, slots=True)
class Ports:
    """TCP ports; the defaults are the first choices of the demo."""

    web: int = 8000
    bridge: int = 8010
    vnc: int = 8011
    redis: int = 8012
    model: int = 8091
    nano: int = 8092


@dataclass(frozen=True, slots=True)
class PlatformStack:
    """Everything under one data folder."""

    data: Path
    host: str
    """The one address that browsers use. The other programs stay on the loopback interface."""
    ports: Ports
    secrets: InstallationSecrets
    trainer: Path | None = None
    """The interpreter that serves the bundled policy; None: it is not served."""

    @property
    def url(self) -> str:
        """The address of the platform for a browser on this machine."""
        return f"http://{'localhost' if self.host == LOOPBACK else self.host}:{self.ports.web}"

    @property
    def postgres(self) -> Postgres:
        return Postgres(self.data / "postgres")

    @property
    def redis(self) -> Redis:
        secrets = self.secrets
        return Redis(self.data / "redis", self.ports.redis, secrets.redis, secrets.redis_platform, secrets.redis_bridge)

    def environment(self) -> dict[str, str]:
        """Environment of every program; docs/reference/wire.md names the variables."""
        ports = self.ports
        names = list(dict.fromkeys(("localhost", LOOPBACK, self.host)))
        # If every browser is on this machine, WebRTC needs no network.
        only_here = {"PILOTHOUSE_ICE_ADDRESSES": LOOPBACK} if self.host == LOOPBACK else {}
        return {
            **only_here,
            "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
            "PILOTHOUSE_DATA": str(self.data.absolute()),
            "PILOTHOUSE_TOOLS": str(TOOLS_FOLDER),
            "PILOTHOUSE_DATABASE_URL": self.postgres.url,
            "PILOTHOUSE_REDIS_URL": self.redis.platform_url,
            "PILOTHOUSE_SECRET_KEY": self.secrets.django,
            "PILOTHOUSE_BRIDGE_MASTER_KEY": self.secrets.bridge,
            "PILOTHOUSE_BRIDGE_BIND": f"{self.host}:{ports.bridge}",
            "PILOTHOUSE_VNC_BIND": f"{self.host}:{ports.vnc}",
            "PILOTHOUSE_BRIDGE_URL": f"http://{LOOPBACK}:{ports.bridge}",
            "PILOTHOUSE_BRIDGE_PUBLIC_URL": f"http://{{host}}:{ports.bridge}",
            "PILOTHOUSE_VNC_PUBLIC_URL": f"ws://{{host}}:{ports.vnc}",
            "PILOTHOUSE_SCRIPTED_URL": f"http://{LOOPBACK}:{ports.model}/v1",
            "PILOTHOUSE_NANO_URL": "" if self.trainer is None else f"http://{LOOPBACK}:{ports.nano}/v1",
            "PILOTHOUSE_WARM_POOL": current_environment(os.environ).get("PILOTHOUSE_WARM_POOL", '{"desktop": 1}'),
            "PILOTHOUSE_WEB_ORIGINS": ",".join(f"http://{name}:{ports.web}" for name in names),
            "PILOTHOUSE_ALLOWED_HOSTS": ",".join(names),
        }

    def bridge_environment(self) -> dict[str, str]:
        """The environment of the bridge and the VNC gateway, without variables of the web app and its workers."""
        shared = {name: value for name, value in self.environment().items() if name not in WEB_ONLY_VARIABLES}
        return {
            **shared,
            "PILOTHOUSE_REDIS_URL": self.redis.bridge_url,
            "PILOTHOUSE_BRIDGE_KEYS": format_keys(self.secrets.bridge, (MANAGER, BRIDGE_HOST_ID)),
            "PILOTHOUSE_HOST_ID": BRIDGE_HOST_ID,
        }

    def storage_programs(self) -> tuple[Program, ...]:
        """The programs to start first. Creates their folders."""
        self.postgres.create()
        self.redis.create()
        return self.postgres.program(), self.redis.program()

    def service_programs(self) -> tuple[Program, ...]:
        """The platform's own programs. They may start in any order."""
        host, ports = self.host, self.ports
        celery = ("-m", "celery", "-A", "annotation_app")
        return (
            *self._nano(),
            self._python(
                "web", "-m", "daphne", "-b", host, "-p", str(ports.web), "annotation_app.asgi_server:application",
                ready=HttpReadiness(f"http://{host}:{ports.web}/api/health"),
            ),
            self._python(
                "bridge", "-m", "vm_bridge",
                ready=HttpReadiness(f"http://{host}:{ports.bridge}/openapi.json"),
                environment=self.bridge_environment(),
            ),
            self._python(
                "vnc", "-m", "vm_bridge.streams.vnc",
                ready=PortReadiness(host, ports.vnc), environment=self.bridge_environment(),
            ),
            self._python(
                "model", "-m", "agent_backend.scripted_policy", "--host", LOOPBACK, "--port", str(ports.model),
                ready=PortReadiness(LOOPBACK, ports.model),
            ),
            self._python(
                "worker", *celery, "worker", "--loglevel", "INFO", "--concurrency", "2",
                "--without-mingle", "--without-gossip",
                ready=OutputReadiness(" ready."),
            ),
            self._python(
                "beat", *celery, "beat", "--loglevel", "INFO", "--pidfile", "", "--schedule", str(self.data / "beat"),
                ready=OutputReadiness("beat: Starting"),
            ),
        )  # fmt: skip

    def _nano(self) -> tuple[Program, ...]:
        """The bundled policy's server, which has its own Python environment."""
        if self.trainer is None:
            return ()
        weights = read_served_weights(self.data, ServedWeights(NANO_CHECKPOINT, "default"))
        served = ("--served-model-name", "nano", "--host", LOOPBACK, "--port", str(self.ports.nano), "--threads", "1")
        # The flywheel loads revisions that passed the gate.
        changing = ("--weight-version", weights.version, "--dev")
        return (
            Program(
                name="nano",
                command=(str(self.trainer), "-m", "trainer.serve", str(weights.checkpoint), *served, *changing),
                ready=PortReadiness(LOOPBACK, self.ports.nano),
                environment={"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            ),
        )

    def _python(
        self,
        name: str,
        *arguments: str,
        ready: HttpReadiness | PortReadiness | OutputReadiness,
        environment: Mapping[str, str] | None = None,
    ) -> Program:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
        return Program(
            name=name,
            command=(sys.executable, *arguments),
            ready=ready,
            environment={**(self.environment() if environment is None else environment), "PYTHONPATH": path},
        )
