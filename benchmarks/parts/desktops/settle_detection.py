"""Whether the frame after an act is the right one: programs that redraw late, a caret, an animation."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import simplejpeg

from benchmarks.parts.figures import percentile, print_progress
from protocol.actions.types import Click, RunCommand
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox

PROGRAM = (Path(__file__).parents[3] / "tests/integration/sandbox/redrawing.py").read_text()
STEP = 4
"""Grey levels a redraw adds."""
ACTS = {50: 8, 300: 5, 1500: 2}
"""How often each delay (ms) is tried, in every variant."""


@dataclass(slots=True)
class SettleCounts:
    """What became of the acts."""

    acts: int = 0
    stale: int = 0
    shown_early: int = 0
    timeouts: int = 0
    took: list[float] = field(default_factory=list)


def variants() -> Iterator[tuple[str, ...]]:
    """Arguments of the redrawing program, and how many acts each gets."""
    for delay in ACTS:
        for how in ("loop", "timer", "child"):
            for at_once in ("0", "1"):
                yield how, str(delay), at_once, "still"
        yield "loop", str(delay), "0", "caret"
        yield "loop", str(delay), "0", "animation"


async def measure(data: Path) -> dict[str, float]:
    """One desktop, all variants; a stale after-frame is one without the redraw its act caused. Every second act is done
    as the desk does it: shown before a program's timer, and looked at again after it."""
    host = LocalHost(data)
    counts = SettleCounts()
    try:
        sandbox = await host.create("desktop")
        assert isinstance(sandbox, LocalSandbox)
        for arguments in variants():
            await _run_variant(sandbox, arguments, counts)
    finally:
        await host.close()
    print_progress(f"{counts.acts} late acts: {counts.stale} stale, {counts.timeouts} ran out of time")
    return {
        "late_acts": counts.acts,
        "late_acts_shown_early": counts.shown_early,
        "stale_after_share": round(counts.stale / counts.acts, 4),
        "settle_timeout_share": round(counts.timeouts / counts.acts, 4),
        "late_overhead_p50_ms": percentile(counts.took, 0.5),
    }


async def _run_variant(sandbox: LocalSandbox, arguments: tuple[str, ...], counts: SettleCounts) -> None:
    machine, environment = sandbox.bind(1), sandbox.environment(1)
    await environment.write("redrawing.py", PROGRAM)
    await environment.start(["python3", "redrawing.py", *arguments])
    assert await environment.wait_for_window("redrawing")
    await machine.observe(settle=True)
    found = (await environment.run(["xwininfo", "-name", "redrawing"])).output
    x, y = (int(line.split()[-1]) for line in found.splitlines() if "Absolute upper-left" in line)
    click = Click(x=x + 100, y=y + 150)
    delay = int(arguments[1])
    for count in range(1, ACTS[delay] + 1):
        began = time.perf_counter()
        done = await machine.perform(f"late-{counts.acts:05}", click, wait_for_timers=counts.acts % 2 == 0)
        after = await machine.observe(settle=True) if done.timer_pending else done.after
        counts.shown_early += done.timer_pending
        counts.took.append((time.perf_counter() - began) * 1000 - delay)
        counts.acts += 1
        assert after.screenshot is not None
        image = simplejpeg.decode_jpeg(await machine.blob(after.screenshot), colorspace="GRAY")
        counts.stale += abs(int(image[click.y, click.x, 0]) - STEP * count) > 1
        counts.timeouts += after.rest == "timeout"
    await machine.perform(f"late-end-{counts.acts:05}", RunCommand(command="pkill -f redrawing.py"))
