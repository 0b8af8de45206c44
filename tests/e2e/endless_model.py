"""A model server whose policy never comes to an end: it always replies with the same three actions."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

REPLY = "\n".join(
    json.dumps(each)
    for each in (
        {"thought": "I fill the file.", "action": "click", "arguments": {"point": [500, 500]}},
        {"action": "type", "arguments": {"content": "hello"}},
        {"action": "hotkey", "arguments": {"key": "enter"}},
    )
)


class Model(BaseHTTPRequestHandler):
    """A model server that always says the same three actions."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        choice = {"index": 0, "delta": {"role": "assistant", "content": REPLY}, "finish_reason": "stop"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "several", "choices": [choice]}
        self.send_response(200 if "chat" in self.path else 404)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve_endless_model() -> Iterator[str]:
    """Serve it; the address of its API."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
