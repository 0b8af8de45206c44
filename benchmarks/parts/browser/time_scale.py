"""How much faster than everybody's the time of a page can go."""

import time
from pathlib import Path

from benchmarks.parts.figures import print_progress
from vm_bridge.browser import Engine, Request, Response, Session

SECONDS = 4.0
SLICE_MS = 1000.0
FRAME_MS = 1000 / 60
EVERY = 10
"""Frames between two pictures."""
SIZE = (800, 600)
PAGE = b"""<!doctype html><title>Balls</title><style>body { margin: 0 }</style><canvas width=800 height=600></canvas>
<script>
const context = document.querySelector("canvas").getContext("2d");
const balls = Array.from({ length: 40 }, (_, n) => ({ x: 20 * n, y: 15 * n, dx: 1 + (n % 5), dy: 1 + (n % 3) }));
let frames = 0;
(function draw() {
  frames++;
  context.clearRect(0, 0, 800, 600);
  for (const ball of balls) {
    ball.x = (ball.x + ball.dx) % 800;
    ball.y = (ball.y + ball.dy) % 600;
    context.fillStyle = `hsl(${ball.x} 80% 50%)`;
    context.fillRect(ball.x, ball.y, 12, 12);
  }
  requestAnimationFrame(draw);
})();
</script>"""


class AnimationSite:
    """The site of a game that draws anew in every frame."""

    async def answer(self, request: Request) -> Response:
        return Response(200, PAGE, {"content-type": "text/html"})


async def measure(folder: Path) -> dict[str, object]:
    """Game seconds a second, by clock."""
    figures = {
        "frame_exact": await _measure_speed(folder / "exact", exact=True),
        "script_clock": await _measure_speed(folder / "script", exact=False),
        "with_screenshot": await _measure_speed(folder / "pictures", exact=True, pictures=True),
    }
    print_progress(str(figures))
    return {"virtual_speedup": figures}


async def _measure_speed(folder: Path, *, exact: bool, pictures: bool = False) -> float:
    engine = await Engine.start(folder, exact=exact)
    try:
        session = await engine.open(AnimationSite(), size=SIZE, seed=1, start_time=1_700_000_000)
        await session.goto("http://balls.test/")
        await _advance_time(session, pictures)
        began, from_ms, from_frame = time.monotonic(), session.now_ms, await session.evaluate("frames")
        while time.monotonic() < began + SECONDS:
            await _advance_time(session, pictures)
        took, passed = time.monotonic() - began, session.now_ms - from_ms
        drawn = await session.evaluate("frames") - from_frame
        assert drawn == round(passed / FRAME_MS), f"{drawn} frames in {passed} ms"
        return round(passed / 1000 / took, 1)
    finally:
        await engine.close()


async def _advance_time(session: Session, pictures: bool) -> None:
    if not pictures:
        return await session.advance(SLICE_MS)
    for _ in range(int(SLICE_MS / FRAME_MS / EVERY)):
        await session.advance(FRAME_MS * EVERY)
        await session.picture("jpeg", 90)
