"""The machine host of the bridge: the pool, and its streams, recordings and web program visits."""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from aiortc import RTCIceServer
from redis.asyncio import Redis
from starlette.types import ASGIApp

from vm_bridge.api.machine_io_routes import machine_io_routes
from vm_bridge.api.state_routes import state_routes
from vm_bridge.browser.process import browser_build_time
from vm_bridge.config import Config
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.hosts.composite import CompositeHost
from vm_bridge.hosts.docker.host import DockerHost
from vm_bridge.hosts.kubernetes.host import KubernetesHost
from vm_bridge.hosts.kubernetes.pod_spec import PodSettings
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.osworld.host import ARENA, WINDOWS, GuestHost
from vm_bridge.hosts.osworld.program_needs import read_services
from vm_bridge.hosts.phone.devices import DeviceHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from vm_bridge.hosts.qemu.host import QemuHost
from vm_bridge.hosts.windows import WindowsHost
from vm_bridge.ice import with_credentials
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.guard import RedisScripts
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.leases.lease_file import LeaseFile
from vm_bridge.network.addresses import is_reachable
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.previews.proxy import PreviewProxy
from vm_bridge.network.previews.sessions import PreviewSessions
from vm_bridge.network.sandbox_network import EgressFactory
from vm_bridge.pool import MachinePool
from vm_bridge.recording.recorder import Recorder
from vm_bridge.recording.routes import recording_routes
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost
from vm_bridge.streams.broadcast import BroadcastRegistry
from vm_bridge.streams.cdp_routes import cdp_log_routes
from vm_bridge.streams.routes import StreamServer
from vm_bridge.streams.webrtc import WebRtcServer, set_host_addresses
from vm_bridge.suites.registry import SUITES, WEB_SUITES


class HostService:
    """The machines of this process, and their viewers."""

    def __init__(self, config: Config, host: Host, redis: Redis) -> None:
        lease_guard = LeaseGuard(redis)
        broadcasts = BroadcastRegistry(fps=config.stream_fps, bitrate=config.stream_bitrate)
        webrtc = WebRtcServer(broadcasts, ice_servers=lambda: rtc_ice_servers(config))
        logs = config.data / "cdp"
        self._streams = StreamServer(
            keys=config.ticket_keys,
            lease_guard=lease_guard,
            webrtc=webrtc,
            web_origins=config.web_origins,
            cdp_logs=logs,
        )
        self._recorder = Recorder(config.data / "recordings", broadcasts)
        self.pool = MachinePool(
            host,
            lease_guard,
            HostInventory(
                redis, RedisScripts(redis), config.host_id, config.bridge_url, secret_shared=bool(config.secret)
            ),
            capacity=config.max_machines,
            ended=self._ended,
            lease_file=LeaseFile(config.data / f"leases-{config.host_id}.json"),
            browser_built=(lambda: None) if config.machines == "fake" else browser_build_time,
        )
        self.machine_routers = (
            recording_routes(self._recorder, self._leased),
            machine_io_routes(self.pool.machine),
            state_routes(self.pool.machine),
            cdp_log_routes(logs),
        )
        """Routes for callers with this host's key."""
        self.ticket_routers = (self._streams.routes(self.pool.sandbox),)
        """Routes for browsers, which authenticate with tickets."""
        set_host_addresses(config.ice_addresses)
        self._config = config
        self._sessions = PreviewSessions(config.ticket_keys, lease_guard)

    def previews(self, app: ASGIApp) -> PreviewProxy:
        """Lets browsers reach the web programs inside the machines, under their own host name or path."""
        return PreviewProxy(
            app,
            sessions=self._sessions,
            sandbox_of=self.pool.sandbox,
            frame_ancestors=self._config.web_origins,
            origin=self._config.preview_origin,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs. After SIGHUP the machines are left to the next bridge, otherwise destroyed."""
        left = False

        def leave() -> None:
            nonlocal left
            left = True
            signal.raise_signal(signal.SIGTERM)

        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, leave)
        await self.pool.start()
        try:
            yield
        finally:
            await self._recorder.close()
            await self._streams.close()
            await self.pool.close(leave=left)

    async def _ended(self, machine_id: str) -> None:
        await self._streams.end(machine_id)
        await self._recorder.stop(machine_id)

    async def _leased(self, machine_id: str, token: int) -> Sandbox:
        await self.pool.machine(machine_id, token)
        return self.pool.sandbox(machine_id)


def rtc_ice_servers(config: Config) -> list[RTCIceServer]:
    """The STUN and TURN servers, with passes for the bridge itself."""
    sessions = with_credentials(config.ice_servers, "bridge")
    return [RTCIceServer(urls=one.urls, username=one.username, credential=one.credential) for one in sessions]


def create_host(config: Config) -> Host:
    """Where the machines of this process live."""
    if config.machines == "fake":
        return FakeHost(capacity=config.max_machines, call_log=config.fake_machine_log)
    make_egress = partial(EgressProxy, public=is_reachable(config.lab_networks))
    if config.machines == "pods":
        return _pod_host(config, make_egress)
    hosts: list[Host] = [
        PhoneHost(
            LocalHost(
                config.data,
                SUITES,
                tools=config.tools,
                make_egress=make_egress,
                evaluator=_evaluator_settings(config),
            ),
            config.data,
            SUITES,
            config.android_world_python,
        ),
        BrowserHost(
            config.data / "browsers",
            WEB_SUITES,
            engines=config.browsers,
            gpu=config.browser_gpu,
            unsandboxed=config.browser_unsandboxed,
            make_egress=make_egress,
        ),
        *_external_hosts(config),
    ]
    if config.qemu:
        hosts.append(
            QemuHost(config.data, SUITES, disks=config.disks, memory=config.qemu_memory, make_egress=make_egress)
        )
    if config.docker:
        network = config.docker_network
        hosts.append(
            DockerHost(
                config.data,
                SUITES,
                tools=config.tools,
                system=config.docker_image,
                network=network,
                make_egress=make_egress,
            )
        )
    if config.kubernetes_namespace:
        hosts.append(_pod_host(config, make_egress))
    return CompositeHost(hosts)


def _external_hosts(config: Config) -> list[Host]:
    """Machines that the bridge does not start itself."""
    hosts: list[Host] = []
    if config.adb_devices:
        hosts.append(DeviceHost(config.data, config.adb_devices, config.adb_clear, config.android_world_python))
    if config.osworld:
        hosts.append(
            GuestHost(config.data, config.osworld, config.osworld_revert, settings=_evaluator_settings(config))
        )
    if config.osworld_windows:
        hosts.append(
            GuestHost(
                config.data, config.osworld_windows, config.osworld_windows_revert, WINDOWS, _evaluator_settings(config)
            )
        )
    if config.windows_arena:
        settings = replace(_evaluator_settings(config), files=config.windows_arena_client, arena=True)
        hosts.append(GuestHost(config.data, config.windows_arena, config.windows_arena_revert, ARENA, settings))
    if config.windows:
        hosts.append(WindowsHost(config.data, config.windows, config.windows_secret, config.windows_revert))
    return hosts


def _pod_host(config: Config, make_egress: EgressFactory) -> KubernetesHost:
    owner, _, uid = config.kubernetes_owner.partition(":")
    settings = PodSettings(
        namespace=config.kubernetes_namespace,
        host=config.host_id,
        image=config.kubernetes_image,
        spec={str(name): value for name, value in config.kubernetes_pod_spec.items()},
        owner=(owner, uid) if owner else None,
        start_seconds=config.kubernetes_start_seconds,
    )
    return KubernetesHost(config.data, settings, SUITES, tools=config.tools, make_egress=make_egress)


def _evaluator_settings(config: Config) -> EvaluatorSettings:
    return EvaluatorSettings(
        config.osworld_python,
        config.osworld_hosts,
        config.osworld_password,
        config.osworld_files,
        read_services(config.osworld_services),
        partial(EgressProxy, public=is_reachable(config.lab_networks)),
    )
