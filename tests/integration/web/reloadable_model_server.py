"""A model server that is given weights, over real HTTP: it keeps the order that vLLM asks for, and notes what it was
given."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


class ReloadableModelServer:
    """What the server has, had, and was asked with."""

    def __init__(self) -> None:
        self.url, self.weights, self.version = "", "", ""
        self.paused = False
        self.had, self.keys = list[tuple[str, str]](), set[str | None]()
        self.refuses: tuple[str, ...] = ()
        """Weights it does not take."""
        self.reads, self.has_read = Event(), Event()
        """That it was given weights; and when it has read them."""
        self.has_read.set()

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """What it says, with the status."""
        match path.partition("?")[0]:
            case "/pause":
                self.paused = True
            case "/resume":
                self.paused = False
            case "/collective_rpc":
                weights = body["kwargs"]["weights_path"]
                self.reads.set()
                self.has_read.wait(60)
                if not self.paused or weights in self.refuses:
                    return 400, {"error": f"{weights}\nis of another shape"}
                self.weights = weights
            case "/update_weight_version":
                self.version = body["new_version"]
                self.had.append((self.weights, self.version))
        return 200, {"weight_version": self.version}


@contextmanager
def reloadable() -> Iterator[ReloadableModelServer]:
    """One that runs while the block does."""
    model = ReloadableModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            model.keys.add(self.headers.get("Authorization"))
            status, said = model.answer(self.path, json.loads(given) if given else {})
            data = json.dumps(said, indent=1).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, *_words: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
