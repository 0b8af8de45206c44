"""Waiting for a model server: it answers, it ends, it says nothing."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from annotation_app.operations.runtime.model_server import ModelServerFailed, serve_command, wait_until_serving
from annotation_app.operations.runtime.ports import free_port

ANSWERS = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/v1/models" else 404)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
SILENT = "import sys; sys.stdin.read()"
ENDS = "raise SystemExit(3)"


@contextmanager
def program(source: str, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-c", source, str(port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_server_that_answers_has_an_address() -> None:
    port = free_port()
    with program(ANSWERS, port) as process:
        assert wait_until_serving(process, port) == f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(("source", "said"), [(ENDS, "ended with 3"), (SILENT, "did not answer within 0.2 s")])
def test_one_that_ends_or_says_nothing_is_told_apart(source: str, said: str) -> None:
    port = free_port()
    with program(source, port) as process:
        if source == ENDS:
            process.wait()
        with pytest.raises(ModelServerFailed, match=said):
            wait_until_serving(process, port, timeout_seconds=0.2)


def test_the_command_names_weights_model_and_port() -> None:
    command = serve_command("/venv/python", "/weights", name="toy", port=81, more=("--dev",))
    told = "-m trainer.serve /weights --served-model-name toy --port 81 --dev"
    assert command == ["/venv/python", *told.split()]
