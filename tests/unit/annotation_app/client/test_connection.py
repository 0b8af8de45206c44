"""Whom the Python client trusts: an installation may have an authority of its own."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from annotation_app.client.connection import Connection
from annotation_app.client.errors import Unreachable


class Answer(BaseHTTPRequestHandler):
    """Every call is answered alike."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"heard": true}')

    def log_message(self, *_: object) -> None:
        """Silence."""


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """A certificate that signed itself, with its key beside it."""
    made = tmp_path / "authority.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key.pem", "-out", made,
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return made


@pytest.fixture
def address(authority: Path) -> Iterator[str]:
    """Of a server with that certificate."""
    server = HTTPServer(("127.0.0.1", 0), Answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, authority.with_name("key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"https://localhost:{server.server_port}"
    server.shutdown()
    serving.join()
    server.server_close()


def post_pools(address: str) -> object:
    connection = Connection(address, "token")
    try:
        return connection.post("/pools")
    finally:
        connection.close()


def test_an_authority_that_is_named_is_trusted(address: str, authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    assert post_pools(address) == {"heard": True}


def test_an_authority_of_nobodys_is_not(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(Unreachable, match="certificate"):
        post_pools(address)
