"""Passes to TURN servers."""

import base64
import hashlib
import hmac
import time

from vm_bridge.ice import CREDENTIAL_TTL_SECONDS, ICE_SERVERS, IceServer, with_credentials

SECRET = "known to coturn"


def test_a_secret_becomes_a_pass_that_ends() -> None:
    (told,) = with_credentials([IceServer(urls=["turn:relay.example:3478"], secret=SECRET)], "7")
    assert told.username is not None
    ends, user = told.username.split(":")
    assert user == "7"
    assert 0 < int(ends) - time.time() <= CREDENTIAL_TTL_SECONDS
    digest = hmac.new(SECRET.encode(), told.username.encode(), hashlib.sha1).digest()
    assert told.credential == base64.b64encode(digest).decode()


def test_the_secret_is_told_to_nobody() -> None:
    (told,) = with_credentials([IceServer(urls="turn:relay.example", secret=SECRET)], "7")
    assert SECRET not in told.model_dump_json()


def test_servers_without_a_secret_stay_as_they_are() -> None:
    servers = ICE_SERVERS.validate_json(
        '[{"urls": "stun:a.example"}, {"urls": "turn:b.example", "username": "u", "credential": "c"}]'
    )
    assert with_credentials(servers, "7") == servers
