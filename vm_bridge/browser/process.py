"""The browser's process: its program, command line and sandbox."""

import asyncio
import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.browser.bubblewrap import HOME, MIB, sandbox_command
from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.pipe import Pipe
from vm_bridge.isolation.cgroups import ControlGroups, ResourceLimits
from vm_bridge.isolation.process_group import end_process_group
from vm_bridge.isolation.seccomp import open_filter

HEADLESS_SHELL = "chromium-headless-shell"
FULL_BROWSER = "chromium"
PROGRAM_FOLDER = Path("/usr/lib/chromium")
INSTALL_HINT = "install chromium-headless-shell (Debian), or chromium"
END_SECONDS = 5.0
READ, WRITE = 3, 4
"""The descriptors on which the browser expects its pipe."""
LAUNCH_SCRIPT = (
    'for group in $1; do echo $$ >"$group/cgroup.procs" || exit 70; done; in=$2; out=$3; shift 3; '
    f'exec "$@" {READ}<&$in {WRITE}>&$out {{in}}<&- {{out}}>&-'
)
"""Joins control groups and moves the pipe's ends to the descriptors that the browser expects. Only bash supports
descriptor numbers of several digits. Its arguments are data, never code.
"""
LIMITS = ResourceLimits(cores=float(os.cpu_count() or 1), memory=4096 * MIB, processes=1000)
"""Limits of one browser with all its sessions, if the host may set any."""
COMMON = (
    *("--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--password-store=basic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps"),
    *("--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb", "--font-render-hinting=none", "--lang=en-US"),
    # Nothing listens there. A request that the engine does not answer itself fails immediately, for names and addresses
    # alike.
    *("--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"),
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # One renderer a session, so that its pages and frames share one clock (docs/adr/browser-engine.md).
    # Sessions never share one.
    *("--renderer-process-limit=1", "--disable-site-isolation-trials"),
    "--js-flags=--max-old-space-size=512",
    "--allow-pre-commit-input",
)
UNSANDBOXED = ("--no-sandbox", "--no-zygote")
FEATURES_OFF = (
    *("IsolateOrigins", "site-per-process", "SpareRendererForSitePerProcess", "BackForwardCache", "PaintHolding"),
    *("Translate", "MediaRouter", "OptimizationHints", "AcceptCHFrame", "DialMediaRouteProvider"),
    # With this feature, a frame that starts such a scroll is never answered while frames are controlled.
    "RasterInducingScroll",
)
EXACT = (
    *("--enable-begin-frame-control", "--run-all-compositor-stages-before-draw", "--disable-threaded-animation"),
    *("--disable-new-content-rendering-timeout", "--disable-threaded-scrolling", "--disable-checker-imaging"),
    "--disable-image-animation-resync",
)
SOFTWARE = ("--disable-gpu", "--enable-unsafe-swiftshader")
"""Fastest without a GPU: a software compositor, and SwiftShader for WebGL alone (docs/adr/browser-engine.md)."""
HARDWARE = ("--use-angle=vulkan", "--enable-features=Vulkan", "--ignore-gpu-blocklist", "--enable-gpu-rasterization")


@dataclass
class Process:
    """A running browser, and the pipe to it."""

    process: asyncio.subprocess.Process
    pipe: Pipe
    folder: Path
    groups: ControlGroups
    in_bubblewrap: bool
    """Whether it runs in bubblewrap."""
    sandboxed: bool
    """Whether its renderers also run in Chromium's own sandbox."""
    watch: asyncio.Task[None]
    """Closes the pipe when the process ends: sandboxed children may answer for a moment longer."""
    _ended: bool = False

    @property
    def pid(self) -> int:
        return self.process.pid

    @classmethod
    async def start(cls, folder: Path, *, exact: bool, gpu: bool, in_bubblewrap: bool, sandboxed: bool) -> "Process":
        """Start a browser. It has exclusive use of `folder`, which is removed when it ends. `in_bubblewrap` runs it in
        bubblewrap. `sandboxed` runs its renderers in Chromium's own sandbox, which creates user namespaces.

        Raises BrowserFailed.
        """
        program = find_browser(exact=exact)
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        home = HOME if in_bubblewrap else str(folder)
        last_errors = [
            *(
                program,
                *COMMON,
                *(() if sandboxed else UNSANDBOXED),
                *(EXACT if exact else ()),
                *(HARDWARE if gpu else SOFTWARE),
            ),
            f"--disable-features={','.join(FEATURES_OFF)}",
            f"--user-data-dir={home}/profile",
        ]
        if Path(program).name == FULL_BROWSER:
            last_errors.append("--headless=new")
        groups = ControlGroups.create(f"browser-{secrets.token_hex(6)}", LIMITS)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            with (
                (folder / "errors").open("wb") as errors,
                open_filter(user_namespaces=sandboxed) as seccomp,
            ):
                sandbox_words = sandbox_command(gpu=gpu, seccomp=seccomp) if in_bubblewrap else []
                process = await asyncio.create_subprocess_exec(
                    *("/bin/bash", "-c", LAUNCH_SCRIPT, "plumb", " ".join(map(str, groups.paths))),
                    *(str(theirs_in), str(theirs_out), *sandbox_words, *last_errors),
                    pass_fds=(theirs_in, theirs_out, seccomp),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                    env={"HOME": home, "TZ": "UTC", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                )
        except OSError as error:
            os.close(ours_in)
            os.close(ours_out)
            groups.remove()
            raise BrowserFailed(f"the browser does not start: {error}") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        pipe = await Pipe.open(ours_in, ours_out)
        watch = asyncio.create_task(_close_after(process, pipe))
        return cls(process, pipe, folder, groups, in_bubblewrap, sandboxed, watch)

    async def end(self) -> None:
        """End the process, and wait until it has ended. Idempotent."""
        self.pipe.close()
        if self._ended:
            return
        self._ended = True
        await asyncio.to_thread(self._end)
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self.process.wait()
        self.watch.cancel()
        self.groups.remove()

    def _end(self) -> None:
        """End the process and its children, and remove its folder."""
        # In bubblewrap it has its own init process, which ends when all others have.
        end_process_group(self.process.pid, END_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def last_errors(self) -> str:
        """The end of its error output, for people."""
        with suppress(OSError):
            return " ".join((self.folder / "errors").read_text(errors="replace").split())[-400:]
        return ""


async def _close_after(process: asyncio.subprocess.Process, pipe: Pipe) -> None:
    await process.wait()
    pipe.close()


def find_browser(*, exact: bool) -> str:
    """The program to start. Raises BrowserFailed with installation instructions."""
    for name in (HEADLESS_SHELL,) if exact else (HEADLESS_SHELL, FULL_BROWSER):
        if path := shutil.which(name):
            return path
    raise BrowserFailed(f"no {HEADLESS_SHELL if exact else 'Chromium'} on this machine; {INSTALL_HINT}")


def browser_build_time() -> float | None:
    """Build time of the browser's package (seconds since the epoch), from the program's modification time, which
    packages keep. None if there is no browser.
    """
    for name in (HEADLESS_SHELL, FULL_BROWSER):
        if path := shutil.which(name):
            program = PROGRAM_FOLDER / name  # Debian has a script on the path, which changes more rarely
            with suppress(OSError):
                return (program if program.is_file() else Path(path).resolve()).stat().st_mtime
    return None
