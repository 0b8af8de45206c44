"""An admin and a model server for task design."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.test import Client

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.design.models import Writer
from tests.integration.web.conftest import PASSWORD, World


@pytest.fixture
def alma(committed: World) -> User:
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


@pytest.fixture
def client(committed: World, alma: User) -> Client:
    return committed.client(alma)


@dataclass
class Model:
    """A model server that says what it is told to."""

    url: str
    says: str = "[]"
    status: int = 200
    heard: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def model() -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(made.status)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            delta = {"index": 0, "delta": {"content": made.says}, "finish_reason": "stop"}
            self.wfile.write(f"data: {json.dumps({'id': 'c', 'choices': [delta]})}\n\ndata: [DONE]\n\n".encode())

        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Model(url=f"http://127.0.0.1:{server.server_port}/v1")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def writer(committed: World, model: Model) -> Writer:
    return Writer.objects.create(name="words", revision="1", base_url=model.url, model="words")
