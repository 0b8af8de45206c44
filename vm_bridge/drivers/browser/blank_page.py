"""The page that a browser shows while no task is set up: a blank sheet for trying input."""

from urllib.parse import urlsplit

from vm_bridge.browser import Request, Response
from vm_bridge.suites.web_suite import Scene

DEFAULT_SIZE = (1280, 720)
HOST = "start.test"
URL = f"http://{HOST}/"
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Start</title>
<style>
  html { height: 100%; background: #f6f5f2 }
  body { height: 100%; margin: 0; display: grid; place-items: center }
  textarea {
    box-sizing: border-box; width: 80%; height: 80%; padding: 24px; border: 1px solid #d8d5cc; border-radius: 12px;
    background: #fff; color: #2b2a27; font: 18px/1.6 sans-serif; resize: none; outline-color: #3b6ea5
  }
</style>
<textarea aria-label="Paper" autofocus></textarea>
"""


class BlankSite:
    """Serves only the sheet."""

    async def answer(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        if parts.hostname != HOST:
            return Response(failure="NameNotResolved")
        if parts.path != "/":
            return Response(404, b"Not found", {"content-type": "text/plain"})
        return Response(200, PAGE.encode(), {"content-type": "text/html; charset=utf-8"})


def blank_scene(size: tuple[int, int] = DEFAULT_SIZE) -> Scene:
    """The scene of the sheet, with a screen of this size."""
    return Scene(BlankSite(), URL, size)
