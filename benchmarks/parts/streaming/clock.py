"""An X window that shows the time of its drawing as sixteen black or white cells; runs inside a sandbox.

Arguments: redraws a second, for how many seconds, and whether (1 or 0) a moving pattern below the cells makes the
picture change as much as a video of 640x400 does. Cells: 24 px squares, most significant bit first, milliseconds
since the epoch modulo 65536, then a white and a black one so that a reader knows it looks at the right place.
"""

import sys
import time

from Xlib import display

CELL, BITS = 24, 16
WIDTH, HEIGHT = 640, 400
RATE, SECONDS, PATTERN = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "1"

connection = display.Display()
screen = connection.screen()
window = screen.root.create_window(600, 280, WIDTH, HEIGHT, 0, screen.root_depth, override_redirect=1)
window.set_wm_name("clock")
window.map()
pen = window.create_gc()


def fill(x: int, y: int, width: int, height: int, colour: int) -> None:
    pen.change(foreground=colour)
    window.fill_rectangle(pen, x, y, width, height)


started = time.monotonic()
frame = 0
while time.monotonic() - started < SECONDS:
    for stripe in range(16 if PATTERN else 0):
        shade = (frame * 8 + stripe * 16) % 256
        fill(stripe * 40, CELL, 40, HEIGHT - CELL, shade * 0x010000 + (255 - shade) * 0x0100 + 0x40)
    stamp = int(time.time() * 1000) % 65536
    for bit in range(BITS):
        fill(bit * CELL, 0, CELL, CELL, 0xFFFFFF if stamp >> (BITS - 1 - bit) & 1 else 0)
    fill(BITS * CELL, 0, CELL, CELL, 0xFFFFFF)
    fill((BITS + 1) * CELL, 0, CELL, CELL, 0)
    connection.sync()
    frame += 1
    time.sleep(max(0.0, started + frame / RATE - time.monotonic()))
window.destroy()
connection.sync()
