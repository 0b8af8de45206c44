"""A window that redraws some time after a click; runs inside a sandbox.

Arguments: how it waits (loop, timer, child), for how long (ms), whether it shows the click at once (0, 1), and what
else goes on (still, caret, animation). The left half shows the number of redraws as a grey level, 4 a step.
"""

import select
import subprocess
import sys
import threading
import time

from Xlib import X, display

WIDTH, HEIGHT = 400, 300
HOW, DELAY, AT_ONCE, BESIDES = sys.argv[1], int(sys.argv[2]) / 1000, sys.argv[3] == "1", sys.argv[4]
PERIOD = {"still": None, "caret": 0.5, "animation": 1 / 30}[BESIDES]


class Window:
    def __init__(self) -> None:
        self.display = display.Display()
        screen = self.display.screen()
        self.window = screen.root.create_window(
            0, 0, WIDTH, HEIGHT, 0, screen.root_depth, event_mask=X.ButtonPressMask | X.ExposureMask
        )
        self.window.set_wm_name("redrawing")
        self.window.map()
        self.pen = self.window.create_gc()
        self.drawing = threading.Lock()
        self.redraws, self.clicks, self.ticks = 0, 0, 0
        self.due: list[float] = []

    def draw(self) -> None:
        with self.drawing:
            self.fill(0, 0, 200, HEIGHT, 4 * self.redraws)
            if AT_ONCE:
                self.fill(200, 0, 200, 100, 4 * self.clicks)
            if PERIOD is not None:
                self.fill(200, 200, 200, 100, 255 * (self.ticks % 2))
            self.display.flush()

    def fill(self, x: int, y: int, width: int, height: int, grey: int) -> None:
        self.pen.change(foreground=grey * 0x010101)
        self.window.fill_rectangle(self.pen, x, y, width, height)

    def redraw(self) -> None:
        self.redraws += 1
        self.draw()

    def click(self) -> None:
        self.clicks += 1
        if AT_ONCE:
            self.draw()
        if HOW == "loop":
            self.due.append(time.monotonic() + DELAY)
        elif HOW == "timer":
            threading.Timer(DELAY, self.redraw).start()
        else:
            threading.Thread(target=self.after_child).start()

    def after_child(self) -> None:
        subprocess.run(["sleep", str(DELAY)], check=True)
        self.redraw()

    def run(self) -> None:
        tick = time.monotonic()
        while True:
            now = time.monotonic()
            if PERIOD is not None and now >= tick:
                self.ticks, tick = self.ticks + 1, now + PERIOD
                self.draw()
            while self.due and self.due[0] <= now:
                self.due.pop(0)
                self.redraw()
            wakes = [*self.due[:1], *([tick] if PERIOD is not None else [])]
            with self.drawing:
                ready = self.display.pending_events() > 0
            if not ready:
                select.select([self.display], [], [], max(0.0, min(wakes) - time.monotonic()) if wakes else None)
            with self.drawing:
                events = [self.display.next_event() for _ in range(self.display.pending_events())]
            for event in events:
                if event.type == X.ButtonPress:
                    self.click()
                elif event.type == X.Expose:
                    self.draw()


Window().run()
