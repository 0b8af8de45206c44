"""Tickets: what a signature, a clock and a kind can refuse."""

import base64
import json

import pytest

from vm_bridge.api.tickets import TicketClaim, mint_ticket, verify_ticket
from vm_bridge.errors import TicketRefused

SECRET = "a secret of the tests only"
CLAIM = TicketClaim(kind="vnc", user="7", episode="e-1", machine_id="m-1", fencing_token=3)


def test_a_ticket_says_what_was_claimed() -> None:
    assert verify_ticket((SECRET,), mint_ticket(SECRET, CLAIM), "vnc").claim == CLAIM


def test_no_two_tickets_are_the_same() -> None:
    assert mint_ticket(SECRET, CLAIM) != mint_ticket(SECRET, CLAIM)


def test_a_ticket_fits_into_an_address_unescaped() -> None:
    ticket = mint_ticket(SECRET, CLAIM.model_copy(update={"user": "Ünïcode ?&=#"}))
    assert ticket.replace(".", "").replace("-", "").replace("_", "").isalnum()
    assert ticket.isascii()


def test_another_secret_is_a_forgery() -> None:
    with pytest.raises(TicketRefused, match="forged"):
        verify_ticket((SECRET,), mint_ticket("another secret of the tests", CLAIM), "vnc")


def test_a_changed_claim_is_a_forgery() -> None:
    body, signature = mint_ticket(SECRET, CLAIM).split(".")
    ticket = json.loads(base64.urlsafe_b64decode(body + "=="))
    ticket["claim"]["fencing_token"] = 4
    forged = base64.urlsafe_b64encode(json.dumps(ticket).encode()).decode().rstrip("=")
    with pytest.raises(TicketRefused, match="forged"):
        verify_ticket((SECRET,), f"{forged}.{signature}", "vnc")


@pytest.mark.parametrize("text", ["", ".", "a", "a.b", "é.é", "x" * 100_000, "\0.\0", "..."])
def test_rubbish_is_refused(text: str) -> None:
    with pytest.raises(TicketRefused):
        verify_ticket((SECRET,), text, "vnc")


def test_an_expired_ticket_is_refused() -> None:
    with pytest.raises(TicketRefused, match="expired"):
        verify_ticket((SECRET,), mint_ticket(SECRET, CLAIM, ttl=-1), "vnc")


def test_a_ticket_opens_only_its_kind_of_stream() -> None:
    with pytest.raises(TicketRefused, match="vnc"):
        verify_ticket((SECRET,), mint_ticket(SECRET, CLAIM), "webrtc")
