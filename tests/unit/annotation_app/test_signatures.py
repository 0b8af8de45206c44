"""Messages are signed as Standard Webhooks has it; what is forged, altered or stale is refused."""

import base64

import pytest

from annotation_app.client.errors import InvalidSignature
from annotation_app.client.signatures import (
    ID_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    TOLERANCE_SECONDS,
    generate_secret,
    signed_headers,
    verify,
)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
PUBLISHED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
"""The example of the specification's own libraries."""


def test_the_published_example_comes_out() -> None:
    headers = signed_headers(SECRET, MESSAGE, BODY, at=AT)
    assert headers == {ID_HEADER: MESSAGE, TIMESTAMP_HEADER: str(AT), SIGNATURE_HEADER: PUBLISHED}
    assert verify(BODY, headers, SECRET, now=AT) == MESSAGE


def test_headers_have_no_case_and_may_hold_several_signatures() -> None:
    other = "v1," + base64.b64encode(b"x" * 32).decode()
    headers = {"Webhook-Id": MESSAGE, "Webhook-Timestamp": str(AT), "Webhook-Signature": f"{other} v2,abc {PUBLISHED}"}
    assert verify(BODY, headers, SECRET, now=AT + TOLERANCE_SECONDS) == MESSAGE


@pytest.mark.parametrize(
    ("change", "body", "now"),
    [
        ({}, BODY + b" ", AT),
        ({ID_HEADER: "msg_other"}, BODY, AT),
        ({TIMESTAMP_HEADER: str(AT + 1)}, BODY, AT),
        ({TIMESTAMP_HEADER: "soon"}, BODY, AT),
        ({SIGNATURE_HEADER: ""}, BODY, AT),
        ({SIGNATURE_HEADER: PUBLISHED.replace("v1,", "v2,")}, BODY, AT),
        ({SIGNATURE_HEADER: "v1,ü"}, BODY, AT),
        ({}, BODY, AT + TOLERANCE_SECONDS + 1),
        ({}, BODY, AT - TOLERANCE_SECONDS - 1),
    ],
)
def test_what_is_altered_or_stale_is_refused(change: dict[str, str], body: bytes, now: float) -> None:
    headers = {**signed_headers(SECRET, MESSAGE, BODY, at=AT), **change}
    with pytest.raises(InvalidSignature):
        verify(body, headers, SECRET, now=now)


def test_another_secret_or_none_is_refused() -> None:
    headers = signed_headers(SECRET, MESSAGE, BODY, at=AT)
    for secret in (generate_secret(), "whsec_no base64"):
        with pytest.raises(InvalidSignature):
            verify(BODY, headers, secret, now=AT)
    with pytest.raises(InvalidSignature):
        verify(BODY, {}, SECRET, now=AT)
