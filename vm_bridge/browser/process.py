"""The browser's process: which program, with which words, and within which walls."""

import asyncio
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.pipe import Pipe

SHELL = "chromium-headless-shell"
WHOLE = "chromium"
INSTALL = "install chromium-headless-shell (Debian), or chromium"
END_SECONDS = 5.0
READ, WRITE = 3, 4
"""The descriptors on which the browser expects its pipe."""
PLUMB = f'in=$1; out=$2; shift 2; exec "$@" {READ}<&$in {WRITE}>&$out {{in}}<&- {{out}}>&-'
"""Puts the ends of a pipe where the browser expects them; only bash takes numbers of several digits. Its arguments are
data, never text."""
COMMON = (
    *("--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--password-store=basic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--disable-default-apps", "--no-sandbox", "--no-zygote"),
    *("--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb", "--font-render-hinting=none", "--lang=en-US"),
    # Nothing answers there: what the engine does not answer itself fails at once, names and numbers alike.
    *("--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>"),
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # One renderer a session, so that its pages and frames share one clock; sessions never share one.
    *("--renderer-process-limit=1", "--disable-site-isolation-trials"),
    "--js-flags=--max-old-space-size=512",
    "--allow-pre-commit-input",
)
FEATURES_OFF = (
    *("IsolateOrigins", "site-per-process", "SpareRendererForSitePerProcess", "BackForwardCache", "PaintHolding"),
    *("Translate", "MediaRouter", "OptimizationHints", "AcceptCHFrame", "DialMediaRouteProvider"),
)
EXACT = (
    *("--enable-begin-frame-control", "--run-all-compositor-stages-before-draw", "--disable-threaded-animation"),
    *("--disable-new-content-rendering-timeout", "--disable-threaded-scrolling", "--disable-checker-imaging"),
    "--disable-image-animation-resync",
)
SOFTWARE = ("--disable-gpu", "--enable-unsafe-swiftshader")
"""Fastest without a GPU: a software compositor, and SwiftShader for WebGL alone (decision 111)."""
HARDWARE = ("--use-angle=vulkan", "--enable-features=Vulkan", "--ignore-gpu-blocklist", "--enable-gpu-rasterization")


@dataclass(frozen=True)
class Process:
    """A running browser, and the pipe to it."""

    process: asyncio.subprocess.Process
    pipe: Pipe
    folder: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @classmethod
    async def start(cls, folder: Path, *, exact: bool, gpu: bool) -> "Process":
        """`folder` is the browser's alone, and removed when it ends. Raises BrowserFailed."""
        program = browser_find(exact=exact)
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        words = [
            *(program, *COMMON, *(EXACT if exact else ()), *(HARDWARE if gpu else SOFTWARE)),
            f"--disable-features={','.join(FEATURES_OFF)}",
            f"--user-data-dir={folder / 'profile'}",
        ]
        if Path(program).name == WHOLE:
            words.append("--headless=new")
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            with (folder / "errors").open("wb") as errors:
                process = await asyncio.create_subprocess_exec(
                    *("/bin/bash", "-c", PLUMB, "plumb", str(theirs_in), str(theirs_out), *words),
                    pass_fds=(theirs_in, theirs_out),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                    env={"HOME": str(folder), "TZ": "UTC", "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"},
                )
        except OSError as error:
            os.close(ours_in)
            os.close(ours_out)
            raise BrowserFailed(f"the browser does not start: {error}") from error
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return cls(process, await Pipe.open(ours_in, ours_out), folder)

    async def end(self) -> None:
        """Returns when it has ended. Idempotent."""
        self.pipe.close()
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self.process.wait()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    def words(self) -> str:
        """What it said last; for people."""
        with suppress(OSError):
            return " ".join((self.folder / "errors").read_text(errors="replace").split())[-400:]
        return ""


def browser_find(*, exact: bool) -> str:
    """The program to start. Raises BrowserFailed with what to install."""
    for name in (SHELL,) if exact else (SHELL, WHOLE):
        if path := shutil.which(name):
            return path
    raise BrowserFailed(f"no {SHELL if exact else 'Chromium'} on this machine; {INSTALL}")
