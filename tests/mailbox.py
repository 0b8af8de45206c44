"""A mail server for tests: it takes every message and keeps it."""

import email
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import default
from itertools import takewhile

END_OF_MESSAGE = b".\r\n"


class Mailbox(socketserver.ThreadingTCPServer):
    """Speaks as much of SMTP (RFC 5321) as Python's client uses, on a free port of this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.messages: list[EmailMessage] = []

    @property
    def url(self) -> str:
        """The server as `PILOTHOUSE_EMAIL_URL` names it."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"

    def messages_to(self, address: str) -> list[EmailMessage]:
        """What was sent to this address, in the order in which it came."""
        return [message for message in self.messages if address in message.get("To", "")]


class _Connection(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self._reply(220)
        for line in self.rfile:
            verb = line[:4].upper()
            self._reply({b"DATA": 354, b"QUIT": 221}.get(verb, 250))
            if verb == b"QUIT":
                return
            if verb == b"DATA":
                self.server.messages.append(self._read_message())
                self._reply(250)

    def _reply(self, code: int) -> None:
        self.wfile.write(f"{code} mailbox\r\n".encode())

    def _read_message(self) -> EmailMessage:
        lines = takewhile(lambda line: line != END_OF_MESSAGE, self.rfile)
        data = b"".join(line.removeprefix(b".") for line in lines)
        return email.message_from_bytes(data, _class=EmailMessage, policy=default)


@contextmanager
def open_mailbox() -> Iterator[Mailbox]:
    """A mailbox that takes messages until the block ends."""
    with Mailbox() as mailbox:
        threading.Thread(target=mailbox.serve_forever, daemon=True).start()
        yield mailbox
        mailbox.shutdown()
